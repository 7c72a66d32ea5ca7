//! The handlers, one file per resource: each decodes, validates, calls the store once, and
//! encodes.
//!
//! A handler returns a response or an error; it knows neither sockets nor the statuses of
//! errors. The order of checks is the same everywhere: the form of body and query, then what
//! the path names, then what the fields refer to.

pub(crate) mod assets;
pub(crate) mod generations;
pub(crate) mod health;
pub(crate) mod memberships;
pub(crate) mod openapi;
pub(crate) mod prompts;
pub(crate) mod uploads;
pub(crate) mod vaults;
pub(crate) mod view;

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use hyper::body::Incoming;

use self::health::Readiness;
use self::openapi::Document;
use crate::blobs::asset_url::Assets;
use crate::blobs::upload_slot::Slots;
use crate::blobs::{AssetName, Blobs};
use crate::generate::submit::Submitter;
use crate::http::body::{BodyReadError, read_json};
use crate::http::cursor::Cursors;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::http::response::Response;
use crate::store::Store;

/// What a handler returns.
pub(crate) type HandlerResult = Result<Response, ApiError>;

/// What the handlers need.
#[derive(Clone)]
pub struct Api {
    pub store: Arc<dyn Store>,
    /// The prefix of the provider's model ids.
    pub model_namespace: Box<str>,
    pub cursors: Cursors,
    pub submitter: Submitter,
    /// The base URL of the API (EN-01).
    pub base_url: Arc<str>,
    pub blobs: Blobs,
    pub assets: Assets,
    pub slots: Slots,
    /// Whether the server wants requests.
    pub readiness: Readiness,
    pub openapi: Document,
}

/// A request, as its handler gets it.
#[derive(Debug)]
pub struct Request<'a> {
    pub params: PathParams<'a>,
    pub parts: &'a Parts,
    pub body: &'a mut Incoming,
}

impl Request<'_> {
    /// The JSON body.
    async fn json(&mut self) -> Result<Bytes, BodyReadError> {
        read_json(self.body, &self.parts.headers).await
    }

    /// The id at this index of the path.
    fn id<Id: From<i64>>(&self, index: usize) -> Result<Id, ApiError> {
        self.params.id(index).map(Id::from).ok_or(ApiError::NotFound)
    }

    /// The asset that the path names.
    fn asset(&self) -> Option<AssetName> {
        AssetName::parse(&self.params.text(0)?)
    }
}
