//! The account's vaults: one method and one call for each endpoint. The prompts in a vault are
//! in `contents`.

use http::Method;
use serde::Serialize;

use super::Client;
use super::call::{endpoint, optional};
use super::request::Request;
use crate::model::{Deleted, Vault, VaultId, Visibility};
use crate::path;

/// The account's vaults; returned by [`Client::vaults`].
#[derive(Debug, Clone)]
pub struct Vaults {
    pub(super) client: Client,
}

impl Vaults {
    /// Lists all vaults of the account, the system vaults included, newest first. This list has
    /// no pages.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// for vault in client.vaults().list().await? {
    ///     println!("{}: {} prompts", vault.name, vault.prompt_count);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self) -> ListVaults {
        ListVaults { context: self.client.context() }
    }

    /// Creates a vault; it is private unless [`visibility`](CreateVault::visibility) is set.
    ///
    /// The name has [`VAULT_NAME_CHARS`](crate::limits::VAULT_NAME_CHARS) characters.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// use promptarium::Visibility;
    ///
    /// let vault = client
    ///     .vaults()
    ///     .create("Harbours")
    ///     .description("Boats, cranes, gulls")
    ///     .visibility(Visibility::Unlisted)
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn create(&self, name: impl Into<String>) -> CreateVault {
        let body = VaultFields { name: Some(name.into()), ..VaultFields::default() };
        CreateVault { context: self.client.context(), body }
    }

    /// Reads one vault of the account.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::VaultId;
    /// let vault = client.vaults().get(VaultId::new(3)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(&self, id: VaultId) -> GetVault {
        GetVault { context: self.client.context(), id }
    }

    /// Reads one vault; `None` if the service does not have it.
    pub fn get_opt(&self, id: VaultId) -> GetVaultOpt {
        GetVaultOpt { context: self.client.context(), id }
    }

    /// Changes the fields that are set, and no others. Returns the whole vault as it is
    /// afterwards.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::VaultId;
    /// let vault = client.vaults().update(VaultId::new(3)).name("Ports").clear_description().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(&self, id: VaultId) -> UpdateVault {
        UpdateVault { context: self.client.context(), id, body: VaultFields::default() }
    }

    /// Deletes a vault permanently. Its prompts remain.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::VaultId;
    /// client.vaults().delete(VaultId::new(3)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(&self, id: VaultId) -> DeleteVault {
        DeleteVault { context: self.client.context(), id }
    }

    /// Copies a public or unlisted vault with all its prompts into the account. Returns the new
    /// vault, which is private.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::VaultId;
    /// let copy = client.vaults().fork(VaultId::new(3)).await?;
    /// println!("{} prompts copied", copy.prompt_count);
    /// # Ok(())
    /// # }
    /// ```
    pub fn fork(&self, id: VaultId) -> ForkVault {
        ForkVault { context: self.client.context(), id }
    }
}

endpoint! {
    /// Lists all vaults: `GET /vaults`; returned by [`Vaults::list`].
    ListVaults {} -> Vec<Vault>,
    |_| Ok(Request::new(Method::GET, path::VAULTS, path::VAULTS))
}

endpoint! {
    /// Reads one vault: `GET /vaults/{vaultId}`; returned by [`Vaults::get`].
    GetVault { id: VaultId } -> Vault,
    |call| Ok(Request::new(Method::GET, path::VAULT, path::vault(call.id)))
}

endpoint! {
    /// Reads one vault that may be absent: `GET /vaults/{vaultId}`; returned by
    /// [`Vaults::get_opt`].
    GetVaultOpt { id: VaultId } -> Option<Vault>,
    |call| Ok(Request::new(Method::GET, path::VAULT, path::vault(call.id))),
    |_, reply| reply.data_if_found()
}

endpoint! {
    /// Deletes a vault: `DELETE /vaults/{vaultId}`; returned by [`Vaults::delete`].
    DeleteVault { id: VaultId } -> Deleted<VaultId>,
    |call| Ok(Request::new(Method::DELETE, path::VAULT, path::vault(call.id))),
    |call, reply| reply.data_or(|| Deleted { id: call.id, deleted: true })
}

endpoint! {
    /// Copies a vault: `POST /vaults/{vaultId}/fork`; returned by [`Vaults::fork`].
    ForkVault { id: VaultId } -> Vault,
    |call| Ok(Request::new(Method::POST, path::VAULT_FORK, path::vault_fork(call.id)))
}

#[derive(Debug, Clone, Default, Serialize)]
struct VaultFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// `Some(None)` is `null`, which clears it.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visibility: Option<Visibility>,
}

/// The setters of [`VaultFields`] that create and update share.
macro_rules! fields {
    () => {
        optional! {
            /// Who may see the vault.
            visibility, set_visibility => body.visibility: Visibility;
        }

        /// The description, of at most
        /// [`VAULT_DESCRIPTION_CHARS_MAX`](crate::limits::VAULT_DESCRIPTION_CHARS_MAX)
        /// characters.
        pub fn description(mut self, description: impl Into<String>) -> Self {
            self.body.description = Some(Some(description.into()));
            self
        }

        /// As [`description`](Self::description), if there is a value. `None` changes nothing.
        pub fn set_description(self, description: Option<impl Into<String>>) -> Self {
            match description {
                Some(description) => self.description(description),
                None => self,
            }
        }
    };
}

endpoint! {
    /// Creates a vault: `POST /vaults`; returned by [`Vaults::create`].
    CreateVault { body: VaultFields } -> Vault,
    |call| Request::new(Method::POST, path::VAULTS, path::VAULTS).json(&call.body)
}

/// Fields of the vault.
impl CreateVault {
    fields!();
}

endpoint! {
    /// Changes a vault: `PATCH /vaults/{vaultId}`; returned by [`Vaults::update`].
    UpdateVault { id: VaultId, body: VaultFields } -> Vault,
    |call| Request::new(Method::PATCH, path::VAULT, path::vault(call.id)).json(&call.body)
}

/// Fields to change.
impl UpdateVault {
    optional! {
        /// A new name of [`VAULT_NAME_CHARS`](crate::limits::VAULT_NAME_CHARS) characters.
        name, set_name => body.name: String;
    }

    /// Removes the description.
    pub fn clear_description(mut self) -> Self {
        self.body.description = Some(None);
        self
    }

    fields!();
}
