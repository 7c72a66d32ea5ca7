//! `/prompts` and what is below it.

use http::StatusCode;
use promptarium::{PromptId, VaultId, limits};

use super::address::image_url;
use super::view::{self, Deleted, PromptView, PromptsView};
use super::{Api, Call};
use crate::domain::{NewPrompt, PromptInputs, PromptKind, PromptPatch, PromptQuery, PromptRecord};
use crate::http::cursor::{Cursors, Listing};
use crate::http::error::{ApiError, MODEL_REQUIRED};
use crate::http::response::{self, Reply};
use crate::http::validate::{
    Form, Given, fields_of, fields_of_query, id, id_in_query, integer_in_query, list as list_of,
    model_id, text, word, word_in_query,
};

/// The body fields of create and update.
pub const FIELDS: &[&str] = &[
    "title",
    "prompt",
    "promptType",
    "platform",
    "modelId",
    "aspectRatio",
    "vaultId",
    "imageUrl",
    "referenceMediaUrls",
];

/// The body field of save.
pub const SAVE_FIELDS: &[&str] = &["vaultId"];

/// The parameters of the list.
pub const QUERY: &[&str] = &["limit", "cursor", "vaultId", "type"];

/// What a prompt can be for.
pub const KINDS: &[(&str, PromptKind)] =
    &[("image", PromptKind::Image), ("text", PromptKind::Text), ("video", PromptKind::Video)];

/// `GET /prompts` (PG-01 to PG-09, PR-13 to PR-18).
pub async fn list(api: &Api, call: Call<'_>) -> Result<Reply, ApiError> {
    let mut form = fields_of_query(call.parts.uri.query(), QUERY);
    let limit = form.optional("limit", integer_in_query(limits::PAGE_SIZE));
    let vault = form.optional("vaultId", id_in_query::<VaultId>());
    let kind = form.optional("type", word_in_query(KINDS));
    let listing = Listing { account: call.caller.account, vault, kind };
    // A cursor belongs to its filters; where they are wrong only its form can be judged.
    let judged = form.is_clean();
    let after = form.optional("cursor", |cursor| match api.cursors.read(&listing, &cursor) {
        Ok(position) => Ok(position),
        Err(_) if !judged && Cursors::has_form(&cursor) => Ok(PromptId::new(0)),
        Err(_) => Err("must be the nextCursor of a page with the same vaultId and type".to_owned()),
    });
    form.finish()?;

    let limit = limit.unwrap_or(limits::PAGE_SIZE_DEFAULT) as usize;
    let page =
        api.store.list_prompts(&call.caller, PromptQuery { vault, kind, after, limit }).await?;
    let next =
        page.prompts.last().filter(|_| page.more).map(|last| api.cursors.write(&listing, last.id));
    let size = page.prompts.iter().map(|prompt| view::prompt_bytes(prompt)).sum();
    Ok(response::page(&PromptsView(&page.prompts), next.as_deref(), size)?)
}

/// `POST /prompts` (PR-19 to PR-29).
pub async fn create(api: &Api, mut call: Call<'_>) -> Result<Reply, ApiError> {
    let body = call.json().await?;
    let mut form = fields_of(&body, FIELDS)?;
    let title = form.required("title", text(limits::PROMPT_TITLE_CHARS));
    let prompt = form.required("prompt", text(limits::PROMPT_TEXT_CHARS));
    let kind = form.optional("promptType", word(KINDS)).unwrap_or_default();
    let platform = form.nullable("platform", text(0..=limits::PROMPT_PLATFORM_CHARS_MAX)).flatten();
    let inputs = inputs(&mut form, api);
    let vault = form.optional("vaultId", id);
    if kind.needs_model() && inputs.model_id.is_none() {
        form.refuse("modelId", MODEL_REQUIRED.to_owned());
    }
    let (Some(title), Some(text)) = (title, prompt) else {
        return Err(form.refusals().into());
    };
    form.finish()?;

    let new = NewPrompt { title, text, kind, platform, inputs, vault };
    let prompt = api.store.create_prompt(&call.caller, new).await?;
    whole(StatusCode::CREATED, &prompt)
}

/// `GET /prompts/{promptId}` (PR-30).
pub async fn get(api: &Api, call: Call<'_>) -> Result<Reply, ApiError> {
    let prompt = api.store.prompt(&call.caller, call.prompt()?).await?;
    whole(StatusCode::OK, &prompt)
}

/// `PATCH /prompts/{promptId}` (PR-31 to PR-39).
pub async fn update(api: &Api, mut call: Call<'_>) -> Result<Reply, ApiError> {
    let body = call.json().await?;
    let mut form = fields_of(&body, FIELDS)?;
    let patch = PromptPatch {
        title: form.optional("title", text(limits::PROMPT_TITLE_CHARS)),
        text: form.optional("prompt", text(limits::PROMPT_TEXT_CHARS)),
        kind: form.optional("promptType", word(KINDS)),
        platform: form.nullable("platform", text(0..=limits::PROMPT_PLATFORM_CHARS_MAX)),
        inputs: inputs(&mut form, api),
        vault: form.optional("vaultId", id),
    };
    form.finish()?;

    let prompt = api.store.update_prompt(&call.caller, call.prompt()?, patch).await?;
    whole(StatusCode::OK, &prompt)
}

/// `DELETE /prompts/{promptId}` (PR-40 to PR-43).
pub async fn delete(api: &Api, call: Call<'_>) -> Result<Reply, ApiError> {
    let id = call.prompt()?;
    api.store.delete_prompt(&call.caller, id).await?;
    Ok(response::data(StatusCode::OK, &Deleted::of(id), view::SMALL_BYTES)?)
}

/// `POST /prompts/{promptId}/save` (PR-44 to PR-47).
pub async fn save(api: &Api, mut call: Call<'_>) -> Result<Reply, ApiError> {
    let body = call.json().await?;
    let mut form = fields_of(&body, SAVE_FIELDS)?;
    let Some(vault) = form.required("vaultId", id) else {
        return Err(form.refusals().into());
    };

    let prompt = api.store.save_prompt(&call.caller, call.prompt()?, vault).await?;
    whole(StatusCode::OK, &prompt)
}

/// The fields that create and update take alike and no answer shows (PR-12).
fn inputs(form: &mut Form<Given<'_>>, api: &Api) -> PromptInputs {
    let image_url = image_url(&api.assets);
    let references = list_of(0..=limits::PROMPT_REFERENCE_MEDIA_URLS_MAX, |entry| {
        image_url(entry).map(|url| Box::from(&*url))
    });
    PromptInputs {
        model_id: form.optional("modelId", model_id(&api.model_namespace)),
        aspect_ratio: form.optional("aspectRatio", text(0..=limits::PROMPT_ASPECT_RATIO_CHARS_MAX)),
        image_url: form.optional("imageUrl", image_url),
        reference_media_urls: form.optional("referenceMediaUrls", references).map(Into::into),
    }
}

fn whole(status: StatusCode, prompt: &PromptRecord) -> Result<Reply, ApiError> {
    Ok(response::data(status, &PromptView::of(prompt), view::prompt_bytes(prompt))?)
}
