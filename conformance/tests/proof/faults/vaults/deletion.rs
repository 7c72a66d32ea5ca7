//! Faults in what the deletion of a vault takes away and leaves (VA-26 to VA-28).

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use http::Method;
use promptarium::{PromptId, VaultId};
use promptarium_server::store::{AccountId, SharedPrompt, StoreError, VaultRecord};
use serde_json::json;

use crate::entries::without;
use crate::exchange::Response;
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, edits_data, whole, whole_with};
use crate::shared::Shared;
use crate::store::{FaultyStore, Good, Result, in_store};

const DELETE: &str = "DELETE /vaults/*";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.deleted-flag" ["VA-26"] edits_data(DELETE, |data| without(data, "deleted")),
        "The answer of a deletion has the id alone." },
    fault! { "vaults.deleted-again" ["ER-09"] deleted_again(),
        "The deletion of a deleted vault answers 200." },
    fault! { "vaults.deleted-forked" ["ER-09"] deleted_forked(),
        "A fork of a deleted vault is a new vault without prompts." },
    fault! { "vaults.deleted-read" ["VA-27"] left(Left::Address),
        "A deleted vault is still read at its address." },
    fault! { "vaults.deleted-listed" ["VA-27"] left(Left::List),
        "A deleted vault is still in the list." },
    fault! { "vaults.deleted-in-prompts" ["VA-28"] left(Left::VaultIds),
        "vaultIds still names a deleted vault." },
    fault! { "vaults.deletes-prompts" ["VA-28"]
        in_store("DELETE /vaults/*", Greedy { orphans_only: false }),
        "The prompts of a deleted vault are deleted too." },
    fault! { "vaults.deletes-orphans" ["VA-28"]
        in_store("DELETE /vaults/*", Greedy { orphans_only: true }),
        "Prompts that are in no other vault are deleted with their vault." },
    fault! { "vaults.deletes-memberships" ["VA-28"] whole(DELETE, |request, upstream| async move {
        let prompts = upstream.list(&request, format!("{}/prompts", request.path)).await;
        let response = upstream.send(&request).await;
        for prompt in prompts.iter().filter(|_| response.is_success()) {
            for vault in prompt["vaultIds"].as_array().into_iter().flatten() {
                let path = format!("/vaults/{vault}/prompts");
                let there = upstream.list(&request, &*path).await;
                for member in there.iter().filter(|member| member["id"] == prompt["id"]) {
                    upstream.delete(&request, format!("{path}/{}", member["vaultPromptId"])).await;
                }
            }
        }
        response
    }),
        "The deletion of a vault takes its prompts out of all vaults." },
];

fn deleted_again() -> Intercept {
    let gone = Shared::<Vec<(String, i64)>>::default();
    answers(DELETE, move |request, response| {
        let this = (request.authorization().to_owned(), request.id(1));
        if response.is_success() {
            gone.with(|gone| gone.push(this));
        } else if gone.with(|gone| gone.contains(&this)) {
            *response = Response::data(200, &json!({ "id": request.id(1), "deleted": true }));
        }
    })
}

fn deleted_forked() -> Intercept {
    let routes = "DELETE /vaults/*, POST /vaults/*/fork";
    whole_with(routes, |mut request, upstream, gone: Shared<Vec<i64>>| async move {
        let id = request.id(1);
        if request.method == Method::POST && gone.with(|gone| gone.contains(&id)) {
            request = request.another_with(Method::POST, "/vaults", &json!({ "name": "Fork" }));
        }
        let response = upstream.send(&request).await;
        if request.method == Method::DELETE && response.is_success() {
            gone.with(|gone| gone.push(id));
        }
        response
    })
}

/// Where a deleted vault still shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Address,
    List,
    VaultIds,
}

struct Afterlife {
    left: Left,
    vaults: Shared<Vec<(AccountId, VaultRecord)>>,
    prompts: Shared<HashMap<PromptId, Vec<VaultId>>>,
}

fn left(left: Left) -> Intercept {
    in_store(DELETE, Afterlife { left, vaults: Shared::default(), prompts: Shared::default() })
}

#[async_trait]
impl FaultyStore for Afterlife {
    async fn delete_vault(&self, good: Good<'_>, id: VaultId) -> Result {
        let vault = good.vault(id).await?;
        let there = good.held(id).await;
        good.delete_vault(id).await?;
        self.vaults.with(|vaults| vaults.push((good.caller.account, vault)));
        self.prompts.with(|prompts| {
            there.iter().for_each(|entry| prompts.entry(entry.prompt.id).or_default().push(id));
        });
        Ok(())
    }

    async fn vault(&self, good: Good<'_>, id: VaultId) -> Result<VaultRecord> {
        match good.vault(id).await {
            Err(StoreError::NotFound) if self.left == Left::Address => self.vaults.with(|vaults| {
                let mut own = vaults.iter().filter(|(account, _)| *account == good.caller.account);
                let found = own.find(|(_, vault)| vault.id == id);
                found.map(|(_, vault)| vault.clone()).ok_or(StoreError::NotFound)
            }),
            found => found,
        }
    }

    async fn vaults(&self, good: Good<'_>) -> Result<Vec<VaultRecord>> {
        let mut vaults = good.vaults().await?;
        if self.left == Left::List {
            self.vaults.with(|gone| {
                let own = gone.iter().filter(|(account, _)| *account == good.caller.account);
                vaults.extend(own.map(|(_, vault)| vault.clone()));
            });
            vaults.sort_by_key(|vault| std::cmp::Reverse((vault.created_at, vault.id)));
        }
        Ok(vaults)
    }

    async fn prompt(&self, good: Good<'_>, id: PromptId) -> Result<SharedPrompt> {
        let mut prompt = good.prompt(id).await?;
        if self.left == Left::VaultIds {
            let gone = self.prompts.with(|prompts| prompts.get(&id).cloned().unwrap_or_default());
            let prompt = Arc::make_mut(&mut prompt);
            prompt.vault_ids.extend(gone);
        }
        Ok(prompt)
    }
}

/// Deletes prompts with their vault.
struct Greedy {
    orphans_only: bool,
}

#[async_trait]
impl FaultyStore for Greedy {
    async fn delete_vault(&self, good: Good<'_>, id: VaultId) -> Result {
        let there = good.held(id).await;
        good.delete_vault(id).await?;
        for entry in there {
            if !self.orphans_only || entry.prompt.vault_ids.len() == 1 {
                good.delete_prompt(entry.prompt.id).await?;
            }
        }
        Ok(())
    }
}
