//! A store that moves prompts in ways of its own.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use promptarium::{VaultId, VaultPromptId};
use promptarium_server::store::{Caller, NewVault, VaultRecord};
use promptarium_server::store::{Moved, Store, StoreError};

use super::super::held;
use crate::shared::Shared;
use crate::store::FaultyStore;

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
pub(super) struct Moves {
    slip: Slip,
    done: Shared<HashMap<VaultPromptId, Moved>>,
    owners: Shared<HashMap<VaultId, Caller>>,
}

/// A move that is under way.
struct Step<'a> {
    inner: &'a dyn Store,
    caller: &'a Caller,
    vault: VaultId,
    membership: VaultPromptId,
    target: VaultId,
}

impl Step<'_> {
    /// The good move.
    async fn done(&self) -> Result<Moved, StoreError> {
        self.inner.move_membership(self.caller, self.vault, self.membership, self.target).await
    }

    async fn removed(&self) -> Result<(), StoreError> {
        self.inner.remove_membership(self.caller, self.vault, self.membership).await
    }

    /// Puts the prompt into the target as a save does.
    async fn saved(&self, moved: Moved) -> Result<Moved, StoreError> {
        self.inner.save_prompt(self.caller, moved.prompt, self.target).await?;
        let there = held(self.inner, self.caller, self.target).await;
        let entry = there.iter().find(|entry| entry.prompt.id == moved.prompt);
        Ok(Moved { membership: entry.map_or(moved.membership, |entry| entry.membership), ..moved })
    }
}

impl Moves {
    pub(super) fn of(slip: Slip) -> Self {
        Self { slip, done: Shared::default(), owners: Shared::default() }
    }

    async fn slipped(
        &self,
        step: &Step<'_>,
        old: Moved,
        pinned: bool,
    ) -> Result<Moved, StoreError> {
        let Step { inner, caller, vault, target, .. } = *step;
        let within = vault == target;
        match self.slip {
            Slip::Copies if !within => step.saved(old).await,
            Slip::Gap if !within => {
                step.removed().await?;
                tokio::time::sleep(BETWEEN_HALVES).await;
                step.saved(old).await
            }
            Slip::Overlap if !within => {
                let moved = step.saved(old).await?;
                tokio::time::sleep(BETWEEN_HALVES).await;
                step.removed().await?;
                Ok(moved)
            }
            Slip::WithinLoses if within => {
                let moved = step.done().await?;
                inner.remove_membership(caller, target, moved.membership).await?;
                Ok(moved)
            }
            Slip::HolderLoses if !within => {
                let there = held(inner, caller, target).await;
                let holds = there.iter().any(|entry| entry.prompt.id == old.prompt);
                let moved = step.done().await?;
                if holds {
                    inner.remove_membership(caller, target, moved.membership).await?;
                }
                Ok(moved)
            }
            Slip::KeepsPin => {
                let moved = step.done().await?;
                inner.set_pinned(caller, target, moved.membership, pinned).await?;
                Ok(moved)
            }
            Slip::TakesAll => {
                let moved = step.done().await?;
                let prompt = inner.prompt(caller, old.prompt).await?;
                for other in prompt.vault_ids.iter().filter(|other| **other != target) {
                    for entry in held(inner, caller, *other).await {
                        if entry.prompt.id == old.prompt {
                            inner.remove_membership(caller, *other, entry.membership).await?;
                        }
                    }
                }
                Ok(moved)
            }
            _ => step.done().await,
        }
    }
}

#[async_trait]
impl FaultyStore for Moves {
    async fn create_vault(
        &self,
        inner: &dyn Store,
        caller: &Caller,
        new: NewVault,
    ) -> Result<VaultRecord, StoreError> {
        let vault = inner.create_vault(caller, new).await?;
        self.owners.with(|owners| owners.insert(vault.id, caller.clone()));
        Ok(vault)
    }

    async fn move_membership(
        &self,
        inner: &dyn Store,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        target: VaultId,
    ) -> Result<Moved, StoreError> {
        let owner = self.owners.with(|owners| owners.get(&vault).cloned());
        let foreign = owner.filter(|owner| owner.account != caller.account);
        let reader = foreign.as_ref().filter(|_| self.slip == Slip::ForeignSource);
        let reader = reader.unwrap_or(caller);
        let there = held(inner, reader, vault).await;
        let Some(entry) = there.into_iter().find(|entry| entry.membership == membership) else {
            let again = self.done.with(|done| done.get(&membership).copied());
            return again.filter(|_| self.slip == Slip::Replays).ok_or(StoreError::NotFound);
        };
        let step = Step { inner, caller: reader, vault, membership, target };
        let old = Moved { prompt: entry.prompt.id, membership };
        if reader != caller {
            step.removed().await?;
            return Ok(old);
        }
        if inner.vault(caller, target).await.is_err() {
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
