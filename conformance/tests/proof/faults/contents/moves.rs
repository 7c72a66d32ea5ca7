//! Faults in moves (VC-17 to VC-24).

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use promptarium::{VaultId, VaultPromptId};
use promptarium_server::store::{Caller, Moved, NewVault, StoreError, VaultRecord};
use serde_json::Value;

use super::pins::mistaken;
use crate::exchange::Request;
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, edits_data, whole};
use crate::proxy::Upstream;
use crate::shared::Shared;
use crate::store::{FaultyStore, Good, Result, in_store};

const MOVE: &str = "POST /vaults/*/prompts/*/move";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "contents.move-answers-swapped" ["VC-18"] edits_data(MOVE, |data| {
        let source = data["sourceVaultId"].take();
        data["sourceVaultId"] = data["targetVaultId"].take();
        data["targetVaultId"] = source;
    }),
        "A move answers with source and target swapped." },
    fault! { "contents.move-answers-membership" ["VC-18"] answers(MOVE, |request, response| {
        response.edit_data(|data| {
            let right = data["promptId"].as_i64().unwrap_or_default();
            data["promptId"] = mistaken(&request.id(3).into(), right);
        });
    }),
        "A move answers with the membership as the prompt." },
    fault! { "contents.move-answers-old" ["VC-19"] answers(MOVE, |request, response| {
        response.edit_data(|data| data["vaultPromptId"] = request.id(3).into());
    }),
        "A move answers with the old membership." },
    fault! { "contents.move-target-0" ["VC-22"]
        whole(MOVE, |request, upstream| to_general(request, upstream, |body| body["targetVaultId"] == 0)),
        "targetVaultId 0 stands for the General vault." },
    fault! { "contents.move-no-target" ["VC-22"] whole(MOVE, |request, upstream| {
        to_general(request, upstream, |body| body.is_object() && body.get("targetVaultId").is_none())
    }),
        "A move without a target goes to the General vault." },
    fault! { "contents.move-copies" ["VC-20"] moves(Slip::Copies),
        "A move leaves the prompt in the source." },
    fault! { "contents.move-pins" ["VC-20"] moves(Slip::KeepsPin),
        "A move of a pinned prompt keeps the pin." },
    fault! { "contents.move-all" ["VC-20"] moves(Slip::TakesAll),
        "A move takes the prompt out of all other vaults." },
    fault! { "contents.move-loses" ["VC-24"] moves(Slip::Loses),
        "A move to no vault of the caller's is refused, and the prompt is gone." },
    fault! { "contents.move-claims" ["VC-24"] moves(Slip::Claims),
        "A move to no vault of the caller's is answered 200." },
    fault! { "contents.move-gap" ["VC-21"] moves(Slip::Gap),
        "For a moment of a move the prompt is in neither vault." },
    fault! { "contents.move-overlap" ["VC-21"] moves(Slip::Overlap),
        "For a moment of a move the prompt is in both vaults." },
    fault! { "contents.move-again" ["VC-20"] moves(Slip::Replays),
        "A move that was done is answered again." },
    fault! { "contents.move-within" ["VC-21"] moves(Slip::WithinLoses),
        "A move within one vault takes the prompt out of it." },
    fault! { "contents.move-into-holder" ["VC-21"] moves(Slip::HolderLoses),
        "A move to a vault that holds the prompt takes it out of both." },
    fault! { "contents.move-foreign-source" ["VC-23"] moves(Slip::ForeignSource),
        "Whoever knows the ids takes a prompt out of a foreign vault." },
];

/// Sends the move to the General vault if its body asks for that.
async fn to_general(
    mut request: Request,
    upstream: Upstream,
    meant: fn(&Value) -> bool,
) -> crate::exchange::Response {
    if meant(&request.json()) {
        let vaults = upstream.get(&request, "/vaults").await.json();
        let mut vaults = vaults["data"].as_array().into_iter().flatten();
        if let Some(general) = vaults.find(|vault| vault["isSystem"] == true) {
            request.edit(|body| body["targetVaultId"] = general["id"].clone());
        }
    }
    upstream.send(&request).await
}

/// Long enough for whoever looks all the time, short enough to be done 40 times.
const BETWEEN_HALVES: Duration = Duration::from_millis(25);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slip {
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

fn moves(slip: Slip) -> Intercept {
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
