//! Spans and events of calls, with the names of OpenTelemetry's conventions for HTTP clients.
//!
//! URLs are shown by host and port only, and paths by their template, so that no field contains a
//! credential or the caller's data.

use std::borrow::Cow;
use std::time::Duration;

use http::{Method, StatusCode};
use tracing::{Instrument as _, field::Empty, info, info_span};
use url::Url;

use crate::error::{Error, Route};
use crate::model::{GenerationStatus, JobId};

const TARGET: &str = "promptarium";

/// A span, which ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Span(tracing::Span);

/// A span with fields for its outcome and, if it is of a request, for its route and URL.
macro_rules! span {
    (
        $name:literal $(in $parent:expr)?, $title:expr, $kind:literal
        $(; $route:ident to $url:ident)? $(, $($field:ident).+ = $value:expr)*
    ) => {
        Self(info_span!(
            target: TARGET,
            $(parent: $parent,)?
            $name,
            otel.name = $title,
            otel.kind = $kind,
            $(
                http.request.method = method(&$route.method),
                url.template = template($route),
                server.address = host($url),
                server.port = $url.port_or_known_default(),
                http.response.status_code = Empty,
            )?
            $($($field).+ = $value,)*
            error.type = Empty,
            otel.status_code = Empty,
        ))
    };
}

impl Span {
    pub(crate) const fn none() -> Self {
        Self(tracing::Span::none())
    }

    pub(crate) fn call(route: &Route, base_url: &Url) -> Self {
        span!("call", name(route), "internal"; route to base_url)
    }

    pub(crate) fn upload() -> Self {
        span!("upload", "upload an image", "internal")
    }

    pub(crate) fn asset() -> Self {
        span!("asset", "download an asset", "internal")
    }

    pub(crate) fn wait(job: &JobId) -> Self {
        span!("wait", "wait for a generation", "internal", promptarium.job.id = job.as_str())
    }

    pub(crate) fn attempt(&self, route: &Route, url: &Url, number: u32, size: Option<u64>) -> Self {
        span!(
            "attempt" in &self.0, name(route), "client"; route to url,
            http.request.resend_count = (number > 1).then(|| number - 1),
            http.request.body.size = size
        )
    }

    pub(crate) fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        work.instrument(self.0.clone())
    }

    pub(crate) fn answered(&self, status: StatusCode) {
        // Recording looks the field up by name even if nobody listens.
        if !self.0.is_disabled() {
            self.0.record("http.response.status_code", status.as_u16());
        }
    }

    pub(crate) fn failed(&self, error: &Error) {
        self.record_failure(Err(error));
    }

    pub(crate) fn ended(self, outcome: Result<StatusCode, &Error>) {
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

    pub(crate) fn again(&self, number: u32, delay: Duration, outcome: Result<StatusCode, &Error>) {
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

    pub(crate) fn changed(&self, status: &GenerationStatus) {
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

const OTHER: &str = "_OTHER";

/// A method that is not one of HTTP's could be any text.
fn method(method: &Method) -> &str {
    match method.as_str() {
        known @ ("CONNECT" | "DELETE" | "GET" | "HEAD" | "OPTIONS" | "PATCH" | "POST" | "PUT"
        | "TRACE") => known,
        _ => OTHER,
    }
}

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

fn error_type<'a>(outcome: &'a Result<StatusCode, &Error>) -> &'a str {
    match outcome {
        Ok(status) => status.as_str(),
        Err(error) => {
            error.error_status().map_or_else(|| error.kind().as_str(), StatusCode::as_str)
        }
    }
}
