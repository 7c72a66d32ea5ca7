//! A store in memory with faults: one method panics, one waits, one stream fails.

mod jobs;

use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream;
use promptarium::{PromptId, VaultId, VaultPromptId};
use promptarium_server::Clock;
use promptarium_server::store::{
    Added, Contents, KeyStore, MembershipStore, Moved, PromptStore, Result, Store, StoreError,
    VaultStore,
};
use promptarium_server::store::{
    Caller, KeyRecord, NewKey, NewPrompt, NewVault, PromptPage, PromptPatch, PromptQuery,
    SharedPrompt, VaultPatch, VaultRecord,
};
use promptarium_server::test_support::MemoryStore;
use tokio::sync::Notify;

/// Reading one prompt panics; listing vaults waits for `go`; a vault's contents fail after
/// `breaks_after` entries.
pub(crate) struct FailingStore {
    inner: MemoryStore,
    pub(crate) waiting: Notify,
    pub(crate) go: Notify,
    pub(crate) breaks_after: usize,
}

impl FailingStore {
    pub(crate) fn new(breaks_after: usize) -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryStore::new(Clock::System),
            waiting: Notify::new(),
            go: Notify::new(),
            breaks_after,
        })
    }
}

#[async_trait]
impl Store for FailingStore {
    fn name(&self) -> &'static str {
        "failing"
    }

    async fn check(&self) -> Result<()> {
        self.inner.check().await
    }
}

#[async_trait]
impl KeyStore for FailingStore {
    async fn seed_key(&self, account: &str, key: NewKey) -> Result<()> {
        self.inner.seed_key(account, key).await
    }

    async fn find_key(&self, public_id: &str) -> Result<Option<KeyRecord>> {
        self.inner.find_key(public_id).await
    }

    async fn confirm_key(&self, caller: &Caller) -> Result<()> {
        self.inner.confirm_key(caller).await
    }
}

#[async_trait]
impl PromptStore for FailingStore {
    async fn create_prompt(&self, caller: &Caller, new: NewPrompt) -> Result<SharedPrompt> {
        self.inner.create_prompt(caller, new).await
    }

    async fn prompt(&self, _: &Caller, _: PromptId) -> Result<SharedPrompt> {
        panic!("internal secret")
    }

    async fn list_prompts(&self, caller: &Caller, query: PromptQuery) -> Result<PromptPage> {
        self.inner.list_prompts(caller, query).await
    }

    async fn update_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        patch: PromptPatch,
    ) -> Result<SharedPrompt> {
        self.inner.update_prompt(caller, id, patch).await
    }

    async fn delete_prompt(&self, caller: &Caller, id: PromptId) -> Result<()> {
        self.inner.delete_prompt(caller, id).await
    }

    async fn save_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt> {
        self.inner.save_prompt(caller, id, vault).await
    }
}

#[async_trait]
impl VaultStore for FailingStore {
    async fn vaults(&self, caller: &Caller) -> Result<Vec<VaultRecord>> {
        self.waiting.notify_one();
        self.go.notified().await;
        self.inner.vaults(caller).await
    }

    async fn create_vault(&self, caller: &Caller, new: NewVault) -> Result<VaultRecord> {
        self.inner.create_vault(caller, new).await
    }

    async fn vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        self.inner.vault(caller, id).await
    }

    async fn update_vault(
        &self,
        caller: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord> {
        self.inner.update_vault(caller, id, patch).await
    }

    async fn delete_vault(&self, caller: &Caller, id: VaultId) -> Result<()> {
        self.inner.delete_vault(caller, id).await
    }

    async fn fork_vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
        self.inner.fork_vault(caller, id).await
    }
}

#[async_trait]
impl MembershipStore for FailingStore {
    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Contents> {
        let contents = self.inner.contents(caller, vault).await?;
        let broken = stream::iter([Err(StoreError::KeyTaken)]);
        Ok(contents.take(self.breaks_after).chain(broken).boxed())
    }

    async fn add_prompts(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Added> {
        self.inner.add_prompts(caller, vault, prompts).await
    }

    async fn remove_membership(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
    ) -> Result<()> {
        self.inner.remove_membership(caller, vault, membership).await
    }

    async fn move_membership(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        target: VaultId,
    ) -> Result<Moved> {
        self.inner.move_membership(caller, vault, membership, target).await
    }

    async fn set_pinned(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        pinned: bool,
    ) -> Result<()> {
        self.inner.set_pinned(caller, vault, membership, pinned).await
    }
}
