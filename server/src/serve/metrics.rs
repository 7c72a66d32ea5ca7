//! Counting requests, in the form Prometheus reads.
//!
//! Each server has a registry of its own, so that several in one process do not
//! mix. All names are made once at the start; a request costs two additions.

use std::time::Duration;

use http::StatusCode;
use metrics::{Counter, Histogram, Key, Label, Level, Metadata, Recorder, Unit};
use metrics_exporter_prometheus::{
    BuildError, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};

use crate::serve::routes::Route;

/// Requests by route, method and class of status.
const REQUESTS: &str = "promptarium_http_requests_total";
/// Time from a request's head to its answer's head, in seconds.
const DURATION: &str = "promptarium_http_request_duration_seconds";

const BUCKETS_SECONDS: &[f64] =
    &[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// The classes of statuses, by their first digit.
const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

/// The counts of one server.
pub struct Metrics {
    /// One for each row of the table of routes, and one for unknown ones.
    routes: Vec<OfRoute>,
    handle: PrometheusHandle,
}

struct OfRoute {
    requests: [Counter; CLASSES.len()],
    duration: Histogram,
}

impl Metrics {
    /// Counts for the routes of `table`.
    ///
    /// # Errors
    /// None that depends on anything but this file.
    pub fn new(table: &[Route]) -> Result<Self, BuildError> {
        let recorder = PrometheusBuilder::new().set_buckets(BUCKETS_SECONDS)?.build_recorder();
        recorder.describe_counter(REQUESTS.into(), None, "Requests answered.".into());
        recorder.describe_histogram(
            DURATION.into(),
            Some(Unit::Seconds),
            "Time from a request's head to its answer's head.".into(),
        );
        let routes = table
            .iter()
            .map(|route| OfRoute::new(&recorder, route.name, route.method.as_str(), route.path))
            .chain([OfRoute::new(&recorder, "unknown", "any", "unknown")])
            .collect();
        Ok(Self { routes, handle: recorder.handle() })
    }

    /// Counts one request; `at` is its row in the table of routes.
    pub fn count(&self, at: Option<usize>, status: StatusCode, elapsed: Duration) {
        let at = at.unwrap_or(self.routes.len() - 1);
        let class = usize::from(status.as_u16() / 100).saturating_sub(2).min(CLASSES.len() - 1);
        if let Some(route) = self.routes.get(at) {
            route.requests[class].increment(1);
            route.duration.record(elapsed);
        }
    }

    /// All counts, as Prometheus reads them.
    pub fn page(&self) -> String {
        self.handle.render()
    }

    /// Puts recorded durations into their buckets; to be called now and then, since
    /// they are kept one by one until then.
    pub fn tidy(&self) {
        self.handle.run_upkeep();
    }
}

impl OfRoute {
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
