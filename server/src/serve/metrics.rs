//! Request metrics for Prometheus, and the listener that serves them. Clients need not reach it.
//!
//! Each server has its own registry, so that several in one process do not mix. All series are
//! registered at the start; a request costs two additions.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use tokio::net::TcpListener;

use crate::api::Readiness;
use crate::http::error::{ApiError, REFUSALS};
use crate::http::memory::MemoryBudget;
use crate::http::path::RequestTarget;
use crate::http::response::{self, Response, ResponseBody};
use crate::limits::ADMIN_CONNECTIONS_MAX;
use crate::serve::listener::{HttpService, Limits, serve};
use crate::serve::routes::Route;

const BUCKETS_SECONDS: [f64; 14] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

type Labels = Vec<(&'static str, String)>;

pub struct Metrics {
    /// One per row of the route table, and one for unknown routes.
    routes: Vec<RouteMetrics>,
    /// By reason.
    refused: Family<[(&'static str, &'static str); 1], Counter>,
    /// The gauge is set when it is read.
    memory: (MemoryBudget, Gauge),
    registry: Registry,
}

struct RouteMetrics {
    requests: [Counter; CLASSES.len()],
    duration: Histogram,
}

impl Metrics {
    pub(crate) fn new(table: &[Route], memory: &MemoryBudget) -> Self {
        let requests = Family::<Labels, Counter>::default();
        let durations =
            Family::<Labels, Histogram>::new_with_constructor(|| Histogram::new(BUCKETS_SECONDS));
        let mut registry = Registry::with_prefix("promptarium_http");
        registry.register("requests", "Requests answered", requests.clone());
        let text = "Time from a request's head to its response's head";
        registry.register_with_unit("request_duration", text, Unit::Seconds, durations.clone());
        let known = table.iter().map(|row| (row.name, row.method.as_str(), row.path));
        let refused = Family::<[(&'static str, &'static str); 1], Counter>::default();
        for reason in REFUSALS {
            drop(refused.get_or_create(&[("reason", reason)]));
        }
        registry.register("refused_requests", "Requests refused for load", refused.clone());
        let (used, limit): (Gauge, Gauge) = Default::default();
        let text = "Memory of the bodies of requests and responses";
        registry.register_with_unit("body_memory", text, Unit::Bytes, used.clone());
        let text = "Most memory that bodies may have: --memory-budget";
        registry.register_with_unit("body_memory_limit", text, Unit::Bytes, limit.clone());
        limit.set(gauge_value(memory.limit()));
        let memory = (memory.clone(), used);
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
        Self { routes: routes.collect(), refused, memory, registry }
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

fn gauge_value(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Serves `/metrics` until it is cancelled.
pub(crate) async fn serve_metrics(listener: TcpListener, metrics: Arc<Metrics>) {
    let limits = Limits { connections_max: ADMIN_CONNECTIONS_MAX, ..Limits::default() };
    let forever = std::future::pending::<()>();
    serve(listener, metrics, limits, Readiness::default(), forever).await;
}

impl HttpService for Arc<Metrics> {
    async fn handle(&self, request: Request<Incoming>) -> Response {
        const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        let error = match (request.uri().path(), request.method()) {
            ("/metrics", &Method::GET) => {
                let (budget, used) = &self.memory;
                used.set(gauge_value(budget.used()));
                let mut text = String::new();
                // Writing to a string does not fail.
                let _ = encode(&mut text, &self.registry);
                return response::with_type(StatusCode::OK, TEXT, ResponseBody::Left(text.into()));
            }
            ("/metrics", _) => ApiError::WrongMethod("GET".to_owned()),
            _ => ApiError::UnknownPath,
        };
        response::failure(&error, RequestTarget::new("", request.method()))
    }
}
