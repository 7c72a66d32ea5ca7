//! The commands that list, show, store and delete prompts.

use std::io::Write as _;
use std::process::{Command, Stdio};

use futures::TryStreamExt as _;
use promptarium::{Client, Prompt, PromptType};

use crate::args::{Fields, Filled, Selection};
use crate::document::Document;
use crate::edit;
use crate::failure::{Failure, Result};
use crate::fill;
use crate::find::{self, Place};
use crate::output::{Column, Output, can_ask, confirm, note};

const COLUMNS: [Column<Prompt>; 4] = [
    ("ID", |prompt| prompt.id.to_string()),
    ("TYPE", |prompt| prompt.prompt_type.to_string()),
    ("UPDATED", |prompt| prompt.updated_at.to_string().chars().take(10).collect()),
    ("TITLE", |prompt| prompt.title.clone()),
];

pub(crate) async fn ls(client: &Client, output: Output, selection: Selection) -> Result {
    let vault = find::vault_id(client, selection.vault.as_deref()).await?;
    let list = client.prompts().list().set_vault(vault).set_prompt_type(selection.prompt_type);
    if selection.all {
        let mut pages = list.prefetch(true).pages();
        while let Some(page) = pages.try_next().await? {
            output.list(&page.items, &COLUMNS)?;
        }
        return Ok(());
    }
    let mut items = list.max_items(selection.limit).items();
    let mut prompts = Vec::new();
    while let Some(prompt) = items.try_next().await? {
        prompts.push(prompt);
    }
    output.list(&prompts, &COLUMNS)?;
    if items.cursor().is_some() && can_ask() {
        note(format!("{} shown; --limit N or --all shows more", prompts.len()));
    }
    Ok(())
}

pub(crate) async fn search(
    client: &Client,
    output: Output,
    words: &[String],
    selection: Selection,
) -> Result {
    let vault = find::vault_id(client, selection.vault.as_deref()).await?;
    let place = Place { vault, prompt_type: selection.prompt_type };
    let limit = if selection.all { usize::MAX } else { selection.limit };
    let found = futures::StreamExt::take(find::search(client, &words.join(" "), place), limit);
    let prompts: Vec<_> = found.try_collect().await?;
    output.list(&prompts, &COLUMNS)?;
    match prompts.len() {
        0 => Err(Failure::absent(format!("no prompt has \"{}\"", words.join(" ")))),
        _ => Ok(()),
    }
}

pub(crate) async fn show(client: &Client, output: Output, text: &Filled, raw: bool) -> Result {
    let mut prompt = find::prompt(client, &text.prompt).await?;
    if !raw && (!output.json || !text.set.is_empty()) {
        prompt.text = fill::filled(&prompt, &text.set)?;
    }
    let line = if prompt.text.ends_with('\n') { "" } else { "\n" };
    output.item(&prompt, &format!("{}{line}", prompt.text))
}

pub(crate) async fn copy(client: &Client, output: Output, text: &Filled) -> Result {
    let prompt = find::prompt(client, &text.prompt).await?;
    let filled = fill::filled(&prompt, &text.set)?;
    if CLIPBOARDS.iter().any(|command| put(command, &filled).is_some()) {
        note(format!("\"{}\" is in the clipboard", prompt.title));
        return Ok(());
    }
    note("There is no clipboard here; this is the text:");
    output.item(&filled, &format!("{filled}\n"))
}

/// The programs that fill the clipboard of a system.
const CLIPBOARDS: [&[&str]; 5] = [
    &["pbcopy"],
    &["wl-copy"],
    &["xclip", "-selection", "clipboard"],
    &["xsel", "--clipboard", "--input"],
    &["clip.exe"],
];

fn put(command: &[&str], text: &str) -> Option<()> {
    let (program, arguments) = command.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let written = child.stdin.take()?.write_all(text.as_bytes());
    (child.wait().ok()?.success() && written.is_ok()).then_some(())
}

pub(crate) async fn new(
    client: &Client,
    output: Output,
    title: String,
    text: Option<String>,
    fields: Fields,
) -> Result {
    let vault = find::vault_id(client, fields.vault.as_deref()).await?;
    let prompt_type =
        fields.prompt_type.or_else(|| fields.model.as_ref().map(|_| PromptType::Image));
    let document = Document {
        title,
        prompt_type: prompt_type.map(|it| it.to_string()),
        platform: fields.platform,
        ..Document::default()
    };
    let create = async |document: Document| {
        let prompt_type = Some(document.prompt_type());
        let create = client.prompts().create(document.title, document.text);
        let create = create.set_prompt_type(prompt_type).set_platform(document.platform);
        Ok(create.set_model_id(fields.model.clone()).set_vault(vault).await?)
    };
    let prompt = match text {
        Some(text) => create(Document { text: fill::text(&text)?, ..document }).await?,
        None if !can_ask() => create(Document { text: fill::text("-")?, ..document }).await?,
        None => edit::in_editor(&document, create).await?,
    };
    output.item(&prompt, &format!("{}\n", prompt.id))
}

pub(crate) async fn rm(client: &Client, output: Output, names: &[String], yes: bool) -> Result {
    let mut prompts = Vec::new();
    for name in names {
        prompts.push(find::prompt(client, name).await?);
    }
    let titles: Vec<_> = prompts.iter().map(|prompt| format!("\"{}\"", prompt.title)).collect();
    confirm(yes, &format!("Delete {}? This cannot be undone.", titles.join(", ")))?;
    for prompt in prompts {
        let deleted = client.prompts().delete(prompt.id).await?;
        output.item(&deleted, &format!("{}\n", prompt.id))?;
    }
    Ok(())
}
