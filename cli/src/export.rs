//! A folder with a Markdown file for each prompt.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use promptarium::PromptId;
use serde_json::json;

use crate::app::{App, FAILED, Failure, Result, USAGE, note, progress};
use crate::document::Document;
use crate::find;

/// Names the library that a folder was exported from, where the ids in its files are valid.
pub(crate) const ORIGIN: &str = ".promptarium";

#[derive(clap::Args)]
pub(crate) struct Export {
    folder: PathBuf,
    /// Only the prompts of this vault.
    #[arg(long)]
    vault: Option<String>,
    /// Delete the files of prompts that are gone.
    #[arg(long, conflicts_with = "vault")]
    delete: bool,
}

pub(crate) async fn export(app: &App, Export { folder, vault, delete }: &Export) -> Result {
    let client = &app.client;
    let vault = find::vault_id(client, vault.as_deref()).await?;
    fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    let origin = folder.join(ORIGIN);
    let exported_from = fs::read_to_string(&origin).unwrap_or_default();
    if !["", client.base_url()].contains(&exported_from.trim()) {
        let text = format!("{} is an export of {}", folder.display(), exported_from.trim());
        return Err(Failure::new(USAGE, text).hint("choose another folder"));
    }
    fs::write(&origin, client.base_url()).map_err(Failure::file(&origin))?;
    // Two at once would write to the same file: the second waits.
    let lock = fs::File::open(&origin).map_err(Failure::file(&origin))?;
    let _ = lock.lock();
    let mut files = exported(folder)?;
    let vaults = client.vaults().list().await?;
    let bar = progress(None, "{spinner} {pos} prompts");
    let mut written = 0;
    let mut prompts = client.prompts().list().set_vault(vault).prefetch(true).items();
    while let Some(prompt) = prompts.try_next().await? {
        bar.inc(1);
        let (file, old) = (Document::new(&prompt, &vaults).to_file(), files.remove(&prompt.id));
        let is_new = old.is_none();
        // A file keeps its name when the title changes.
        let name = format!("{}-{}.md", find::slug(&prompt.title, 60), prompt.id);
        let path = old.unwrap_or_else(|| folder.join(name));
        if fs::read(&path).is_ok_and(|old| old == file.as_bytes()) {
            continue;
        }
        if is_new && path.exists() {
            let text = format!("{} is not the prompt {}", path.display(), prompt.id);
            return Err(Failure::new(FAILED, text).hint("rename it, and export again"));
        }
        // Whole or not at all: `import` stores what is in the file.
        let part = folder.join(".part");
        let moved = fs::write(&part, file).and_then(|()| fs::rename(&part, &path));
        let moved = moved.inspect_err(|_| drop(fs::remove_file(&part)));
        moved.map_err(Failure::file(&path))?;
        written += 1;
    }
    bar.finish_and_clear();
    // What is left belongs to prompts that are gone, unless only a vault was exported.
    files.retain(|_, _| vault.is_none());
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

/// The files of an earlier export. Each has the id of its prompt at the end of its name and in its
/// front matter; one of somebody has not both.
fn exported(folder: &Path) -> Result<HashMap<PromptId, PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Failure::file(folder))?.flatten();
    let files = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let id = name.strip_suffix(".md")?.rsplit('-').next()?.parse().ok().map(PromptId::new)?;
        let document = Document::parse(&fs::read_to_string(entry.path()).ok()?).ok()?;
        (document.id == Some(id)).then(|| (id, entry.path()))
    });
    Ok(files.collect())
}
