//! Faults in moves (VC-17 to VC-24).

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use http::Method;
use promptarium::{VaultId, VaultPromptId};
use promptarium_server::store::{Caller, Moved, NewVault, Store, StoreError, VaultRecord};
use serde_json::Value;

use super::held;
use super::pins::mistaken;
use crate::ask::Ask;
use crate::fault::{Fault, How, fault};
use crate::front::{answers, asks, whole};
use crate::proxy::Upstream;
use crate::shared::Shared;
use crate::store::{Twist, twisted};

const MOVE: &str = "POST /vaults/*/prompts/*/move";
/// Long enough for whoever looks all the time, short enough to be done 40 times.
const BETWEEN_HALVES: Duration = Duration::from_millis(25);

pub(crate) const ALL: &[Fault] = &[
    fault!("contents.move-201", "A move answers 201.", ["VC-17", "VC-20", "VC-21", "VC-19"], {
        answers(MOVE, |_, answer| {
            if answer.is_success() {
                answer.set_code(201);
            }
        })
    }),
    fault!(
        "contents.move-answers-ids-as-text",
        "A move answers with vault ids as strings.",
        ["VC-17", "VC-18"],
        {
            answers(MOVE, |_, answer| {
                answer.edit_data(|data| {
                    for key in ["sourceVaultId", "targetVaultId"] {
                        data[key] = data[key].to_string().into();
                    }
                });
            })
        }
    ),
    fault!(
        "contents.move-answers-swapped",
        "A move answers with source and target swapped.",
        ["VC-18"],
        {
            answers(MOVE, |_, answer| {
                answer.edit_data(|data| {
                    let source = data["sourceVaultId"].take();
                    data["sourceVaultId"] = data["targetVaultId"].take();
                    data["targetVaultId"] = source;
                });
            })
        }
    ),
    fault!(
        "contents.move-answers-membership",
        "A move answers with the membership as the prompt.",
        ["VC-18"],
        {
            answers(MOVE, |ask, answer| {
                answer.edit_data(|data| {
                    let right = data["promptId"].as_i64().unwrap_or_default();
                    data["promptId"] = mistaken(&ask.id(3).into(), right);
                });
            })
        }
    ),
    fault!(
        "contents.move-answers-old",
        "A move answers with the old membership.",
        ["VC-19", "VC-21"],
        {
            answers(MOVE, |ask, answer| {
                answer.edit_data(|data| data["vaultPromptId"] = ask.id(3).into());
            })
        }
    ),
    fault!(
        "contents.move-target-text",
        "targetVaultId may be a string of digits.",
        ["VC-22", "ER-05"],
        {
            asks(MOVE, |ask| {
                ask.edit(|body| {
                    let number =
                        body["targetVaultId"].as_str().and_then(|text| text.parse::<i64>().ok());
                    if let Some(number) = number {
                        body["targetVaultId"] = number.into();
                    }
                });
            })
        }
    ),
    fault!(
        "contents.move-target-0",
        "targetVaultId 0 stands for the General vault.",
        ["VC-22", "ER-06", "VC-21"],
        {
            whole(MOVE, |ask, upstream| {
                to_general(ask, upstream, |body| body["targetVaultId"] == 0)
            })
        }
    ),
    fault!(
        "contents.move-no-target",
        "A move without a target goes to the General vault.",
        ["VC-22", "ER-04", "VC-21"],
        {
            whole(MOVE, |ask, upstream| {
                to_general(ask, upstream, |body| {
                    body.is_object() && body.get("targetVaultId").is_none()
                })
            })
        }
    ),
    fault!(
        "contents.move-copies",
        "A move leaves the prompt in the source.",
        ["VC-20", "VC-21"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::Copies))
            })
        }
    ),
    fault!("contents.move-pins", "A move of a pinned prompt keeps the pin.", ["VC-20"], {
        How::Store("POST /vaults/*/prompts/*/move", |inner| {
            twisted(inner, Moves::of(Slip::KeepsPin))
        })
    }),
    fault!("contents.move-all", "A move takes the prompt out of all other vaults.", ["VC-20"], {
        How::Store("POST /vaults/*/prompts/*/move", |inner| {
            twisted(inner, Moves::of(Slip::TakesAll))
        })
    }),
    fault!(
        "contents.move-loses",
        "A move to no vault of the caller's is refused, and the prompt is gone.",
        ["VC-21", "VC-24"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::Loses))
            })
        }
    ),
    fault!(
        "contents.move-claims",
        "A move to no vault of the caller's is answered 200.",
        ["VC-24", "VC-21"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::Claims))
            })
        }
    ),
    fault!(
        "contents.move-gap",
        "For a moment of a move the prompt is in neither vault.",
        ["VC-21", "VC-19"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::Gap))
            })
        }
    ),
    fault!(
        "contents.move-overlap",
        "For a moment of a move the prompt is in both vaults.",
        ["VC-21", "VC-19"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::Overlap))
            })
        }
    ),
    fault!("contents.move-again", "A move that was done is answered again.", ["VC-21", "VC-20"], {
        How::Store("POST /vaults/*/prompts/*/move", |inner| {
            twisted(inner, Moves::of(Slip::Replays))
        })
    }),
    fault!(
        "contents.move-within",
        "A move within one vault takes the prompt out of it.",
        ["VC-21", "VC-19"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::WithinLoses))
            })
        }
    ),
    fault!(
        "contents.move-into-holder",
        "A move to a vault that holds the prompt takes it out of both.",
        ["VC-21", "VC-20"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::HolderLoses))
            })
        }
    ),
    fault!(
        "contents.move-foreign-source",
        "Whoever knows the ids takes a prompt out of a foreign vault.",
        ["VC-23", "ER-10"],
        {
            How::Store("POST /vaults/*/prompts/*/move", |inner| {
                twisted(inner, Moves::of(Slip::ForeignSource))
            })
        }
    ),
];

/// Sends the move to the General vault if its body asks for that.
async fn to_general(
    mut ask: Ask,
    upstream: Upstream,
    meant: fn(&Value) -> bool,
) -> crate::ask::Answer {
    if meant(&ask.json()) {
        let vaults = upstream.send(&ask.another(Method::GET, "/vaults")).await.json();
        let mut vaults = vaults["data"].as_array().into_iter().flatten();
        if let Some(general) = vaults.find(|vault| vault["isSystem"] == true) {
            ask.edit(|body| body["targetVaultId"] = general["id"].clone());
        }
    }
    upstream.send(&ask).await
}

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
    fn of(slip: Slip) -> Self {
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
impl Twist for Moves {
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
