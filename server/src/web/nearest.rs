//! Titles like the words of a search that has found nothing.

use std::sync::Arc;

use promptarium::PromptId;
use strsim::levenshtein;

use super::visit::Visit;
use crate::http::error::ApiError;
use crate::search::{PromptSearch, SearchBound, folded, scan, words};
use crate::store::PromptTexts;

/// The newest prompts whose titles are compared, and how many are shown.
const PROMPTS_MAX: usize = 5_000;
const SHOWN_MAX: usize = 5;
/// Letters of a word that is compared, and how many of them may be wrong, missing or too many.
const LETTERS_MIN: usize = 5;
const EDITS_MAX: usize = 2;

pub(super) type Near = (PromptId, Arc<str>);

/// The titles that have every word of a text, or one like it; the most similar ones first.
pub(super) async fn titles(
    visit: &Visit<'_>,
    search: &PromptSearch,
    text: &str,
) -> Result<Vec<Near>, ApiError> {
    let text = folded(text);
    if !words(&text).any(is_long) {
        return Ok(Vec::new());
    }
    let all = PromptSearch { words: None, after: None, limit: usize::MAX, ..search.clone() };
    let bound = SearchBound { prompts: PROMPTS_MAX, ..SearchBound::default() };
    let near = move |texts: Vec<PromptTexts>| {
        let near = |of: PromptTexts| Some((edits(&text, &of.title)?, (of.id, of.title)));
        texts.into_iter().filter_map(near).collect()
    };
    let (mut found, ..) = scan(visit.store(), &visit.caller, &all, bound, near).await?;
    found.sort_by_key(|(edits, _)| *edits);
    Ok(found.into_iter().take(SHOWN_MAX).map(|(_, near)| near).collect())
}

fn is_long(word: &str) -> bool {
    word.chars().count() >= LETTERS_MIN
}

/// How much the words of a folded text differ from those of a title, if they are like them.
fn edits(sought: &str, title: &str) -> Option<usize> {
    let title = folded(title);
    let of_word = |word: &str| match title.contains(word) {
        true => Some(0),
        false if !is_long(word) => None,
        false => {
            let all = words(&title).map(|other| levenshtein(word, other));
            all.min().filter(|edits| *edits <= EDITS_MAX)
        }
    };
    words(sought).map(of_word).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_near_if_each_long_word_differs_by_two_letters_at_most() {
        for (sought, title, expected) in [
            ("harbor", "The Harbour at dawn", Some(1)),
            ("hrabour dawn", "The Harbour at dawn", Some(2)),
            ("hrbr", "The Harbour at dawn", None),
            ("hharrbourr", "The Harbour at dawn", None),
            ("brulle creme", "Crème brûlée", Some(1)),
            ("harbor gull", "The Harbour at dawn", None),
        ] {
            assert_eq!(edits(&folded(sought), title), expected, "{sought}");
        }
    }
}
