//! The store that keeps everything in PostgreSQL: durable, and shared by as many
//! servers as there are.
//!
//! Each step is one statement where it can be, and one round trip. It begins by
//! looking whether the caller's key still holds, so that a revoked key is refused
//! by every server at once, and it relies on constraints: where two steps race,
//! one of them breaks a constraint, which `db` takes as a reason to begin again.
//!
//! Each room below holds the SQL of one noun and reads its rows. Connections are
//! the business of `connect`, statements of `db`.

mod accounts;
mod caller;
mod connect;
mod contents;
mod db;
mod fork;
mod job_queue;
mod jobs;
mod keys;
mod listing;
mod members;
mod migrate;
mod prompts;
mod rows;
pub mod scratch;
mod settings;
mod vaults;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId, VaultPromptId};

pub use self::accounts::AccountEntry;
pub use self::connect::{AddressError, ConnectError, DatabaseUrl, NoConnection, SecurityError};
use self::db::Db;
pub use self::keys::keep::KeyEntry;
pub use self::migrate::{MigrateError, Migration};
use super::{Added, Contents, Moved, Store, StoreError, Vaults, VaultsMark};
use crate::domain::{
    Caller, KeyRecord, NewKey, NewPrompt, NewVault, PromptPage, PromptPatch, PromptQuery,
    SharedPrompt, VaultPatch, VaultRecord,
};

/// A [`Store`] in PostgreSQL.
#[derive(Clone, Debug)]
pub struct PostgresStore {
    db: Db,
    keys: keys::KeyMemory,
    bell: jobs::Bell,
}

#[async_trait]
impl Store for PostgresStore {
    fn name(&self) -> &'static str {
        "postgres"
    }

    async fn seed_key(&self, account: &str, key: NewKey) -> Result<(), StoreError> {
        keys::seed(&self.db, account, &key).await
    }

    async fn find_key(&self, public_id: &str) -> Result<Option<KeyRecord>, StoreError> {
        self.keys.find(&self.db, public_id).await
    }

    async fn confirm_key(&self, caller: &Caller) -> Result<(), StoreError> {
        self.keys.confirm(&self.db, caller).await
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.db.check().await
    }

    async fn create_prompt(
        &self,
        caller: &Caller,
        new: NewPrompt,
    ) -> Result<SharedPrompt, StoreError> {
        prompts::create(&self.db, caller, new).await
    }

    async fn prompt(&self, caller: &Caller, id: PromptId) -> Result<SharedPrompt, StoreError> {
        prompts::get(&self.db, caller, id).await
    }

    async fn list_prompts(
        &self,
        caller: &Caller,
        query: PromptQuery,
    ) -> Result<PromptPage, StoreError> {
        listing::page(&self.db, caller, query).await
    }

    async fn update_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        patch: PromptPatch,
    ) -> Result<SharedPrompt, StoreError> {
        prompts::update(&self.db, caller, id, patch).await
    }

    async fn delete_prompt(&self, caller: &Caller, id: PromptId) -> Result<(), StoreError> {
        prompts::delete(&self.db, caller, id).await
    }

    async fn save_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt, StoreError> {
        prompts::save(&self.db, caller, id, vault).await
    }

    async fn vaults(&self, caller: &Caller) -> Result<Vec<VaultRecord>, StoreError> {
        self.vaults_unless(caller, None).await.map(Vaults::into_records)
    }

    async fn vaults_unless(
        &self,
        caller: &Caller,
        known: Option<VaultsMark>,
    ) -> Result<Vaults, StoreError> {
        vaults::list(&self.db, caller, known).await
    }

    async fn create_vault(
        &self,
        caller: &Caller,
        new: NewVault,
    ) -> Result<VaultRecord, StoreError> {
        vaults::create(&self.db, caller, new).await
    }

    async fn vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord, StoreError> {
        vaults::get(&self.db, caller, id).await
    }

    async fn update_vault(
        &self,
        caller: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord, StoreError> {
        vaults::update(&self.db, caller, id, patch).await
    }

    async fn delete_vault(&self, caller: &Caller, id: VaultId) -> Result<(), StoreError> {
        vaults::delete(&self.db, caller, id).await
    }

    async fn fork_vault(&self, caller: &Caller, id: VaultId) -> Result<VaultRecord, StoreError> {
        fork::fork(&self.db, caller, id).await
    }

    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Contents, StoreError> {
        contents::stream(&self.db, caller, vault).await
    }

    async fn add_prompts(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Added, StoreError> {
        members::add(&self.db, caller, vault, prompts).await
    }

    async fn remove_membership(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
    ) -> Result<(), StoreError> {
        members::remove(&self.db, caller, vault, membership).await
    }

    async fn move_membership(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        target: VaultId,
    ) -> Result<Moved, StoreError> {
        members::relocate(&self.db, caller, vault, membership, target).await
    }

    async fn set_pinned(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        pinned: bool,
    ) -> Result<(), StoreError> {
        members::set_pinned(&self.db, caller, vault, membership, pinned).await
    }
}

#[cfg(test)]
mod tests;
