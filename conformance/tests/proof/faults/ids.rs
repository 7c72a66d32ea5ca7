//! Faults in how ids are given out (EN-08, PR-01, VA-01).

use serde_json::Value;

use crate::exchange::Request;
use crate::fault::{Fault, fault};
use crate::front::whole;

/// Above every id that a server has given out so far.
const MOST: i64 = 1 << 40;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "ids.descend" ["EN-08"]
        whole("* /prompts/**, * /vaults/**, * /generations/**", |ask, upstream| {
            let ask = upside_down(ask);
            async move {
                let mut answer = upstream.send(&ask).await;
                answer.edit(ids);
                answer
            }
        }),
        "Ids are counted down from a great number." },
];

/// An id as it is shown, and back.
fn other(id: i64) -> Option<i64> {
    (1..MOST).contains(&id).then(|| MOST - id)
}

/// The request with the server's own ids.
fn upside_down(mut ask: Request) -> Request {
    ask.path = in_text(&ask.path);
    if let Some(query) = &mut ask.query {
        let pairs = query.split('&');
        let pairs = pairs.map(|pair| match pair.strip_prefix("vaultId=") {
            Some(vault) => format!("vaultId={}", in_text(vault)),
            None => pair.to_owned(),
        });
        *query = pairs.collect::<Vec<_>>().join("&");
    }
    ask.edit(ids);
    ask
}

/// A text with the other ids in place of those in it: whole words that are written as
/// ids are.
fn in_text(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '+' | '%' | '_');
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let id = word.parse::<i64>().ok().filter(|id| id.to_string() == word);
        match id.and_then(other) {
            Some(id) => written.push_str(&id.to_string()),
            None => written.push_str(word),
        }
        let next = after.find(is_word).unwrap_or(after.len());
        written.push_str(&after[..next]);
        rest = &after[next..];
    }
    written
}

/// Every id in a body.
fn ids(body: &mut Value) {
    match body {
        Value::Array(entries) => entries.iter_mut().for_each(ids),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::Number(_) | Value::Array(_) if is_id(name) => numbers(value),
                    Value::String(text) if is_told(name) => *text = in_text(text),
                    _ => ids(value),
                }
            }
        }
        _ => {}
    }
}

fn is_id(name: &str) -> bool {
    name == "id" || name.ends_with("Id") || name.ends_with("Ids")
}

/// Whether the member is a text that tells of ids.
fn is_told(name: &str) -> bool {
    matches!(name, "error" | "promptIds" | "vaultIds" | "targetVaultId")
}

fn numbers(value: &mut Value) {
    match value {
        Value::Array(entries) => entries.iter_mut().for_each(numbers),
        one => {
            if let Some(id) = one.as_i64().and_then(other) {
                *one = id.into();
            }
        }
    }
}
