//! A store that moves prompts in ways of its own.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use promptarium::{VaultId, VaultPromptId};
use promptarium_server::store::{Caller, Moved, NewVault, StoreError, VaultRecord};

use crate::fault::Intercept;
use crate::shared::Shared;
use crate::store::{FaultyStore, Good, Result, in_store};

/// Long enough for whoever looks all the time, short enough to be done 40 times.
const BETWEEN_HALVES: Duration = Duration::from_millis(25);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slip {
    Copies,
    KeepsPin,
    TakesAll,
    Loses,
    Claims,
    Gap,
    Overlap,
    Replays,
    WithinLoses,
    HolderLoses,
    ForeignSource,
}

/// A move that is not quite one.
struct Moves {
    slip: Slip,
    done: Shared<HashMap<VaultPromptId, Moved>>,
    owners: Shared<HashMap<VaultId, Caller>>,
}

/// A move that is under way, of whoever has the source.
struct Step<'a> {
    good: Good<'a>,
    vault: VaultId,
    membership: VaultPromptId,
    target: VaultId,
}

impl Step<'_> {
    /// The good move.
    async fn done(&self) -> Result<Moved> {
        self.good.move_membership(self.vault, self.membership, self.target).await
    }

    async fn removed(&self) -> Result {
        self.good.remove_membership(self.vault, self.membership).await
    }

    /// Puts the prompt into the target as a save does.
    async fn saved(&self, moved: Moved) -> Result<Moved> {
        self.good.save_prompt(moved.prompt, self.target).await?;
        let entry = self.good.entry(self.target, moved.prompt).await;
        Ok(Moved { membership: entry.map_or(moved.membership, |entry| entry.membership), ..moved })
    }
}

pub(super) fn moves(slip: Slip) -> Intercept {
    in_store(
        "POST /vaults/*/prompts/*/move",
        Moves { slip, done: Shared::default(), owners: Shared::default() },
    )
}

impl Moves {
    async fn slipped(&self, step: &Step<'_>, old: Moved, pinned: bool) -> Result<Moved> {
        let Step { good, vault, target, .. } = *step;
        let within = vault == target;
        match self.slip {
            Slip::Copies if !within => return step.saved(old).await,
            Slip::Gap if !within => {
                step.removed().await?;
                tokio::time::sleep(BETWEEN_HALVES).await;
                return step.saved(old).await;
            }
            Slip::Overlap if !within => {
                let moved = step.saved(old).await?;
                tokio::time::sleep(BETWEEN_HALVES).await;
                step.removed().await?;
                return Ok(moved);
            }
            _ => {}
        }
        let holds = !within && good.entry(target, old.prompt).await.is_some();
        let moved = step.done().await?;
        match self.slip {
            Slip::WithinLoses if within => good.remove_membership(target, moved.membership).await?,
            Slip::HolderLoses if holds => good.remove_membership(target, moved.membership).await?,
            Slip::KeepsPin => good.set_pinned(target, moved.membership, pinned).await?,
            Slip::TakesAll => good.take_out(old.prompt, |other| other != target).await?,
            _ => {}
        }
        Ok(moved)
    }
}

#[async_trait]
impl FaultyStore for Moves {
    async fn create_vault(&self, good: Good<'_>, new: NewVault) -> Result<VaultRecord> {
        let vault = good.create_vault(new).await?;
        self.owners.with(|owners| owners.insert(vault.id, good.caller.clone()));
        Ok(vault)
    }

    async fn move_membership(
        &self,
        good: Good<'_>,
        vault: VaultId,
        membership: VaultPromptId,
        target: VaultId,
    ) -> Result<Moved> {
        let owner = self.owners.with(|owners| owners.get(&vault).cloned());
        let foreign = owner.filter(|owner| owner.account != good.caller.account);
        let foreign = foreign.filter(|_| self.slip == Slip::ForeignSource);
        let reader = foreign.as_ref().map_or(good, |owner| good.of(owner));
        let there = reader.held(vault).await;
        let Some(entry) = there.into_iter().find(|entry| entry.membership == membership) else {
            let again = self.done.with(|done| done.get(&membership).copied());
            return again.filter(|_| self.slip == Slip::Replays).ok_or(StoreError::NotFound);
        };
        let step = Step { good: reader, vault, membership, target };
        let old = Moved { prompt: entry.prompt.id, membership };
        if foreign.is_some() {
            step.removed().await?;
            return Ok(old);
        }
        if good.vault(target).await.is_err() {
            return match self.slip {
                Slip::Claims => Ok(old),
                Slip::Loses => {
                    step.removed().await?;
                    Err(StoreError::UnknownTargetVault)
                }
                _ => step.done().await,
            };
        }
        let moved = self.slipped(&step, old, entry.pinned).await?;
        self.done.with(|done| done.insert(membership, moved));
        Ok(moved)
    }
}
