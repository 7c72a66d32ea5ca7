//! Creating and updating a vault.

use http::Method;
use serde::Serialize;

use crate::client::Error;
use crate::client::call::{Call, Endpoint, sealed::Sealed};
use crate::client::reply::Reply;
use crate::client::request::Request;
use crate::model::{Change, Vault, VaultId, Visibility};
use crate::path;

/// What create and update take alike.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Fields {
    #[serde(skip_serializing_if = "Change::is_leave")]
    description: Change<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visibility: Option<Visibility>,
}

/// A call that writes a vault: [`CreateVault`] or [`UpdateVault`].
pub trait VaultInput: Endpoint {
    #[doc(hidden)]
    fn fields(&mut self) -> &mut Fields;
}

/// What creating and updating a vault take alike.
impl<E: VaultInput, M> Call<E, M> {
    /// What the vault is for (`VA-18`, `VA-24`), in at most
    /// [`VAULT_DESCRIPTION_CHARS_MAX`](crate::limits::VAULT_DESCRIPTION_CHARS_MAX)
    /// characters (`LI-07`): text sets it, `None` and [`Change::Clear`] clear it
    /// (`VA-25`).
    pub fn description(mut self, description: impl Into<Change<String>>) -> Self {
        self.endpoint.fields().description = description.into();
        self
    }

    /// Who may see it (`VA-19`).
    pub fn visibility(mut self, visibility: Visibility) -> Self {
        self.endpoint.fields().visibility = Some(visibility);
        self
    }
}

/// `POST /vaults`.
#[derive(Debug, Clone, Serialize)]
pub struct CreateVault {
    name: String,
    #[serde(flatten)]
    fields: Fields,
}

impl CreateVault {
    pub(super) fn new(name: String) -> Self {
        Self { name, fields: Fields::default() }
    }
}

impl Sealed for CreateVault {}

impl VaultInput for CreateVault {
    fn fields(&mut self) -> &mut Fields {
        &mut self.fields
    }
}

impl Endpoint for CreateVault {
    type Output = Vault;

    fn request(&self) -> Result<Request, Error> {
        Request::new(Method::POST, path::VAULTS, path::VAULTS).json(self)
    }

    fn read(reply: Reply) -> Result<Vault, Error> {
        reply.data()
    }
}

/// `PATCH /vaults/{vaultId}`.
#[derive(Debug, Clone, Serialize)]
pub struct UpdateVault {
    #[serde(skip)]
    id: VaultId,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(flatten)]
    fields: Fields,
}

impl UpdateVault {
    pub(super) fn new(id: VaultId) -> Self {
        Self { id, name: None, fields: Fields::default() }
    }
}

impl<M> Call<UpdateVault, M> {
    /// A new name (`VA-24`), of
    /// [`VAULT_NAME_CHARS`](crate::limits::VAULT_NAME_CHARS) characters (`LI-06`).
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.endpoint.name = Some(name.into());
        self
    }

    /// Takes the description away (`VA-25`).
    pub fn clear_description(self) -> Self {
        self.description(Change::Clear)
    }
}

impl Sealed for UpdateVault {}

impl VaultInput for UpdateVault {
    fn fields(&mut self) -> &mut Fields {
        &mut self.fields
    }
}

impl Endpoint for UpdateVault {
    type Output = Vault;

    fn request(&self) -> Result<Request, Error> {
        Request::new(Method::PATCH, path::VAULT, path::vault(self.id)).json(self)
    }

    fn read(reply: Reply) -> Result<Vault, Error> {
        reply.data()
    }
}
