//! Spans and events of calls, with the names of OpenTelemetry's conventions for HTTP clients.
//!
//! URLs are shown by host and port only, and paths by their template, so that no field contains a
//! credential or the caller's data. Without the feature `tracing`, [`off`] takes the place of the
//! crate and all of this compiles to nothing.
#![cfg_attr(not(feature = "tracing"), allow(dead_code, unused_variables, reason = "see `off`"))]

use std::borrow::Cow;
use std::time::Duration;

use http::{Method, StatusCode};
#[cfg(not(feature = "tracing"))]
use off as tracing;
use tracing::{Instrument as _, info, info_span};
use url::Url;

use super::Error;
use super::request::Route;
use crate::model::{GenerationStatus, JobId};

/// The target of all spans and events.
const TARGET: &str = "promptarium";

/// A span, which ends when it is dropped.
#[derive(Debug)]
pub(super) struct Span(tracing::Span);

/// A span of several requests.
macro_rules! outer_span {
    ($name:literal, $title:literal $(, $($field:tt)*)?) => {
        Self(info_span!(
            target: TARGET,
            $name,
            otel.name = $title,
            otel.kind = "internal",
            $($($field)*,)?
            error.type = tracing::field::Empty,
            otel.status_code = tracing::field::Empty,
        ))
    };
}

impl Span {
    pub(super) const fn none() -> Self {
        Self(tracing::Span::none())
    }

    /// A call of the API with its attempts.
    pub(super) fn call(route: &Route, base_url: &Url) -> Self {
        Self(info_span!(
            target: TARGET,
            "call",
            otel.name = name(route),
            otel.kind = "internal",
            http.request.method = method(&route.method),
            url.template = template(route),
            server.address = host(base_url),
            server.port = base_url.port_or_known_default(),
            http.response.status_code = tracing::field::Empty,
            error.type = tracing::field::Empty,
            otel.status_code = tracing::field::Empty,
        ))
    }

    /// An upload with its slots and attempts.
    pub(super) fn upload() -> Self {
        outer_span!("upload", "upload an image")
    }

    /// The download of an asset with its redirects.
    pub(super) fn asset() -> Self {
        outer_span!("asset", "download an asset")
    }

    /// Waiting for a generation, with its polls.
    pub(super) fn wait(job: &JobId) -> Self {
        outer_span!("wait", "wait for a generation", promptarium.job.id = job.as_str())
    }

    /// An attempt, counting from 1.
    pub(super) fn attempt(&self, route: &Route, url: &Url, number: u32) -> Self {
        self.request(route, url, number, None)
    }

    /// An attempt to upload this many bytes.
    pub(super) fn put(&self, url: &Url, number: u32, size: u64) -> Self {
        self.request(&Route::new(Method::PUT, Route::UPLOAD), url, number, Some(size))
    }

    fn request(&self, route: &Route, url: &Url, number: u32, size: Option<u64>) -> Self {
        Self(info_span!(
            target: TARGET,
            parent: &self.0,
            "attempt",
            otel.name = name(route),
            otel.kind = "client",
            http.request.method = method(&route.method),
            url.template = template(route),
            server.address = host(url),
            server.port = url.port_or_known_default(),
            http.request.resend_count = (number > 1).then(|| number - 1),
            http.request.body.size = size,
            http.response.status_code = tracing::field::Empty,
            error.type = tracing::field::Empty,
            otel.status_code = tracing::field::Empty,
        ))
    }

    /// Runs the future in this span.
    pub(super) fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        work.instrument(self.0.clone())
    }

    pub(super) fn answered(&self, status: StatusCode) {
        // Recording looks the field up by name even if nobody listens.
        if !self.0.is_disabled() {
            self.0.record("http.response.status_code", status.as_u16());
        }
    }

    pub(super) fn failed(&self, error: &Error) {
        self.record_failure(Err(error));
    }

    /// Records the outcome and ends the span.
    pub(super) fn ended(self, outcome: Result<StatusCode, &Error>) {
        if let Some(status) = outcome.map_or_else(Error::status, Some) {
            self.answered(status);
        }
        if outcome.map_or(true, |status| status.as_u16() >= 400) {
            self.record_failure(outcome);
        }
    }

    fn record_failure(&self, outcome: Result<StatusCode, &Error>) {
        if !self.0.is_disabled() {
            self.0.record("error.type", error_type(&outcome));
            self.0.record("otel.status_code", "ERROR");
        }
    }

    /// An event: a retry after a delay, as this attempt.
    pub(super) fn again(&self, number: u32, delay: Duration, outcome: Result<StatusCode, &Error>) {
        info!(
            target: TARGET,
            parent: &self.0,
            {
                error.type = error_type(&outcome),
                delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                http.request.resend_count = number - 1,
            },
            "retry after a delay",
        );
    }

    /// An event: the generation has a new status.
    pub(super) fn changed(&self, status: &GenerationStatus) {
        let status = status.state.as_str();
        info!(target: TARGET, parent: &self.0, { promptarium.job.status = status }, "job status changed");
    }
}

fn name(route: &Route) -> String {
    let method = match method(&route.method) {
        OTHER => "HTTP",
        known => known,
    };
    template(route).map_or_else(|| method.to_owned(), |template| format!("{method} {template}"))
}

/// A method that is not one of HTTP's could be any text.
fn method(method: &Method) -> &str {
    const KNOWN: [Method; 9] = [
        Method::CONNECT,
        Method::DELETE,
        Method::GET,
        Method::HEAD,
        Method::OPTIONS,
        Method::PATCH,
        Method::POST,
        Method::PUT,
        Method::TRACE,
    ];
    if KNOWN.contains(method) { method.as_str() } else { OTHER }
}

const OTHER: &str = "_OTHER";

/// The path template of a call. That of a raw call is the caller's path with ids in it.
fn template(route: &Route) -> Option<&str> {
    match route.template {
        Cow::Borrowed(template) => template.starts_with('/').then_some(template),
        Cow::Owned(_) => None,
    }
}

/// Without the brackets of an IPv6 address.
fn host(url: &Url) -> Option<&str> {
    url.host_str().map(|host| host.trim_matches(['[', ']']))
}

/// The status of an error response, else the kind of the error.
fn error_type<'a>(outcome: &'a Result<StatusCode, &Error>) -> &'a str {
    match outcome {
        Ok(status) => status.as_str(),
        Err(error) => {
            error.error_status().map_or_else(|| error.kind().as_str(), StatusCode::as_str)
        }
    }
}

/// What is used of the crate `tracing`, without effect.
#[cfg(not(feature = "tracing"))]
mod off {
    #[derive(Debug, Clone)]
    pub(super) struct Span;

    impl Span {
        pub(super) const fn none() -> Self {
            Self
        }

        pub(super) const fn is_disabled(&self) -> bool {
            true
        }

        pub(super) const fn record<T: Copy>(&self, _: &str, _: T) {}
    }

    pub(super) trait Instrument: Sized {
        fn instrument(self, _: Span) -> Self {
            self
        }
    }

    impl<T> Instrument for T {}

    macro_rules! info_span {
        ($($tokens:tt)*) => {
            tracing::Span::none()
        };
    }
    macro_rules! info {
        ($($tokens:tt)*) => {};
    }
    pub(super) use {info, info_span};
}
