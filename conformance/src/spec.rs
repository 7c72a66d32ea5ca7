//! The specification and its clauses: what each sentence and each table row states, and which
//! rules of `docs/reference/api.md` say so.

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

/// The sentences that the rule restates, in the order of the text.
pub(crate) fn sentences(rule: &str) -> Vec<&'static str> {
    let states = |clause: &Clause| clause.rules.iter().any(|one| one == rule);
    let quotes = SPEC.quotes.iter().filter(|quote| quote.clauses.iter().any(states));
    quotes.map(|quote| quote.text.as_str()).collect()
}
