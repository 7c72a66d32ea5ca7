//! Finds the prompts that hold the output of a completed job: those that its status names, or else
//! those of the target vault that can only be its output. Nothing is guessed.

use std::collections::HashSet;

use http::Method;

use crate::call::{Call, Context};
use crate::error::Error;
use crate::model::{GenerationStatus, OutputHint, Prompt, Vault, VaultPrompt};
use crate::path;
use crate::send::reply::Reply;
use crate::send::request::Request;

/// The prompts with the output, or why they are not known.
type Output = Result<Vec<Prompt>, String>;

pub(super) async fn find(
    context: &Context,
    status: &GenerationStatus,
    hint: &OutputHint,
) -> Result<Output, Error> {
    let mut ids = status.prompt_ids.clone();
    ids.extend(status.prompt_id.filter(|id| !status.prompt_ids.contains(id)));
    if ids.is_empty() {
        return in_vault(context, status, hint).await;
    }
    let mut prompts = Vec::new();
    for id in ids {
        match get(context, path::PROMPT, path::prompt(id), Reply::data_if_found).await? {
            Some(prompt) => prompts.push(prompt),
            None => return Ok(Err(format!("prompt {id} does not exist"))),
        }
    }
    Ok(Ok(prompts))
}

async fn in_vault(
    context: &Context,
    status: &GenerationStatus,
    hint: &OutputHint,
) -> Result<Output, Error> {
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
    Ok(choose(members, status, hint)
        .map_err(|problem| format!("the status names no prompt, and {place} has {problem}")))
}

/// The prompts that are the output, or what prevents to say so.
fn choose(members: Vec<Prompt>, status: &GenerationStatus, hint: &OutputHint) -> Output {
    // The job and its output are made by the same clock.
    let earliest = status.created_at.or(hint.earliest);
    let latest = status.created_at.or(hint.latest);
    let mut fitting: Vec<_> = members
        .into_iter()
        .filter(|prompt| hint.prompt.as_ref().is_none_or(|text| *text == prompt.text))
        .filter(|prompt| !prompt.images.is_empty())
        .filter(|prompt| earliest.is_none_or(|earliest| prompt.created_at >= earliest))
        .collect();
    let outputs = hint.batch_count.unwrap_or(1) as usize;
    let images =
        |prompts: &[Prompt]| prompts.iter().map(|prompt| prompt.images.len()).sum::<usize>();
    if images(&fitting) > outputs {
        // Some may have been there before: those are left whose time excludes it.
        fitting.retain(|prompt| latest.is_none_or(|latest| prompt.created_at >= latest));
    }
    fitting.sort_by_key(|prompt| (prompt.created_at, prompt.id));
    let of_text = hint.prompt.as_ref().map_or("", |_| " with its text");
    match images(&fitting) {
        count if count == outputs => Ok(fitting),
        count if count > outputs => Err(format!(
            "{count} images of new prompts{of_text}, of which {outputs} are the output"
        )),
        count => Err(format!("{count} of {outputs} images of new prompts{of_text}")),
    }
}

async fn get<T: 'static>(
    context: &Context,
    template: &'static str,
    path: String,
    read: fn(Reply) -> Result<T, Error>,
) -> Result<T, Error> {
    let request = Request::new(Method::GET, template, path);
    Box::pin(Call::new(context.clone(), request, read).run()).await
}
