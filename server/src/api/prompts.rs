//! `/prompts`.

use std::sync::Arc;

use http::StatusCode;
use promptarium::{PromptId, VaultId, limits};
use serde_json::json;

use super::{Api, HandlerResult, Request};
use crate::blobs::asset_url::Assets;
use crate::domain::{
    Caller, FoundPrompts, ImageRef, NewPrompt, Place, PromptInputs, PromptKind, PromptPage,
    PromptPatch, PromptQuery, PromptSearch, Words,
};
use crate::http::cursor::{Cursors, Listing};
use crate::http::error::MODEL_REQUIRED;
use crate::http::response;
use crate::http::validate::{
    Field, FieldError, Form, absolute_url, id, integer, list as list_of, model_id, one_of,
    query_fields, text,
};

pub(crate) const FIELDS: &[&str] = &[
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

pub(crate) const SAVE_FIELDS: &[&str] = &["vaultId"];
pub(crate) const QUERY: &[&str] = &["limit", "cursor", "vaultId", "type", "q"];

/// `GET /prompts` (PG-01 to PG-09, PR-13 to PR-18, S-84).
pub(crate) async fn list(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let mut form = query_fields(request.parts.uri.query(), QUERY);
    let limit = form.optional("limit", integer(limits::PAGE_SIZE));
    let vault = form.optional("vaultId", id::<VaultId>);
    let kind = form.optional("type", one_of(PromptKind::ALL));
    let q = form.optional("q", search_text);
    let (search, words) = q.as_ref().map(|(text, words)| (&**text, words)).unzip();
    let listing = Listing { account: caller.account, vault, kind, search };
    // A cursor is signed for its filters. If they are not valid, only its form can be checked.
    let filters_are_valid = form.is_clean();
    let after = form.optional("cursor", |cursor| match api.cursors.read(&listing, cursor.raw()) {
        Some(position) => Ok(position),
        None if !filters_are_valid && Cursors::has_form(cursor.raw()) => Ok(PromptId::new(0)),
        None => {
            Err("must be the nextCursor of a page with the same vaultId, type and q".to_owned())
        }
    });
    form.finish()?;

    let limit = limit.unwrap_or(limits::PAGE_SIZE_DEFAULT) as usize;
    let (prompts, next) = match words {
        Some(words) => {
            let (words, place) = (Some(words.clone()), vault.map_or(Place::Anywhere, Place::Vault));
            let search = PromptSearch { words, place, kind, after, limit };
            let FoundPrompts { prompts, next, .. } = api.search(caller, &search).await?;
            (prompts, next)
        }
        None => {
            let query = PromptQuery { vault, kind, after, limit };
            let PromptPage { prompts, more } = api.store.list_prompts(caller, query).await?;
            let next = prompts.last().filter(|_| more).map(|last| last.id);
            (prompts, next)
        }
    };
    let next = next.map(|next| api.cursors.write(&listing, next));
    // The response has more bytes than this. If the budget has no memory for them, writing it would
    // be in vain.
    drop(request.memory.reserve(prompts.iter().map(|prompt| prompt.text.len()).sum())?);
    let prompts: Vec<_> = prompts.into_iter().map(|prompt| api.view(prompt)).collect();
    Ok(response::page(&prompts, next.as_deref()))
}

/// What to search for, with the text as it was sent (S-84).
pub(crate) fn search_text(field: &Field<'_>) -> Result<(Arc<str>, Arc<Words>), FieldError> {
    let text = text(0..=limits::PROMPT_SEARCH_CHARS_MAX)(field)?;
    let words = Words::parse(&text);
    let words = words.ok_or("must have a character that can be seen")?;
    Ok((text, Arc::new(words)))
}

/// `POST /prompts` (PR-19 to PR-29).
pub(crate) async fn create(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let new = request.json(FIELDS, |form| new_prompt(form, api)).await?;
    let prompt = api.store.create_prompt(caller, new).await?;
    Ok(response::record(StatusCode::CREATED, &api.view(prompt)))
}

/// The fields of a whole prompt.
pub(crate) fn new_prompt(form: &mut Form<'_>, api: &Api) -> Option<NewPrompt> {
    whole(form, image_url(&api.assets), model_id(&api.model_namespace))
}

/// The same with these rules for images and the model.
pub(super) fn whole(
    form: &mut Form<'_>,
    image: impl Fn(&Field<'_>) -> Result<ImageRef, FieldError> + Copy,
    model: impl Fn(&Field<'_>) -> Result<Arc<str>, FieldError>,
) -> Option<NewPrompt> {
    form.require("title");
    form.require("prompt");
    let PromptPatch { title, text, kind, platform, inputs, vault, image: _ } =
        patch(form, image, model);
    let kind = kind.unwrap_or_default();
    if kind.needs_model() && inputs.model_id.is_none() {
        form.reject("modelId", MODEL_REQUIRED.to_owned());
    }
    Some(NewPrompt {
        title: title?,
        text: text?,
        kind,
        platform: platform.flatten(),
        inputs,
        vault,
        images: Arc::default(),
    })
}

/// `GET /prompts/{promptId}` (PR-30).
pub(crate) async fn get(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let prompt = api.store.prompt(caller, request.id(0)?).await?;
    Ok(response::record(StatusCode::OK, &api.view(prompt)))
}

/// `PATCH /prompts/{promptId}` (PR-31 to PR-39).
pub(crate) async fn update(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let (image, model) = (image_url(&api.assets), model_id(&api.model_namespace));
    let patch = request.json(FIELDS, |form| Some(patch(form, image, model))).await?;
    let prompt = api.store.update_prompt(caller, request.id(0)?, patch).await?;
    Ok(response::record(StatusCode::OK, &api.view(prompt)))
}

/// `DELETE /prompts/{promptId}` (PR-40 to PR-43).
pub(crate) async fn delete(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let id: PromptId = request.id(0)?;
    api.store.delete_prompt(caller, id).await?;
    Ok(response::data(StatusCode::OK, &json!({ "id": id, "deleted": true })))
}

/// `POST /prompts/{promptId}/save` (PR-44 to PR-47).
pub(crate) async fn save(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let vault = request.json(SAVE_FIELDS, |form| form.required("vaultId", id)).await?;
    let prompt = api.store.save_prompt(caller, request.id(0)?, vault).await?;
    Ok(response::record(StatusCode::OK, &api.view(prompt)))
}

/// The fields of create and update. No response shows the `inputs` (PR-12).
fn patch(
    form: &mut Form<'_>,
    image: impl Fn(&Field<'_>) -> Result<ImageRef, FieldError> + Copy,
    model: impl Fn(&Field<'_>) -> Result<Arc<str>, FieldError>,
) -> PromptPatch {
    let references = list_of(0..=limits::PROMPT_REFERENCE_MEDIA_URLS_MAX, image);
    let ratio = text(0..=limits::PROMPT_ASPECT_RATIO_CHARS_MAX);
    PromptPatch {
        title: form.optional("title", text(limits::PROMPT_TITLE_CHARS)),
        text: form.optional("prompt", text(limits::PROMPT_TEXT_CHARS)),
        kind: form.optional("promptType", one_of(PromptKind::ALL)),
        platform: form.nullable("platform", text(0..=limits::PROMPT_PLATFORM_CHARS_MAX)),
        inputs: PromptInputs {
            model_id: form.optional("modelId", model),
            aspect_ratio: form.optional("aspectRatio", ratio),
            image_url: form.optional("imageUrl", image),
            reference_media_urls: form.optional("referenceMediaUrls", references).map(Into::into),
        },
        vault: form.optional("vaultId", id),
        image: None,
    }
}

/// An image by its absolute URL, which is not an upload URL of this server (UP-17).
pub(super) fn image_url(
    assets: &Assets,
) -> impl Fn(&Field<'_>) -> Result<ImageRef, FieldError> + Copy + use<'_> {
    |field| {
        // The message does not repeat it: it could be used to upload.
        let refused = || "is an upload address; use the slot's url".to_owned();
        assets.read(&absolute_url(field)?).ok_or_else(refused)
    }
}
