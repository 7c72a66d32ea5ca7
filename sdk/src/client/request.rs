//! A request as a plain value, relative to the base URL and without the key.

use std::borrow::Cow;

use bytes::Bytes;
use http::Method;
use serde::Serialize;
use serde_json::Value;

use super::Error;
use super::retry::Resend;
use crate::model::JobId;

/// Method and path template of a call, for errors and logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) template: Cow<'static, str>,
}

impl Route {
    /// The template of an upload to a storage.
    pub(super) const UPLOAD: &str = "{uploadUrl}";

    /// The template of an asset.
    pub(super) const ASSET: &str = "{url}";

    pub(super) fn new(method: Method, template: impl Into<Cow<'static, str>>) -> Self {
        Self { method, template: template.into() }
    }
}

/// One request, relative to a base URL.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) route: Route,
    pub(super) path: Cow<'static, str>,
    pub(super) query: Vec<(Cow<'static, str>, String)>,
    /// JSON.
    pub(super) body: Option<Bytes>,
    /// The effect of sending it twice.
    pub(super) resend: Resend,
    /// The id of the job that it creates.
    pub(super) job: Option<JobId>,
}

impl Request {
    /// A request to `path`, which is `template` with its ids filled in.
    pub(super) fn new(
        method: Method,
        template: impl Into<Cow<'static, str>>,
        path: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (resend, route) = (Resend::of(&method), Route::new(method, template));
        Self { route, path: path.into(), query: Vec::new(), body: None, resend, job: None }
    }

    /// Marks the request as idempotent, so that it is retried as a `GET` is.
    pub(super) const fn idempotent(mut self) -> Self {
        self.resend = Resend::Idempotent;
        self
    }

    /// Names the job that the request creates, for errors.
    pub(super) fn job(mut self, job: JobId) -> Self {
        self.job = Some(job);
        self
    }

    /// Adds a query parameter, if there is a value.
    pub(super) fn query(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: Option<impl ToString>,
    ) -> Self {
        self.query.extend(value.map(|value| (name.into(), value.to_string())));
        self
    }

    /// Adds this JSON as body.
    pub(super) fn value(mut self, body: &Value) -> Self {
        self.body = Some(body.to_string().into());
        self
    }

    /// Adds a JSON body.
    pub(super) fn json(mut self, body: &impl Serialize) -> Result<Self, Error> {
        match serde_json::to_vec(body) {
            Ok(bytes) => {
                self.body = Some(bytes.into());
                Ok(self)
            }
            Err(source) => Err(Error::serialize(source).of(self.route, None)),
        }
    }
}
