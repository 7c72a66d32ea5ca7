//! The search for prompts, over any store.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{join, join_all};
use promptarium::PromptId;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::{Result, Store, StoreError};
use crate::domain::{
    Caller, FoundPrompts, Place, PromptQuery, PromptSearch, PromptTexts, TextChunk, Words,
};
use crate::limits::{SEARCH_PROMPTS_MAX, SEARCH_TIME_MAX};

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
    let until = Instant::now() + bound.time;
    let chunk_after = |after| store.prompt_texts(caller, place, kind, after);
    let (mut found, mut read, mut chunk) = (Vec::new(), 0, chunk_after(after).await?);
    let stopped_at = loop {
        let TextChunk { texts, read: of_chunk, next } = chunk;
        let (is_first, matching) = (read == 0, matches(words.clone(), texts));
        read += of_chunk;
        let must_stop = read >= bound.prompts || Instant::now() >= until;
        // A frequent word has a page in the first chunk. Later ones are read while the one before is
        // searched.
        let ahead = match next.filter(|_| !is_first && !must_stop) {
            Some(next) => {
                let (matching, ahead) = join(matching, chunk_after(Some(next))).await;
                found.extend(matching?);
                Some(ahead)
            }
            None => {
                found.extend(matching.await?);
                None
            }
        };
        if found.len() > limit || next.is_none() || must_stop {
            break next;
        }
        chunk = match ahead {
            Some(ahead) => ahead?,
            None => chunk_after(next).await?,
        };
    };
    let is_full = found.len() > limit;
    found.truncate(limit);
    let next = if is_full { found.last().copied() } else { stopped_at };
    let prompts = join_all(found.iter().map(|id| store.prompt(caller, *id))).await;
    // One that was deleted meanwhile is left out.
    let prompts = prompts.into_iter().filter(|one| !matches!(one, Err(StoreError::NotFound)));
    let stopped_after = stopped_at.filter(|_| !is_full).map(|_| read);
    Ok(FoundPrompts { prompts: prompts.collect::<Result<_>>()?, next, stopped_after })
}

/// Which of these prompts match. It takes long for the threads of the runtime.
async fn matches(words: Option<Arc<Words>>, texts: Vec<PromptTexts>) -> Result<Vec<PromptId>> {
    let Some(words) = words else { return Ok(texts.iter().map(|texts| texts.id).collect()) };
    let matching = spawn_blocking(move || {
        let mut buffer = String::new();
        let found = texts.iter().filter(|texts| words.are_in(texts, &mut buffer));
        found.map(|texts| texts.id).collect()
    });
    matching.await.map_err(|panic| StoreError::Internal(panic.into()))
}
