//! Request metrics for Prometheus.
//!
//! Each server has its own registry, so that several in one process do not mix. All series are
//! registered at the start; a request costs two additions.

use std::time::Duration;

use http::StatusCode;
use metrics::{Counter, Histogram, Key, Label, Level, Metadata, Recorder, Unit};
use metrics_exporter_prometheus::{
    BuildError, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};

use crate::serve::routes::Route;

/// Requests by route, method and status class.
const REQUESTS: &str = "promptarium_http_requests_total";
/// Time from a request's head to its response's head, in seconds.
const DURATION: &str = "promptarium_http_request_duration_seconds";

const BUCKETS_SECONDS: &[f64] =
    &[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// Status classes, by the first digit.
const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

/// The metrics of one server.
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
    /// Metrics for the routes of `table`.
    pub fn new(table: &[Route]) -> Result<Self, BuildError> {
        let recorder = PrometheusBuilder::new().set_buckets(BUCKETS_SECONDS)?.build_recorder();
        recorder.describe_counter(REQUESTS.into(), None, "Requests answered.".into());
        recorder.describe_histogram(
            DURATION.into(),
            Some(Unit::Seconds),
            "Time from a request's head to its response's head.".into(),
        );
        let routes = table
            .iter()
            .map(|route| {
                RouteMetrics::new(&recorder, route.name, route.method.as_str(), route.path)
            })
            .chain([RouteMetrics::new(&recorder, "unknown", "any", "unknown")])
            .collect();
        Ok(Self { routes, handle: recorder.handle() })
    }

    /// Counts one request; `route` is its row in the route table.
    pub fn record(&self, route: Option<usize>, status: StatusCode, elapsed: Duration) {
        let route = route.unwrap_or(self.routes.len() - 1);
        let class = usize::from(status.as_u16() / 100).saturating_sub(2).min(CLASSES.len() - 1);
        if let Some(route) = self.routes.get(route) {
            route.requests[class].increment(1);
            route.duration.record(elapsed);
        }
    }

    /// All metrics in the text format of Prometheus.
    pub fn render(&self) -> String {
        self.handle.render()
    }

    /// Sorts recorded durations into their buckets. Must be called periodically: until then
    /// each is kept on its own.
    pub fn run_upkeep(&self) {
        self.handle.run_upkeep();
    }
}

impl RouteMetrics {
    fn new(
        recorder: &PrometheusRecorder,
        name: &'static str,
        method: &str,
        path: &'static str,
    ) -> Self {
        let labels = vec![
            Label::new("operation", name),
            Label::new("method", method.to_owned()),
            Label::new("route", path),
        ];
        let metadata = Metadata::new(module_path!(), Level::INFO, None);
        let requests = CLASSES.map(|class| {
            let mut labels = labels.clone();
            labels.push(Label::new("status", class));
            recorder.register_counter(&Key::from_parts(REQUESTS, labels), &metadata)
        });
        let duration = recorder.register_histogram(&Key::from_parts(DURATION, labels), &metadata);
        Self { requests, duration }
    }
}
