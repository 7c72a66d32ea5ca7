//! Faults in removals (VC-15, VC-16) and in what names a membership (VC-01).

use async_trait::async_trait;
use http::Method;
use promptarium::{VaultId, VaultPromptId};
use promptarium_server::store::Moved;
use serde_json::json;

use super::pins::{entry_of, mistaken};
use crate::exchange::Response;
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, whole};
use crate::shared::Shared;
use crate::store::{FaultyStore, Good, Result, in_store};

const MEMBERSHIP: &str = "* /vaults/*/prompts/*, * /vaults/*/prompts/*/*";
const REMOVE: &str = "DELETE /vaults/*/prompts/*";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "contents.remove-deletes" ["VC-16"] removal(Slip::Deletes),
        "A removal deletes a prompt that is in no other vault." },
    fault! { "contents.remove-everywhere" ["VC-16"] removal(Slip::Everywhere),
        "A removal takes the prompt out of all vaults." },
    fault! { "contents.remove-neighbour" ["VC-16"] removal(Slip::Unpins),
        "A removal unpins the other prompts of the vault." },
    fault! { "contents.remove-answers-prompt" ["VC-15"] whole(REMOVE, |request, upstream| async move {
        let entry = entry_of(&request, &upstream).await;
        let mut response = upstream.send(&request).await;
        if let Some(entry) = entry {
            response.edit_data(|data| {
                data["vaultPromptId"] = mistaken(&entry["id"], request.id(3));
            });
        }
        response
    }),
        "A removal answers with the prompt's id." },
    fault! { "contents.remove-deleted" ["VC-15"] answers(REMOVE, |request, response| {
        response.edit_data(|data| {
            *data = json!({ "vaultPromptId": request.id(3), "deleted": true });
        });
    }),
        "A removal answers deleted in place of removed." },
    fault! { "contents.remove-again" ["VC-15"] removed_again(),
        "Removing a removed membership answers 200." },
    fault! { "contents.remove-any-vault" ["VC-15"] any_vault(Call::Remove),
        "A removal goes by the membership and not by the vault." },
    fault! { "contents.pin-any-vault" ["VC-25"] any_vault(Call::Pin),
        "A pin goes by the membership and not by the vault." },
    fault! { "contents.move-any-vault" ["VC-20"] any_vault(Call::Move),
        "A move goes by the membership and not by the vault." },
    fault! { "contents.prompt-id-named" ["VC-01"] any_vault(Call::ByPrompt),
        "Remove, move and pin take the prompt's id too." },
];

fn removed_again() -> Intercept {
    let gone = Shared::<Vec<String>>::default();
    answers(REMOVE, move |request, response| {
        if response.is_success() {
            gone.with(|gone| gone.push(request.path.clone()));
        } else if request.method == Method::DELETE && gone.with(|gone| gone.contains(&request.path))
        {
            *response =
                Response::data(200, &json!({ "vaultPromptId": request.id(3), "removed": true }));
        }
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slip {
    Deletes,
    Everywhere,
    Unpins,
}

struct Removal(Slip);

fn removal(slip: Slip) -> Intercept {
    in_store(MEMBERSHIP, Removal(slip))
}

#[async_trait]
impl FaultyStore for Removal {
    async fn remove_membership(
        &self,
        good: Good<'_>,
        vault: VaultId,
        membership: VaultPromptId,
    ) -> Result {
        let there = good.held(vault).await;
        good.remove_membership(vault, membership).await?;
        let Some(this) = there.iter().find(|entry| entry.membership == membership) else {
            return Ok(());
        };
        let id = this.prompt.id;
        match self.0 {
            Slip::Deletes if this.prompt.vault_ids.len() == 1 => {
                good.delete_prompt(id).await?;
            }
            Slip::Deletes => {}
            Slip::Everywhere => good.take_out(id, |_| true).await?,
            Slip::Unpins => {
                for entry in there.iter().filter(|entry| entry.pinned && entry.prompt.id != id) {
                    good.set_pinned(vault, entry.membership, false).await?;
                }
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Remove,
    Pin,
    Move,
    ByPrompt,
}

/// Looks for a membership that the vault of the path does not hold.
struct AnyVault(Call);

fn any_vault(call: Call) -> Intercept {
    in_store(MEMBERSHIP, AnyVault(call))
}

impl AnyVault {
    /// The vault and membership that are taken for those of the path.
    async fn found(
        &self,
        call: Call,
        good: Good<'_>,
        vault: VaultId,
        membership: VaultPromptId,
    ) -> (VaultId, VaultPromptId) {
        if self.0 == Call::ByPrompt {
            let there = good.held(vault).await;
            let by_prompt = there.iter().find(|entry| entry.prompt.id.get() == membership.get());
            let held = there.iter().any(|entry| entry.membership == membership);
            return match by_prompt {
                Some(entry) if !held => (vault, entry.membership),
                _ => (vault, membership),
            };
        }
        // The path's own vault has to be the caller's.
        if self.0 == call && good.vault(vault).await.is_ok() {
            for other in good.vaults().await.unwrap_or_default() {
                let there = good.held(other.id).await;
                if there.iter().any(|entry| entry.membership == membership) {
                    return (other.id, membership);
                }
            }
        }
        (vault, membership)
    }
}

#[async_trait]
impl FaultyStore for AnyVault {
    async fn remove_membership(
        &self,
        good: Good<'_>,
        vault: VaultId,
        membership: VaultPromptId,
    ) -> Result {
        let (vault, id) = self.found(Call::Remove, good, vault, membership).await;
        good.remove_membership(vault, id).await
    }

    async fn move_membership(
        &self,
        good: Good<'_>,
        vault: VaultId,
        membership: VaultPromptId,
        target: VaultId,
    ) -> Result<Moved> {
        let (vault, id) = self.found(Call::Move, good, vault, membership).await;
        good.move_membership(vault, id, target).await
    }

    async fn set_pinned(
        &self,
        good: Good<'_>,
        vault: VaultId,
        membership: VaultPromptId,
        pinned: bool,
    ) -> Result {
        let (vault, id) = self.found(Call::Pin, good, vault, membership).await;
        good.set_pinned(vault, id, pinned).await
    }
}
