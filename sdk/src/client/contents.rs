//! The prompts in one vault: list, find, add, remove, move, pin.

use http::Method;
use serde_json::json;

use super::Client;
use super::call::endpoint;
use super::request::Request;
use crate::model::{
    AddedPrompts, MovedPrompt, PinState, PromptId, RemovedPrompt, VaultId, VaultPrompt,
    VaultPromptId,
};
use crate::path;

/// One vault; returned by [`Client::vault`].
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// # use promptarium::VaultId;
/// let vault = client.vault(VaultId::new(3));
/// println!("{} prompts", vault.prompts().list().await?.len());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct VaultHandle {
    pub(super) client: Client,
    pub(super) id: VaultId,
}

impl VaultHandle {
    /// The prompts in the vault.
    #[must_use]
    pub fn prompts(&self) -> VaultContents {
        VaultContents { client: self.client.clone(), vault: self.id }
    }
}

/// The prompts in one vault; returned by [`VaultHandle::prompts`].
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
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::VaultId;
    /// for prompt in client.vault(VaultId::new(3)).prompts().list().await? {
    ///     println!("{} (membership {})", prompt.title, prompt.vault_prompt_id);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self) -> ListVaultPrompts {
        ListVaultPrompts { context: self.client.context(), vault: self.vault }
    }

    /// Finds the membership of a prompt, which pinning, moving and removing ask for; `None` if
    /// the prompt is not in the vault.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::{PromptId, VaultId};
    /// let contents = client.vault(VaultId::new(3)).prompts();
    /// if let Some(member) = contents.find(PromptId::new(7)).await? {
    ///     contents.pin(member.vault_prompt_id).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn find(&self, prompt: PromptId) -> FindVaultPrompt {
        FindVaultPrompt { context: self.client.context(), vault: self.vault, prompt }
    }

    /// Adds prompts of the account, [`ADDED_PROMPTS`](crate::limits::ADDED_PROMPTS) at a time.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::{PromptId, VaultId};
    /// let prompts = [PromptId::new(7), PromptId::new(8)];
    /// let done = client.vault(VaultId::new(3)).prompts().add(prompts).await?;
    /// println!("{} added, {} now", done.added, done.prompt_count);
    /// # Ok(())
    /// # }
    /// ```
    pub fn add(&self, prompts: impl IntoIterator<Item = PromptId>) -> AddPrompts {
        let prompt_ids = prompts.into_iter().collect();
        AddPrompts { context: self.client.context(), vault: self.vault, prompt_ids }
    }

    /// Removes a prompt from the vault. The prompt itself remains.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::{VaultId, VaultPromptId};
    /// client.vault(VaultId::new(3)).prompts().remove(VaultPromptId::new(21)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn remove(&self, membership: VaultPromptId) -> RemovePrompt {
        RemovePrompt { context: self.client.context(), vault: self.vault, membership }
    }

    /// Moves a prompt to another vault of the account, atomically. The response has its new
    /// membership.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::{VaultId, VaultPromptId};
    /// let contents = client.vault(VaultId::new(3)).prompts();
    /// let moved = contents.move_to(VaultPromptId::new(21), VaultId::new(4)).await?;
    /// client.vault(VaultId::new(4)).prompts().pin(moved.vault_prompt_id).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn move_to(&self, membership: VaultPromptId, target: VaultId) -> MovePrompt {
        MovePrompt { context: self.client.context(), vault: self.vault, membership, target }
    }

    /// Pins a prompt to the top of the vault. Idempotent.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::{VaultId, VaultPromptId};
    /// let state = client.vault(VaultId::new(3)).prompts().pin(VaultPromptId::new(21)).await?;
    /// assert!(state.is_pinned);
    /// # Ok(())
    /// # }
    /// ```
    pub fn pin(&self, membership: VaultPromptId) -> PinPrompt {
        PinPrompt {
            context: self.client.context(),
            vault: self.vault,
            membership,
            method: Method::POST,
        }
    }

    /// Unpins a prompt. Idempotent.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::{VaultId, VaultPromptId};
    /// client.vault(VaultId::new(3)).prompts().unpin(VaultPromptId::new(21)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn unpin(&self, membership: VaultPromptId) -> PinPrompt {
        PinPrompt {
            context: self.client.context(),
            vault: self.vault,
            membership,
            method: Method::DELETE,
        }
    }
}

endpoint! {
    /// Lists the prompts in a vault: `GET /vaults/{vaultId}/prompts`; returned by
    /// [`VaultContents::list`].
    ListVaultPrompts { vault: VaultId } -> Vec<VaultPrompt>,
    |call| Ok(Request::new(Method::GET, path::VAULT_PROMPTS, path::vault_prompts(call.vault)))
}

endpoint! {
    /// Finds a prompt in a vault: `GET /vaults/{vaultId}/prompts`; returned by
    /// [`VaultContents::find`].
    FindVaultPrompt { vault: VaultId, prompt: PromptId } -> Option<VaultPrompt>,
    |call| Ok(Request::new(Method::GET, path::VAULT_PROMPTS, path::vault_prompts(call.vault))),
    |call, reply| {
        let members: Vec<VaultPrompt> = reply.data()?;
        Ok(members.into_iter().find(|member| member.id == call.prompt))
    }
}

endpoint! {
    /// Adds prompts to a vault: `POST /vaults/{vaultId}/prompts`; returned by
    /// [`VaultContents::add`].
    AddPrompts { vault: VaultId, prompt_ids: Vec<PromptId> } -> AddedPrompts,
    |call| {
        let path = path::vault_prompts(call.vault);
        let body = json!({ "promptIds": call.prompt_ids });
        Request::new(Method::POST, path::VAULT_PROMPTS, path).json(&body)
    }
}

endpoint! {
    /// Removes a prompt from a vault: `DELETE /vaults/{vaultId}/prompts/{vaultPromptId}`;
    /// returned by [`VaultContents::remove`].
    RemovePrompt { vault: VaultId, membership: VaultPromptId } -> RemovedPrompt,
    |call| {
        let path = path::vault_prompt(call.vault, call.membership);
        Ok(Request::new(Method::DELETE, path::VAULT_PROMPT, path))
    },
    |call, reply| {
        reply.data_or(|| RemovedPrompt { vault_prompt_id: call.membership, removed: true })
    }
}

endpoint! {
    /// Moves a prompt to another vault:
    /// `POST /vaults/{vaultId}/prompts/{vaultPromptId}/move`; returned by
    /// [`VaultContents::move_to`].
    MovePrompt { vault: VaultId, membership: VaultPromptId, target: VaultId } -> MovedPrompt,
    |call| {
        let path = path::vault_prompt_move(call.vault, call.membership);
        let body = json!({ "targetVaultId": call.target });
        Request::new(Method::POST, path::VAULT_PROMPT_MOVE, path).json(&body)
    }
}

endpoint! {
    /// Pins or unpins a prompt: `POST` or `DELETE`
    /// `/vaults/{vaultId}/prompts/{vaultPromptId}/pin`; returned by [`VaultContents::pin`] and
    /// [`VaultContents::unpin`].
    PinPrompt { vault: VaultId, membership: VaultPromptId, method: Method } -> PinState,
    |call| {
        let path = path::vault_prompt_pin(call.vault, call.membership);
        Ok(Request::new(call.method.clone(), path::VAULT_PROMPT_PIN, path).idempotent())
    },
    |call, reply| {
        let is_pinned = call.method == Method::POST;
        reply.data_or(|| PinState { vault_prompt_id: call.membership, is_pinned })
    }
}
