//! `GET /prompts?q=…`, in the place of the endpoint without a search.

use std::sync::Arc;

use http::Method;
use promptarium::{limits, path};

use super::{FoundPrompts, PromptSearch, Words, search};
use crate::api::prompts::{ListRequest, page};
use crate::api::route::{Handler, Route};
use crate::api::{Api, HandlerResult, Request, prompts};
use crate::domain::{BASE_PATH, Caller, PromptQuery};
use crate::http::auth::Access;
use crate::http::validate::{Field, FieldError, query_fields, text};
use crate::store::Place;

pub(crate) const QUERY: &[&str] = &["limit", "cursor", "vaultId", "type", "q"];

pub(crate) fn route() -> Route {
    Route {
        name: "listPrompts",
        method: Method::GET,
        path: path::PROMPTS,
        base: BASE_PATH,
        access: Access::Key,
        handler: Handler::Authed(|api, caller, request| Box::pin(list(api, caller, request))),
    }
}

/// As [`prompts::list`], and S-84.
async fn list(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let mut form = query_fields(request.parts.uri.query(), QUERY);
    if form.is_clean() && !form.has("q") {
        return prompts::list(api, caller, request).await;
    }
    let (text, words) = form.optional("q", search_text).unzip();
    let list = ListRequest::read(form, api, caller, text.as_deref())?;
    let PromptQuery { vault, kind, after, limit } = list.query;
    let place = vault.map_or(Place::Anywhere, Place::Vault);
    let sought = PromptSearch { words, place, kind, after, limit };
    let FoundPrompts { prompts, next, .. } = search(api, caller, &sought).await?;
    page(api, &request, &list.listing, prompts, next)
}

/// What to search for, with the text as it was sent.
fn search_text(field: &Field<'_>) -> Result<(Arc<str>, Arc<Words>), FieldError> {
    let text = text(0..=limits::PROMPT_SEARCH_CHARS_MAX)(field)?;
    let words = Words::parse(&text);
    let words = words.ok_or("must have a character that can be seen")?;
    Ok((text, Arc::new(words)))
}
