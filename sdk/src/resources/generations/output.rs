//! Finds the prompts that hold the output of a completed job: those that its status names, or else
//! those of the target vault that can only be its output. Nothing is guessed.

use std::collections::HashSet;

use crate::call::Context;
use crate::error::Error;
use crate::model::{GenerationStatus, OutputHint, Prompt};
use crate::send::evidence::{self, Evidence};

pub(super) async fn find(
    context: &Context,
    status: &GenerationStatus,
    hint: &OutputHint,
) -> Result<Evidence<Vec<Prompt>>, Error> {
    let mut ids = status.prompt_ids.clone();
    ids.extend(status.prompt_id.filter(|id| !status.prompt_ids.contains(id)));
    if ids.is_empty() {
        return in_vault(context, status, hint).await;
    }
    let mut prompts = Vec::new();
    for id in ids {
        match context.client.prompts().get_opt(id).with(&context.options).await? {
            Some(prompt) => prompts.push(prompt),
            None => return Ok(Evidence::Unclear(format!("prompt {id} does not exist"))),
        }
    }
    Ok(Evidence::Present(prompts))
}

async fn in_vault(
    context: &Context,
    status: &GenerationStatus,
    hint: &OutputHint,
) -> Result<Evidence<Vec<Prompt>>, Error> {
    let vaults = match hint.vault_id.or(status.vault_id) {
        Some(vault) => vec![vault],
        // General, which the service may have given another name.
        None => {
            let vaults = context.client.vaults().list().with(&context.options).await?;
            vaults.into_iter().filter(|vault| vault.is_system).map(|vault| vault.id).collect()
        }
    };
    let mut members = Vec::new();
    for vault in &vaults {
        let of_vault = context.client.vault(*vault).list().with(&context.options).await?;
        members.extend(of_vault.into_iter().map(|member| member.prompt));
    }
    // A prompt can be in several system vaults.
    let mut seen = HashSet::new();
    members.retain(|prompt: &Prompt| seen.insert(prompt.id));
    let place = match vaults[..] {
        [] => "no vault".to_owned(),
        [vault] => format!("vault {vault}"),
        [..] => "General".to_owned(),
    };
    Ok(match evidence::output(members, status, hint) {
        Evidence::Unclear(problem) => {
            Evidence::Unclear(format!("the status names no prompt, and {place} has {problem}"))
        }
        other => other,
    })
}
