//! The caller's vaults: one method an endpoint, one type a call. What is in a vault
//! has a room of its own.

mod write;

use http::Method;

use super::Error;
use super::call::{Call, Endpoint, sealed::Sealed};
use super::mode::{Async, Bound, Mode};
use super::reply::Reply;
use super::request::Request;
use crate::model::{Deleted, Vault, VaultId};
use crate::path;
pub use write::{CreateVault, UpdateVault, VaultInput};

/// The caller's vaults; made by [`Client::vaults`](crate::Client::vaults).
#[derive(Debug, Clone)]
pub struct Vaults<M = Async> {
    client: Bound<M>,
}

impl<M: Mode> Vaults<M> {
    pub(super) const fn new(client: Bound<M>) -> Self {
        Self { client }
    }

    /// Lists all vaults of the caller, those the service made among them, newest
    /// first (`VA-13` to `VA-15`). One answer holds them all.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// for vault in client.vaults().list().await? {
    ///     println!("{}: {} prompts", vault.name, vault.prompt_count);
    /// }
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn list(&self) -> Call<ListVaults, M> {
        self.client.call(ListVaults)
    }

    /// Makes a vault (`VA-16`), a private one unless told (`VA-19`).
    ///
    /// The name has [`VAULT_NAME_CHARS`](crate::limits::VAULT_NAME_CHARS) characters
    /// (`LI-06`).
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
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn create(&self, name: impl Into<String>) -> Call<CreateVault, M> {
        self.client.call(CreateVault::new(name.into()))
    }

    /// Reads one vault of the caller, whatever its visibility (`VA-21`).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::VaultId;
    /// let vault = client.vaults().get(VaultId::new(3)).await?;
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn get(&self, id: VaultId) -> Call<GetVault, M> {
        self.client.call(GetVault { id })
    }

    /// Changes what is chained, and leaves the rest as it is (`VA-23`). Gives the
    /// whole vault as it is afterwards (`VA-22`).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::VaultId;
    /// let vault = client.vaults().update(VaultId::new(3)).name("Ports").clear_description().await?;
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn update(&self, id: VaultId) -> Call<UpdateVault, M> {
        self.client.call(UpdateVault::new(id))
    }

    /// Deletes a vault for good. Its prompts remain (`VA-26` to `VA-28`).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::VaultId;
    /// client.vaults().delete(VaultId::new(3)).await?;
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn delete(&self, id: VaultId) -> Call<DeleteVault, M> {
        self.client.call(DeleteVault { id })
    }

    /// Copies a public or unlisted vault with all its prompts into the caller's
    /// account (`VA-29` to `VA-34`). Gives the new vault, which is private.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::VaultId;
    /// let copy = client.vaults().fork(VaultId::new(3)).await?;
    /// println!("{} prompts copied", copy.prompt_count);
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn fork(&self, id: VaultId) -> Call<ForkVault, M> {
        self.client.call(ForkVault { id })
    }
}

/// `GET /vaults`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListVaults;

impl Sealed for ListVaults {}

impl Endpoint for ListVaults {
    type Output = Vec<Vault>;

    fn request(&self) -> Result<Request, Error> {
        Ok(Request::new(Method::GET, path::VAULTS, path::VAULTS))
    }

    fn read(reply: Reply) -> Result<Vec<Vault>, Error> {
        reply.data()
    }
}

/// `GET /vaults/{vaultId}`.
#[derive(Debug, Clone)]
pub struct GetVault {
    id: VaultId,
}

impl Sealed for GetVault {}

impl Endpoint for GetVault {
    type Output = Vault;

    fn request(&self) -> Result<Request, Error> {
        Ok(Request::new(Method::GET, path::VAULT, path::vault(self.id)))
    }

    fn read(reply: Reply) -> Result<Vault, Error> {
        reply.data()
    }
}

/// `DELETE /vaults/{vaultId}`.
#[derive(Debug, Clone)]
pub struct DeleteVault {
    id: VaultId,
}

impl Sealed for DeleteVault {}

impl Endpoint for DeleteVault {
    type Output = Deleted<VaultId>;

    fn request(&self) -> Result<Request, Error> {
        Ok(Request::new(Method::DELETE, path::VAULT, path::vault(self.id)))
    }

    fn read(reply: Reply) -> Result<Deleted<VaultId>, Error> {
        reply.data()
    }
}

/// `POST /vaults/{vaultId}/fork`.
#[derive(Debug, Clone)]
pub struct ForkVault {
    id: VaultId,
}

impl Sealed for ForkVault {}

impl Endpoint for ForkVault {
    type Output = Vault;

    fn request(&self) -> Result<Request, Error> {
        Ok(Request::new(Method::POST, path::VAULT_FORK, path::vault_fork(self.id)))
    }

    fn read(reply: Reply) -> Result<Vault, Error> {
        reply.data()
    }
}
