//! A folder with a Markdown file for each prompt.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use promptarium::PromptId;
use serde_json::json;
use slug::slugify;

use crate::document::Document;
use crate::failure::{Failure, Result, USAGE};
use crate::find;
use crate::output::{App, note, progress};

/// Names the library that a folder was exported from, where the ids in its files are valid.
pub(crate) const ORIGIN: &str = ".promptarium";

pub(crate) async fn export(app: &App, folder: &Path, vault: Option<&str>, delete: bool) -> Result {
    let client = &app.client;
    let vault = find::vault_id(client, vault).await?;
    fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    let origin = folder.join(ORIGIN);
    match fs::read_to_string(&origin) {
        Ok(url) if url.trim() != client.base_url() => {
            let text = format!("{} is an export of {}", folder.display(), url.trim());
            return Err(Failure::new(USAGE, text).hint("choose another folder"));
        }
        _ => fs::write(&origin, client.base_url()).map_err(Failure::file(&origin))?,
    }
    let mut files = exported(folder)?;
    let vaults = client.vaults().list().await?;
    let bar = progress(None, "{spinner} {pos} prompts");
    let mut written = 0;
    let mut prompts = client.prompts().list().set_vault(vault).prefetch(true).items();
    while let Some(prompt) = prompts.try_next().await? {
        bar.inc(1);
        let (file, old) = (Document::new(&prompt, &vaults).to_file(), files.remove(&prompt.id));
        let is_same = |old: &PathBuf| fs::read(old).is_ok_and(|old| old == file.as_bytes());
        if !old.as_ref().is_some_and(is_same) {
            // A file keeps its name when the title changes.
            let title: String = slugify(&prompt.title).chars().take(60).collect();
            let new = || folder.join(format!("{title}-{}.md", prompt.id));
            let path = old.filter(|old| is_of(old, prompt.id)).unwrap_or_else(new);
            // Whole or not at all: `import` stores what is in the file.
            let part = folder.join(".part");
            let moved = fs::write(&part, file).and_then(|()| fs::rename(&part, &path));
            let moved = moved.inspect_err(|_| drop(fs::remove_file(&part)));
            moved.map_err(Failure::file(&path))?;
            written += 1;
        }
    }
    bar.finish_and_clear();
    // What is left belongs to prompts that are gone, unless only a vault was exported.
    files.retain(|id, path| vault.is_none() && is_of(path, *id));
    if !delete && !files.is_empty() {
        note(format!("{} files are of prompts that are gone; --delete deletes them", files.len()));
        files.clear();
    }
    for path in files.values() {
        fs::remove_file(path).map_err(Failure::file(path))?;
    }
    let (total, deleted) = (bar.position(), files.len());
    let counts = json!({ "prompts": total, "written": written, "deleted": deleted });
    app.item(&counts, format!("{total} prompts: {written} files written, {deleted} deleted"))
}

/// The files of an earlier export, by the id at the end of their names.
fn exported(folder: &Path) -> Result<HashMap<PromptId, PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Failure::file(folder))?.flatten();
    let files = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let id = name.strip_suffix(".md")?.rsplit('-').next()?.parse().ok()?;
        Some((PromptId::new(id), entry.path()))
    });
    Ok(files.collect())
}

/// Whether this file is the export of this prompt, and not one of somebody with such a name.
fn is_of(path: &Path, id: PromptId) -> bool {
    let document = fs::read_to_string(path).map(|file| Document::parse(&file));
    matches!(document, Ok(Ok(document)) if document.id == Some(id))
}
