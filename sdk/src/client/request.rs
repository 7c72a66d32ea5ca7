//! A request as a plain value: what a call says, before anything is sent.
//!
//! It knows neither the base URL nor the key, and does no I/O.

use std::borrow::Cow;

use bytes::Bytes;
use http::Method;
use serde::Serialize;

use super::Error;
use super::retry::Resend;
use crate::model::JobId;

/// What kind of call it is: the same for every id, fit for errors and logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) template: Cow<'static, str>,
}

impl Route {
    pub(super) fn new(method: Method, template: impl Into<Cow<'static, str>>) -> Self {
        Self { method, template: template.into() }
    }
}

/// One request, relative to a base URL.
#[derive(Debug, Clone)]
pub struct Request {
    pub(super) route: Route,
    pub(super) path: Cow<'static, str>,
    pub(super) query: Vec<(Cow<'static, str>, String)>,
    /// JSON; its content type goes without saying.
    pub(super) body: Option<Bytes>,
    /// What sending it twice would do.
    pub(super) resend: Resend,
    /// The caller's own key, by which the service knows a request that comes again.
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

    /// The rules say that sending it twice does no more than sending it once.
    pub(super) const fn harmless(mut self) -> Self {
        self.resend = Resend::Harmless;
        self
    }

    /// The service knows it again by the id of its job, so that twice is once.
    pub(super) fn keyed(mut self, job: JobId) -> Self {
        self.job = Some(job);
        self.harmless()
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

    /// Adds a JSON body.
    pub(super) fn json(mut self, body: &impl Serialize) -> Result<Self, Error> {
        match serde_json::to_vec(body) {
            Ok(bytes) => {
                self.body = Some(bytes.into());
                Ok(self)
            }
            Err(source) => Err(Error::unwritable(self.route, source)),
        }
    }
}
