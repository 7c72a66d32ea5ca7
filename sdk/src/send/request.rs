//! A request as a plain value, relative to the base URL and without the key.

use std::borrow::Cow;

use bytes::Bytes;
use http::Method;
use serde::Serialize;

use crate::error::{Idempotency, Route};
use crate::macros::debug;
use crate::model::JobId;

/// One request, relative to a base URL. `Debug` shows neither the values of the query nor the
/// body, which may contain secrets.
#[derive(Clone)]
pub struct Request {
    pub(crate) route: Route,
    pub(crate) path: Cow<'static, str>,
    pub(crate) query: Vec<(Cow<'static, str>, String)>,
    pub(crate) body: Option<Bytes>,
    pub(crate) idempotency: Idempotency,
    pub(crate) job: Option<JobId>,
    /// The request that tells whether this one was carried out. Then this one costs money, and is
    /// never repeated on suspicion.
    pub(crate) status: Option<Box<Self>>,
    pub(crate) invalid: Option<String>,
}

impl Request {
    /// A request to `path`, which is `template` with its ids filled in.
    pub(crate) fn new(
        method: Method,
        template: impl Into<Cow<'static, str>>,
        path: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (idempotency, route) = (Idempotency::of(&method), Route::new(method, template));
        Self {
            route,
            path: path.into(),
            query: Vec::new(),
            body: None,
            idempotency,
            job: None,
            status: None,
            invalid: None,
        }
    }

    /// Marks that repeating the request has no effect and the same response.
    pub(crate) const fn idempotent(mut self) -> Self {
        self.idempotency = Idempotency::SameResponse;
        self
    }

    pub(crate) fn query(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: Option<impl ToString>,
    ) -> Self {
        self.query.extend(value.map(|value| (name.into(), value.to_string())));
        self
    }

    pub(crate) fn json(mut self, body: &impl Serialize) -> Self {
        match serde_json::to_vec(body) {
            Ok(bytes) => self.body = Some(bytes.into()),
            Err(error) => {
                let text = format!("the body of the request cannot be serialized: {error}");
                self.invalid = Some(text);
            }
        }
        self
    }
}

debug!(
    Request,
    |it| route = it.route,
    query = it.query.iter().map(|(name, _)| name).collect::<Vec<_>>()
);
