//! A prompt as people write it, and a folder of them. As a Markdown file it has front matter in YAML,
//! then the text.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use promptarium::request::CreatePrompt;
use promptarium::{Client, Prompt, PromptId, PromptType, Timestamp, Vault, VaultId};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::app::{App, FAILED, Failure, Result, USAGE, note, progress};
use crate::find;

/// The fields of a prompt in a file, on the command line, or in a call of a tool.
#[derive(Debug, Clone, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Document {
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<PromptId>,
    pub(crate) title: String,
    /// Its type: text, image or video; image with a model, and otherwise text, if left out.
    #[arg(long = "type")]
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) prompt_type: Option<PromptType>,
    /// The model, which image and video prompts need.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The tool that it is meant for.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) platform: Option<String>,
    /// Put it in this vault.
    #[arg(long = "vault", value_name = "VAULT")]
    #[serde(alias = "vault", deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub(crate) vaults: Vec<String>,
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) updated_at: Option<Timestamp>,
    #[arg(skip)]
    #[serde(skip_serializing)]
    pub(crate) text: String,
}

impl Document {
    pub(crate) fn new(prompt: &Prompt, vaults: &[Vault]) -> Self {
        let of_prompt = vaults.iter().filter(|vault| prompt.vault_ids.contains(&vault.id));
        Self {
            id: Some(prompt.id),
            title: prompt.title.clone(),
            prompt_type: Some(prompt.prompt_type.clone()),
            platform: prompt.platform.clone(),
            vaults: of_prompt.map(|vault| vault.name.clone()).collect(),
            updated_at: Some(prompt.updated_at),
            text: prompt.text.clone(),
            // No response has it.
            model: None,
        }
    }

    /// Reads a file; one without front matter is all text.
    pub(crate) fn parse(file: &str) -> Result<Self> {
        let file = unix_lines(file.trim_start_matches('\u{feff}'));
        let is_fence = |line: &str| line.trim_end() == "---";
        let mut lines = file.split_inclusive('\n');
        let is_open = lines.next().is_some_and(is_fence) && lines.clone().any(is_fence);
        let front: String = lines.by_ref().take_while(|line| is_open && !is_fence(line)).collect();
        if front.trim().is_empty() {
            return Ok(Self { text: file, ..Self::default() });
        }
        let document: Self = yaml_serde::from_str(&front)
            .map_err(|error| Failure::new(USAGE, format!("the front matter: {error}")))?;
        // The blank line after the front matter and the line break at the end are not the text's.
        let text: String = lines.collect();
        let text = text.strip_prefix('\n').unwrap_or(&text);
        Ok(Self { text: text.strip_suffix('\n').unwrap_or(text).to_owned(), ..document })
    }

    /// The file, from which [`parse`](Self::parse) reads the same.
    pub(crate) fn to_file(&self) -> String {
        // It is texts, numbers and a list.
        let front = yaml_serde::to_string(self).unwrap_or_default();
        format!("---\n{front}---\n\n{}\n", self.text)
    }

    /// The type; if none is named that of a prompt with or without a model.
    pub(crate) fn prompt_type(&self) -> PromptType {
        let with_model = self.model.as_ref().map(|_| PromptType::Image);
        self.prompt_type.clone().or(with_model).unwrap_or(PromptType::Text)
    }

    /// The call that stores it as a new prompt, in the first of these vaults.
    pub(crate) fn create(&self, client: &Client, vaults: &[VaultId]) -> CreatePrompt {
        let create = client.prompts().create(&self.title, &self.text);
        let create = create.set_vault(vaults.first().copied()).prompt_type(self.prompt_type());
        create.set_platform(self.platform.as_deref()).set_model_id(self.model.as_deref())
    }

    /// The name of the step that stores it.
    pub(crate) fn key(&self) -> String {
        let Self { title, text, platform, vaults, .. } = self;
        digest(&format!("{title}\n{text}\n{platform:?}\n{}\n{vaults:?}", self.prompt_type()))
    }

    /// Changes what differs. The vaults of the prompt stay.
    pub(crate) async fn update(&self, client: &Client, now: &Prompt) -> Result<Prompt> {
        let Self { title, text, model, platform, .. } = self;
        let title = Some(&**title).filter(|it| !it.is_empty() && *it != now.title);
        let text = Some(&**text).filter(|it| *it != unix_lines(&now.text));
        let kind = self.prompt_type.clone().filter(|kind| *kind != now.prompt_type);
        let update = client.prompts().update(now.id).set_title(title).set_text(text);
        let update = update.set_prompt_type(kind).set_model_id(model.as_deref());
        Ok(match platform {
            platform if *platform == now.platform => update.await?,
            Some(platform) => update.platform(platform).await?,
            None => update.clear_platform().await?,
        })
    }

    pub(crate) fn is_same(&self, prompt: &Prompt) -> bool {
        (&self.title, &self.platform) == (&prompt.title, &prompt.platform)
            && (&self.prompt_type(), &self.text) == (&prompt.prompt_type, &unix_lines(&prompt.text))
    }
}

/// Saves a prompt in all but the first of these vaults, in which it is.
pub(crate) async fn save_in(client: &Client, new: Prompt, vaults: &[VaultId]) -> Result<Prompt> {
    let mut prompt = new;
    for vault in vaults.iter().skip(1) {
        prompt = client.prompts().save(prompt.id, *vault).await?;
    }
    Ok(prompt)
}

/// A list of texts, or one of them.
fn list<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Null => Vec::new(),
        Value::Array(values) => values.iter().map(plain).collect(),
        value => vec![plain(&value)],
    })
}

/// The text that a value is, or its JSON.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A name for this content.
pub(crate) fn digest(content: &str) -> String {
    HEXLOWER.encode(Sha256::digest(content).get(..16).unwrap_or_default())
}

/// The text with the line breaks of Unix: those of a file say nothing of its prompt.
fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_reads_as_it_was_written() {
        for (text, title) in [
            ("", "It's: \"a\" #title\n- x"),
            ("\n", "\u{85}a\u{2028}b\rc\r\nd\u{7}\u{feff}"),
            ("a", " "),
            ("a\n", "~"),
            ("\n\n  a\n---\nb\n\n", "- a"),
            ("# Title\n{{x|y}}", "2024"),
        ] {
            let document = Document {
                title: title.into(),
                platform: Some("true".into()),
                vaults: vec!["1".into(), "Général".into()],
                text: text.into(),
                ..Document::default()
            };
            assert_eq!(Document::parse(&document.to_file()).unwrap(), document, "{text:?}");
        }
    }

    #[test]
    fn a_file_without_front_matter_is_text() {
        for text in ["", "a", "# Title\n\ntext", "---\nno end"] {
            assert_eq!(Document::parse(text).unwrap().text, text);
        }
    }

    #[test]
    fn line_breaks_of_windows_are_read() {
        let document = Document::parse("---\r\ntitle: A\r\n---\r\n\r\na\r\nb\r\n").unwrap();
        assert_eq!((&*document.title, &*document.text), ("A", "a\nb"));
    }

    #[test]
    fn front_matter_that_is_not_yaml_is_an_error() {
        assert!(
            Document::parse("---\n: [\n---\n")
                .unwrap_err()
                .to_string()
                .starts_with("the front matter")
        );
    }
}
