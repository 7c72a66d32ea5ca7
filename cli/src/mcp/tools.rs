//! The tools that a client can call, and pictures. What goes wrong with a tool is told as the result
//! of the call, so that the model can act on it.

use std::sync::{OnceLock, PoisonError};
use std::time::Duration;

use data_encoding::BASE64;
use futures::{StreamExt as _, TryStreamExt as _};
use promptarium::{AssetUrl, JobId, Prompt};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Resource, Tool};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Library;
use crate::document::{Document, plain};
use crate::failure::{Failure, Result, USAGE};
use crate::find;
use crate::media::{Order, forget};

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
    pub(super) async fn answer(&self, name: &str, arguments: JsonObject) -> Result<CallToolResult> {
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
            _ => self.generate(parse(arguments)?).await,
        }
    }

    async fn search(&self, Search { query, limit, vault }: Search) -> Result<CallToolResult> {
        let vault = find::vault_id(&self.client, vault.as_deref()).await?;
        let found = find::search(self.client.prompts().list().set_vault(vault), &query);
        let found: Vec<_> = found.await?.take(limit.unwrap_or(20).min(100)).try_collect().await?;
        let prompts = found.iter().map(|prompt| {
            let start: String = prompt.text.chars().take(200).collect();
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
    async fn generate(&self, order: Order) -> Result<CallToolResult> {
        let job = OnceLock::new();
        let shown = async {
            let finished = order.run(&self.client, &job, WAIT, |_| ()).await?;
            finished.prompts.iter().for_each(|prompt| drop(self.pictures(prompt)));
            let id = job.get().map_or("", JobId::as_str);
            let mut content = vec![ContentBlock::text(format!("job {id}"))];
            for image in finished.images() {
                let (data, media_type) = self.download(&image.url).await?;
                content.push(ContentBlock::text(image.url.as_str()));
                content.push(ContentBlock::image(data, media_type));
            }
            forget(id)?;
            Ok(CallToolResult::success(content))
        };
        shown.await.map_err(|failure: Failure| match job.get() {
            None => failure,
            Some(id) => {
                failure.hint(format!("call generate_image with job \"{id}\" to wait again"))
            }
        })
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
