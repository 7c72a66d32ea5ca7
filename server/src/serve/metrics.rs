//! Request metrics for Prometheus, and the listener that serves them. Clients need not reach it.
//!
//! Each server has its own registry, so that several in one process do not mix. All series are
//! registered at the start; a request costs two additions.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode};
use hyper::body::Incoming;
use metrics::{Counter, Histogram, Unit, counter, describe_counter, describe_histogram, histogram};
use metrics_exporter_prometheus::{BuildError, PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;
use tokio::time::{MissedTickBehavior, interval};

use crate::api::health::Readiness;
use crate::http::error::ApiError;
use crate::http::path::RequestTarget;
use crate::http::response::{self, Response, ResponseBody};
use crate::limits::{ADMIN_CONNECTIONS_MAX, METRICS_UPKEEP_INTERVAL};
use crate::serve::listener::{HttpService, Limits, serve};
use crate::serve::routes::Route;

/// Requests by route, method and status class.
const REQUESTS: &str = "promptarium_http_requests_total";
/// Time from a request's head to its response's head, in seconds.
const DURATION: &str = "promptarium_http_request_duration_seconds";

const BUCKETS_SECONDS: &[f64] =
    &[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

pub struct Metrics {
    /// One per row of the route table, and one for unknown routes.
    routes: Vec<RouteMetrics>,
    handle: PrometheusHandle,
}

struct RouteMetrics {
    requests: [Counter; CLASSES.len()],
    duration: Histogram,
}

impl Metrics {
    pub(crate) fn new(table: &[Route]) -> Result<Self, BuildError> {
        let recorder = PrometheusBuilder::new().set_buckets(BUCKETS_SECONDS)?.build_recorder();
        let routes = metrics::with_local_recorder(&recorder, || {
            describe_counter!(REQUESTS, "Requests answered.");
            let text = "Time from a request's head to its response's head.";
            describe_histogram!(DURATION, Unit::Seconds, text);
            let known = table.iter().map(|row| (row.name, row.method.to_string(), row.path));
            let unknown = ("unknown", "any".to_owned(), "unknown");
            known.chain([unknown]).map(RouteMetrics::new).collect()
        });
        Ok(Self { routes, handle: recorder.handle() })
    }

    /// Counts one request; `route` is its row in the route table.
    pub(crate) fn record(&self, route: Option<usize>, status: StatusCode, elapsed: Duration) {
        let route = route.unwrap_or(self.routes.len() - 1);
        let class = usize::from(status.as_u16() / 100).saturating_sub(2).min(CLASSES.len() - 1);
        if let Some(route) = self.routes.get(route) {
            route.requests[class].increment(1);
            route.duration.record(elapsed);
        }
    }
}

impl RouteMetrics {
    fn new((operation, method, route): (&'static str, String, &'static str)) -> Self {
        let labels =
            [("operation", operation.to_owned()), ("method", method), ("route", route.to_owned())];
        let duration = histogram!(DURATION, &labels);
        let requests = CLASSES.map(|class| {
            let status = [("status", class.to_owned())];
            counter!(REQUESTS, &[labels.as_slice(), &status].concat())
        });
        Self { requests, duration }
    }
}

/// Serves `/metrics` until it is cancelled.
pub(crate) async fn serve_metrics(listener: TcpListener, metrics: Arc<Metrics>) {
    let limits = Limits { connections_max: ADMIN_CONNECTIONS_MAX, ..Limits::default() };
    let forever = std::future::pending::<()>();
    let serving = serve(listener, metrics.clone(), limits, Readiness::default(), forever);
    let upkeep = async {
        let mut ticks = interval(METRICS_UPKEEP_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            // Sorts recorded durations into their buckets. Until then each is kept on its own.
            metrics.handle.run_upkeep();
        }
    };
    tokio::join!(serving, upkeep);
}

impl HttpService for Arc<Metrics> {
    async fn handle(&self, request: Request<Incoming>) -> Response {
        const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
        let error = match (request.uri().path(), request.method()) {
            ("/metrics", &Method::GET) => {
                let text = Bytes::from(self.handle.render());
                return response::with_type(StatusCode::OK, TEXT, ResponseBody::Left(text.into()));
            }
            ("/metrics", _) => ApiError::WrongMethod(HeaderValue::from_static("GET")),
            _ => ApiError::UnknownPath,
        };
        response::failure(&error, RequestTarget::UNKNOWN)
    }
}
