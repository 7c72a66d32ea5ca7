//! The specification and its clauses: what each sentence and each table row states, and which
//! rules of `docs/api.md` say so.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The text, word for word.
pub const TEXT: &str = include_str!("../spec/service-api.md");
const DATA: &str = include_str!("../spec/clauses.toml");

// Empty if it cannot be read, and then tests fail.
static SPEC: LazyLock<Spec> = LazyLock::new(|| toml::from_str(DATA).unwrap_or_default());

/// The text in pieces.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What states something that can be checked.
    #[serde(rename = "quote")]
    pub quotes: Vec<Quote>,
    /// What does not.
    pub prose: Vec<Prose>,
}

/// A sentence, a paragraph or a table row.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quote {
    /// Stable name, such as `create-prompt.title`.
    pub id: String,
    /// Its words.
    pub text: String,
    /// What it states.
    pub clauses: Vec<Clause>,
}

/// One thing that a quote states.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// It in a few words.
    pub says: String,
    /// The rules of `docs/api.md` that state it.
    pub rules: Vec<String>,
    /// Why no core scenario proves it.
    pub reason: Option<String>,
}

/// A piece of text that states nothing that can be checked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prose {
    /// Its words.
    pub text: String,
    /// Why it states nothing.
    pub reason: String,
}

/// The text in pieces.
pub fn spec() -> &'static Spec {
    &SPEC
}

/// The sentences that the rule restates, in the order of the text.
pub fn sentences(rule: &str) -> &'static [&'static str] {
    static BY_RULE: LazyLock<BTreeMap<&str, Vec<&str>>> = LazyLock::new(|| {
        let mut by_rule: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for quote in &SPEC.quotes {
            for rule in quote.clauses.iter().flat_map(|clause| &clause.rules) {
                let sentences = by_rule.entry(rule.as_str()).or_default();
                if !sentences.contains(&quote.text.as_str()) {
                    sentences.push(quote.text.as_str());
                }
            }
        }
        by_rule
    });
    BY_RULE.get(rule).map_or(&[], Vec::as_slice)
}

/// Each line of the text of which no quote and no prose has some words, with these words.
/// Headings of chapters and of tables are left out.
pub fn uncovered() -> Vec<String> {
    let mut covered = vec![false; TEXT.len()];
    let prose = SPEC.prose.iter().map(|prose| &prose.text);
    for piece in SPEC.quotes.iter().map(|quote| &quote.text).chain(prose) {
        for (at, _) in TEXT.match_indices(piece.as_str()) {
            covered[at..at + piece.len()].fill(true);
        }
    }
    let mut start = 0;
    let mut lines: Vec<_> = TEXT
        .split_inclusive('\n')
        .map(|line| {
            let at = start;
            start += line.len();
            (at, line.trim_end())
        })
        .collect();
    // The row above a table's rule of dashes has the names of its columns.
    let headings: Vec<_> = (1..lines.len()).filter(|at| lines[*at].1.starts_with("|---")).collect();
    for at in headings {
        lines[at].1 = "";
        lines[at - 1].1 = "";
    }
    lines
        .into_iter()
        .filter(|(_, line)| !line.starts_with('#'))
        .filter_map(|(at, line)| {
            let number =
                line.find(". ").filter(|end| line[..*end].bytes().all(|b| b.is_ascii_digit()));
            let words = number.unwrap_or_default();
            let left: String = line
                .char_indices()
                .filter(|(index, letter)| {
                    *index >= words && !covered[at + index] && !letter.is_whitespace()
                })
                .map(|(_, letter)| letter)
                .collect();
            left.contains(char::is_alphanumeric).then(|| format!("{line}: {left}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{TEXT, spec, uncovered};

    #[test]
    fn every_quote_is_in_the_text_word_for_word_and_has_a_name_of_its_own() {
        let mut ids = HashSet::new();
        for quote in &spec().quotes {
            assert!(TEXT.contains(&quote.text), "{}", quote.text);
            assert!(!quote.clauses.is_empty() && ids.insert(&quote.id), "{}", quote.id);
        }
        for prose in &spec().prose {
            assert!(TEXT.contains(&prose.text) && !prose.reason.is_empty(), "{}", prose.text);
        }
    }

    #[test]
    fn every_sentence_and_table_row_is_in_a_clause_or_in_prose() {
        assert_eq!(uncovered(), [""; 0]);
    }
}
