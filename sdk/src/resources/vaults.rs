//! The account's vaults: one method and one call for each endpoint. The prompts in a vault are
//! in `contents`.

use http::Method;

use super::Vaults;
use crate::call::{Call, Endpoint, Prepared, Write};
use crate::macros::{body, optional};
use crate::model::{Deleted, ExtraFields, Vault, VaultId, Visibility};
use crate::path;
use crate::send::reply::Reply;
use crate::send::request::Request;

impl Vaults {
    /// Lists all vaults of the account, the system vaults included, newest first. This list has
    /// no pages.
    pub fn list(&self) -> Call<Vec<Vault>> {
        self.client.call(Request::new(Method::GET, path::VAULTS, path::VAULTS))
    }

    /// Creates a vault; it is private unless [`visibility`](CreateVault::visibility) is set.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let vault = client.vaults().create("Harbours").visibility(Visibility::Unlisted).await?;
    /// # Ok(()) }
    /// ```
    pub fn create(&self, name: impl Into<String>) -> CreateVault {
        let fields = VaultFields { name: Some(name.into()), ..VaultFields::default() };
        self.client.write(Request::new(Method::POST, path::VAULTS, path::VAULTS), fields)
    }

    /// Reads one vault of the account.
    pub fn get(&self, id: VaultId) -> Call<Vault> {
        self.client.call(Request::new(Method::GET, path::VAULT, path::vault(id)))
    }

    /// Reads one vault; `None` if the service does not have it.
    pub fn get_opt(&self, id: VaultId) -> Call<Option<Vault>> {
        let request = Request::new(Method::GET, path::VAULT, path::vault(id));
        Call::new(self.client.context(), request, Reply::data_if_found)
    }

    /// Changes the fields that are set, and no others. Returns the whole vault as it is
    /// afterwards.
    pub fn update(&self, id: VaultId) -> UpdateVault {
        let request = Request::new(Method::PATCH, path::VAULT, path::vault(id));
        self.client.write(request, VaultFields::default())
    }

    /// Deletes a vault permanently. Its prompts remain.
    pub fn delete(&self, id: VaultId) -> Call<Deleted<VaultId>> {
        let request = Request::new(Method::DELETE, path::VAULT, path::vault(id));
        Call::new(self.client.context(), request, move |reply| {
            reply.data_or(Deleted { id, deleted: true, extra: ExtraFields::new() })
        })
    }

    /// Copies a public or unlisted vault with all its prompts into the account. Returns the new
    /// vault, which is private.
    pub fn fork(&self, id: VaultId) -> ForkVault {
        Call::of(self.client.context(), VaultToFork(id))
    }
}

body! {
    /// Fields of a vault.
    pub VaultFields {
        name: String,
        description: Option<String>,
        visibility: Visibility,
    }
}

/// A vault to copy.
#[derive(Debug, Clone)]
pub struct VaultToFork(pub(crate) VaultId);

/// Creates a vault: `POST /vaults`; returned by [`Vaults::create`].
pub type CreateVault = Call<Vault, Write<VaultFields>>;

/// Changes a vault: `PATCH /vaults/{vaultId}`; returned by [`Vaults::update`].
pub type UpdateVault = Call<Vault, Write<VaultFields, VaultId>>;

/// Copies a vault: `POST /vaults/{vaultId}/fork`; returned by [`Vaults::fork`].
pub type ForkVault = Call<Vault, VaultToFork>;

/// Fields of a vault; [`limits`](crate::limits) has the limits of each.
impl<Id> Call<Vault, Write<VaultFields, Id>> {
    optional! {
        /// Who may see the vault.
        visibility, set_visibility => builder.fields.visibility: Visibility;
        /// The description.
        description, set_description => builder.fields.description: String;
    }
}

/// Fields to change.
impl Call<Vault, Write<VaultFields, VaultId>> {
    optional! {
        /// A new name.
        name, set_name => builder.fields.name: String;
    }

    /// Removes the description.
    pub fn clear_description(mut self) -> Self {
        self.builder.fields.description = Some(None);
        self
    }
}

impl Endpoint<Vault> for VaultToFork {
    fn prepare(self) -> Prepared<Vault> {
        let request = Request::new(Method::POST, path::VAULT_FORK, path::vault_fork(self.0));
        Prepared::new(request, Reply::data)
    }
}
