//! The specification and its clauses: what each sentence and each table row states, and which
//! rules of `docs/reference/api.md` say so.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

pub const TEXT: &str = include_str!("../spec/service-api.md");
const DATA: &str = include_str!("../spec/clauses.toml");

// Empty if it cannot be read, and then tests fail.
static SPEC: LazyLock<Spec> = LazyLock::new(|| toml::from_str(DATA).unwrap_or_default());

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
    pub text: String,
    pub clauses: Vec<Clause>,
}

/// One thing that a quote states.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    pub says: String,
    /// The rules of `docs/reference/api.md` that state it.
    pub rules: Vec<String>,
    pub reason: Option<String>,
}

/// A piece of text that states nothing that can be checked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prose {
    pub text: String,
    pub reason: String,
}

pub fn spec() -> &'static Spec {
    &SPEC
}

pub enum Piece {
    /// What stands between two quotes.
    Text(&'static str),
    /// A sentence, a paragraph or a table row that states something.
    Quote(&'static Quote),
}

/// The whole text, cut where quotes begin and end.
pub fn pieces() -> impl Iterator<Item = Piece> {
    let mut rest = TEXT;
    let mut pieces = Vec::new();
    for quote in &SPEC.quotes {
        if let Some((before, after)) = rest.split_once(quote.text.as_str()) {
            pieces.extend([Piece::Text(before), Piece::Quote(quote)]);
            rest = after;
        }
    }
    pieces.push(Piece::Text(rest));
    pieces.into_iter()
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
