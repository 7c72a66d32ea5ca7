//! A request as a plain value, relative to the base URL and without the key.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use http::Method;
use serde::Serialize;

use super::retry::Resend;
use crate::model::JobId;

/// Method and path template of a call, for errors and logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) template: Cow<'static, str>,
}

impl Route {
    pub(super) const UPLOAD: &str = "{uploadUrl}";

    pub(super) const ASSET: &str = "{url}";

    pub(super) fn new(method: Method, template: impl Into<Cow<'static, str>>) -> Self {
        Self { method, template: template.into() }
    }
}

/// One request, relative to a base URL. `Debug` shows neither the values of the query nor the
/// body, which may contain secrets.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) route: Route,
    pub(super) path: Cow<'static, str>,
    pub(super) query: Vec<(Cow<'static, str>, String)>,
    /// JSON.
    pub(super) body: Option<Bytes>,
    /// The effect of sending it twice.
    pub(super) resend: Resend,
    pub(super) job: Option<JobId>,
    /// Why it cannot be sent.
    pub(super) invalid: Option<String>,
}

impl Request {
    /// A request to `path`, which is `template` with its ids filled in.
    pub(super) fn new(
        method: Method,
        template: impl Into<Cow<'static, str>>,
        path: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (resend, route) = (Resend::of(&method), Route::new(method, template));
        let (path, query) = (path.into(), Vec::new());
        Self { route, path, query, body: None, resend, job: None, invalid: None }
    }

    /// Marks the request as idempotent, so that it is retried as a `GET` is.
    pub(super) const fn idempotent(mut self) -> Self {
        self.resend = Resend::Idempotent;
        self
    }

    pub(super) fn job(mut self, job: JobId) -> Self {
        self.job = Some(job);
        self
    }

    pub(super) fn query(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: Option<impl ToString>,
    ) -> Self {
        self.query.extend(value.map(|value| (name.into(), value.to_string())));
        self
    }

    pub(super) fn json(mut self, body: &impl Serialize) -> Self {
        match serde_json::to_vec(body) {
            Ok(bytes) => self.body = Some(bytes.into()),
            Err(error) => {
                let text = format!("the body of the request cannot be serialized: {error}");
                self.invalid = Some(text);
            }
        }
        self
    }

    /// Makes sending fail with this text, if there is one.
    pub(super) fn invalid_if(mut self, invalid: Option<String>) -> Self {
        self.invalid = self.invalid.or(invalid);
        self
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let query: Vec<_> = self.query.iter().map(|(name, _)| name).collect();
        f.debug_struct("Request")
            .field("route", &self.route)
            .field("query", &query)
            .finish_non_exhaustive()
    }
}
