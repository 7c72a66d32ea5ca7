//! Faults in the number of prompts that a vault shows (VA-10).

use std::collections::HashMap;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId, VaultPromptId};
use promptarium_server::store::{Added, Moved, SharedPrompt, VaultRecord};

use crate::fault::{Fault, Intercept, fault};
use crate::shared::Shared;
use crate::store::{FaultyStore, Good, Result, in_store};

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.count-deleted" ["VA-10"] drift(Slip::Deleted),
        "A deleted prompt stays in the counts of its vaults." },
    fault! { "vaults.count-removed" ["VA-10"] drift(Slip::Removed),
        "A removal leaves the vault's count." },
    fault! { "vaults.count-moved-away" ["VA-10"] drift(Slip::MovedAway),
        "A move leaves the count of the source." },
    fault! { "vaults.count-moved-in" ["VA-10"] drift(Slip::MovedIn),
        "A move leaves the count of the target." },
    fault! { "vaults.count-saved" ["VA-10"] drift(Slip::Saved),
        "A save leaves the vault's count." },
    fault! { "vaults.count-again" ["VA-10"] drift(Slip::Again),
        "A prompt that is added again is counted again." },
    fault! { "vaults.count-listed" ["VA-10"] drift(Slip::Listed),
        "The list of vaults does not count the first prompt." },
    fault! { "vaults.count-alone" ["VA-10"] drift(Slip::Alone),
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

fn drift(slip: Slip) -> Intercept {
    in_store("* /vaults, * /vaults/**", Drift { slip, off: Shared::default() })
}

impl Drift {
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

async fn count(good: Good<'_>, vault: VaultId) -> i64 {
    let vault = good.vault(vault).await;
    vault.map_or(0, |vault| vault.prompt_count.cast_signed())
}

#[async_trait]
impl FaultyStore for Drift {
    async fn vault(&self, good: Good<'_>, id: VaultId) -> Result<VaultRecord> {
        let mut vault = self.shown(good.vault(id).await?);
        if self.slip == Slip::Alone {
            vault.prompt_count = vault.prompt_count.min(2);
        }
        Ok(vault)
    }

    async fn vaults(&self, good: Good<'_>) -> Result<Vec<VaultRecord>> {
        let mut vaults: Vec<_> =
            good.vaults().await?.into_iter().map(|vault| self.shown(vault)).collect();
        if self.slip == Slip::Listed {
            for vault in &mut vaults {
                vault.prompt_count = vault.prompt_count.saturating_sub(1);
            }
        }
        Ok(vaults)
    }

    async fn delete_prompt(&self, good: Good<'_>, id: PromptId) -> Result {
        let vaults = good.prompt(id).await?.vault_ids.clone();
        good.delete_prompt(id).await?;
        vaults.into_iter().for_each(|vault| self.add(Slip::Deleted, vault, 1));
        Ok(())
    }

    async fn save_prompt(
        &self,
        good: Good<'_>,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt> {
        let before = count(good, vault).await;
        let saved = good.save_prompt(id, vault).await?;
        let came = count(good, vault).await - before;
        self.add(Slip::Saved, vault, -came.max(0));
        Ok(saved)
    }

    async fn add_prompts(
        &self,
        good: Good<'_>,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Added> {
        let mut added = good.add_prompts(vault, prompts).await?;
        let again = prompts.len().saturating_sub(added.added);
        self.add(Slip::Again, vault, i64::try_from(again).unwrap_or_default());
        let off = self.off.with(|off| off.get(&vault).copied().unwrap_or_default());
        added.prompt_count = added.prompt_count.saturating_add_signed(off);
        Ok(added)
    }

    async fn remove_membership(
        &self,
        good: Good<'_>,
        vault: VaultId,
        membership: VaultPromptId,
    ) -> Result {
        good.remove_membership(vault, membership).await?;
        self.add(Slip::Removed, vault, 1);
        Ok(())
    }

    async fn move_membership(
        &self,
        good: Good<'_>,
        vault: VaultId,
        membership: VaultPromptId,
        target: VaultId,
    ) -> Result<Moved> {
        let moved = good.move_membership(vault, membership, target).await?;
        if vault != target {
            self.add(Slip::MovedAway, vault, 1);
            self.add(Slip::MovedIn, target, -1);
        }
        Ok(moved)
    }
}
