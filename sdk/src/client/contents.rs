//! What is in one vault: listing, adding, removing, moving, pinning.

use http::Method;
use serde::Serialize;

use super::Error;
use super::call::{Call, Endpoint, sealed::Sealed};
use super::mode::{Async, Bound, Mode};
use super::reply::Reply;
use super::request::Request;
use crate::model::{
    AddedPrompts, MovedPrompt, PinState, PromptId, RemovedPrompt, VaultId, VaultPrompt,
    VaultPromptId,
};
use crate::path;

/// One vault, by its id; made by [`Client::vault`](crate::Client::vault).
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// # use promptarium::VaultId;
/// let vault = client.vault(VaultId::new(3));
/// println!("{} prompts", vault.prompts().list().await?.len());
/// # Ok(())
/// # }
/// # promptarium::testing::demo::run(example);
/// ```
#[derive(Debug, Clone)]
pub struct VaultHandle<M = Async> {
    client: Bound<M>,
    id: VaultId,
}

impl<M: Mode> VaultHandle<M> {
    pub(super) const fn new(client: Bound<M>, id: VaultId) -> Self {
        Self { client, id }
    }

    /// The prompts that are in the vault.
    #[must_use]
    pub fn prompts(&self) -> VaultContents<M> {
        VaultContents { client: self.client.clone(), vault: self.id }
    }
}

/// The prompts that are in one vault; made by [`VaultHandle::prompts`].
///
/// Removing, moving and pinning go by the membership's id, which the listing gives
/// (`VC-01`).
#[derive(Debug, Clone)]
pub struct VaultContents<M = Async> {
    client: Bound<M>,
    vault: VaultId,
}

impl<M: Mode> VaultContents<M> {
    /// Lists everything in the vault: pinned prompts first, then the newest members
    /// (`VC-04` to `VC-09`). One answer holds it all.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::VaultId;
    /// for prompt in client.vault(VaultId::new(3)).prompts().list().await? {
    ///     println!("{} (membership {})", prompt.title, prompt.vault_prompt_id);
    /// }
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn list(&self) -> Call<ListVaultPrompts, M> {
        self.client.call(ListVaultPrompts { vault: self.vault })
    }

    /// Adds prompts of the caller, [`ADDED_PROMPTS`](crate::limits::ADDED_PROMPTS)
    /// at a time (`VC-10` to `VC-14`, `LI-08`).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::{PromptId, VaultId};
    /// let prompts = [PromptId::new(7), PromptId::new(8)];
    /// let done = client.vault(VaultId::new(3)).prompts().add(prompts).await?;
    /// println!("{} added, {} now", done.added, done.prompt_count);
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn add(&self, prompts: impl IntoIterator<Item = PromptId>) -> Call<AddPrompts, M> {
        let prompt_ids = prompts.into_iter().collect();
        self.client.call(AddPrompts { vault: self.vault, prompt_ids })
    }

    /// Takes a prompt out of the vault. The prompt itself remains (`VC-15`,
    /// `VC-16`).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::{VaultId, VaultPromptId};
    /// client.vault(VaultId::new(3)).prompts().remove(VaultPromptId::new(21)).await?;
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn remove(&self, membership: VaultPromptId) -> Call<RemovePrompt, M> {
        self.client.call(RemovePrompt { vault: self.vault, membership })
    }

    /// Moves a prompt to another vault of the caller, in one step (`VC-17` to
    /// `VC-24`). The answer has its new membership.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::{VaultId, VaultPromptId};
    /// let contents = client.vault(VaultId::new(3)).prompts();
    /// let moved = contents.move_to(VaultPromptId::new(21), VaultId::new(4)).await?;
    /// client.vault(VaultId::new(4)).prompts().pin(moved.vault_prompt_id).await?;
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn move_to(&self, membership: VaultPromptId, target: VaultId) -> Call<MovePrompt, M> {
        self.client.call(MovePrompt { vault: self.vault, membership, target_vault_id: target })
    }

    /// Pins a prompt to the top of the vault. Pinning again changes nothing
    /// (`VC-25`, `VC-27`, `VC-29`).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::{VaultId, VaultPromptId};
    /// let state = client.vault(VaultId::new(3)).prompts().pin(VaultPromptId::new(21)).await?;
    /// assert!(state.is_pinned);
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn pin(&self, membership: VaultPromptId) -> Call<PinPrompt, M> {
        self.client.call(PinPrompt { vault: self.vault, membership, method: Method::POST })
    }

    /// Puts a pinned prompt back where the order has it. Unpinning again changes
    /// nothing (`VC-26`, `VC-28`, `VC-30`).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::{VaultId, VaultPromptId};
    /// client.vault(VaultId::new(3)).prompts().unpin(VaultPromptId::new(21)).await?;
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn unpin(&self, membership: VaultPromptId) -> Call<PinPrompt, M> {
        self.client.call(PinPrompt { vault: self.vault, membership, method: Method::DELETE })
    }
}

/// `GET /vaults/{vaultId}/prompts`.
#[derive(Debug, Clone)]
pub struct ListVaultPrompts {
    vault: VaultId,
}

impl Sealed for ListVaultPrompts {}

impl Endpoint for ListVaultPrompts {
    type Output = Vec<VaultPrompt>;

    fn request(&self) -> Result<Request, Error> {
        Ok(Request::new(Method::GET, path::VAULT_PROMPTS, path::vault_prompts(self.vault)))
    }

    fn read(reply: Reply) -> Result<Vec<VaultPrompt>, Error> {
        reply.data()
    }
}

/// `POST /vaults/{vaultId}/prompts`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddPrompts {
    #[serde(skip)]
    vault: VaultId,
    prompt_ids: Vec<PromptId>,
}

impl Sealed for AddPrompts {}

impl Endpoint for AddPrompts {
    type Output = AddedPrompts;

    fn request(&self) -> Result<Request, Error> {
        Request::new(Method::POST, path::VAULT_PROMPTS, path::vault_prompts(self.vault)).json(self)
    }

    fn read(reply: Reply) -> Result<AddedPrompts, Error> {
        reply.data()
    }
}

/// `DELETE /vaults/{vaultId}/prompts/{vaultPromptId}`.
#[derive(Debug, Clone)]
pub struct RemovePrompt {
    vault: VaultId,
    membership: VaultPromptId,
}

impl Sealed for RemovePrompt {}

impl Endpoint for RemovePrompt {
    type Output = RemovedPrompt;

    fn request(&self) -> Result<Request, Error> {
        let path = path::vault_prompt(self.vault, self.membership);
        Ok(Request::new(Method::DELETE, path::VAULT_PROMPT, path))
    }

    fn read(reply: Reply) -> Result<RemovedPrompt, Error> {
        reply.data()
    }
}

/// `POST /vaults/{vaultId}/prompts/{vaultPromptId}/move`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MovePrompt {
    #[serde(skip)]
    vault: VaultId,
    #[serde(skip)]
    membership: VaultPromptId,
    target_vault_id: VaultId,
}

impl Sealed for MovePrompt {}

impl Endpoint for MovePrompt {
    type Output = MovedPrompt;

    fn request(&self) -> Result<Request, Error> {
        let path = path::vault_prompt_move(self.vault, self.membership);
        Request::new(Method::POST, path::VAULT_PROMPT_MOVE, path).json(self)
    }

    fn read(reply: Reply) -> Result<MovedPrompt, Error> {
        reply.data()
    }
}

/// `POST` and `DELETE /vaults/{vaultId}/prompts/{vaultPromptId}/pin`.
#[derive(Debug, Clone)]
pub struct PinPrompt {
    vault: VaultId,
    membership: VaultPromptId,
    method: Method,
}

impl Sealed for PinPrompt {}

impl Endpoint for PinPrompt {
    type Output = PinState;

    fn request(&self) -> Result<Request, Error> {
        let path = path::vault_prompt_pin(self.vault, self.membership);
        // Pinning again changes nothing (`VC-29`), and unpinning neither.
        Ok(Request::new(self.method.clone(), path::VAULT_PROMPT_PIN, path).harmless())
    }

    fn read(reply: Reply) -> Result<PinState, Error> {
        reply.data()
    }
}
