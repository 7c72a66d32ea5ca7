//! Faults in the number of prompts that a vault shows (VA-10).

use std::collections::HashMap;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId, VaultPromptId};
use promptarium_server::store::{Added, Moved, Store, StoreError};
use promptarium_server::store::{Caller, SharedPrompt, VaultRecord};

use crate::fault::{Fault, Intercept, fault};
use crate::shared::Shared;
use crate::store::{FaultyStore, with_fault};

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.count-deleted" ["VA-10"]
        Intercept::Store("* /vaults, * /vaults/**", |inner| with_fault(inner, Drift::of(Slip::Deleted))),
        "A deleted prompt stays in the counts of its vaults." },
    fault! { "vaults.count-removed" ["VA-10"]
        Intercept::Store("* /vaults, * /vaults/**", |inner| with_fault(inner, Drift::of(Slip::Removed))),
        "A removal leaves the vault's count." },
    fault! { "vaults.count-moved-away" ["VA-10"]
        Intercept::Store("* /vaults, * /vaults/**", |inner| with_fault(inner, Drift::of(Slip::MovedAway))),
        "A move leaves the count of the source." },
    fault! { "vaults.count-moved-in" ["VA-10"]
        Intercept::Store("* /vaults, * /vaults/**", |inner| with_fault(inner, Drift::of(Slip::MovedIn))),
        "A move leaves the count of the target." },
    fault! { "vaults.count-saved" ["VA-10"]
        Intercept::Store("* /vaults, * /vaults/**", |inner| with_fault(inner, Drift::of(Slip::Saved))),
        "A save leaves the vault's count." },
    fault! { "vaults.count-again" ["VA-10"]
        Intercept::Store("* /vaults, * /vaults/**", |inner| with_fault(inner, Drift::of(Slip::Again))),
        "A prompt that is added again is counted again." },
    fault! { "vaults.count-listed" ["VA-10"]
        Intercept::Store("* /vaults, * /vaults/**", |inner| with_fault(inner, Drift::of(Slip::Listed))),
        "The list of vaults does not count the first prompt." },
    fault! { "vaults.count-alone" ["VA-10"]
        Intercept::Store("* /vaults, * /vaults/**", |inner| with_fault(inner, Drift::of(Slip::Alone))),
        "GET of one vault counts at most 2 prompts." },
];

/// Where the count is not kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slip {
    Deleted,
    Removed,
    MovedAway,
    MovedIn,
    Saved,
    Again,
    Listed,
    Alone,
}

/// By how much the shown counts are off.
struct Drift {
    slip: Slip,
    off: Shared<HashMap<VaultId, i64>>,
}

impl Drift {
    fn of(slip: Slip) -> Self {
        Self { slip, off: Shared::default() }
    }

    fn add(&self, slip: Slip, vault: VaultId, by: i64) {
        if self.slip == slip && by != 0 {
            self.off.with(|off| *off.entry(vault).or_default() += by);
        }
    }

    fn shown(&self, mut vault: VaultRecord) -> VaultRecord {
        let off = self.off.with(|off| off.get(&vault.id).copied().unwrap_or_default());
        vault.prompt_count = vault.prompt_count.saturating_add_signed(off);
        vault
    }
}

async fn count(inner: &dyn Store, caller: &Caller, vault: VaultId) -> i64 {
    let vault = inner.vault(caller, vault).await;
    vault.map_or(0, |vault| vault.prompt_count.cast_signed())
}

#[async_trait]
impl FaultyStore for Drift {
    async fn vault(
        &self,
        inner: &dyn Store,
        caller: &Caller,
        id: VaultId,
    ) -> Result<VaultRecord, StoreError> {
        let mut vault = self.shown(inner.vault(caller, id).await?);
        if self.slip == Slip::Alone {
            vault.prompt_count = vault.prompt_count.min(2);
        }
        Ok(vault)
    }

    async fn vaults(
        &self,
        inner: &dyn Store,
        caller: &Caller,
    ) -> Result<Vec<VaultRecord>, StoreError> {
        let mut vaults: Vec<_> =
            inner.vaults(caller).await?.into_iter().map(|vault| self.shown(vault)).collect();
        if self.slip == Slip::Listed {
            for vault in &mut vaults {
                vault.prompt_count = vault.prompt_count.saturating_sub(1);
            }
        }
        Ok(vaults)
    }

    async fn delete_prompt(
        &self,
        inner: &dyn Store,
        caller: &Caller,
        id: PromptId,
    ) -> Result<(), StoreError> {
        let vaults = inner.prompt(caller, id).await?.vault_ids.clone();
        inner.delete_prompt(caller, id).await?;
        vaults.into_iter().for_each(|vault| self.add(Slip::Deleted, vault, 1));
        Ok(())
    }

    async fn save_prompt(
        &self,
        inner: &dyn Store,
        caller: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt, StoreError> {
        let before = count(inner, caller, vault).await;
        let saved = inner.save_prompt(caller, id, vault).await?;
        let came = count(inner, caller, vault).await - before;
        self.add(Slip::Saved, vault, -came.max(0));
        Ok(saved)
    }

    async fn add_prompts(
        &self,
        inner: &dyn Store,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Added, StoreError> {
        let mut added = inner.add_prompts(caller, vault, prompts).await?;
        let again = prompts.len().saturating_sub(added.added);
        self.add(Slip::Again, vault, i64::try_from(again).unwrap_or_default());
        let off = self.off.with(|off| off.get(&vault).copied().unwrap_or_default());
        added.prompt_count = added.prompt_count.saturating_add_signed(off);
        Ok(added)
    }

    async fn remove_membership(
        &self,
        inner: &dyn Store,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
    ) -> Result<(), StoreError> {
        inner.remove_membership(caller, vault, membership).await?;
        self.add(Slip::Removed, vault, 1);
        Ok(())
    }

    async fn move_membership(
        &self,
        inner: &dyn Store,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        target: VaultId,
    ) -> Result<Moved, StoreError> {
        let moved = inner.move_membership(caller, vault, membership, target).await?;
        if vault != target {
            self.add(Slip::MovedAway, vault, 1);
            self.add(Slip::MovedIn, target, -1);
        }
        Ok(moved)
    }
}
