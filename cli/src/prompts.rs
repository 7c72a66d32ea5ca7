//! The commands that list, show, store and delete prompts.

use std::io::Write as _;
use std::process::{Command, Stdio};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use promptarium::Prompt;

use crate::args::{Filled, Selection};
use crate::document::Document;
use crate::failure::{ABSENT, Failure, Result};
use crate::find;
use crate::output::{App, Column, can_ask, confirm, note};
use crate::{edit, fill};

const COLUMNS: [Column<Prompt>; 4] = [
    ("ID", |prompt| prompt.id.to_string()),
    ("TYPE", |prompt| prompt.prompt_type.to_string()),
    ("UPDATED", |prompt| prompt.updated_at.to_string().chars().take(10).collect()),
    ("TITLE", |prompt| prompt.title.clone()),
];

/// Lists prompts: all, or those that have these words.
pub(crate) async fn list(app: &App, words: Option<String>, selection: Selection) -> Result {
    let vault = find::vault_id(&app.client, selection.vault.as_deref()).await?;
    let limit = if selection.limit == 0 { usize::MAX } else { selection.limit };
    let list = app.client.prompts().list().set_vault(vault);
    let list = list.set_prompt_type(selection.prompt_type);
    let prompts: Vec<_> = match &words {
        None => list.max_items(limit).prefetch(true).collect().await?,
        Some(words) => find::search(list, words).await?.take(limit).try_collect().await?,
    };
    app.list(&prompts, &COLUMNS)?;
    if prompts.len() == limit && can_ask() {
        note(format!("The first {limit}; --limit 0 shows all."));
    }
    match words.filter(|_| prompts.is_empty()) {
        Some(words) => Err(Failure::new(ABSENT, format!("no prompt has \"{words}\""))),
        None => Ok(()),
    }
}

pub(crate) async fn show(app: &App, text: &Filled, raw: bool) -> Result {
    let mut prompt = find::prompt(&app.client, &text.prompt).await?;
    if !raw && (!app.json || !text.set.is_empty()) {
        prompt.text = fill::filled(&prompt, &text.set)?;
    }
    app.item(&prompt, &prompt.text)
}

pub(crate) async fn copy(app: &App, text: &Filled) -> Result {
    let prompt = find::prompt(&app.client, &text.prompt).await?;
    let filled = fill::filled(&prompt, &text.set)?;
    if CLIPBOARDS.iter().any(|command| put(command, &filled).is_some()) {
        note(format!("\"{}\" is in the clipboard", prompt.title));
        return Ok(());
    }
    note("There is no clipboard here; this is the text:");
    app.item(&filled, &filled)
}

/// The programs that fill the clipboard, on one system or another.
const CLIPBOARDS: [&str; 5] =
    ["pbcopy", "wl-copy", "xclip -selection clipboard", "xsel --clipboard --input", "clip.exe"];

fn put(command: &str, text: &str) -> Option<()> {
    let mut words = command.split(' ');
    let mut command = Command::new(words.next()?);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let written = child.stdin.take()?.write_all(text.as_bytes());
    (child.wait().ok()?.success() && written.is_ok()).then_some(())
}

pub(crate) async fn new(app: &App, document: Document, text: Option<String>) -> Result {
    let vaults = stream::iter(&document.vaults).then(|name| find::vault(&app.client, name));
    let vaults: Vec<_> = vaults.map_ok(|vault| vault.id).try_collect().await?;
    let create = async |document: Document| document.create(&app.client, &vaults, None).await;
    let prompt = match text.or_else(|| (!can_ask()).then(|| "-".to_owned())) {
        Some(text) => create(Document { text: fill::text(&text)?, ..document }).await?,
        None => edit::in_editor(&document, create).await?,
    };
    app.item(&prompt, prompt.id)
}

pub(crate) async fn rm(app: &App, names: &[String], yes: bool) -> Result {
    let found = stream::iter(names).then(|name| find::prompt(&app.client, name));
    let mut prompts: Vec<_> = found.try_collect().await?;
    prompts.sort_by_key(|prompt| prompt.id);
    prompts.dedup_by_key(|prompt| prompt.id);
    let titles: Vec<_> = prompts.iter().map(|prompt| format!("\"{}\"", prompt.title)).collect();
    confirm(yes, &format!("Delete {}? This cannot be undone.", titles.join(", ")))?;
    for prompt in prompts {
        app.item(&app.client.prompts().delete(prompt.id).await?, prompt.id)?;
    }
    Ok(())
}
