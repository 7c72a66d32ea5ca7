//! The tools that a client can call. What goes wrong is told as the result of the call, so that the
//! model can act on it.

use futures::{StreamExt as _, TryStreamExt as _};
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, JsonObject, Tool};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::menu::text;
use super::{Answer, Library, Request};
use crate::document::Document;
use crate::failure::{Failure, INTERRUPTED, Result, USAGE};
use crate::find;

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
    prompt: Value,
    #[serde(default)]
    variables: JsonObject,
}

#[derive(Deserialize)]
struct Save {
    #[serde(flatten)]
    document: Document,
    vault: Option<String>,
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
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: Request,
    ) -> Answer<CallToolResult> {
        let (name, arguments) = (&*request.name, request.arguments.unwrap_or_default());
        if !all(true).iter().any(|tool| tool.name == name) {
            return Err(ErrorData::invalid_params(format!("there is no tool \"{name}\""), None));
        }
        let result = tokio::select! {
            result = self.answer(name, arguments, &context) => result,
            () = context.ct.cancelled() => Err(Failure::new(INTERRUPTED, "cancelled")),
        };
        let told = |it: Failure| CallToolResult::error(vec![ContentBlock::text(it.to_string())]);
        Ok(result.unwrap_or_else(told))
    }

    async fn answer(
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
            let start: String = prompt.text.chars().take(200).collect();
            json!({ "id": prompt.id, "title": prompt.title, "type": prompt.prompt_type,
                "platform": prompt.platform, "vaultIds": prompt.vault_ids, "start": start })
        });
        Ok(CallToolResult::structured(json!({ "prompts": prompts.collect::<Value>() })))
    }

    async fn get(&self, Get { prompt, variables }: Get) -> Result<CallToolResult> {
        // Models also send numbers.
        let prompt = find::prompt(&self.client, &text(&prompt)).await?;
        let filled = prompt.filled(|name| variables.get(name).map(text));
        let mut content = vec![ContentBlock::text(filled)];
        let missing = prompt.missing(|name| variables.contains_key(name)).join(", ");
        if !missing.is_empty() {
            content.push(ContentBlock::text(format!("Variables without a value: {missing}")));
        }
        content.extend(self.pictures(&prompt).into_iter().map(ContentBlock::ResourceLink));
        Ok(CallToolResult::success(content))
    }

    async fn save(&self, Save { mut document, vault }: Save) -> Result<CallToolResult> {
        let vault = find::vault_id(&self.client, vault.as_deref()).await?;
        let prompt = match document.id {
            Some(id) => {
                let now = self.client.prompts().get(id).await?;
                document.platform = document.platform.or(now.platform.clone());
                let prompt = document.update(&self.client, &now).await?;
                match vault.filter(|vault| !now.vault_ids.contains(vault)) {
                    Some(vault) => self.client.prompts().save(id, vault).await?,
                    None => prompt,
                }
            }
            None => document.create(&self.client, vault.as_slice(), None).await?,
        };
        Ok(CallToolResult::structured(json!({ "id": prompt.id, "title": prompt.title })))
    }
}
