//! The tools that a client can call. What goes wrong is told as the result of the call, so that the
//! model can act on it.

use std::collections::BTreeMap;

use futures::{StreamExt as _, TryStreamExt as _};
use promptarium::{PromptId, PromptType};
use rmcp::ErrorData;
use rmcp::handler::server::tool::{parse_json_object, schema_for_input};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations,
};
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Answer, Library, Request};
use crate::failure::{Failure, INTERRUPTED, Result, USAGE};
use crate::find::{self, Place};
use crate::media::Order;

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// Words that all occur in the title or the text.
    query: String,
    /// At most this many prompts, up to 100; 20 by default.
    limit: Option<usize>,
    /// Only in this vault: its name or id.
    vault: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Get {
    /// The id or the title of the prompt.
    prompt: String,
    /// Values of the variables in the text, by their names.
    #[serde(default)]
    variables: BTreeMap<String, String>,
}

#[derive(Deserialize, JsonSchema)]
struct Save {
    /// The id of the prompt to change; without it a new prompt is stored.
    id: Option<i64>,
    /// The title, of 1 to 120 characters.
    title: String,
    /// The text, of 1 to 15000 characters. {{name}} and {{name|default}} are variables.
    text: String,
    /// text, image or video; text by default.
    r#type: Option<String>,
    /// The model, which image and video prompts need.
    model: Option<String>,
    /// The tool that the prompt is meant for.
    platform: Option<String>,
    /// A vault to add it to: its name or id.
    vault: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Generate {
    /// The model, such as local/plasma.
    #[serde(default)]
    model: String,
    /// What to show.
    #[serde(default)]
    text: String,
    /// How many pictures, 1 to 4.
    count: Option<u32>,
    /// The aspect ratio, such as 16:9.
    aspect_ratio: Option<String>,
    /// The vault that takes the pictures: its name or id.
    vault: Option<String>,
    /// The id of an earlier job, alone, to wait for it again. Nothing new is paid then.
    job: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// The tools; without those that write unless that is allowed.
pub(super) fn all(write: bool) -> Vec<Tool> {
    let closed = || ToolAnnotations::new().open_world(false);
    let read = || closed().read_only(true).destructive(false).idempotent(true);
    let save = || closed().read_only(false).destructive(true).idempotent(false);
    let mut tools = vec![
        tool::<Search>(
            "search_prompts",
            "Find prompts of the library by words, newest first.",
            read(),
        ),
        tool::<Get>("get_prompt", "Get the text of a prompt with its variables filled in.", read()),
        tool::<Nothing>(
            "list_vaults",
            "List the vaults, the named collections of prompts.",
            read(),
        ),
    ];
    if write {
        tools.push(tool::<Save>("save_prompt", "Store a new prompt, or change one.", save()));
        let text = "Generate pictures from a text and return them. Most services charge for it.";
        let generate = save().destructive(false).open_world(true);
        tools.push(tool::<Generate>("generate_image", text, generate));
    }
    tools
}

fn tool<T: JsonSchema + 'static>(
    name: &'static str,
    description: &'static str,
    annotations: ToolAnnotations,
) -> Tool {
    let schema = schema_for_input::<T>().unwrap_or_default();
    Tool::new(name, description, schema).with_annotations(annotations)
}

fn parse<T: DeserializeOwned>(arguments: JsonObject) -> Result<T> {
    parse_json_object(arguments).map_err(|error| Failure::new(USAGE, error.message))
}

impl Library {
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: Request,
    ) -> Answer<CallToolResult> {
        let arguments = request.arguments.unwrap_or_default();
        let name = &*request.name;
        if !all(true).iter().any(|tool| tool.name == name) {
            return Err(ErrorData::invalid_params(format!("there is no tool \"{name}\""), None));
        }
        let result = tokio::select! {
            result = self.answer(name, arguments, &context) => result,
            () = context.ct.cancelled() => Err(Failure::new(INTERRUPTED, "cancelled")),
        };
        let told =
            |failure: Failure| CallToolResult::error(vec![ContentBlock::text(failure.to_string())]);
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
            _ => {
                let Generate { model, text, count, aspect_ratio: ratio, vault, job } =
                    parse(arguments)?;
                let vault = find::vault_id(&self.client, vault.as_deref()).await?;
                let order = Order { model, text, count, ratio, video: false, vault };
                self.generate(job.map_or(Ok(order), Err), context).await
            }
        }
    }

    async fn search(&self, Search { query, limit, vault }: Search) -> Result<CallToolResult> {
        let vault = find::vault_id(&self.client, vault.as_deref()).await?;
        let found = find::search(&self.client, &query, Place { vault, prompt_type: None });
        let found: Vec<_> = found.take(limit.unwrap_or(20).min(100)).try_collect().await?;
        let prompts = found.iter().map(|prompt| {
            let start: String = prompt.text.chars().take(200).collect();
            json!({ "id": prompt.id, "title": prompt.title, "type": prompt.prompt_type,
                "platform": prompt.platform, "vaultIds": prompt.vault_ids, "start": start })
        });
        Ok(CallToolResult::structured(json!({ "prompts": prompts.collect::<Value>() })))
    }

    async fn get(&self, Get { prompt, variables }: Get) -> Result<CallToolResult> {
        let prompt = find::prompt(&self.client, &prompt).await?;
        let mut content = vec![ContentBlock::text(prompt.filled(|name| variables.get(name)))];
        let missing = prompt.missing(|name| variables.contains_key(name)).join(", ");
        if !missing.is_empty() {
            content.push(ContentBlock::text(format!("Variables without a value: {missing}")));
        }
        content.extend(self.pictures(&prompt).into_iter().map(ContentBlock::ResourceLink));
        Ok(CallToolResult::success(content))
    }

    async fn save(&self, arguments: Save) -> Result<CallToolResult> {
        let Save { id, title, text, r#type, model, platform, vault } = arguments;
        let vault = find::vault_id(&self.client, vault.as_deref()).await?;
        let (prompts, kind) = (self.client.prompts(), r#type.as_deref().map(PromptType::from));
        let prompt = match id.map(PromptId::new) {
            Some(id) => {
                let update = prompts.update(id).title(title).text(text).set_prompt_type(kind);
                update.set_platform(platform).set_model_id(model).set_vault(vault).await?
            }
            None => {
                let create = prompts.create(title, text).set_prompt_type(kind);
                create.set_platform(platform).set_model_id(model).set_vault(vault).await?
            }
        };
        Ok(CallToolResult::structured(json!({ "id": prompt.id, "title": prompt.title })))
    }
}
