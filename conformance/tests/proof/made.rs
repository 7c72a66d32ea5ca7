//! Faults from the tables of the suite: operators over its fields, endpoints, credentials and
//! objects, so that a new row brings its faults with it. Each meets the scenarios of its row.

mod access;
mod answers;
mod fields;
mod ids;
mod shapes;

use std::sync::LazyLock;

use crate::fault::{Fault, Intercept};

/// All of them.
pub(crate) static ALL: LazyLock<Vec<Fault>> = LazyLock::new(|| {
    [fields::all(), access::all(), ids::all(), answers::all(), shapes::all()]
        .into_iter()
        .flatten()
        .collect()
});

/// A fault that meets the scenarios whose ids begin like this.
fn made(
    id: String,
    rule: &'static str,
    among: String,
    how: impl Fn() -> Intercept + Send + Sync + 'static,
) -> Fault {
    Fault {
        id: id.leak(),
        rule,
        silent: false,
        among: Some(among.leak()),
        how: Box::leak(Box::new(how)),
    }
}

/// `POST /prompts/{promptId}/save` as a route, `POST /prompts/*/save`.
fn route(method: &str, template: &str) -> &'static str {
    let segments = template.split('/').map(|one| match one {
        "none" => "*",
        one if one.starts_with('{') => "*",
        one => one,
    });
    format!("{method} {}", segments.collect::<Vec<_>>().join("/")).leak()
}

/// `promptType` is `prompt-type`.
fn dashed(name: &str) -> String {
    let letter =
        |c: char| if c.is_uppercase() { format!("-{}", c.to_lowercase()) } else { c.into() };
    name.chars().map(letter).collect()
}
