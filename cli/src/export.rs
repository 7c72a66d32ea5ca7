//! A folder with a Markdown file for each prompt.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use promptarium::{Client, PromptId};
use serde_json::json;
use slug::slugify;

use crate::document::Document;
use crate::failure::{Failure, Result};
use crate::find;
use crate::output::{Output, note, progress};

/// Names the library that a folder was exported from, where the ids in its files are valid.
pub(crate) const ORIGIN: &str = ".promptarium";

pub(crate) async fn export(
    client: &Client,
    output: Output,
    folder: &Path,
    vault: Option<&str>,
    delete: bool,
) -> Result {
    let vault = find::vault_id(client, vault).await?;
    fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    let origin = folder.join(ORIGIN);
    match fs::read_to_string(&origin) {
        Ok(url) if url.trim() != client.base_url() => {
            let text = format!("{} is an export of {}", folder.display(), url.trim());
            return Err(Failure::usage(text).hint("choose another folder"));
        }
        Ok(_) => {}
        Err(_) => write(&origin, &format!("{}\n", client.base_url()))?,
    }
    let mut files = exported(folder)?;
    let vaults = client.vaults().list().await?;
    let bar = progress(None, "{spinner} {pos} prompts", "");
    let (mut written, mut total) = (0, 0);
    let mut pages = client.prompts().list().set_vault(vault).prefetch(true).pages();
    while let Some(page) = pages.try_next().await? {
        for prompt in page {
            let file = Document::new(&prompt, &vaults).to_file();
            let old = files.remove(&prompt.id);
            total += 1;
            bar.inc(1);
            let same =
                old.as_ref().map(|path| fs::read(path).is_ok_and(|old| old == file.as_bytes()));
            if same != Some(true) {
                // A file keeps its name when the title changes.
                let old = old.filter(|path| is_of(path, prompt.id));
                let title: String = slugify(&prompt.title).chars().take(60).collect();
                write(
                    &old.unwrap_or_else(|| folder.join(format!("{title}-{}.md", prompt.id))),
                    &file,
                )?;
                written += 1;
            }
        }
    }
    bar.finish_and_clear();
    // What is left belongs to prompts that are gone, unless only a vault was exported.
    files.retain(|id, path| vault.is_none() && is_of(path, *id));
    let gone = files.len();
    if delete {
        for path in files.values() {
            fs::remove_file(path).map_err(Failure::file(path))?;
        }
    } else if gone > 0 {
        note(format!("{gone} files are of prompts that are gone; --delete deletes them"));
    }
    let deleted = if delete { gone } else { 0 };
    let text = format!("{total} prompts: {written} files written, {deleted} deleted\n");
    output.item(&json!({ "prompts": total, "written": written, "deleted": deleted }), &text)
}

/// The files of an earlier export, by the id at the end of their names.
fn exported(folder: &Path) -> Result<HashMap<PromptId, PathBuf>> {
    let mut files = HashMap::new();
    for entry in fs::read_dir(folder).map_err(Failure::file(folder))? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let id = stem.rsplit('-').next().and_then(|id| id.parse().ok());
        if let Some(id) = id.filter(|_| path.extension().is_some_and(|it| it == "md")) {
            files.insert(PromptId::new(id), path);
        }
    }
    Ok(files)
}

/// Whether this file is the export of this prompt, and not one of somebody with such a name.
fn is_of(path: &Path, id: PromptId) -> bool {
    let file = fs::read_to_string(path).unwrap_or_default();
    Document::parse(&file).is_ok_and(|document| document.id == Some(id))
}

/// Writes a file that is never there in part.
fn write(path: &Path, text: &str) -> Result {
    let part = path.with_extension("part");
    fs::write(&part, text).map_err(Failure::file(&part))?;
    fs::rename(&part, path).map_err(Failure::file(path))
}
