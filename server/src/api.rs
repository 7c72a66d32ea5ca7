//! The handlers, one file per resource: each decodes, validates, calls the store once, and
//! encodes.
//!
//! A handler returns a response or an error; it knows neither sockets nor the statuses of
//! errors. The order of checks is the same everywhere: the form of body and query, then what
//! the path names, then what the fields refer to.

pub(crate) mod prompts;
pub(crate) mod vaults;

pub(crate) mod generations;
pub(crate) mod memberships;
pub(crate) mod uploads;

pub(crate) mod assets;

pub(crate) mod health;
pub(crate) mod openapi;

pub(crate) mod view;

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use promptarium::{PromptId, VaultId, VaultPromptId};

use self::health::Readiness;
use self::openapi::Document;
use crate::blobs::asset_url::Assets;
use crate::blobs::upload_slot::Slots;
use crate::blobs::{AssetName, Blobs};
use crate::domain::Caller;
use crate::generate::submit::Submitter;
use crate::http::body::{BodyReadError, RequestBody};
use crate::http::cursor::Cursors;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::store::Store;

/// What the handlers need.
#[derive(Clone)]
pub struct Api {
    /// The store of prompts, vaults, keys and jobs.
    pub store: Arc<dyn Store>,
    /// The prefix of the provider's model ids.
    pub model_namespace: Box<str>,
    /// Signs the cursors of lists.
    pub cursors: Cursors,
    /// Submits generations.
    pub submitter: Submitter,
    /// The base URL of the API (EN-01).
    pub base_url: Arc<str>,
    /// The object store of uploads and outputs.
    pub blobs: Blobs,
    /// The URLs of assets.
    pub assets: Assets,
    /// Signs and verifies upload slots.
    pub slots: Slots,
    /// Whether the server wants requests.
    pub readiness: Readiness,
    /// The OpenAPI document.
    pub openapi: Document,
}

/// A request that need not have a key.
#[derive(Debug)]
pub struct Request<'a> {
    /// The parameters in the path.
    pub params: PathParams<'a>,
    /// Method, URI and headers.
    pub parts: &'a Parts,
    /// The body, not yet read.
    pub body: &'a mut RequestBody,
}

impl Request<'_> {
    /// The asset that the path names.
    fn file(&self) -> Option<AssetName> {
        AssetName::parse(&self.params.text(0)?)
    }
}

/// A request of an authenticated caller.
#[derive(Debug)]
pub struct AuthedRequest<'a> {
    /// The account, key and scopes.
    pub caller: Caller,
    /// The parameters in the path.
    pub params: PathParams<'a>,
    /// Method, URI and headers.
    pub parts: &'a Parts,
    /// The body, not yet read.
    pub body: &'a mut RequestBody,
}

impl AuthedRequest<'_> {
    /// The JSON body.
    async fn json(&mut self) -> Result<Bytes, BodyReadError> {
        self.body.read_json(&self.parts.headers).await
    }

    /// The prompt that the path names.
    fn prompt(&self) -> Result<PromptId, ApiError> {
        self.params.id(0).map(PromptId::new).ok_or(ApiError::NotFound)
    }

    /// The vault that the path names.
    fn vault(&self) -> Result<VaultId, ApiError> {
        self.params.id(0).map(VaultId::new).ok_or(ApiError::NotFound)
    }

    /// The vault and the membership that the path names.
    fn membership(&self) -> Result<(VaultId, VaultPromptId), ApiError> {
        let membership = self.params.id(1).map(VaultPromptId::new).ok_or(ApiError::NotFound)?;
        Ok((self.vault()?, membership))
    }

    /// The `clientJobId` that the path names.
    fn job(&self) -> Result<Cow<'_, str>, ApiError> {
        self.params.text(0).ok_or(ApiError::NotFound)
    }
}
