//! A prompt as a Markdown file: front matter in YAML, then the text.

use promptarium::{Prompt, PromptId, PromptType, Timestamp, Vault};
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result, USAGE};

/// What a file says of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Document {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<PromptId>,
    pub(crate) title: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) prompt_type: Option<PromptType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) platform: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) vaults: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) updated_at: Option<Timestamp>,
    #[serde(skip)]
    pub(crate) text: String,
}

const FENCE: &str = "---\n";

impl Document {
    pub(crate) fn new(prompt: &Prompt, vaults: &[Vault]) -> Self {
        let ids = &prompt.vault_ids;
        let of_prompt = vaults.iter().filter(|vault| ids.contains(&vault.id));
        Self {
            id: Some(prompt.id),
            title: prompt.title.clone(),
            prompt_type: Some(prompt.prompt_type.clone()),
            platform: prompt.platform.clone(),
            vaults: of_prompt.map(|vault| vault.name.clone()).collect(),
            updated_at: Some(prompt.updated_at),
            text: prompt.text.clone(),
        }
    }

    /// Reads a file; one without front matter is all text.
    pub(crate) fn parse(file: &str) -> Result<Self> {
        let file = file.strip_prefix('\u{feff}').unwrap_or(file).replace("\r\n", "\n");
        let parts = file.strip_prefix(FENCE).and_then(|rest| {
            rest.split_once("\n---\n").or_else(|| Some((rest.strip_suffix("\n---")?, "")))
        });
        let Some((front, text)) = parts else {
            return Ok(Self { text: file, ..Self::default() });
        };
        let document: Self = yaml_serde::from_str(front)
            .map_err(|error| Failure::new(USAGE, format!("the front matter: {error}")))?;
        // The blank line after the front matter and the line break at the end are not the text's.
        let text = text.strip_prefix('\n').unwrap_or(text);
        Ok(Self { text: text.strip_suffix('\n').unwrap_or(text).to_owned(), ..document })
    }

    /// The file, from which [`parse`](Self::parse) reads the same.
    pub(crate) fn to_file(&self) -> String {
        // It is texts, numbers and a list.
        let front = yaml_serde::to_string(self).unwrap_or_default();
        format!("{FENCE}{front}{FENCE}\n{}\n", self.text)
    }

    /// The type, `text` if none is named.
    pub(crate) fn prompt_type(&self) -> PromptType {
        self.prompt_type.clone().unwrap_or(PromptType::Text)
    }

    /// Whether the prompt has this content.
    pub(crate) fn is_same(&self, prompt: &Prompt) -> bool {
        (&self.title, &self.text, &self.platform) == (&prompt.title, &prompt.text, &prompt.platform)
            && self.prompt_type() == prompt.prompt_type
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_reads_as_it_was_written() {
        for text in ["", "\n", "a", "a\n", "\n\n  a\n---\nb\n\n", "# Title\n{{x|y}}"] {
            let document = Document {
                title: "It's: \"a\" #title\n- x".into(),
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
