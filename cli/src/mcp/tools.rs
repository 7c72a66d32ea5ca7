//! The tools that a client can call. What goes wrong is told as the result of the call, so that the
//! model can act on it.

use std::collections::BTreeMap;
use std::time::Duration;

use data_encoding::BASE64;
use futures::{StreamExt as _, TryStreamExt as _};
use promptarium::{Error, GenerationRef, PromptId, PromptType};
use rmcp::ErrorData;
use rmcp::handler::server::tool::{parse_json_object, schema_for_input};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, JsonObject, ProgressNotificationParam,
    Tool, ToolAnnotations,
};
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Library, Request, resources};
use crate::failure::{Failure, Result};
use crate::find::{self, Place};
use crate::media::{Order, forget};

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// Words that all occur in the title or the text.
    query: String,
    /// At most this many prompts; 20 by default.
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
    /// The id of the prompt to change; a new prompt is stored without it.
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
    /// The vault to add it to: its name or id.
    vault: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
struct Generate {
    /// The model, such as local/plasma. Not needed with a job.
    model: Option<String>,
    /// What to show. Not needed with a job.
    prompt: Option<String>,
    /// How many pictures, 1 to 4.
    count: Option<u32>,
    /// The aspect ratio, such as 16:9.
    aspect_ratio: Option<String>,
    /// The vault that takes the pictures: its name or id.
    vault: Option<String>,
    /// The id of an earlier call's job, to wait for it again. Nothing new is paid then.
    job: Option<String>,
}

/// The tools; without those that write unless that is allowed.
pub(super) fn all(write: bool) -> Vec<Tool> {
    let read = || {
        ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false)
    };
    let save = ToolAnnotations::new()
        .read_only(false)
        .destructive(true)
        .idempotent(false)
        .open_world(false);
    let generate = save.clone().destructive(false).open_world(true);
    let mut tools = vec![
        tool::<Search>(
            "search_prompts",
            "Finds prompts of the library by words, newest first.",
            read(),
        ),
        tool::<Get>(
            "get_prompt",
            "Returns the text of a prompt with its variables filled in.",
            read(),
        ),
        tool::<Nothing>(
            "list_vaults",
            "Lists the vaults, which are named collections of prompts.",
            read(),
        ),
    ];
    if write {
        tools.push(tool::<Save>(
            "save_prompt",
            "Stores a new prompt, or changes the one with this id.",
            save,
        ));
        let text =
            "Generates pictures from a text and returns them. It costs money at most services.";
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

fn parse<T: serde::de::DeserializeOwned>(arguments: JsonObject) -> Result<T> {
    parse_json_object(arguments).map_err(|error| Failure::usage(error.message))
}

impl Library {
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: Request,
    ) -> Answer<CallToolResult> {
        let arguments = request.arguments.unwrap_or_default();
        let cancelled = context.ct.clone();
        let working = async {
            match &*request.name {
                "search_prompts" => self.search(parse(arguments)?).await,
                "get_prompt" => self.get(parse(arguments)?).await,
                "list_vaults" => {
                    let vaults = self.client.vaults().list().await?;
                    Ok(CallToolResult::structured(json!({ "vaults": vaults })))
                }
                "save_prompt" if self.options.write => self.save(parse(arguments)?).await,
                "generate_image" if self.options.write => {
                    self.generate(parse(arguments)?, &context).await
                }
                name @ ("save_prompt" | "generate_image") => {
                    let failure = Failure::usage(format!("{name} is not allowed"));
                    Err(failure.hint("the user must start the server with --write"))
                }
                name => Err(Failure::absent(format!("there is no tool \"{name}\""))),
            }
        };
        let result = tokio::select! {
            result = working => result,
            () = cancelled.cancelled() => Err(Failure::interrupted("cancelled")),
        };
        match result {
            Ok(result) => Ok(result),
            Err(failure) if !all(true).iter().any(|tool| tool.name == request.name) => {
                Err(ErrorData::invalid_params(failure.to_string(), None))
            }
            Err(failure) => {
                Ok(CallToolResult::error(vec![ContentBlock::text(failure.to_string())]))
            }
        }
    }

    async fn search(&self, Search { query, limit, vault }: Search) -> Result<CallToolResult> {
        let vault = find::vault_id(&self.client, vault.as_deref()).await?;
        let place = Place { vault, prompt_type: None };
        let found = find::search(&self.client, &query, place).take(limit.unwrap_or(20).min(100));
        let found: Vec<_> = found.try_collect().await?;
        let prompts: Vec<Value> = found
            .iter()
            .map(|prompt| {
                self.show(prompt);
                let start: String = prompt.text.chars().take(200).collect();
                json!({ "id": prompt.id, "title": prompt.title, "type": prompt.prompt_type,
                "platform": prompt.platform, "vaultIds": prompt.vault_ids, "start": start })
            })
            .collect();
        Ok(CallToolResult::structured(json!({ "prompts": prompts })))
    }

    async fn get(&self, Get { prompt, variables }: Get) -> Result<CallToolResult> {
        let prompt = find::prompt(&self.client, &prompt).await?;
        self.show(&prompt);
        let mut content = vec![ContentBlock::text(prompt.filled(|name| variables.get(name)))];
        let missing = prompt.variables().into_iter();
        let missing =
            missing.filter(|it| it.default.is_none() && !variables.contains_key(&it.name));
        let missing: Vec<_> = missing.map(|variable| variable.name).collect();
        if !missing.is_empty() {
            content.push(ContentBlock::text(format!(
                "Variables without a value: {}",
                missing.join(", ")
            )));
        }
        content.extend(resources::pictures(&prompt).map(ContentBlock::ResourceLink));
        Ok(CallToolResult::success(content))
    }

    async fn save(&self, arguments: Save) -> Result<CallToolResult> {
        let Save { id, title, text, r#type, model, platform, vault } = arguments;
        let vault = find::vault_id(&self.client, vault.as_deref()).await?;
        let prompt_type = r#type.as_deref().map(PromptType::from);
        let prompt = match id {
            Some(id) => {
                let update =
                    self.client.prompts().update(PromptId::new(id)).title(title).text(text);
                let update = update.set_prompt_type(prompt_type).set_platform(platform);
                update.set_model_id(model).set_vault(vault).await?
            }
            None => {
                let create = self.client.prompts().create(title, text);
                let create = create.set_prompt_type(prompt_type).set_platform(platform);
                create.set_model_id(model).set_vault(vault).await?
            }
        };
        Ok(CallToolResult::structured(json!({ "id": prompt.id, "title": prompt.title })))
    }

    async fn generate(&self, arguments: Generate, context: &Request) -> Result<CallToolResult> {
        let Generate { model, prompt, count, aspect_ratio: ratio, vault, job } = arguments;
        let vault = find::vault_id(&self.client, vault.as_deref()).await?;
        let job = match (job, model, prompt) {
            (Some(id), ..) => GenerationRef::from(id),
            (None, Some(model), Some(text)) => {
                let order = Order { model, text, count, ratio, video: false, vault };
                GenerationRef::from(order.submit(&self.client).await?)
            }
            _ => return Err(Failure::usage("model and prompt are missing, or the job")),
        };
        let mut steps = 0.0;
        let (token, peer) = (context.meta.get_progress_token(), context.peer.clone());
        let wait = self.client.generations().wait(job).timeout(WAIT).on_change(|status| {
            let (Some(token), peer) = (token.clone(), peer.clone()) else { return };
            steps += 1.0;
            let progress =
                ProgressNotificationParam::new(token, steps).with_message(status.state.as_str());
            tokio::spawn(async move { peer.notify_progress(progress).await });
        });
        let ended = wait.send().await;
        let id = match &ended {
            Ok(finished) => finished.status.client_job_id.clone(),
            Err(error) => error.job_id().cloned(),
        };
        if let Some(id) = id.filter(|_| ended.as_ref().map_or_else(Error::is_job_failed, |_| true))
        {
            forget(&id)?;
        }
        let finished = ended.map_err(|error| {
            let job = error.job_id().filter(|_| !error.is_job_failed());
            let hint = job.map(|id| format!("call generate_image again with job \"{id}\""));
            let failure = Failure::from(error);
            if let Some(hint) = hint { failure.hint(hint) } else { failure }
        })?;
        let mut content = Vec::new();
        finished.prompts.iter().for_each(|prompt| self.show(prompt));
        for image in finished.images() {
            content.push(ContentBlock::text(image.url.as_str()));
            let asset = self.download(image.url.as_str()).await?;
            let media_type = asset.content_type.unwrap_or_else(|| "image/png".into());
            content.push(ContentBlock::image(BASE64.encode(&asset.bytes), media_type));
        }
        Ok(CallToolResult::success(content))
    }
}

/// How long one call waits for pictures.
const WAIT: Duration = Duration::from_secs(300);
