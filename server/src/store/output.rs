//! The prompt that a generation ends as, the same in every store.

use promptarium::{VaultId, limits};

use super::{NewPrompt, PromptInputs, PromptKind};
use crate::generate::{Order, OutputKind};

/// What a title is where the order's text gives none.
const UNTITLED: &str = "Untitled";

/// The prompt that holds what came of an order, still without its pictures. Its
/// title and text are the beginning of the order's text, as much as fits (S-39).
pub fn output_prompt(order: &Order, vault: VaultId) -> NewPrompt {
    let fitting = order.aspect_ratio.chars().count() <= limits::PROMPT_ASPECT_RATIO_CHARS_MAX;
    let references = order.reference_image_urls.iter().cloned().collect();
    NewPrompt {
        title: title(&order.prompt).into(),
        text: beginning(&order.prompt, *limits::PROMPT_TEXT_CHARS.end()).into(),
        kind: order.kind.into(),
        platform: None,
        inputs: PromptInputs {
            model_id: Some((*order.model_id).into()),
            aspect_ratio: fitting.then(|| (*order.aspect_ratio).into()),
            image_url: order.image_input.as_deref().map(Into::into),
            reference_media_urls: Some(references)
                .filter(|_| !order.reference_image_urls.is_empty()),
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
        let order = Order {
            model_id: "local/plasma".into(),
            prompt: "漢".repeat(15_001).into(),
            aspect_ratio: "1".repeat(21).into(),
            kind: OutputKind::Video,
            ..Order::default()
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
