//! Exports: the prompts and vaults of an account as one JSON document.
//!
//! `docs/accounts.md` describes the format. It holds references to files, not the files.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt, TryStreamExt};
use jiff::Timestamp;
use promptarium::PromptId;
use serde_json::{Value, json};

use super::view::Time;
use crate::domain::{Caller, PromptInputs, PromptQuery, PromptRecord, VaultRecord};
use crate::store::{Result as StoreResult, Store, StoreError};

/// The fields `format` and `version` of a document.
pub(super) const FORMAT: &[(&str, ())] = &[("promptarium-account", ())];
pub(super) const VERSION: i64 = 1;

/// Prompts that are read at once, and statements at once for what the API does not return of them.
const PAGE: usize = 100;
const AT_ONCE: usize = 8;

/// An export that is being written.
struct Export {
    store: Arc<dyn Store>,
    caller: Caller,
    /// Oldest first, each with its contents.
    vaults: std::vec::IntoIter<(VaultRecord, Vec<(PromptId, bool)>)>,
    written: HashSet<PromptId>,
    next: Next,
}

/// What an export writes next.
enum Next {
    /// The first page, or the page of the prompts before this one.
    Prompts(Option<PromptId>),
    Vaults,
    End,
}

/// All prompts and vaults of an account, a page or a vault at a time. It is not a snapshot of one
/// instant, but no vault in it has a prompt that is missing.
///
/// # Errors
/// What fails before the first prompt is read.
pub(crate) async fn export(
    store: Arc<dyn Store>,
    caller: Caller,
    account: &str,
    now: Timestamp,
) -> StoreResult<impl Stream<Item = StoreResult<Bytes>> + Send + 'static> {
    let mut vaults = Vec::new();
    for vault in store.vaults(&caller).await?.into_iter().rev() {
        let members = match store.contents(&caller, vault.id).await {
            // It was deleted meanwhile.
            Err(StoreError::NotFound) => continue,
            contents => contents?.map_ok(|one| (one.prompt.id, one.pinned)).try_collect().await?,
        };
        vaults.push((vault, members));
    }
    let (format, exported_at) = (FORMAT[0].0, Time(now));
    let head = json!({
        "account": account, "exportedAt": exported_at, "format": format, "version": VERSION,
    });
    let head = format!("{},\n\"prompts\":[", head.to_string().trim_end_matches('}'));
    let (vaults, next) = (vaults.into_iter(), Next::Prompts(None));
    let begin = Export { store, caller, vaults, written: HashSet::new(), next };
    let rest = stream::try_unfold(begin, |mut export| async move {
        Ok(export.piece().await?.map(|piece| (Bytes::from(piece), export)))
    });
    Ok(stream::iter([Ok(Bytes::from(head))]).chain(rest))
}

impl Export {
    async fn piece(&mut self) -> StoreResult<Option<String>> {
        match self.next {
            Next::Prompts(after) => self.page(after).await.map(Some),
            Next::Vaults => Ok(Some(match self.vaults.next() {
                Some((vault, members)) => {
                    let members = members.into_iter().filter(|(id, _)| self.written.contains(id));
                    let comma = if self.vaults.len() == 0 { "" } else { "," };
                    format!("\n{}{comma}", vault_json(&vault, members))
                }
                None => {
                    self.next = Next::End;
                    "]}\n".to_owned()
                }
            })),
            Next::End => Ok(None),
        }
    }

    async fn page(&mut self, after: Option<PromptId>) -> StoreResult<String> {
        let (store, caller) = (&*self.store, &self.caller);
        let query = PromptQuery { vault: None, kind: None, after, limit: PAGE };
        let page = store.list_prompts(caller, query).await?;
        let inputs = stream::iter(page.prompts.clone()).map(|prompt| async move {
            match store.prompt_inputs(caller, prompt.id).await {
                // It was deleted meanwhile.
                Err(StoreError::NotFound) => Ok(None),
                inputs => Ok(Some((prompt, inputs?))),
            }
        });
        let found: Vec<_> = inputs.buffered(AT_ONCE).try_collect().await?;
        let mut text = String::new();
        for (prompt, inputs) in found.into_iter().flatten() {
            text.push_str(if self.written.is_empty() { "\n" } else { ",\n" });
            text.push_str(&prompt_json(&prompt, &inputs).to_string());
            self.written.insert(prompt.id);
        }
        let last = page.prompts.last().filter(|_| page.more);
        self.next = match last {
            Some(last) => Next::Prompts(Some(last.id)),
            None => {
                text.push_str("],\n\"vaults\":[");
                Next::Vaults
            }
        };
        Ok(text)
    }
}

fn prompt_json(prompt: &PromptRecord, inputs: &PromptInputs) -> Value {
    let images = prompt.images.iter().map(|image| {
        json!({
            "url": image.source,
            "width": image.width,
            "height": image.height,
            "createdAt": Time(image.created_at),
        })
    });
    json!({
        "id": prompt.id,
        "title": *prompt.title,
        "prompt": *prompt.text,
        "promptType": prompt.kind.as_str(),
        "platform": prompt.platform.as_deref(),
        "modelId": inputs.model_id.as_deref(),
        "aspectRatio": inputs.aspect_ratio.as_deref(),
        "imageUrl": inputs.image_url,
        "referenceMediaUrls": inputs.reference_media_urls.as_deref(),
        "images": images.collect::<Vec<_>>(),
        "createdAt": Time(prompt.created_at),
        "updatedAt": Time(prompt.updated_at),
    })
}

fn vault_json(vault: &VaultRecord, members: impl Iterator<Item = (PromptId, bool)>) -> Value {
    let members = members.map(|(id, pinned)| json!({ "id": id, "isPinned": pinned }));
    json!({
        "name": *vault.name,
        "description": vault.description.as_deref(),
        "visibility": vault.visibility.as_str(),
        "coverImageUrl": vault.cover_image,
        "isSystem": vault.system,
        "createdAt": Time(vault.created_at),
        "updatedAt": Time(vault.updated_at),
        "prompts": members.collect::<Vec<_>>(),
    })
}
