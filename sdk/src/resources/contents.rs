//! The prompts in one vault: list, find, add, remove, move, pin.

use http::Method;
use serde_json::json;

use crate::call::Call;
use crate::client::Client;
use crate::model::{
    AddedPrompts, ExtraFields, MovedPrompt, PinState, PromptId, RemovedPrompt, VaultId,
    VaultPrompt, VaultPromptId,
};
use crate::path;
use crate::send::request::Request;

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
    pub(super) client: Client,
    vault: VaultId,
}

impl VaultContents {
    /// Lists the prompts in the vault: pinned prompts first, then the newest members. This list
    /// has no pages.
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
        Call::new(self.client.context(), request, move |reply| reply.data_or(removed.clone()))
    }

    /// Moves a prompt to another vault of the account, atomically. The response has its new
    /// membership.
    pub fn move_to(&self, membership: VaultPromptId, target: VaultId) -> Call<MovedPrompt> {
        let path = path::vault_prompt_move(self.vault, membership);
        let request = Request::new(Method::POST, path::VAULT_PROMPT_MOVE, path);
        self.client.call(request.json(&json!({ "targetVaultId": target })))
    }

    /// Pins a prompt to the top of the vault. Idempotent.
    pub fn pin(&self, membership: VaultPromptId) -> Call<PinState> {
        self.pinning(Method::POST, membership, true)
    }

    /// Unpins a prompt. Idempotent.
    pub fn unpin(&self, membership: VaultPromptId) -> Call<PinState> {
        self.pinning(Method::DELETE, membership, false)
    }

    fn request(&self, method: Method) -> Request {
        Request::new(method, path::VAULT_PROMPTS, path::vault_prompts(self.vault))
    }

    fn pinning(
        &self,
        method: Method,
        membership: VaultPromptId,
        is_pinned: bool,
    ) -> Call<PinState> {
        let path = path::vault_prompt_pin(self.vault, membership);
        let request = Request::new(method, path::VAULT_PROMPT_PIN, path).idempotent();
        let state = PinState { vault_prompt_id: membership, is_pinned, extra: ExtraFields::new() };
        Call::new(self.client.context(), request, move |reply| reply.data_or(state.clone()))
    }
}
