//! The deletion of everything that a case created. Outputs of generations appear some time after
//! the response, so the end of each job is waited for before they are deleted.

use std::time::Duration;

use serde_json::Value;

use super::Case;
use crate::check::json_text;
use crate::failure::{Failure, Result};
use crate::ledger::{Created, Resource};
use crate::lock;
use crate::run_id::RunId;
use crate::target::Auth;
use crate::wire::{ApiResponse, Wire};

/// How long the end of a job is waited for.
const TIMEOUT: Duration = Duration::from_secs(40);
/// How long, if jobs are known to take too long.
const SHORT_TIMEOUT: Duration = Duration::from_secs(2);
/// How often a deletion is sent that a gateway answers in place of the target.
const GATEWAY_TRIES: usize = 3;

impl Case {
    /// Deletes all that the case created, latest first; with `--keep` only what `sweep` would not
    /// find. Waits for requests in flight first, as they may be creating more. An error names what
    /// is left.
    pub async fn clean_up(&self) -> Result {
        drop(self.ledger.in_flight.write().await);
        let created = std::mem::take(&mut *lock(&self.ledger.created));
        let mut left = Vec::new();
        for Created { by, resource } in created.iter().rev() {
            if let Err(failure) = self.remove(*by, resource, &created).await {
                left.push(format!("{resource}: {}", failure.got));
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        Err(Failure::error("everything the scenario created to be deleted", left.join("; ")))
    }

    async fn remove(&self, by: Auth, resource: &Resource, all: &[Created]) -> Result {
        let keep = self.target.options().keep;
        if keep && recognizable_by_run_id(&self.wire_as(by), resource).await? {
            return Ok(());
        }
        // A key without prompts:write can delete nothing, should it have created something.
        let wire = self.wire_as(if by == Auth::ReadOnly { Auth::Main } else { by });
        match resource {
            Resource::Prompt(id) => delete_prompts(&wire, [*id]).await,
            Resource::Job { id, vault } => {
                let is_own = |vault: &i64| {
                    all.iter().any(|created| created.resource == Resource::Vault(*vault))
                };
                self.remove_job(&wire, id, vault.filter(is_own)).await
            }
            Resource::Vault(id) | Resource::Fork(id) => {
                if matches!(resource, Resource::Fork(_)) {
                    delete_prompts(&wire, ids(&listed(&wire, *id).await?)).await?;
                }
                delete_if_present(&wire, &format!("/vaults/{id}")).await
            }
        }
    }

    /// Waits until the job has ended and deletes what it saved. Where a status
    /// does not name the prompt, it is known by the case's tag in its text;
    /// all that is in its vault `own` is the case's.
    async fn remove_job(&self, wire: &Wire, id: &str, own: Option<i64>) -> Result {
        let Some(status) = self.end_of(wire, id).await? else {
            return Ok(());
        };
        let mut prompts: Vec<i64> = status.integer("/data/promptId").ok().into_iter().collect();
        if let Some(vault) = own {
            prompts.extend(ids(&listed(wire, vault).await?));
        }
        if prompts.is_empty() && state(&status).as_deref() == Some("completed") {
            prompts = self.tagged_in_system_vaults(wire).await?;
        }
        delete_prompts(wire, prompts).await
    }

    /// The last status; `None` if there is no such job, or if the answer has no data, so that a longer
    /// wait would bring no status.
    async fn end_of(&self, wire: &Wire, id: &str) -> Result<Option<ApiResponse>> {
        let what = format!("the job {} to end", json_text(&id));
        let ask = || async move {
            let status = wire.get(&status_path(id)).await?;
            let state = state(&status);
            Ok(match (status.status_code(), state.as_deref()) {
                (200..300, Some("completed" | "failed")) => Some(Some(status)),
                (400..500, _) => Some(None),
                (200..300, None) if !status.at("/data").is_ok_and(Value::is_object) => Some(None),
                _ => None,
            })
        };
        let timeout = if self.waits_for_jobs().is_err() { SHORT_TIMEOUT } else { TIMEOUT };
        self.until(&what, timeout, ask).await
    }

    async fn tagged_in_system_vaults(&self, wire: &Wire) -> Result<Vec<i64>> {
        // Between spaces, as `Case::name` writes it: `mem-1` is not `mem-12`.
        let tag = format!(" {} ", self.tag);
        let has_tag = |text: &Value| text.as_str().is_some_and(|text| text.contains(&tag));
        let mut found = Vec::new();
        let mut vaults = wire.get("/vaults").await?.array("/data").unwrap_or_default();
        vaults.retain(|vault| vault["isSystem"] == true);
        for vault in ids(&vaults) {
            let mut prompts = listed(wire, vault).await?;
            prompts.retain(|prompt| has_tag(&prompt["title"]) || has_tag(&prompt["prompt"]));
            found.extend(ids(&prompts));
        }
        Ok(found)
    }
}

/// Whether `sweep` would find this resource by the run id in its texts, or it is gone.
async fn recognizable_by_run_id(wire: &Wire, resource: &Resource) -> Result<bool> {
    let path = match resource {
        Resource::Prompt(id) => format!("/prompts/{id}"),
        Resource::Vault(id) | Resource::Fork(id) => format!("/vaults/{id}"),
        // Its output has the text of the order.
        Resource::Job { .. } => return Ok(true),
    };
    let reply = wire.get(&path).await?;
    Ok(reply.status_code() == 404 || reply.at("/data").ok().and_then(RunId::of_resource).is_some())
}

async fn delete_prompts(wire: &Wire, prompts: impl IntoIterator<Item = i64>) -> Result {
    for prompt in prompts {
        delete_if_present(wire, &format!("/prompts/{prompt}")).await?;
    }
    Ok(())
}

fn ids(entries: &[Value]) -> impl Iterator<Item = i64> {
    entries.iter().filter_map(|entry| entry["id"].as_i64())
}

/// Deletes it; a 404 is fine too.
pub(crate) async fn delete_if_present(wire: &Wire, path: &str) -> Result {
    let mut status = 0;
    for _ in 0..GATEWAY_TRIES {
        status = wire.delete(path).await?.status_code();
        match status {
            200..300 | 404 => return Ok(()),
            502..=504 => {}
            _ => break,
        }
    }
    Err(Failure::error("status 200 or 404", format!("status {status}")))
}

/// The path of a job's status, the id as one percent-encoded segment.
pub fn status_path(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    let segment: String = id.bytes().map(encode).collect();
    format!("/generations/{segment}/status")
}

/// The state of a job: the outermost member `status` or `state` that is a text, or the word
/// `completed` in any other member, at any depth (S-34). What a list says may be of the past.
pub fn state(reply: &ApiResponse) -> Option<String> {
    let mut level = vec![reply.at("/data").ok()?];
    let mut completed = false;
    while !level.is_empty() {
        let named = level.iter().flat_map(|value| [value.get("status"), value.get("state")]);
        if let Some(state) = named.flatten().find_map(Value::as_str) {
            return Some(state.to_owned());
        }
        let objects = level.iter().filter_map(|value| value.as_object());
        level = objects.flat_map(|object| object.values()).collect();
        completed |= level.iter().any(|value| **value == "completed");
    }
    completed.then(|| "completed".to_owned())
}

/// The prompts in a vault; empty if it does not exist any more.
async fn listed(wire: &Wire, vault: i64) -> Result<Vec<Value>> {
    let listing = wire.get(&format!("/vaults/{vault}/prompts")).await?;
    Ok(listing.array("/data").unwrap_or_default())
}
