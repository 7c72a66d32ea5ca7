//! Exports: the prompts and vaults of an account as one JSON document.
//!
//! `docs/accounts.md` describes the format. It holds references to files, not the files.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use futures::channel::mpsc::{Sender, channel};
use futures::stream::{self, Stream, StreamExt, TryStreamExt};
use futures::{FutureExt, SinkExt};
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
            contents => contents?.map_ok(|one| (one.prompt.id, one.pinned)),
        };
        vaults.push((vault, members.try_collect().await?));
    }
    let (format, exported_at) = (FORMAT[0].0, Time(now));
    let head = json!({
        "account": account, "exportedAt": exported_at, "format": format, "version": VERSION,
    });
    let head = format!("{},\n\"prompts\":[", head.to_string().trim_end_matches('}'));
    let (pieces, written) = channel(0);
    let writing = async move { write(&*store, &caller, head, vaults, pieces).await.err() };
    let failure = writing.into_stream().filter_map(async |error| error.map(Err));
    Ok(stream::select(written.map(|piece: String| Ok(piece.into())), failure))
}

/// Sends the document piece by piece, until nobody reads it any more.
async fn write(
    store: &dyn Store,
    caller: &Caller,
    head: String,
    vaults: Vec<(VaultRecord, Vec<(PromptId, bool)>)>,
    mut pieces: Sender<String>,
) -> StoreResult<()> {
    let gone = |_| StoreError::Unavailable("nobody reads the export".into());
    pieces.send(head).await.map_err(gone)?;
    let mut written = HashSet::new();
    let mut query = PromptQuery { vault: None, kind: None, after: None, limit: PAGE };
    loop {
        let page = store.list_prompts(caller, query).await?;
        query.after = page.prompts.last().map(|prompt| prompt.id);
        let inputs = stream::iter(page.prompts).map(|prompt| async move {
            match store.prompt_inputs(caller, prompt.id).await {
                // It was deleted meanwhile.
                Err(StoreError::NotFound) => Ok(None),
                inputs => inputs.map(|inputs| Some((prompt, inputs))),
            }
        });
        let mut text = String::new();
        let found: Vec<_> = inputs.buffered(AT_ONCE).try_collect().await?;
        for (prompt, inputs) in found.into_iter().flatten() {
            text.push_str(if written.is_empty() { "\n" } else { ",\n" });
            text.push_str(&prompt_json(&prompt, &inputs).to_string());
            written.insert(prompt.id);
        }
        pieces.send(text).await.map_err(gone)?;
        if !page.more {
            break;
        }
    }
    let mut text = "],\n\"vaults\":[\n".to_owned();
    for (vault, members) in vaults {
        let members = members.into_iter().filter(|(id, _)| written.contains(id));
        text.push_str(&vault_json(&vault, members).to_string());
        pieces.send(text).await.map_err(gone)?;
        text = ",\n".to_owned();
    }
    // The account has at least one vault, its General vault.
    pieces.send("]}\n".to_owned()).await.map_err(gone)
}

pub(crate) fn prompt_json(prompt: &PromptRecord, inputs: &PromptInputs) -> Value {
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
