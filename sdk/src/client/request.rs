//! A request as a plain value: what a call says, before anything is sent.
//!
//! It knows neither the base URL nor the key, and does no I/O.

use std::borrow::Cow;

use bytes::Bytes;
use http::Method;
use serde::Serialize;

use super::Error;

/// What kind of call it is: the same for every id, fit for errors and logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) template: &'static str,
}

/// One request, relative to a base URL.
#[derive(Debug, Clone)]
pub struct Request {
    pub(super) route: Route,
    pub(super) path: Cow<'static, str>,
    pub(super) query: Vec<(&'static str, String)>,
    /// JSON; its content type goes without saying.
    pub(super) body: Option<Bytes>,
}

impl Request {
    /// A request to `path`, which is `template` with its ids filled in.
    pub(super) fn new(
        method: Method,
        template: &'static str,
        path: impl Into<Cow<'static, str>>,
    ) -> Self {
        let route = Route { method, template };
        Self { route, path: path.into(), query: Vec::new(), body: None }
    }

    /// Adds a query parameter, if there is a value.
    pub(super) fn query(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query.extend(value.map(|value| (name, value.to_string())));
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
