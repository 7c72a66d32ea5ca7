//! Generation requests, the media types and models they name, and the prompt that the outputs
//! are saved as.

use std::sync::Arc;

use promptarium::{VaultId, limits};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{NewPrompt, PromptInputs, PromptKind};

/// A checked request: what to generate, without what only the service needs.
///
/// Its JSON is stored in databases and read by servers of other versions, so a field keeps its
/// name and its meaning, and a missing one has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GenerationRequest {
    /// The model's endpoint at the provider.
    pub model_id: Box<str>,
    /// At most 100000 characters.
    pub prompt: Box<str>,
    /// The type of the outputs.
    pub kind: OutputKind,
    /// At most 100000 characters.
    pub negative_prompt: Option<Box<str>>,
    /// A source image.
    pub image_input: Option<Box<str>>,
    /// At most 7 source images.
    pub image_inputs: Vec<Box<str>>,
    /// For example `16:9`.
    pub aspect_ratio: Box<str>,
    /// 1 to 4 outputs.
    pub batch_count: u32,
    /// Parameters of the model, passed through.
    pub parameters: Option<Map<String, Value>>,
    /// At most 7 reference images.
    pub reference_image_urls: Vec<Box<str>>,
    /// The endpoint of an editing model, used instead of `model_id` if there is an `image_input`.
    pub image_edit_endpoint_id: Option<Box<str>>,
}

/// The type of the outputs.
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
    /// The value in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
        }
    }
}

/// A media type of a stored file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// `image/png`
    Png,
    /// `image/jpeg`
    Jpeg,
    /// `image/webp`
    Webp,
    /// `image/gif`
    Gif,
    /// `video/mp4`
    Mp4,
    /// `video/webm`
    Webm,
}

impl Media {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Png, Self::Jpeg, Self::Webp, Self::Gif, Self::Mp4, Self::Webm];

    /// The value of `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        self.names().0
    }

    /// The file name extension, without a dot.
    pub const fn extension(self) -> &'static str {
        self.names().1
    }

    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Png => ("image/png", "png"),
            Self::Jpeg => ("image/jpeg", "jpg"),
            Self::Webp => ("image/webp", "webp"),
            Self::Gif => ("image/gif", "gif"),
            Self::Mp4 => ("video/mp4", "mp4"),
            Self::Webm => ("video/webm", "webm"),
        }
    }
}

/// The namespace of a provider's models: letters, digits, `.`, `_` and `-`. A model id is
/// `<namespace>/<model>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelNamespace(Box<str>);

impl ModelNamespace {
    /// Accepts at least one letter, digit, `.`, `_` or `-`.
    pub fn new(text: &str) -> Option<Self> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        (!text.is_empty() && text.chars().all(allowed)).then(|| Self(text.into()))
    }

    /// The namespace, without a slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The title where the request's text is only white space.
const UNTITLED: &str = "Untitled";

/// The prompt that holds the outputs of a request, still without images. Its title and text are
/// the beginning of the request's text (S-39).
pub(crate) fn output_prompt(request: &GenerationRequest, vault: VaultId) -> NewPrompt {
    let fitting = request.aspect_ratio.chars().count() <= limits::PROMPT_ASPECT_RATIO_CHARS_MAX;
    let references: Arc<[_]> = request.reference_image_urls.iter().cloned().collect();
    NewPrompt {
        title: title(&request.prompt).into(),
        text: beginning(&request.prompt, *limits::PROMPT_TEXT_CHARS.end()).into(),
        kind: request.kind.into(),
        platform: None,
        inputs: PromptInputs {
            model_id: Some((*request.model_id).into()),
            aspect_ratio: fitting.then(|| (*request.aspect_ratio).into()),
            image_url: request.image_input.as_deref().map(Into::into),
            reference_media_urls: Some(references).filter(|urls| !urls.is_empty()),
        },
        vault: Some(vault),
    }
}

/// Trimmed, and never empty.
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
        let request = GenerationRequest {
            model_id: "local/plasma".into(),
            prompt: "漢".repeat(15_001).into(),
            aspect_ratio: "1".repeat(21).into(),
            kind: OutputKind::Video,
            ..GenerationRequest::default()
        };
        let prompt = output_prompt(&request, VaultId::new(7));
        assert_eq!(prompt.text.chars().count(), 15_000);
        assert_eq!(prompt.title.chars().count(), 120);
        assert_eq!((prompt.kind, prompt.vault), (PromptKind::Video, Some(VaultId::new(7))));
        assert_eq!((prompt.inputs.aspect_ratio, prompt.inputs.image_url), (None, None));
        assert_eq!(prompt.inputs.model_id.as_deref(), Some("local/plasma"));
        assert_eq!(prompt.inputs.reference_media_urls, None);
    }
}
