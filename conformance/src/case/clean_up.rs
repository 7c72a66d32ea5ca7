//! The deletion of everything that a case created.

use std::collections::HashSet;

use super::Case;
use crate::failure::{Failure, Result};
use crate::ledger::{Created, Resource};
use crate::run_id::RunId;
use crate::target::Auth;
use crate::wire::Wire;

impl Case {
    /// Deletes all that the case created, latest first; with `--keep` only what `sweep` would not
    /// find. Waits for requests in flight first, as they may be creating more.
    ///
    /// # Errors
    /// If something is left; the text names it.
    pub async fn clean_up(&self) -> Result {
        drop(self.ledger.no_request_in_flight().await);
        let created = self.ledger.take_created();
        let vault = |created: &Created| match created.resource {
            Resource::Vault(id) => Some(id),
            _ => None,
        };
        let own: HashSet<i64> = created.iter().filter_map(vault).collect();
        let mut left = Vec::new();
        for Created { by, resource } in created.into_iter().rev() {
            if let Err(failure) = self.remove(&by, &resource, &own).await {
                left.push(format!("{resource}: {}", failure.got));
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        Err(Failure::error("everything the scenario created to be deleted", left.join("; ")))
    }

    async fn remove(&self, by: &Auth, resource: &Resource, own: &HashSet<i64>) -> Result {
        let keep = self.target.options().keep;
        if keep && recognizable_by_run_id(&self.wire_as(by.clone()), resource).await? {
            return Ok(());
        }
        // A key without prompts:write can delete nothing, should it have created something.
        let by = if *by == Auth::ReadOnly { &Auth::Main } else { by };
        let session = matches!(resource, Resource::Key(_)) && self.target.session.initialized();
        let wire = self.wire_as(if session { Auth::Session } else { by.clone() });
        let path = match resource {
            Resource::Prompt(id) => format!("/prompts/{id}"),
            Resource::Vault(id) => format!("/vaults/{id}"),
            Resource::Key(id) => format!("/api-keys/{id}"),
            Resource::Fork(id) => {
                let listing = wire.get(&format!("/vaults/{id}/prompts")).await?;
                for prompt in listing.array("/data").unwrap_or_default() {
                    if let Some(prompt) = prompt["id"].as_i64() {
                        delete_if_present(&wire, &format!("/prompts/{prompt}")).await?;
                    }
                }
                format!("/vaults/{id}")
            }
            Resource::Job(job) => {
                let own = job.vault.is_some_and(|vault| own.contains(&vault));
                return self.remove_job(&wire, job, own).await;
            }
        };
        delete_if_present(&wire, &path).await
    }
}

/// Whether `sweep` would find this resource by the run id in its texts, or it is gone.
async fn recognizable_by_run_id(wire: &Wire, resource: &Resource) -> Result<bool> {
    let path = match resource {
        Resource::Prompt(id) => format!("/prompts/{id}"),
        Resource::Vault(id) | Resource::Fork(id) => format!("/vaults/{id}"),
        // Its output has the text of the order.
        Resource::Job(_) => return Ok(true),
        // A key must not stay valid.
        Resource::Key(_) => return Ok(false),
    };
    let reply = wire.get(&path).await?;
    Ok(reply.status_code() == 404 || reply.at("/data").ok().and_then(RunId::of_resource).is_some())
}

/// Deletes it; a 404 is fine too.
pub(crate) async fn delete_if_present(wire: &Wire, path: &str) -> Result {
    let reply = wire.delete(path).await?;
    match reply.status_code() {
        200..300 | 404 => Ok(()),
        status => Err(Failure::error("status 200 or 404", format!("status {status}"))),
    }
}
