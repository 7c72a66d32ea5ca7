//! `/prompts`.

use std::sync::Arc;

use http::StatusCode;
use promptarium::{PromptId, VaultId, limits};
use serde_json::json;

use super::{Api, HandlerResult, Request};
use crate::blobs::urls::Assets;
use crate::domain::{
    Caller, ImageRef, NewPrompt, PromptInputs, PromptKind, PromptPage, PromptPatch, PromptQuery,
    SharedPrompt,
};
use crate::http::cursor::{Cursors, Listing};
use crate::http::error::{ApiError, MODEL_REQUIRED};
use crate::http::response;
use crate::http::validate::{
    Checked, Field, Form, absolute_url, id, integer, list as list_of, model_id, one_of,
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
pub(crate) const QUERY: &[&str] = &["limit", "cursor", "vaultId", "type"];

/// Reads the query of a list, which is searched for a text or not.
pub(crate) fn list_query<'a>(
    mut form: Form<'_>,
    api: &Api,
    caller: &Caller,
    search: Option<&'a str>,
) -> Result<(Listing<'a>, PromptQuery), ApiError> {
    let limit = form.optional("limit", integer(limits::PAGE_SIZE));
    let vault = form.optional("vaultId", id::<VaultId>);
    let kind = form.optional("type", one_of(PromptKind::ALL));
    let listing = Listing { account: caller.account, vault, kind, search };
    // A cursor is signed for its filters. If they are not valid, only its form can be checked.
    let filters_are_valid = form.is_clean();
    let after = form.optional("cursor", |cursor| {
        let position = api.cursors.read(&listing, cursor.raw());
        let is_unknown = !filters_are_valid && Cursors::has_form(cursor.raw());
        let position = position.or(is_unknown.then_some(PromptId::new(0)));
        let refused = "must be the nextCursor of a page with the same vaultId, type and q";
        position.ok_or_else(|| refused.to_owned())
    });
    form.finish()?;
    let limit = limit.unwrap_or(limits::PAGE_SIZE_DEFAULT) as usize;
    Ok((listing, PromptQuery { vault, kind, after, limit }))
}

/// `GET /prompts` (PG-01 to PG-09, PR-13 to PR-18).
pub(crate) async fn list(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let form = query_fields(request.parts.uri.query(), QUERY);
    let (listing, query) = list_query(form, api, caller, None)?;
    let PromptPage { prompts, more } = api.store.list_prompts(caller, query).await?;
    let next = prompts.last().filter(|_| more).map(|last| last.id);
    page(api, &request, &listing, prompts, next)
}

/// The response with these prompts, and a cursor that goes on after `next`.
pub(crate) fn page(
    api: &Api,
    request: &Request<'_>,
    listing: &Listing<'_>,
    prompts: Vec<SharedPrompt>,
    next: Option<PromptId>,
) -> HandlerResult {
    let next = next.map(|next| api.cursors.write(listing, next));
    // The response has more bytes than this, and would be written in vain without memory for them.
    drop(request.memory.reserve(prompts.iter().map(|prompt| prompt.text.len()).sum())?);
    let prompts: Vec<_> = prompts.into_iter().map(|prompt| api.view(prompt)).collect();
    Ok(response::page(&prompts, next.as_deref()))
}

/// `POST /prompts` (PR-19 to PR-29).
pub(crate) async fn create(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let new = request.json(FIELDS, |form| new_prompt(form, api)).await?;
    let prompt = api.store.create_prompt(caller, new).await?;
    Ok(response::record(StatusCode::CREATED, &api.view(prompt)))
}

pub(crate) fn new_prompt(form: &mut Form<'_>, api: &Api) -> Option<NewPrompt> {
    whole(form, image_url(&api.assets), model_id(&api.model_namespace))
}

/// The same with these rules for images and the model.
pub(super) fn whole(
    form: &mut Form<'_>,
    image: impl Fn(&Field<'_>) -> Checked<ImageRef> + Copy,
    model: impl Fn(&Field<'_>) -> Checked<Arc<str>>,
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
    image: impl Fn(&Field<'_>) -> Checked<ImageRef> + Copy,
    model: impl Fn(&Field<'_>) -> Checked<Arc<str>>,
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
) -> impl Fn(&Field<'_>) -> Checked<ImageRef> + Copy + use<'_> {
    |field| {
        // The message does not repeat it: it could be used to upload.
        let refused = || "is an upload address; use the slot's url".to_owned();
        assets.read(&absolute_url(field)?).ok_or_else(refused)
    }
}
