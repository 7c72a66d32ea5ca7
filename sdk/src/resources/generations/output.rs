//! Finds the prompts that hold the output of a completed job: those that its status names, or else
//! those of the target vault that can only be its output. Nothing is guessed.

use std::collections::HashSet;

use http::Method;

use crate::call::{Call, Context};
use crate::error::Error;
use crate::model::{GenerationStatus, OutputHint, Prompt, Vault, VaultPrompt};
use crate::path;
use crate::send::evidence::{self, Evidence};
use crate::send::reply::Reply;
use crate::send::request::Request;

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
        match get(context, path::PROMPT, path::prompt(id), Reply::data_if_found).await? {
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
            let vaults: Vec<Vault> =
                get(context, path::VAULTS, path::VAULTS.to_owned(), Reply::data).await?;
            vaults.into_iter().filter(|vault| vault.is_system).map(|vault| vault.id).collect()
        }
    };
    let mut members = Vec::new();
    for vault in &vaults {
        let path = path::vault_prompts(*vault);
        let of_vault: Vec<VaultPrompt> =
            get(context, path::VAULT_PROMPTS, path, Reply::data).await?;
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

async fn get<T: 'static>(
    context: &Context,
    template: &'static str,
    path: String,
    read: fn(Reply) -> Result<T, Error>,
) -> Result<T, Error> {
    let request = Request::new(Method::GET, template, path);
    Call::new(context.clone(), request, read).await
}
