//! The prompts that a client offers in its menu.

use futures::{StreamExt as _, TryStreamExt as _, stream};
use promptarium::{Page, Prompt, PromptId, VaultId};
use rmcp::model::{
    ArgumentInfo, GetPromptResult, JsonObject, Prompt as Entry, PromptArgument, PromptMessage, Role,
};
use serde_json::Value;
use slug::slugify;

use super::Library;
use crate::failure::{Failure, Result};
use crate::find::{self, Place};

/// The entry that takes the title of any prompt.
const ANY: &str = "library";
/// Prompts in one answer.
const PAGE: u32 = 100;
/// Prompts that one completion looks at.
const COMPLETED: usize = 2_000;

impl Library {
    /// A page of the prompts that are offered: those of the vault, or all that are pinned. If none
    /// is pinned, the newest ones, and no more than a menu can show.
    pub(super) async fn offered(&self, cursor: Option<String>) -> Result<Page<Prompt>> {
        let list = self.client.prompts().list().page_size(PAGE);
        if let Some(vault) = self.vault {
            return Ok(list.vault(vault).set_cursor(cursor).page().await?);
        }
        if cursor.is_some() {
            return Err(Failure::usage("the cursor is not one of this list"));
        }
        let vaults = self.client.vaults().list().await?;
        let vaults = vaults.into_iter().filter(|vault| vault.prompt_count > 0);
        let ids: Vec<VaultId> = vaults.map(|vault| vault.id).collect();
        let members = stream::iter(ids).map(|id| self.client.vault(id).list().send());
        let members: Vec<_> = members.buffered(4).try_collect::<Vec<_>>().await?.concat();
        let pinned = members.into_iter().filter(|member| member.is_pinned);
        let mut pinned: Vec<_> = pinned.map(|member| member.prompt).collect();
        pinned.sort_by_key(|prompt| prompt.id);
        pinned.dedup_by_key(|prompt| prompt.id);
        match pinned.is_empty() {
            false => Ok(Page::new(pinned, None)),
            true => Ok(Page::new(list.page().await?.items, None)),
        }
    }

    /// The prompt of an entry, with its arguments filled in.
    pub(super) async fn filled(
        &self,
        name: &str,
        arguments: &JsonObject,
    ) -> Result<GetPromptResult> {
        let prompt = self.named(name, arguments).await?;
        self.show(&prompt);
        let value = |name: &str| arguments.get(name).map(text);
        let variables = prompt.variables().into_iter();
        let missing =
            variables.filter(|it| it.default.is_none() && !arguments.contains_key(&it.name));
        let missing: Vec<_> = missing.map(|variable| variable.name).collect();
        if !missing.is_empty() && name != ANY {
            return Err(Failure::usage(format!("a value is missing for: {}", missing.join(", "))));
        }
        let message = PromptMessage::new_text(Role::User, prompt.filled(value));
        Ok(GetPromptResult::new(vec![message]).with_description(prompt.title))
    }

    async fn named(&self, name: &str, arguments: &JsonObject) -> Result<Prompt> {
        if name == ANY {
            let title = arguments.get("title").map(text).unwrap_or_default();
            return find::prompt(&self.client, &title).await;
        }
        // The title before it may have changed since.
        let id = name.rsplit('-').next().and_then(|id| id.parse().ok());
        let absent = || Failure::absent(format!("there is no prompt \"{name}\""));
        let prompt = self.client.prompts().get_opt(PromptId::new(id.ok_or_else(absent)?));
        prompt.await?.ok_or_else(absent)
    }

    /// Values for an argument of an entry: titles, or the default of a variable.
    pub(super) async fn completions(
        &self,
        name: &str,
        argument: &ArgumentInfo,
    ) -> Result<Vec<String>> {
        let begun = find::fold(&argument.value);
        if name != ANY {
            let variables = self.named(name, &JsonObject::new()).await?.variables();
            let variable = variables.into_iter().find(|variable| variable.name == argument.name);
            let default = variable.and_then(|variable| variable.default);
            return Ok(default
                .into_iter()
                .filter(|it| find::fold(it).starts_with(&begun))
                .collect());
        }
        let found = find::search(&self.client, &argument.value, Place::default()).take(COMPLETED);
        let mut titles: Vec<String> = Vec::new();
        let mut found = std::pin::pin!(found);
        while let Some(Prompt { title, .. }) = found.try_next().await? {
            if find::fold(&title).contains(&begun) && !titles.contains(&title) {
                titles.push(title);
            }
            if titles.len() > rmcp::model::CompletionInfo::MAX_VALUES {
                break;
            }
        }
        Ok(titles)
    }
}

/// The entry of a prompt. Its name ends with the id, so it is unique and outlives the title.
pub(super) fn entry(prompt: &Prompt) -> Entry {
    let title: String = slugify(&prompt.title).chars().take(48).collect();
    let title = if title.is_empty() { "prompt" } else { title.trim_end_matches('-') };
    let start: String = prompt.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let arguments: Vec<_> = prompt
        .variables()
        .into_iter()
        .map(|variable| {
            let argument =
                PromptArgument::new(variable.name).with_required(variable.default.is_none());
            match variable.default {
                Some(default) => argument.with_description(format!("\"{default}\" if left out")),
                None => argument,
            }
        })
        .collect();
    let description: String = start.chars().take(120).collect();
    let arguments = Some(arguments).filter(|arguments| !arguments.is_empty());
    Entry::new(format!("{title}-{}", prompt.id), Some(description), arguments)
        .with_title(&prompt.title)
}

pub(super) fn any_prompt() -> Entry {
    let title = PromptArgument::new("title").with_required(true);
    let title = title.with_description("The title of a prompt, or its id");
    Entry::new(ANY, Some("Any prompt of the library, by its title"), Some(vec![title]))
        .with_title("A prompt by its title")
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
