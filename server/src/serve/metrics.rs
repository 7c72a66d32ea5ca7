//! Metrics of requests, connections and the database for Prometheus, and the listener that serves
//! them. Clients need not reach it.
//!
//! Each server has its own registry, so that several in one process do not mix. All series are
//! registered at the start; a request costs two additions.

mod quotas;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use http::request::Parts;
use http::{Method, StatusCode};
use hyper::body::Incoming;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use tokio::net::TcpListener;
use tokio::time::Instant;

use self::quotas::QuotaMetrics;
pub(crate) use self::quotas::Quotas;
use crate::api::Readiness;
use crate::generate::submit::Submitter;
use crate::generate::worker::Worker;
use crate::http::body::BodyReadError;
use crate::http::connection::Connection;
use crate::http::error::ApiError;
use crate::http::path::RequestTarget;
use crate::http::response::{self, Response, ResponseBody};
use crate::limits::ADMIN_CONNECTIONS_MAX;
use crate::quota::OverQuota;
use crate::serve::listener::{HttpService, Limits, ListenerQuotas, serve};
use crate::serve::routes::Route;
use crate::store::postgres::PoolUse;

const BUCKETS_SECONDS: [f64; 14] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

/// Reasons of refusals for load, as metrics name them.
const REFUSALS: [&str; 7] = [
    "account_memory",
    "public_memory",
    "server_memory",
    "rate_limit",
    "sign_in_attempts",
    "body_too_large",
    "body_too_slow",
];

type Labels = Vec<(&'static str, String)>;

pub struct Metrics {
    /// One per row of the route table, and one for unknown routes.
    routes: Vec<RouteMetrics>,
    database: Option<DatabaseMetrics>,
    /// By reason.
    refused: Family<[(&'static str, &'static str); 1], Counter>,
    quotas: QuotaMetrics,
    generations: Generations,
    registry: Registry,
}

/// A number of generations: its name, its meaning, and how it is read.
type Reading = (&'static str, &'static str, fn(&Generations) -> usize);

const READINGS: [Reading; 5] = [
    ("workers", "Generations processed at once: --workers", |of| of.worker.settings.workers),
    ("workers_busy", "Generations in progress", |of| of.worker.activity.busy.load(Relaxed)),
    ("large_outputs", "Large outputs in progress", |of| {
        of.worker.outputs.limits.large.usage().used
    }),
    ("large_outputs_waiting", "Large outputs that wait for their turn", |of| {
        of.worker.outputs.limits.large.usage().waiting
    }),
    ("unrecorded", "Accepted generations that are not in the database yet", |of| {
        of.submitter.unrecorded()
    }),
];

/// The gauges are set at each scrape.
pub(crate) struct Generations {
    worker: Worker,
    submitter: Submitter,
    gauges: [Gauge; READINGS.len()],
}

impl Generations {
    pub(crate) fn new(worker: Worker, submitter: Submitter) -> Self {
        Self { worker, submitter, gauges: Default::default() }
    }

    fn register(&self, registry: &mut Registry) {
        let registry = registry.sub_registry_with_prefix("generations");
        for ((name, text, _), gauge) in READINGS.iter().zip(&self.gauges) {
            registry.register(*name, *text, gauge.clone());
        }
        let (text, delay) = ("How long a generation was due until claimed", &self.worker.activity);
        registry.register_with_unit("claim_delay", text, Unit::Seconds, delay.claim_delay.clone());
    }

    fn update(&self) {
        for ((_, _, read), gauge) in READINGS.iter().zip(&self.gauges) {
            gauge.set(gauge_value(read(self)));
        }
    }
}

/// Where the use of a database is asked for.
pub(crate) type AskPool = Box<dyn Fn() -> PoolUse + Send + Sync>;

/// Set at each scrape.
struct DatabaseMetrics {
    ask: AskPool,
    connections: Family<Labels, Gauge>,
    pipelined: Gauge,
    waiting: Family<Labels, Gauge>,
}

impl DatabaseMetrics {
    fn new(ask: AskPool, registry: &mut Registry) -> Self {
        let registry = registry.sub_registry_with_prefix("database");
        let (connections, pipelined, waiting) = Default::default();
        let this = Self { ask, connections, pipelined, waiting };
        let text = "Connections for one statement at a time: busy, idle, and the most there may be";
        registry.register("connections", text, this.connections.clone());
        let text = "Statements that run or wait on shared connections";
        registry.register("pipelined_statements", text, this.pipelined.clone());
        let text = "Statements and requests that wait for a connection or for their share of them";
        registry.register("waiting", text, this.waiting.clone());
        this
    }

    fn update(&self) {
        let PoolUse { busy, idle, max, pipelined, waiting } = (self.ask)();
        let set = |family: &Family<Labels, Gauge>, label, value: &str, number: usize| {
            let gauge = family.get_or_create_owned(&vec![(label, value.to_owned())]);
            gauge.set(gauge_value(number));
        };
        for (state, number) in [("busy", busy), ("idle", idle), ("max", max)] {
            set(&self.connections, "state", state, number);
        }
        self.pipelined.set(gauge_value(pipelined));
        for (what, number) in waiting {
            set(&self.waiting, "for", what, number);
        }
    }
}

struct RouteMetrics {
    requests: [Counter; CLASSES.len()],
    duration: Histogram,
}

impl Metrics {
    pub(crate) fn new(
        table: &[Route],
        quotas: Quotas,
        pool: Option<AskPool>,
        generations: Generations,
    ) -> Self {
        let requests = Family::<Labels, Counter>::default();
        let durations =
            Family::<Labels, Histogram>::new_with_constructor(|| Histogram::new(BUCKETS_SECONDS));
        let mut all = Registry::with_prefix("promptarium");
        let database = pool.map(|ask| DatabaseMetrics::new(ask, &mut all));
        generations.register(&mut all);
        let quotas = QuotaMetrics::new(quotas, &mut all);
        let registry = all.sub_registry_with_prefix("http");
        registry.register("requests", "Requests answered", requests.clone());
        let text = "Time from a request's head to its response's head";
        registry.register_with_unit("request_duration", text, Unit::Seconds, durations.clone());
        let known = table.iter().map(|row| (row.name, row.method.as_str(), row.path));
        let refused = Family::<[(&'static str, &'static str); 1], Counter>::default();
        for reason in REFUSALS {
            drop(refused.get_or_create(&[("reason", reason)]));
        }
        registry.register("refused_requests", "Requests refused for load", refused.clone());
        let routes =
            known.chain([("unknown", "any", "unknown")]).map(|(operation, method, route)| {
                let labels = [("operation", operation), ("method", method), ("route", route)];
                let labels: Labels = labels.map(|(name, value)| (name, value.to_owned())).into();
                let counter = |class: &str| {
                    let labels = [labels.as_slice(), &[("status", class.to_owned())]].concat();
                    requests.get_or_create_owned(&labels)
                };
                RouteMetrics {
                    requests: CLASSES.map(counter),
                    duration: durations.get_or_create_owned(&labels),
                }
            });
        Self { routes: routes.collect(), database, refused, quotas, generations, registry: all }
    }

    /// Counts one request; `route` is its row in the route table.
    pub(crate) fn record(
        &self,
        route: Option<usize>,
        status: StatusCode,
        elapsed: Duration,
        refusal: Option<&'static str>,
    ) {
        if let Some(reason) = refusal {
            self.refused.get_or_create(&[("reason", reason)]).inc();
        }
        let route = route.unwrap_or(self.routes.len() - 1);
        let class = usize::from(status.as_u16() / 100).saturating_sub(2).min(CLASSES.len() - 1);
        if let Some(route) = self.routes.get(route) {
            route.requests[class].inc();
            route.duration.observe(elapsed.as_secs_f64());
        }
    }
}

/// Why a request is refused, if it is for load: one of [`REFUSALS`].
pub(super) fn refusal(error: &ApiError) -> Option<&'static str> {
    use BodyReadError as B;
    match error {
        ApiError::Quota(over) | ApiError::Body(B::Quota(over)) => Some(match over {
            OverQuota::Account(_) => "account_memory",
            OverQuota::Address(_) => "public_memory",
            OverQuota::Server(_) => "server_memory",
        }),
        ApiError::OverRate(_) => Some("rate_limit"),
        ApiError::TooManyAttempts(_) => Some("sign_in_attempts"),
        ApiError::Body(B::TooLarge(_) | B::Longer(_)) => Some("body_too_large"),
        ApiError::Body(B::TooSlow(_)) => Some("body_too_slow"),
        _ => None,
    }
}

fn gauge_value(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Serves `/metrics` until it is cancelled.
pub(crate) async fn serve_metrics(listener: TcpListener, metrics: Arc<Metrics>) {
    let connections_per_address = Some(0);
    let connections_max = ADMIN_CONNECTIONS_MAX;
    let limits = Limits { connections_max, connections_per_address, ..Limits::default() };
    let forever = std::future::pending::<()>();
    let (quotas, readiness) = (ListenerQuotas::default(), Readiness::default());
    serve(listener, metrics, limits, quotas, readiness, forever).await;
}

impl HttpService for Arc<Metrics> {
    async fn handle(
        &self,
        parts: &Parts,
        _: &mut Incoming,
        _: Instant,
        _: &Connection,
    ) -> Response {
        const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        let error = match (parts.uri.path(), &parts.method) {
            ("/metrics", &Method::GET) => {
                if let Some(database) = &self.database {
                    database.update();
                }
                self.generations.update();
                self.quotas.update();
                let mut text = String::new();
                // Writing to a string does not fail.
                let _ = encode(&mut text, &self.registry);
                return response::with_type(StatusCode::OK, TEXT, ResponseBody::Left(text.into()));
            }
            ("/metrics", _) => ApiError::WrongMethod("GET".to_owned()),
            _ => ApiError::UnknownPath,
        };
        response::failure(&error, RequestTarget::new("", &parts.method))
    }
}
