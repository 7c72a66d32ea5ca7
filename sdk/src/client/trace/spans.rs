//! The spans and events themselves. What they are made of is only put together when
//! somebody listens.

use std::borrow::Cow;
use std::time::Duration;

use http::{Method, StatusCode};
use tracing::field::Empty;
use tracing::instrument::{Instrument, Instrumented};
use tracing::{info, info_span};
use url::Url;

use crate::client::Error;
use crate::client::error::ErrorKind;
use crate::client::request::Route;
use crate::model::{GenerationStatus, JobId};

/// What a filter calls this crate, wherever in it something is told.
const TARGET: &str = "promptarium";

/// A span that is open until it is dropped.
#[derive(Debug)]
pub(in crate::client) struct Span(tracing::Span);

impl Span {
    /// No span: whatever is told to it is lost.
    pub(in crate::client) const fn none() -> Self {
        Self(tracing::Span::none())
    }

    /// One call of the API, with all that is sent for it.
    pub(in crate::client) fn call(route: &Route, base_url: &Url) -> Self {
        Self(info_span!(
            target: TARGET,
            "call",
            otel.name = name(route),
            otel.kind = "internal",
            http.request.method = method(&route.method),
            url.template = template(route),
            server.address = host(base_url),
            server.port = base_url.port_or_known_default(),
            http.response.status_code = Empty,
            error.type = Empty,
            otel.status_code = Empty,
        ))
    }

    /// An upload, with its slots and each time the bytes are sent.
    pub(in crate::client) fn upload() -> Self {
        Self(info_span!(
            target: TARGET,
            "upload",
            otel.name = "upload an image",
            otel.kind = "internal",
            error.type = Empty,
            otel.status_code = Empty,
        ))
    }

    /// The fetching of an asset, with all redirects.
    pub(in crate::client) fn asset() -> Self {
        Self(info_span!(
            target: TARGET,
            "asset",
            otel.name = "fetch an asset",
            otel.kind = "internal",
            error.type = Empty,
            otel.status_code = Empty,
        ))
    }

    /// Waiting for a generation, with all polls.
    pub(in crate::client) fn wait(job: &JobId) -> Self {
        Self(info_span!(
            target: TARGET,
            "wait",
            otel.name = "wait for a generation",
            otel.kind = "internal",
            promptarium.job.id = job.as_str(),
            error.type = Empty,
            otel.status_code = Empty,
        ))
    }

    /// One sending, the `number`th counting from 1, as a part of this.
    pub(in crate::client) fn attempt(&self, route: &Route, url: &Url, number: u32) -> Self {
        self.sending(route, url, number, None)
    }

    /// One sending of the bytes of an upload, as a part of this.
    pub(in crate::client) fn put(&self, url: &Url, number: u32, size: u64) -> Self {
        self.sending(&Route::new(Method::PUT, "{uploadUrl}"), url, number, Some(size))
    }

    fn sending(&self, route: &Route, url: &Url, number: u32, size: Option<u64>) -> Self {
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
            http.response.status_code = Empty,
            error.type = Empty,
            otel.status_code = Empty,
        ))
    }

    /// The same work, within this span whenever it runs.
    pub(in crate::client) fn around<F: Future>(&self, work: F) -> Instrumented<F> {
        work.instrument(self.0.clone())
    }

    pub(in crate::client) fn answered(&self, status: StatusCode) {
        // A field is looked for by its name, which is not done for nothing.
        if !self.0.is_disabled() {
            self.0.record("http.response.status_code", status.as_u16());
        }
    }

    pub(in crate::client) fn failed(&self, error: &Error) {
        if !self.0.is_disabled() {
            with_type(Err(error), |text| self.record_failure(text));
        }
    }

    /// How it ended, which closes the span.
    pub(in crate::client) fn ended(self, outcome: Result<StatusCode, &Error>) {
        if self.0.is_disabled() {
            return;
        }
        if let Some(status) = outcome.map_or_else(Error::status, Some) {
            self.answered(status);
        }
        let is_failure = outcome.map_or(true, |status| status.as_u16() >= 400);
        if is_failure {
            with_type(outcome, |text| self.record_failure(text));
        }
    }

    fn record_failure(&self, error_type: &str) {
        self.0.record("error.type", error_type);
        self.0.record("otel.status_code", "ERROR");
    }

    /// What this is about is sent again after a delay, as its `number`th sending.
    pub(in crate::client) fn again(
        &self,
        number: u32,
        delay: Duration,
        outcome: Result<StatusCode, &Error>,
    ) {
        with_type(outcome, |error_type| {
            info!(
                target: TARGET,
                parent: &self.0,
                {
                    error.type = error_type,
                    delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                    http.request.resend_count = number - 1,
                },
                "sent again after a delay",
            );
        });
    }

    /// The generation that is waited for has come further.
    pub(in crate::client) fn changed(&self, status: &GenerationStatus) {
        let status = status.state.as_str();
        info!(target: TARGET, parent: &self.0, { promptarium.job.status = status }, "the job changed");
    }
}

fn name(route: &Route) -> String {
    // A method that the conventions do not know could be any text.
    let method = match method(&route.method) {
        OTHER => "HTTP",
        known => known,
    };
    template(route).map_or_else(|| method.to_owned(), |template| format!("{method} {template}"))
}

const OTHER: &str = "_OTHER";

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

/// The path with its ids left open. That of a raw call is the caller's own text with
/// ids in it, and what is outside of the API has none.
fn template(route: &Route) -> Option<&str> {
    match route.template {
        Cow::Borrowed(template) => template.starts_with('/').then_some(template),
        Cow::Owned(_) => None,
    }
}

/// Without the brackets that an IPv6 address has in a URL.
fn host(url: &Url) -> Option<&str> {
    url.host_str().map(|host| host.trim_matches(['[', ']']))
}

/// Calls `tell` with a status, or the kind of an error, as one word.
fn with_type(outcome: Result<StatusCode, &Error>, tell: impl FnOnce(&str)) {
    match outcome {
        Ok(status) => tell(status.as_str()),
        Err(error) => match (error.kind(), error.status()) {
            (ErrorKind::Refused, Some(status)) => tell(status.as_str()),
            (kind, _) => tell(word(kind)),
        },
    }
}

const fn word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Config => "config",
        ErrorKind::Input => "input",
        ErrorKind::Connect => "connect",
        ErrorKind::Timeout => "timeout",
        ErrorKind::Transport => "transport",
        ErrorKind::Redirect => "redirect",
        ErrorKind::Refused => "refused",
        ErrorKind::Decode => "decode",
        ErrorKind::TooLarge => "too_large",
        ErrorKind::PaginationLoop => "pagination_loop",
        ErrorKind::JobFailed => "job_failed",
        ErrorKind::OutputNotFound => "output_not_found",
        ErrorKind::WaitTimeout => "deadline",
        ErrorKind::NotReplayable => "one_shot",
    }
}
