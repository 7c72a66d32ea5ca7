//! What a search for prompts asks for.

use promptarium::{PromptId, VaultId};

use super::{PromptKind, PromptRecord};

/// The most words of one search.
const WORDS_MAX: usize = 8;

/// Where a search looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    #[default]
    Anywhere,
    Vault(VaultId),
    /// In the prompts that are in no vault.
    NoVault,
}

/// A search for prompts, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptSearch {
    /// Each begins a word of the title, the text or the platform; one that
    /// [`is_whole`](PromptSearch::is_whole) is that word. From [`PromptSearch::words`].
    pub words: Vec<String>,
    pub place: Place,
    pub kind: Option<PromptKind>,
    /// Only prompts after this one in listing order, which have a lower id.
    pub after: Option<PromptId>,
    /// At most this many; at least 1.
    pub limit: usize,
}

impl PromptSearch {
    /// The first words of a text, in lower case. Every other character than a letter or digit
    /// separates words.
    pub fn words(text: &str) -> Vec<String> {
        split(text).take(WORDS_MAX).map(str::to_lowercase).collect()
    }

    /// Whether a word is looked for as it is. One or two letters begin too many words.
    pub(crate) fn is_whole(word: &str) -> bool {
        word.len() < 3
    }

    pub(crate) fn finds(&self, prompt: &PromptRecord) -> bool {
        let is_in_place = match self.place {
            Place::Anywhere => true,
            Place::Vault(vault) => prompt.vault_ids.contains(&vault),
            Place::NoVault => prompt.vault_ids.is_empty(),
        };
        let texts = [&*prompt.title, &*prompt.text, prompt.platform.as_deref().unwrap_or("")];
        let has =
            |word: &String| texts.iter().any(|text| split(text).any(|other| begins(other, word)));
        is_in_place
            && self.kind.is_none_or(|kind| prompt.kind == kind)
            && self.words.iter().all(has)
    }
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether a word begins with another one that is in lower case.
fn begins(word: &str, lower: &str) -> bool {
    let mut letters = word.chars().flat_map(char::to_lowercase);
    let begins = lower.chars().all(|letter| letters.next() == Some(letter));
    begins && (!PromptSearch::is_whole(lower) || letters.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_the_beginnings_of_words() {
        for (text, word, found) in [
            ("A Harbour before sunrise", "harb", true),
            ("A Harbour before sunrise", "bour", false),
            ("sea/harbour.png", "harbour", true),
            ("Ärger", "ärg", true),
            ("a gull", "a", true),
            ("an owl", "a", false),
            ("猫の絵", "猫", true),
            ("Hafen", "harbour", false),
        ] {
            assert_eq!(split(text).any(|other| begins(other, word)), found, "{text} {word}");
        }
    }

    #[test]
    fn words_are_what_letters_and_digits_form() {
        assert_eq!(PromptSearch::words(" Neon-City, 4K! "), ["neon", "city", "4k"]);
        assert_eq!(PromptSearch::words("a b c d e f g h i").len(), WORDS_MAX);
        assert!(PromptSearch::words("*** '").is_empty());
    }
}
