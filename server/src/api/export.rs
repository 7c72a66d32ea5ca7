//! Exports: the prompts and vaults of an account as one JSON document.
//!
//! `docs/accounts.md` describes the format. It holds references to files, not the files.

use std::collections::HashSet;
use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use futures::channel::mpsc::{Sender, channel};
use futures::stream::{self, Stream, StreamExt, TryStreamExt};
use futures::{FutureExt, SinkExt};
use jiff::Timestamp;
use promptarium::PromptId;
use serde_json::{Value, json};

use super::view::{Time, write_prompt_fields, write_vault_fields};
use crate::domain::{Caller, PromptInputs, PromptQuery, PromptRecord, VaultRecord};
use crate::http::json::Object;
use crate::store::{Result as StoreResult, Store, StoreError};

/// The fields `format` and `version` of a document.
pub(super) const FORMAT: &[(&str, ())] = &[("promptarium-account", ())];
pub(super) const VERSION: i64 = 1;

/// Prompts that are read at once.
const PAGE: usize = 100;

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
            contents => contents?.entries.map_ok(|one| (one.prompt.id, one.pinned)),
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
    Ok(stream::select(written.map(|piece: Vec<u8>| Ok(piece.into())), failure))
}

/// Sends the document piece by piece, until nobody reads it any more.
async fn write(
    store: &dyn Store,
    caller: &Caller,
    head: String,
    vaults: Vec<(VaultRecord, Vec<(PromptId, bool)>)>,
    mut pieces: Sender<Vec<u8>>,
) -> StoreResult<()> {
    let gone = |_| StoreError::Unavailable("nobody reads the export".into());
    let mut json = head.into_bytes();
    let mut written = HashSet::new();
    let mut query = PromptQuery { vault: None, kind: None, after: None, limit: PAGE };
    loop {
        let page = store.list_prompts(caller, query).await?;
        query.after = page.prompts.last().map(|prompt| prompt.id);
        for prompt in page.prompts {
            let inputs = match store.prompt_inputs(caller, prompt.id).await {
                // It was deleted meanwhile.
                Err(StoreError::NotFound) => continue,
                inputs => inputs?,
            };
            json.extend_from_slice(if written.is_empty() { &b"\n"[..] } else { b",\n" });
            write_prompt(&mut json, &prompt, &inputs);
            written.insert(prompt.id);
        }
        pieces.send(mem::take(&mut json)).await.map_err(gone)?;
        if !page.more {
            break;
        }
    }
    json.extend_from_slice(b"],\n\"vaults\":[\n");
    for (vault, members) in vaults {
        let members = members.into_iter().filter(|(id, _)| written.contains(id));
        let members = members.map(|(id, pinned)| json!({ "id": id, "isPinned": pinned }));
        let mut object = Object::begin(&mut json);
        write_vault_fields(&mut object, &vault, None);
        object.value("prompts", &members.collect::<Vec<_>>());
        object.end();
        pieces.send(mem::replace(&mut json, b",\n".to_vec())).await.map_err(gone)?;
    }
    // The account has at least one vault, its General vault.
    pieces.send(b"]}\n".to_vec()).await.map_err(gone)
}

/// A prompt as an export has it.
pub(crate) fn prompt_json(prompt: &PromptRecord, inputs: &PromptInputs) -> Value {
    let mut json = Vec::new();
    write_prompt(&mut json, prompt, inputs);
    serde_json::from_slice(&json).unwrap_or_default()
}

fn write_prompt(json: &mut Vec<u8>, prompt: &PromptRecord, inputs: &PromptInputs) {
    let mut object = Object::begin(json);
    write_prompt_fields(&mut object, prompt, None);
    object.value("modelId", &inputs.model_id.as_deref());
    object.value("aspectRatio", &inputs.aspect_ratio.as_deref());
    object.value("imageUrl", &inputs.image_url);
    object.value("referenceMediaUrls", &inputs.reference_media_urls.as_deref());
    object.end();
}
