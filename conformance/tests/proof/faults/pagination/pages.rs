//! Stores whose pages of prompts are not quite those that were asked for.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use promptarium_server::store::{PromptPage, PromptQuery};

use crate::store::{FaultyStore, Good, Result};

/// A store whose pages are these.
macro_rules! pages {
    ($(#[$doc:meta])* $name:ident, $this:ident, $good:ident, $query:ident => $page:expr) => {
        $(#[$doc])*
        #[async_trait]
        impl FaultyStore for $name {
            async fn list_prompts(&$this, $good: Good<'_>, $query: PromptQuery) -> Result<PromptPage> {
                $page
            }
        }
    };
}

pub(super) struct LimitOnce;
pages!(LimitOnce, self, good, query => {
    let limit = if query.after.is_some() { 20 } else { query.limit };
    good.list_prompts(PromptQuery { limit, ..query }).await
});

pub(super) struct WithoutType;
pages!(WithoutType, self, good, query => {
    let kind = if query.after.is_some() { None } else { query.kind };
    good.list_prompts(PromptQuery { kind, ..query }).await
});

pub(super) struct BorderTwice;
pages!(BorderTwice, self, good, query => {
    let mut page = good.list_prompts(query).await?;
    let Some(border) = query.after else { return Ok(page) };
    // With a limit of 1 a walk would never end.
    if let (Ok(border), true) = (good.prompt(border).await, query.limit > 1) {
        page.more |= page.prompts.len() == query.limit;
        page.prompts.insert(0, border);
        page.prompts.truncate(query.limit);
    }
    Ok(page)
});

pub(super) struct BorderSkipped;
pages!(BorderSkipped, self, good, query => {
    if query.after.is_none() {
        return good.list_prompts(query).await;
    }
    let limit = query.limit + 1;
    let mut page = good.list_prompts(PromptQuery { limit, ..query }).await?;
    if !page.prompts.is_empty() {
        page.prompts.remove(0);
    }
    Ok(page)
});

/// Where a page ended, by the vault and its last entry.
#[derive(Default)]
pub(super) struct ByOffset(Mutex<HashMap<(i64, i64), usize>>);
pages!(ByOffset, self, good, query => {
    let Some(vault) = query.vault.map(promptarium::VaultId::get) else {
        return good.list_prompts(query).await;
    };
    let all = PromptQuery { after: None, limit: 1000, ..query };
    let mut page = good.list_prompts(all).await?;
    let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
    let start = query.after.and_then(|after| ends.get(&(vault, after.get())).copied());
    let start = start.unwrap_or_default().min(page.prompts.len());
    page.prompts.drain(..start);
    page.more = page.prompts.len() > query.limit;
    page.prompts.truncate(query.limit);
    if let Some(last) = page.prompts.last() {
        ends.insert((vault, last.id.get()), start + page.prompts.len());
    }
    Ok(page)
});

pub(super) struct LastUpdatedFirst;
pages!(LastUpdatedFirst, self, good, query => {
    if query.vault.is_none() {
        return good.list_prompts(query).await;
    }
    let all = PromptQuery { after: None, limit: 1000, ..query };
    let mut page = good.list_prompts(all).await?;
    page.prompts.sort_by_key(|prompt| std::cmp::Reverse((prompt.updated_at, prompt.id)));
    let at = |prompt: &promptarium_server::store::SharedPrompt| Some(prompt.id) == query.after;
    let start = page.prompts.iter().position(at).map_or(0, |at| at + 1);
    page.prompts.drain(..start);
    page.more = page.prompts.len() > query.limit;
    page.prompts.truncate(query.limit);
    Ok(page)
});

pub(super) struct OneMore;
pages!(OneMore, self, good, query => {
    let page = good.list_prompts(query).await?;
    let more = page.more || page.prompts.len() == query.limit;
    Ok(PromptPage { more, ..page })
});

pub(super) struct EndsEarly;
pages!(EndsEarly, self, good, query => {
    let limit = query.limit + 1;
    let mut page = good.list_prompts(PromptQuery { limit, ..query }).await?;
    page.prompts.truncate(query.limit);
    Ok(page)
});
