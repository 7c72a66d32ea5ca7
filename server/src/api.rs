//! The endpoints: each decodes, checks, makes one call to the store, and encodes.
//!
//! A handler gets a [`Call`] whose caller is proved, and gives an answer or a
//! failure; it knows neither sockets nor statuses of failures. Checks run in one
//! order everywhere: the form of body and query first, then what the path names,
//! then what the fields refer to.

pub mod prompts;
pub mod vaults;

pub mod contents;
pub mod health;
pub mod keys;

pub mod view;

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use promptarium::{PromptId, VaultId, VaultPromptId};

use crate::body::{BodyRefusal, RequestBody};
use crate::cursor::Cursors;
use crate::error::ApiError;
use crate::readiness::Readiness;
use crate::route::PathIds;
use crate::store::{Caller, Store};

/// What all endpoints work with.
#[derive(Clone)]
pub struct Api {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// The prefix of the provider's models.
    pub model_namespace: Box<str>,
    /// Signs the cursors of lists.
    pub cursors: Cursors,
    /// Whether this server wants requests.
    pub readiness: Readiness,
}

/// One request of a proved caller.
#[derive(Debug)]
pub struct Call<'a> {
    /// Who is asking.
    pub caller: Caller,
    /// The ids in the path.
    pub ids: PathIds,
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
        self.ids[0].map(PromptId::new).ok_or(ApiError::NotFound)
    }

    /// The vault that the path names.
    fn vault(&self) -> Result<VaultId, ApiError> {
        self.ids[0].map(VaultId::new).ok_or(ApiError::NotFound)
    }

    /// The membership that the path names, with its vault.
    fn membership(&self) -> Result<(VaultId, VaultPromptId), ApiError> {
        let membership = self.ids[1].map(VaultPromptId::new).ok_or(ApiError::NotFound)?;
        Ok((self.vault()?, membership))
    }
}
