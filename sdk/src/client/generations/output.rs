//! Finds the prompts that hold the output of a completed job: those that its status names, or else
//! those of the target vault that fit what is known of the job.

use jiff::SignedDuration;

use crate::client::{Client, Error};
use crate::model::{GenerationStatus, OutputHint, Prompt, PromptId, VaultId};

/// The clocks of client and service may differ by this much.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(5);

/// The prompts with the output, or where they were looked for.
pub(super) async fn find(
    client: &Client,
    status: &GenerationStatus,
    hint: &OutputHint,
) -> Result<Result<Vec<Prompt>, String>, Error> {
    let mut ids = status.prompt_ids.clone();
    ids.extend(status.prompt_id.filter(|id| !status.prompt_ids.contains(id)));
    if ids.is_empty() { in_vault(client, status, hint).await } else { named(client, ids).await }
}

async fn named(client: &Client, ids: Vec<PromptId>) -> Result<Result<Vec<Prompt>, String>, Error> {
    let mut prompts = Vec::new();
    for id in ids {
        match client.prompts().get_opt(id).await? {
            Some(prompt) => prompts.push(prompt),
            None => return Ok(Err(format!("prompt {id} does not exist"))),
        }
    }
    Ok(Ok(prompts))
}

async fn in_vault(
    client: &Client,
    status: &GenerationStatus,
    hint: &OutputHint,
) -> Result<Result<Vec<Prompt>, String>, Error> {
    let vaults = match hint.vault_id.or(status.vault_id) {
        Some(vault) => vec![vault],
        None => system_vaults(client).await?,
    };
    let since = hint.sent_at.or(status.created_at);
    let since = since.and_then(|since| since.checked_sub(CLOCK_SKEW).ok());
    let mut members = Vec::new();
    for vault in &vaults {
        members.extend(client.vault(*vault).prompts().list().await?);
    }
    let mut found: Vec<_> = members
        .into_iter()
        .map(|member| member.prompt)
        .filter(|prompt| hint.prompt.as_ref().is_none_or(|text| *text == prompt.text))
        .filter(|prompt| !prompt.images.is_empty())
        .filter(|prompt| since.is_none_or(|since| prompt.created_at >= since))
        .collect();
    found.sort_by_key(|prompt| (prompt.created_at, prompt.id));
    let place = match vaults[..] {
        [] => "no vault".to_owned(),
        [vault] => format!("vault {vault}"),
        [..] => "General".to_owned(),
    };
    let outputs = hint.batch_count.unwrap_or(1);
    let (mut count, mut needed) = (0, 0);
    for prompt in &found {
        if count >= outputs {
            break;
        }
        count = count.saturating_add(u32::try_from(prompt.images.len()).unwrap_or(u32::MAX));
        needed += 1;
    }
    if hint.prompt.is_none() && found.len() > needed {
        return Ok(Err(format!(
            "the status names no prompt, and several prompts of {place} may be the output; set `text`"
        )));
    }
    if count < outputs {
        let text = hint.prompt.as_ref().map_or("", |_| " with its text");
        return Ok(Err(format!(
            "the status names no prompt, and {place} has {count} of {outputs} images of new \
             prompts{text}"
        )));
    }
    found.truncate(needed);
    Ok(Ok(found))
}

/// The vaults that may take the output of a job that names none: General, which the service may
/// have given another name.
async fn system_vaults(client: &Client) -> Result<Vec<VaultId>, Error> {
    let vaults = client.vaults().list().await?;
    Ok(vaults.into_iter().filter(|vault| vault.is_system).map(|vault| vault.id).collect())
}
