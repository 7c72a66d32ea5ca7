//! The prompts that a client offers in its menu.

use std::future::ready;
use std::time::{Duration, Instant};

use futures::{StreamExt as _, TryStreamExt as _};
use promptarium::{Prompt, PromptId, Timestamp, Vault};
use rmcp::model::{ArgumentInfo, CompletionInfo, JsonObject, Prompt as Entry, PromptArgument};

use super::Library;
use crate::document::plain;
use crate::failure::{ABSENT, Failure, Result, USAGE};
use crate::find;

/// The entry that takes the title of any prompt.
pub(super) const ANY: &str = "library";
/// Prompts in one answer.
const PAGE: u32 = 100;
/// A vault with more prompts, whose list is long, is not read again for this long.
const LARGE: u64 = 1_000;
const FRESH: Duration = Duration::from_secs(60);
/// Prompts that one completion looks at.
const COMPLETED: usize = 2_000;

/// Prompts, and the cursor of the next page.
type Listed = (Vec<Prompt>, Option<String>);

impl Library {
    /// A page of the prompts that are offered: those of the vault, or all that are pinned. If none is pinned, the newest ones, and no more than a menu can show.
    pub(super) async fn offered(&self, cursor: Option<String>) -> Result<Listed> {
        let list = self.client.prompts().list().page_size(PAGE);
        if let Some(vault) = self.vault {
            let page = list.vault(vault).set_cursor(cursor).page().await?;
            return Ok((page.items, page.next_cursor.map(|cursor| cursor.to_string())));
        }
        if cursor.is_some() {
            return Err(Failure::new(USAGE, "the cursor is not one of this list"));
        }
        // Held, so that requests at the same time read the vaults once.
        let mut known = self.pinned.lock().await;
        let mut vaults = self.client.vaults().list().await?;
        vaults.retain(|vault| vault.prompt_count > 0);
        known.retain(|id, _| vaults.iter().any(|vault| vault.id == *id));
        for Vault { id, prompt_count, .. } in vaults {
            let age = if prompt_count > LARGE { FRESH } else { Duration::ZERO };
            if known.get(&id).is_none_or(|(read, _)| read.elapsed() >= age) {
                let members = self.client.vault(id).list().await?.into_iter();
                let pinned = members.filter(|member| member.is_pinned).map(|member| member.prompt);
                known.insert(id, (Instant::now(), pinned.collect()));
            }
        }
        let mut pinned: Vec<_> = known.values().flat_map(|(_, prompts)| prompts.clone()).collect();
        pinned.sort_by_key(|prompt| prompt.id);
        pinned.dedup_by_key(|prompt| prompt.id);
        Ok((if pinned.is_empty() { list.page().await?.items } else { pinned }, None))
    }

    /// What tells a change of the menu, if the library can be reached.
    pub(super) async fn state(&self) -> Option<Vec<(PromptId, Timestamp)>> {
        let (prompts, _) = self.offered(None).await.ok()?;
        Some(prompts.iter().map(|prompt| (prompt.id, prompt.updated_at)).collect())
    }

    /// The prompt of an entry.
    pub(super) async fn named(&self, name: &str, arguments: &JsonObject) -> Result<Prompt> {
        // In a name of the menu the title in front of the id may have changed since.
        if let Some(id) = name.rsplit_once('-').and_then(|(_, id)| id.parse().ok()) {
            let absent = || Failure::new(ABSENT, format!("there is no prompt \"{name}\""));
            return self.client.prompts().get_opt(PromptId::new(id)).await?.ok_or_else(absent);
        }
        let title = arguments.get("title").map(plain).unwrap_or_default();
        find::prompt(&self.client, if name == ANY { &title } else { name }).await
    }

    /// Values for an argument of an entry: titles, or the default of a variable.
    pub(super) async fn completions(&self, name: &str, of: &ArgumentInfo) -> Result<Vec<String>> {
        let typed = find::fold(&of.value);
        if name == ANY {
            let found = find::search(self.client.prompts().list(), &of.value).await?;
            let is_meant = |title: &String| ready(find::fold(title).contains(&typed));
            let titles = found.take(COMPLETED).map_ok(|prompt| prompt.title).try_filter(is_meant);
            return Ok(titles.take(CompletionInfo::MAX_VALUES + 1).try_collect().await?);
        }
        let variables = self.named(name, &JsonObject::new()).await?.variables().into_iter();
        let defaults = variables.filter(|it| it.name == of.name).filter_map(|it| it.default);
        Ok(defaults.filter(|it| find::fold(it).starts_with(&typed)).collect())
    }
}

/// The entry of a prompt. Its name ends with the id, so it is unique and outlives the title.
pub(super) fn entry(prompt: &Prompt) -> Entry {
    let name = format!("{}-{}", find::slug(&prompt.title, 48), prompt.id);
    let words = prompt.text.split_whitespace().take(60).collect::<Vec<_>>().join(" ");
    let start: String = words.chars().take(120).collect();
    let arguments = prompt.variables().into_iter().map(|variable| {
        let argument = PromptArgument::new(variable.name).with_required(variable.default.is_none());
        match variable.default {
            Some(default) => argument.with_description(format!("\"{default}\" if left out")),
            None => argument,
        }
    });
    Entry::new(name, Some(start), Some(arguments.collect())).with_title(&prompt.title)
}

pub(super) fn any_prompt() -> Entry {
    let title = PromptArgument::new("title").with_required(true);
    let title = title.with_description("The title of a prompt, or its id");
    Entry::new(ANY, Some("Any prompt of the library, by its title"), Some(vec![title]))
        .with_title("A prompt by its title")
}
