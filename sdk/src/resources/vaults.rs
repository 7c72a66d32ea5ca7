//! The account's vaults and the prompts in them: one method and one call for each endpoint.

use http::Method;
use serde_json::json;

use super::Vaults;
use crate::call::{Call, Endpoint, Prepared, Write};
use crate::client::Client;
use crate::macros::{body, optional};
use crate::model::{
    AddedPrompts, Deleted, ExtraFields, MovedPrompt, PinState, PromptId, RemovedPrompt, Vault,
    VaultId, VaultPrompt, VaultPromptId, Visibility,
};
use crate::path;
use crate::send::reply::RawResponse;
use crate::send::request::Request;

impl Vaults {
    /// Lists all vaults of the account, the system vaults included, newest first, without pages.
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
        Call::new(self.client.context(), request, RawResponse::data_if_found)
    }

    /// Changes the fields that are set, and no others. Returns the whole changed vault.
    pub fn update(&self, id: VaultId) -> UpdateVault {
        let request = Request::new(Method::PATCH, path::VAULT, path::vault(id));
        self.client.write(request, VaultFields::default())
    }

    /// Deletes a vault permanently. Its prompts remain.
    pub fn delete(&self, id: VaultId) -> Call<Deleted<VaultId>> {
        let request = Request::new(Method::DELETE, path::VAULT, path::vault(id));
        self.client.call_or(request, Deleted { id, deleted: true, extra: ExtraFields::new() })
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
        Prepared::new(request, RawResponse::data)
    }
}

impl Client {
    /// One vault and the prompts in it. Sends nothing.
    pub fn vault(&self, id: VaultId) -> VaultContents {
        VaultContents { client: self.clone(), vault: id }
    }
}

/// The prompts in one vault; returned by [`Client::vault`].
///
/// To remove, move and pin, give the id of the membership (`vaultPromptId`), which
/// [`list`](Self::list) and [`find`](Self::find) return.
#[derive(Debug, Clone)]
pub struct VaultContents {
    client: Client,
    vault: VaultId,
}

impl VaultContents {
    /// Lists the prompts in the vault: pinned prompts first, then the newest, without pages.
    pub fn list(&self) -> Call<Vec<VaultPrompt>> {
        self.client.call(self.request(Method::GET))
    }

    /// Finds the membership of a prompt, which pinning, moving and removing ask for; `None` if
    /// the prompt is not in the vault. It downloads the whole list of the vault.
    pub fn find(&self, prompt: PromptId) -> Call<Option<VaultPrompt>> {
        Call::new(self.client.context(), self.request(Method::GET), move |reply| {
            let members: Vec<VaultPrompt> = reply.data()?;
            Ok(members.into_iter().find(|member| member.id == prompt))
        })
    }

    /// Adds prompts of the account, [`ADDED_PROMPTS`](crate::limits::ADDED_PROMPTS) at a time.
    pub fn add(&self, prompts: impl IntoIterator<Item = PromptId>) -> Call<AddedPrompts> {
        let prompts: Vec<_> = prompts.into_iter().collect();
        self.client.call(self.request(Method::POST).json(&json!({ "promptIds": prompts })))
    }

    /// Removes a prompt from the vault. The prompt itself remains.
    pub fn remove(&self, membership: VaultPromptId) -> Call<RemovedPrompt> {
        let path = path::vault_prompt(self.vault, membership);
        let request = Request::new(Method::DELETE, path::VAULT_PROMPT, path);
        let removed =
            RemovedPrompt { vault_prompt_id: membership, removed: true, extra: ExtraFields::new() };
        self.client.call_or(request, removed)
    }

    /// Moves a prompt to another vault of the account, atomically, as a new membership.
    pub fn move_to(&self, membership: VaultPromptId, target: VaultId) -> Call<MovedPrompt> {
        let path = path::vault_prompt_move(self.vault, membership);
        let request = Request::new(Method::POST, path::VAULT_PROMPT_MOVE, path);
        self.client.call(request.json(&json!({ "targetVaultId": target })))
    }

    /// Pins a prompt to the top of the vault. Idempotent.
    pub fn pin(&self, membership: VaultPromptId) -> Call<PinState> {
        self.set_pinned(membership, true)
    }

    /// Unpins a prompt. Idempotent.
    pub fn unpin(&self, membership: VaultPromptId) -> Call<PinState> {
        self.set_pinned(membership, false)
    }

    fn request(&self, method: Method) -> Request {
        Request::new(method, path::VAULT_PROMPTS, path::vault_prompts(self.vault))
    }

    fn set_pinned(&self, membership: VaultPromptId, is_pinned: bool) -> Call<PinState> {
        let method = if is_pinned { Method::POST } else { Method::DELETE };
        let path = path::vault_prompt_pin(self.vault, membership);
        let request = Request::new(method, path::VAULT_PROMPT_PIN, path).idempotent();
        let state = PinState { vault_prompt_id: membership, is_pinned, extra: ExtraFields::new() };
        self.client.call_or(request, state)
    }
}
