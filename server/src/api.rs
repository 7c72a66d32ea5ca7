//! The endpoints: each decodes, checks, makes one call to the store, and encodes.
//!
//! A handler gets a [`Call`] whose caller is proved, and gives an answer or a
//! failure; it knows neither sockets nor statuses of failures. Checks run in one
//! order everywhere: the form of body and query first, then what the path names,
//! then what the fields refer to.

pub mod prompts;
pub mod vaults;

pub mod contents;
pub mod generations;
pub mod uploads;

pub mod assets;

pub mod health;
pub mod keys;
pub mod openapi;

pub mod address;
pub mod kept;
pub mod view;

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use promptarium::{PromptId, VaultId, VaultPromptId};

use self::kept::KeptLists;
use self::openapi::Document;
use crate::blobs::asset_url::Assets;
use crate::blobs::upload_slot::Slots;
use crate::blobs::{AssetName, Blobs};
use crate::domain::Caller;
use crate::generate::intake::Intake;
use crate::http::body::{BodyRefusal, RequestBody};
use crate::http::cursor::Cursors;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::http::readiness::Readiness;
use crate::store::Store;

/// What all endpoints work with.
#[derive(Clone)]
pub struct Api {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// The prefix of the provider's models.
    pub model_namespace: Box<str>,
    /// Signs the cursors of lists.
    pub cursors: Cursors,
    /// Takes generations on.
    pub intake: Intake,
    /// The address that all paths of the API are below (EN-01).
    pub base_url: Arc<str>,
    /// Where files are kept.
    pub blobs: Blobs,
    /// The addresses of files.
    pub assets: Assets,
    /// Leave to upload.
    pub slots: Slots,
    /// Whether this server wants requests.
    pub readiness: Readiness,
    /// Lists of vaults as they were answered last.
    pub kept_lists: KeptLists,
    /// The service described by itself.
    pub openapi: Document,
}

/// One request of whoever it may be.
#[derive(Debug)]
pub struct Visit<'a> {
    /// The parameters in the path.
    pub params: PathParams<'a>,
    /// Method, address and headers.
    pub parts: &'a Parts,
    /// The body, not yet read.
    pub body: &'a mut RequestBody,
}

impl Visit<'_> {
    /// The file that the path names.
    fn file(&self) -> Option<AssetName> {
        AssetName::parse(&self.params.text(0)?)
    }
}

/// One request of a proved caller.
#[derive(Debug)]
pub struct Call<'a> {
    /// Who is asking.
    pub caller: Caller,
    /// The parameters in the path.
    pub params: PathParams<'a>,
    /// Method, address and headers.
    pub parts: &'a Parts,
    /// The body, not yet read.
    pub body: &'a mut RequestBody,
}

impl Call<'_> {
    /// The bytes of the JSON body.
    async fn json(&mut self) -> Result<Bytes, BodyRefusal> {
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

    /// The membership that the path names, with its vault.
    fn membership(&self) -> Result<(VaultId, VaultPromptId), ApiError> {
        let membership = self.params.id(1).map(VaultPromptId::new).ok_or(ApiError::NotFound)?;
        Ok((self.vault()?, membership))
    }

    /// The name of the job that the path names.
    fn job(&self) -> Result<Cow<'_, str>, ApiError> {
        self.params.text(0).ok_or(ApiError::NotFound)
    }
}
