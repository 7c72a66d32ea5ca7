//! What a client gets: the prompts of its menu, tools, and pictures. What goes wrong with a tool is
//! told as the result of the call, so that the model can act on it.

use std::future::ready;
use std::sync::{OnceLock, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use futures::{StreamExt as _, TryStreamExt as _};
use promptarium::{AssetUrl, GenerationStatus, JobId, Prompt, PromptId, Timestamp, Vault};
use rmcp::model::{
    ArgumentInfo, CallToolResult, CompletionInfo, ContentBlock, JsonObject,
    ProgressNotificationParam, Prompt as Entry, PromptArgument, Resource, Tool,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Library, Request};
use crate::app::{ABSENT, Failure, Result, USAGE};
use crate::document::{Document, plain};
use crate::find;
use crate::media::{Order, forget};

/// The entry that takes the title of any prompt.
pub(super) const ANY: &str = "library";
/// A vault with more prompts, whose list is long, is not read again for this long.
const LARGE: u64 = 1_000;
const FRESH: Duration = Duration::from_secs(60);
/// Prompts that one completion looks at.
const COMPLETED: usize = 2_000;
/// The largest picture that is sent to a client.
const BYTES_MAX: u64 = 10 * 1024 * 1024;
/// How long one call waits for pictures.
const WAIT: Duration = Duration::from_secs(300);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    limit: Option<usize>,
    vault: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Get {
    /// Models also send numbers.
    prompt: Value,
    #[serde(default)]
    variables: JsonObject,
}

/// The tools; without those that write unless that is allowed.
pub(super) fn all(write: bool) -> Vec<Tool> {
    // A test reads the file.
    let tools: Vec<Tool> = serde_json::from_str(include_str!("tools.json")).unwrap_or_default();
    let reads = |tool: &Tool| tool.annotations.as_ref().and_then(|it| it.read_only_hint);
    tools.into_iter().filter(|tool| write || reads(tool) == Some(true)).collect()
}

fn parse<T: DeserializeOwned>(arguments: JsonObject) -> Result<T> {
    let wrong = |error: serde_json::Error| Failure::new(USAGE, format!("arguments: {error}"));
    serde_json::from_value(Value::Object(arguments)).map_err(wrong)
}

impl Library {
    /// A page of the prompts that are offered, and the cursor of the next: those of the vault, or all
    /// that are pinned. If none is pinned, the newest ones, and no more than a menu can show.
    pub(super) async fn offered(
        &self,
        at: Option<String>,
    ) -> Result<(Vec<Prompt>, Option<String>)> {
        let list = self.client.prompts().list().page_size(100);
        if let Some(vault) = self.vault {
            let page = list.vault(vault).set_cursor(at).page().await?;
            return Ok((page.items, page.next_cursor.map(|cursor| cursor.to_string())));
        }
        if at.is_some() {
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

    pub(super) async fn answer(
        &self,
        name: &str,
        arguments: JsonObject,
        context: &Request,
    ) -> Result<CallToolResult> {
        match name {
            "search_prompts" => self.search(parse(arguments)?).await,
            "get_prompt" => self.get(parse(arguments)?).await,
            "list_vaults" => {
                let vaults = self.client.vaults().list().await?;
                Ok(CallToolResult::structured(json!({ "vaults": vaults })))
            }
            _ if !self.options.write => {
                let failure = Failure::new(USAGE, "this server only reads");
                Err(failure.hint("the user can start it with --write"))
            }
            "save_prompt" => self.save(parse(arguments)?).await,
            _ => self.generate(parse(arguments)?, context).await,
        }
    }

    async fn search(&self, Search { query, limit, vault }: Search) -> Result<CallToolResult> {
        let vault = find::vault_id(&self.client, vault.as_deref()).await?;
        let found = find::search(self.client.prompts().list().set_vault(vault), &query);
        let found: Vec<_> = found.await?.take(limit.unwrap_or(20).min(100)).try_collect().await?;
        let prompts = found.iter().map(|prompt| {
            let start = format!("{:.200}", prompt.text);
            json!({ "id": prompt.id, "title": prompt.title, "type": prompt.prompt_type,
                "platform": prompt.platform, "vaultIds": prompt.vault_ids, "start": start })
        });
        Ok(CallToolResult::structured(json!({ "prompts": prompts.collect::<Value>() })))
    }

    async fn get(&self, Get { prompt, variables }: Get) -> Result<CallToolResult> {
        let prompt = find::prompt(&self.client, &plain(&prompt)).await?;
        let filled = prompt.filled(|name| variables.get(name).map(plain));
        let mut content = vec![ContentBlock::text(filled)];
        let missing = prompt.missing(|name| variables.contains_key(name)).join(", ");
        if !missing.is_empty() {
            content.push(ContentBlock::text(format!("Variables without a value: {missing}")));
        }
        content.extend(self.pictures(&prompt).into_iter().map(ContentBlock::ResourceLink));
        Ok(CallToolResult::success(content))
    }

    async fn save(&self, mut document: Document) -> Result<CallToolResult> {
        let vault = document.vaults.first().map(String::as_str);
        let vault = find::vault_id(&self.client, vault).await?;
        let mut prompt = match document.id {
            Some(id) => {
                let now = self.client.prompts().get(id).await?;
                document.platform = document.platform.or(now.platform.clone());
                document.update(&self.client, &now).await?
            }
            None => document.create(&self.client, vault.as_slice()).await?,
        };
        if let Some(vault) = vault.filter(|vault| !prompt.vault_ids.contains(vault)) {
            prompt = self.client.prompts().save(prompt.id, vault).await?;
        }
        Ok(CallToolResult::structured(json!({ "id": prompt.id, "title": prompt.title })))
    }

    /// Queues a generation, or waits again for the job of an earlier call.
    async fn generate(&self, order: Order, context: &Request) -> Result<CallToolResult> {
        let (job, token, mut steps) = (OnceLock::new(), context.meta.get_progress_token(), 0.0);
        let on_change = |status: &GenerationStatus| {
            let (Some(token), peer) = (token.clone(), context.peer.clone()) else { return };
            steps += 1.0;
            let progress = ProgressNotificationParam::new(token, steps);
            let progress = progress.with_message(status.state.as_str());
            tokio::spawn(async move { peer.notify_progress(progress).await });
        };
        let told = |failure: Failure| match job.get() {
            Some(id) => {
                failure.hint(format!("to wait again: generate_image with job \"{id}\" alone"))
            }
            None => failure,
        };
        let finished = order.run(&self.client, &job, WAIT, on_change).await.map_err(told)?;
        finished.prompts.iter().for_each(|prompt| drop(self.pictures(prompt)));
        let id = job.get().map_or("", JobId::as_str);
        let mut content = vec![ContentBlock::text(format!("job {id}"))];
        for image in finished.images() {
            let (data, media_type) = self.download(&image.url).await.map_err(told)?;
            content.push(ContentBlock::text(image.url.as_str()));
            content.push(ContentBlock::image(data, media_type));
        }
        forget(id)?;
        Ok(CallToolResult::success(content))
    }

    /// The pictures of a prompt, which the client may read from now on.
    pub(super) fn pictures(&self, prompt: &Prompt) -> Vec<Resource> {
        let mut named = self.pictures.lock().unwrap_or_else(PoisonError::into_inner);
        let pictures = prompt.images.iter().zip(1..).map(|(image, number)| {
            named.insert(image.url.to_string());
            Resource::new(image.url.as_str(), format!("{} ({number})", prompt.title))
        });
        pictures.collect()
    }

    /// A picture in Base64, and its type.
    pub(super) async fn download(&self, url: &AssetUrl) -> Result<(String, String)> {
        let asset = self.client.assets().download(url).max_size(BYTES_MAX).await?;
        let media_type = asset.content_type.unwrap_or_else(|| "image/png".to_owned());
        Ok((BASE64.encode(&asset.bytes), media_type))
    }
}

/// The entry of a prompt. Its name ends with the id, so it is unique and outlives the title.
pub(super) fn entry(prompt: &Prompt) -> Entry {
    let name = format!("{}-{}", find::slug(&prompt.title, 48), prompt.id);
    let words: Vec<_> = prompt.text.split_whitespace().take(60).collect();
    let start = format!("{:.120}", words.join(" "));
    let arguments = prompt.variables().into_iter().map(|variable| {
        let is_required = variable.default.is_none();
        let mut argument = PromptArgument::new(variable.name).with_required(is_required);
        argument.description = variable.default.map(|it| format!("\"{it}\" if left out"));
        argument
    });
    Entry::new(name, Some(start), Some(arguments.collect())).with_title(&prompt.title)
}

pub(super) fn any_prompt() -> Entry {
    let title = PromptArgument::new("title").with_required(true);
    let title = title.with_description("The title of a prompt, or its id");
    Entry::new(ANY, Some("Any prompt of the library, by its title"), Some(vec![title]))
        .with_title("A prompt by its title")
}
