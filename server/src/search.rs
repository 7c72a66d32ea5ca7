//! The search for prompts, over any store: the store hands out texts, and [`Words`] matches them.

mod fold;
mod words;

use std::sync::Arc;
use std::time::Duration;

use futures::future::{OptionFuture, join, join_all};
use http::Method;
use promptarium::{PromptId, limits, path};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

#[cfg(test)]
pub(crate) use self::words::TITLES;
pub(crate) use self::words::{Words, folded, words};
use crate::api::prompts::{list_query, page};
use crate::api::{Api, Handler, HandlerResult, Request, Route, prompts};
use crate::domain::{BASE_PATH, Caller, PromptKind, PromptQuery, SharedPrompt};
use crate::http::auth::Access;
use crate::http::validate::{Field, FieldError, query_fields, text};
use crate::limits::POOL_WAIT;
use crate::limits::product::{SEARCH_PROMPTS_MAX, SEARCH_TIME_MAX, SEARCHES_MAX};
use crate::quota::Quota;
use crate::store::{Place, PromptTexts, Result, Store, StoreError, TextChunk};

/// A search for prompts, newest first.
#[derive(Clone, Debug)]
pub(crate) struct PromptSearch {
    /// Without it every prompt is found.
    pub(crate) words: Option<Arc<Words>>,
    pub(crate) place: Place,
    pub(crate) kind: Option<PromptKind>,
    /// Only prompts after this one in listing order, which have a lower id.
    pub(crate) after: Option<PromptId>,
    /// At most this many; at least 1.
    pub(crate) limit: usize,
}

/// What a search has found.
#[derive(Clone, Debug)]
pub(crate) struct FoundPrompts {
    /// Newest first.
    pub(crate) prompts: Vec<SharedPrompt>,
    /// If more prompts may match: where the search goes on, which is the last prompt found, or the
    /// last one read if the search has stopped early.
    pub(crate) next: Option<PromptId>,
    /// How many prompts were read, if the search has stopped early.
    pub(crate) stopped_after: Option<usize>,
}

/// How many searches there are at once; an account has one at a time.
#[derive(Clone)]
pub(crate) struct Searches(pub(crate) Quota);

impl Default for Searches {
    fn default() -> Self {
        Self(Quota::new("searches", "the searches", SEARCHES_MAX, 1))
    }
}

/// Searches when it is the turn of the account.
pub(crate) async fn search(
    api: &Api,
    caller: &Caller,
    search: &PromptSearch,
) -> Result<FoundPrompts> {
    let Some(Searches(searches)) = api.extensions.get() else {
        return Err(StoreError::Internal("the searches have no quota".into()));
    };
    let turn = searches.acquire(caller.account, 1, POOL_WAIT).await;
    let _turn = turn.map_err(StoreError::Busy)?;
    search_prompts(&*api.store, caller, search, SearchBound::default()).await
}

/// When a search stops: after the chunk in which it has read so many prompts or has taken so long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchBound {
    pub(crate) prompts: usize,
    pub(crate) time: Duration,
}

impl Default for SearchBound {
    fn default() -> Self {
        Self { prompts: SEARCH_PROMPTS_MAX, time: SEARCH_TIME_MAX }
    }
}

/// One page of the prompts that match, newest first. Following
/// [`next`](FoundPrompts::next) returns each prompt that matches throughout exactly once. Fails with
/// [`StoreError::UnknownVault`].
pub(crate) async fn search_prompts(
    store: &dyn Store,
    caller: &Caller,
    search: &PromptSearch,
    bound: SearchBound,
) -> Result<FoundPrompts> {
    let PromptSearch { ref words, place, kind, after, limit } = *search;
    let vault = match place {
        Place::Anywhere => Some(None),
        Place::Vault(vault) => Some(Some(vault)),
        Place::NoVault => None,
    };
    if let (None, Some(vault)) = (words, vault) {
        let page = store.list_prompts(caller, PromptQuery { vault, kind, after, limit }).await?;
        let next = page.prompts.last().filter(|_| page.more).map(|prompt| prompt.id);
        return Ok(FoundPrompts { prompts: page.prompts, next, stopped_after: None });
    }
    let words = words.clone();
    let matching = move |texts: Vec<PromptTexts>| {
        let mut buffer = String::new();
        let mut matches =
            |of: &PromptTexts| words.as_ref().is_none_or(|it| it.are_in(of, &mut buffer));
        texts.iter().filter(|texts| matches(texts)).map(|texts| texts.id).collect()
    };
    let (mut found, read, stopped_at) = scan(store, caller, search, bound, matching).await?;
    let is_full = found.len() > limit;
    found.truncate(limit);
    let next = if is_full { found.last().copied() } else { stopped_at };
    let prompts = join_all(found.iter().map(|id| store.prompt(caller, *id))).await;
    // One that was deleted meanwhile is left out.
    let prompts = prompts.into_iter().filter(|one| !matches!(one, Err(StoreError::NotFound)));
    let stopped_after = stopped_at.filter(|_| !is_full).map(|_| read);
    Ok(FoundPrompts { prompts: prompts.collect::<Result<_>>()?, next, stopped_after })
}

/// Reads texts chunk by chunk, and collects what `judge` finds in each, until this is more than the
/// limit of the search. Returns also how many prompts were read, and where it goes on.
pub(crate) async fn scan<T: Send + 'static>(
    store: &dyn Store,
    caller: &Caller,
    &PromptSearch { place, kind, after, limit, .. }: &PromptSearch,
    bound: SearchBound,
    judge: impl Fn(Vec<PromptTexts>) -> Vec<T> + Clone + Send + 'static,
) -> Result<(Vec<T>, usize, Option<PromptId>)> {
    let until = Instant::now() + bound.time;
    let chunk_after = |after| store.prompt_texts(caller, place, kind, after);
    let (mut found, mut read, mut chunk) = (Vec::new(), 0, chunk_after(after).await?);
    loop {
        let TextChunk { texts, read: of_chunk, next } = chunk;
        let (is_first, judge) = (read == 0, judge.clone());
        read += of_chunk;
        let must_stop = read >= bound.prompts || Instant::now() >= until;
        // It takes long for the threads of the runtime.
        let judged = spawn_blocking(move || judge(texts));
        // A frequent word has a page in the first chunk. Later ones are read while the one before is
        // searched.
        let is_ahead = next.is_some() && !is_first && !must_stop;
        let ahead = OptionFuture::from(is_ahead.then(|| chunk_after(next)));
        let (judged, ahead) = join(judged, ahead).await;
        found.extend(judged.map_err(|panic| StoreError::Internal(panic.into()))?);
        if found.len() > limit || next.is_none() || must_stop {
            return Ok((found, read, next));
        }
        chunk = match ahead {
            Some(ahead) => ahead?,
            None => chunk_after(next).await?,
        };
    }
}

pub(crate) const LIST_QUERY: &[&str] = &["limit", "cursor", "vaultId", "type", "q"];

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
    let mut form = query_fields(request.parts.uri.query(), LIST_QUERY);
    if form.is_clean() && !form.has("q") {
        return prompts::list(api, caller, request).await;
    }
    let (text, words) = form.optional("q", search_text).unzip();
    let (listing, query) = list_query(form, api, caller, text.as_deref())?;
    let PromptQuery { vault, kind, after, limit } = query;
    let place = vault.map_or(Place::Anywhere, Place::Vault);
    let sought = PromptSearch { words, place, kind, after, limit };
    let FoundPrompts { prompts, next, .. } = search(api, caller, &sought).await?;
    page(api, &request, &listing, prompts, next)
}

/// What to search for, with the text as it was sent.
fn search_text(field: &Field<'_>) -> Result<(Arc<str>, Arc<Words>), FieldError> {
    let text = text(0..=limits::PROMPT_SEARCH_CHARS_MAX)(field)?;
    let words = Words::parse(&text);
    let words = words.ok_or("must have a character that can be seen")?;
    Ok((text, Arc::new(words)))
}
