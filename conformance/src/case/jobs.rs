//! Generations that a case has queued. Their outputs appear by themselves, some
//! time after the answer, so cleaning up first waits for the end of each job
//! and then takes away what it saved.

use std::time::Duration;

use serde_json::Value;

use super::{Case, delete_if_present};
use crate::check::json_text;
use crate::failure::Result;
use crate::ledger::Job;
use crate::wire::{ApiResponse, Wire};

/// How long cleaning up waits for a job.
const TIMEOUT: Duration = Duration::from_secs(40);
/// How long, if jobs are known to take too long.
const SHORT_TIMEOUT: Duration = Duration::from_secs(2);

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

/// Where a job stands, as far as a status answer says so in a form that can be
/// known: its member `status`, or the word `completed` in any member.
pub fn state(reply: &ApiResponse) -> Option<String> {
    let data = reply.at("/data").ok()?;
    if let Some(status) = data.get("status").and_then(Value::as_str) {
        return Some(status.to_owned());
    }
    let mut members = data.as_object().into_iter().flatten().map(|(_, value)| value);
    members.any(|value| value == "completed").then(|| "completed".to_owned())
}

impl Case {
    /// Waits until the job has ended and deletes what it saved. Where a status
    /// does not name the prompt, it is known by the case's tag in its text;
    /// all that is in a vault of the case's `own` is the case's.
    pub(super) async fn remove_job(&self, wire: &Wire, job: &Job, own: bool) -> Result {
        let Some(status) = self.end_of(wire, &job.id).await? else {
            return Ok(());
        };
        let named = status.integer("/data/promptId").ok();
        let mut prompts: Vec<i64> = named.into_iter().collect();
        if let (Some(vault), true) = (job.vault, own) {
            prompts.extend(listed(wire, vault).await?.iter().filter_map(|p| p["id"].as_i64()));
        }
        if prompts.is_empty() && state(&status).as_deref() == Some("completed") {
            prompts = self.tagged_in_system_vaults(wire).await?;
        }
        for prompt in prompts {
            delete_if_present(wire, &format!("/prompts/{prompt}")).await?;
        }
        Ok(())
    }

    /// The last status; none if there is no such job, or if what is answered
    /// has no data, so that no timeout would make a status of it.
    async fn end_of(&self, wire: &Wire, id: &str) -> Result<Option<ApiResponse>> {
        let path = &status_path(id);
        let what = format!("the job {} to end", json_text(&id));
        let ask = || async move {
            let status = wire.get(path).await?;
            let state = state(&status);
            Ok(match (status.status_code(), state.as_deref()) {
                (200..300, Some("completed" | "failed")) => Some(Some(status)),
                (400..500, _) => Some(None),
                (200..300, None) if !status.at("/data").is_ok_and(Value::is_object) => Some(None),
                _ => None,
            })
        };
        let in_vain = self.waits_for_jobs().is_err();
        let timeout = if in_vain { SHORT_TIMEOUT } else { TIMEOUT };
        self.until(&what, timeout, ask).await
    }

    async fn tagged_in_system_vaults(&self, wire: &Wire) -> Result<Vec<i64>> {
        // Between spaces, as `Case::name` writes it: `mem-1` is not `mem-12`.
        let tag = format!(" {} ", self.tag);
        let has_tag = |text: &Value| text.as_str().is_some_and(|text| text.contains(&tag));
        let mut found = Vec::new();
        let vaults = wire.get("/vaults").await?.array("/data").unwrap_or_default();
        for vault in vaults.iter().filter(|vault| vault["isSystem"] == true) {
            let Some(vault) = vault["id"].as_i64() else { continue };
            let prompts = listed(wire, vault).await?;
            let ours = prompts.iter().filter(|p| has_tag(&p["title"]) || has_tag(&p["prompt"]));
            found.extend(ours.filter_map(|prompt| prompt["id"].as_i64()));
        }
        Ok(found)
    }
}

/// What is in a vault; nothing if it is gone.
async fn listed(wire: &Wire, vault: i64) -> Result<Vec<Value>> {
    let listing = wire.get(&format!("/vaults/{vault}/prompts")).await?;
    Ok(listing.array("/data").unwrap_or_default())
}
