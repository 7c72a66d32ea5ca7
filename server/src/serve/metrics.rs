//! Metrics for Prometheus, and the listener that serves them. Clients need not reach it.
//!
//! Each server has its own registry, so that several in one process do not mix. Requests are
//! counted here as they end; [`Readings`] are read at each scrape.

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http::request::Parts;
use http::{Method, StatusCode};
use hyper::body::Incoming;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::api::Route;
use crate::domain::debug_only;
use crate::generate::Outcomes;
use crate::generate::submit::Submitter;
use crate::generate::worker::Worker;
use crate::http::body::BodyReadError;
use crate::http::error::ApiError;
use crate::http::path::RequestTarget;
use crate::http::response::{self, Response, ResponseBody};
use crate::quota::{OverQuota, Quota, Usage};
use crate::serve::listener::{HttpService, Listener, ListenerLimits, ListenerQuotas, serve};
use crate::store::{Gauge, Store};

const BUCKETS_SECONDS: [f64; 14] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// Reasons of refusals for load, as metrics name them.
const REFUSALS: &[&str] = &[
    "account_memory",
    "public_memory",
    "server_memory",
    "rate_limit",
    "body_too_large",
    "body_too_slow",
];

/// Lines of the log that nobody read in time. The log is that of the process.
pub(crate) static DROPPED_LOG_LINES: LazyLock<Counter> = LazyLock::new(Counter::default);

/// Outcomes of the steps of workers, of submissions, and of attempts to deliver events.
const PROCESSED: &[&str] = &["completed", "failed", "retried", "poll_failed"];
const SUBMITTED: &[&str] = &["accepted", "refused", "unavailable", "unknown"];
const DELIVERED: &[&str] = &["delivered", "retried", "failed"];

type Labels<const N: usize> = [(&'static str, &'static str); N];

/// What is counted as requests end. Clones share it.
#[derive(Clone)]
pub(crate) struct RequestMetrics {
    /// The first request of a route creates its series.
    requests: Family<Labels<4>, Counter>,
    durations: Family<Labels<3>, Histogram>,
    refused: Family<Labels<1>, Counter>,
}

impl Default for RequestMetrics {
    fn default() -> Self {
        let durations =
            Family::<_, Histogram>::new_with_constructor(|| Histogram::new(BUCKETS_SECONDS));
        Self { requests: Family::default(), durations, refused: Family::default() }
    }
}

impl RequestMetrics {
    pub(crate) fn record(
        &self,
        route: Option<&Route>,
        status: StatusCode,
        elapsed: Duration,
        error: Option<&ApiError>,
    ) {
        if let Some(reason) = error.and_then(refusal) {
            self.refused.get_or_create(&[("reason", reason)]).inc();
        }
        let class = usize::from(status.as_u16() / 100).saturating_sub(2).min(CLASSES.len() - 1);
        let method = METHODS.into_iter().find(|name| route.is_some_and(|of| of.method == *name));
        let method = ("method", method.unwrap_or("any"));
        let operation = ("operation", route.map_or("unknown", |route| route.name));
        let path = ("route", route.map_or("unknown", |route| route.path));
        let seconds = elapsed.as_secs_f64();
        self.durations.get_or_create(&[operation, method, path]).observe(seconds);
        self.requests.get_or_create(&[operation, method, path, ("status", CLASSES[class])]).inc();
    }
}

/// All metrics of a server.
pub struct Metrics(Registry);

impl Metrics {
    pub(crate) fn new(of_requests: &RequestMetrics, readings: Readings) -> Self {
        let RequestMetrics { requests, durations, refused } = of_requests;
        let mut registry = Registry::with_prefix("promptarium");
        let text = "Lines of the log that were dropped because nobody read it";
        registry.register("log_dropped_lines", text, DROPPED_LOG_LINES.clone());
        let text = "Time from a request's head to its response's head";
        registry.register("http_request_duration_seconds", text, durations.clone());
        registry.register("http_requests", "Requests answered", requests.clone());
        let activity = &readings.worker.activity;
        let text = "How long a generation was due until claimed";
        registry.register("generations_claim_delay_seconds", text, activity.claim_delay.clone());
        let (processed, submitted) = (&activity.outcomes, &readings.submitter.outcomes);
        for (name, text, family, label, values) in [
            ("http_refused_requests", "Requests refused for load", refused, "reason", REFUSALS),
            ("generations_processed", "Steps of workers", processed, "outcome", PROCESSED),
            ("generations_submitted", "Submissions", submitted, "outcome", SUBMITTED),
            ("webhook_deliveries", "Attempts", &readings.deliveries, "outcome", DELIVERED),
        ] {
            registry.register(name, text, family.clone());
            for value in values {
                drop(family.get_or_create(&[(label, *value)]));
            }
        }
        registry.register_collector(Box::new(readings));
        Self(registry)
    }

    /// All series as Prometheus text 0.0.4, which every scraper reads.
    fn page(&self) -> Response {
        let mut openmetrics = String::new();
        let _ = encode_registry(&mut openmetrics, &self.0);
        let types = openmetrics.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        let counters = types.filter_map(|line| line.strip_suffix(" counter"));
        // There meaning and type of a counter name it with its suffix.
        let text = counters.fold(openmetrics.clone(), |text, name| {
            text.replace(&format!(" {name} "), &format!(" {name}_total "))
        });
        let body = ResponseBody::Left(text.into());
        response::with_type(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", body)
    }
}

/// Why a request is refused, if it is for load: one of [`REFUSALS`].
fn refusal(error: &ApiError) -> Option<&'static str> {
    use BodyReadError as B;
    match error {
        ApiError::Quota(over) | ApiError::Body(B::Quota(over)) => Some(match over {
            OverQuota::Account(_) => "account_memory",
            OverQuota::Address(_) => "public_memory",
            OverQuota::Server(_) => "server_memory",
        }),
        ApiError::TooMany { .. } => Some("rate_limit"),
        ApiError::Body(B::TooLarge(_) | B::Longer(_)) => Some("body_too_large"),
        ApiError::Body(B::TooSlow(_)) => Some("body_too_slow"),
        _ => None,
    }
}

pub(crate) async fn serve_metrics(listener: Listener, metrics: Arc<Metrics>) {
    let limits = ListenerLimits {
        connections_max: 64,
        connections_per_address: Some(0),
        ..ListenerLimits::default()
    };
    serve(listener, metrics, limits, ListenerQuotas::default(), std::future::pending()).await;
}

impl HttpService for Arc<Metrics> {
    async fn handle(&self, parts: &Parts, _: &mut Incoming, _: IpAddr) -> Response {
        let error = match (parts.uri.path(), &parts.method) {
            ("/metrics", &Method::GET) => return self.page(),
            ("/metrics", &Method::HEAD) => return response::without_body(self.page()),
            ("/metrics", _) => ApiError::WrongMethod("GET, HEAD".to_owned()),
            _ => ApiError::UnknownPath,
        };
        response::failure(error.problem(RequestTarget::new("", &parts.method)))
    }
}

/// What is read at each scrape: of generations, memory, quotas and the store.
pub(crate) struct Readings {
    pub(crate) connections: Quota,
    /// For requests of accounts.
    pub(crate) memory: Quota,
    /// All others.
    pub(crate) quotas: Vec<Quota>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) worker: Worker,
    pub(crate) submitter: Submitter,
    /// Of events to webhooks.
    pub(crate) deliveries: Outcomes,
}

debug_only! { Readings {} }

impl Collector for Readings {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (kind, Gauge { name, meaning, label, values }) in self.all() {
            let mut metric = encoder.encode_descriptor(name, &format!("{meaning}."), None, kind)?;
            for (value_of, value) in values {
                match label {
                    "" => encode(kind, &mut metric, value)?,
                    _ => encode(kind, &mut metric.encode_family(&[(label, value_of)])?, value)?,
                }
            }
        }
        Ok(())
    }
}

fn encode(kind: MetricType, metric: &mut MetricEncoder<'_>, value: usize) -> fmt::Result {
    match kind {
        MetricType::Counter => metric.encode_counter::<[(&str, &str); 0], _, u64>(&value, None),
        _ => metric.encode_gauge(&value),
    }
}

impl Readings {
    #[rustfmt::skip]
    fn all(&self) -> Vec<(MetricType, Gauge)> {
        let Self { connections, memory, quotas, store, worker, submitter, .. } = self;
        let usages: Vec<_> = quotas.iter().chain([connections, memory]).map(Quota::usage).collect();
        let (connections, memory) = (connections.usage(), memory.usage());
        let files = worker.blobs.available.load(Relaxed).into();
        let (busy, large) = (worker.activity.busy.load(Relaxed), worker.large.usage());
        let labelled = |kind, name, meaning, label, values| (kind, Gauge { name, meaning, label, values });
        let one = |kind, name, meaning, value| labelled(kind, name, meaning, "", vec![("", value)]);
        let of_quotas = |kind, name, meaning, read: fn(&Usage) -> usize| {
            labelled(kind, name, meaning, "quota", usages.iter().map(|usage| (usage.name, read(usage))).collect())
        };
        use MetricType::{Counter, Gauge as Now};
        let mut all = vec![
            labelled(Now, "build_info", "The version that runs", "version", vec![(env!("CARGO_PKG_VERSION"), 1)]),
            one(Now, "http_connections", "Open connections", connections.used),
            one(Counter, "http_connections_refused", "Connections closed because their address had too many", connections.refused),
            one(Now, "http_body_memory_bytes", "Memory of the bodies of requests and responses", memory.used),
            one(Now, "http_body_memory_limit_bytes", "Most memory that bodies may have: --memory-budget", memory.total),
            one(Now, "generations_workers", "Generations processed at once: --workers", worker.settings.workers),
            one(Now, "generations_workers_busy", "Generations in progress", busy),
            one(Now, "generations_large_outputs", "Large outputs in progress", large.used),
            one(Now, "generations_large_outputs_waiting", "Large outputs that wait for their turn", large.waiting),
            one(Now, "files_available", "Whether the storage of files worked when /readyz asked last", files),
            one(Now, "generations_unrecorded", "Accepted generations that are not in the database yet", submitter.unrecorded()),
            of_quotas(Now, "quota_used", "What is used of a quota", |usage| usage.used),
            of_quotas(Now, "quota_limit", "How much a quota has", |usage| usage.total),
            of_quotas(Now, "quota_waiting", "How many wait for a quota", |usage| usage.waiting),
            of_quotas(Counter, "quota_refused", "How often a quota was used up, in all or by one client", |usage| usage.refused),
        ];
        all.extend(store.gauges().into_iter().map(|gauge| (Now, gauge)));
        all
    }
}
