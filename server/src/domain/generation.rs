//! A generation request, and the prompt that its outputs are saved as.

use std::sync::Arc;

use promptarium::{VaultId, limits};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{NewPrompt, PromptInputs, PromptKind};

/// What is to be made: a checked request, without what the service alone needs.
///
/// Its JSON is kept in databases and read by servers of other versions, so a field
/// keeps its name and its meaning, and one that is missing has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GenerationRequest {
    /// The model's endpoint at the provider.
    pub model_id: Box<str>,
    /// At most 100000 characters.
    pub prompt: Box<str>,
    /// What comes out.
    pub kind: OutputKind,
    /// At most 100000 characters.
    pub negative_prompt: Option<Box<str>>,
    /// A source image.
    pub image_input: Option<Box<str>>,
    /// At most 7 source images.
    pub image_inputs: Vec<Box<str>>,
    /// Such as `16:9`.
    pub aspect_ratio: Box<str>,
    /// 1 to 4 outputs.
    pub batch_count: u32,
    /// Keys of the model, passed through.
    pub parameters: Option<Map<String, Value>>,
    /// At most 7 images to go by.
    pub reference_image_urls: Vec<Box<str>>,
    /// The endpoint of an editing model to be used on `image_input` instead.
    pub image_edit_endpoint_id: Option<Box<str>>,
}

/// What comes out of a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// `image`
    #[default]
    Image,
    /// `video`
    Video,
}

impl OutputKind {
    /// The value on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
        }
    }
}

/// What a title is where the order's text gives none.
const UNTITLED: &str = "Untitled";

/// The prompt that holds what came of an order, still without its pictures. Its
/// title and text are the beginning of the order's text, as much as fits (S-39).
pub fn output_prompt(order: &GenerationRequest, vault: VaultId) -> NewPrompt {
    let fitting = order.aspect_ratio.chars().count() <= limits::PROMPT_ASPECT_RATIO_CHARS_MAX;
    // A `data:` URL may be as large as a body; the prompt does without it.
    let url_fits = |url: &&Box<str>| url.chars().count() <= limits::GENERATION_IMAGE_URL_CHARS_MAX;
    let references: Arc<[_]> = order.reference_image_urls.iter().filter(url_fits).cloned().collect();
    NewPrompt {
        title: title(&order.prompt).into(),
        text: beginning(&order.prompt, *limits::PROMPT_TEXT_CHARS.end()).into(),
        kind: order.kind.into(),
        platform: None,
        inputs: PromptInputs {
            model_id: Some((*order.model_id).into()),
            aspect_ratio: fitting.then(|| (*order.aspect_ratio).into()),
            image_url: order.image_input.as_ref().filter(url_fits).map(|url| (**url).into()),
            reference_media_urls: Some(references).filter(|urls| !urls.is_empty()),
        },
        vault: Some(vault),
    }
}

/// Without space on either side, and never empty.
fn title(text: &str) -> &str {
    match beginning(text.trim_start(), *limits::PROMPT_TITLE_CHARS.end()).trim_end() {
        "" => UNTITLED,
        title => title,
    }
}

fn beginning(text: &str, chars_max: usize) -> &str {
    text.char_indices().nth(chars_max).map_or(text, |(end, _)| &text[..end])
}

impl From<OutputKind> for PromptKind {
    fn from(kind: OutputKind) -> Self {
        match kind {
            OutputKind::Image => Self::Image,
            OutputKind::Video => Self::Video,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_beginning_without_space_around_it_and_never_empty() {
        let (ends, long) = ("é".repeat(120), "é".repeat(121));
        let spaced = format!("{} more", "a".repeat(119));
        for (text, expected) in [
            ("A harbour", "A harbour"),
            ("\n  A harbour \t", "A harbour"),
            (" \n", UNTITLED),
            (&ends, &ends),
            (&long, &ends),
            (&spaced, &"a".repeat(119)),
        ] {
            assert_eq!(title(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_does_not_fit_into_a_prompt_is_left_out() {
        let order = GenerationRequest {
            model_id: "local/plasma".into(),
            prompt: "漢".repeat(15_001).into(),
            aspect_ratio: "1".repeat(21).into(),
            kind: OutputKind::Video,
            ..GenerationRequest::default()
        };
        let prompt = output_prompt(&order, VaultId::new(7));
        assert_eq!(prompt.text.chars().count(), 15_000);
        assert_eq!(prompt.title.chars().count(), 120);
        assert_eq!((prompt.kind, prompt.vault), (PromptKind::Video, Some(VaultId::new(7))));
        assert_eq!(prompt.inputs.aspect_ratio, None);
        assert_eq!(prompt.inputs.model_id.as_deref(), Some("local/plasma"));
        assert_eq!(prompt.inputs.reference_media_urls, None);
    }
}
