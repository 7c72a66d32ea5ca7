//! The query of `GET /prompts`; no other endpoint takes one.
//!
//! Differs in: unknown parameters are refused, the last of a repeated one
//! counts, an empty `cursor` is the beginning (S-03); a cursor is a number in
//! disguise that holds for any list, and one that was mangled starts the list
//! again (S-02). It is full of characters that have to be escaped in a query
//! (PG-09).

use super::answer::{Refusal, bad};

const CURSOR_HEAD: &str = "next=1&after/";
const CURSOR_TAIL: &str = " +é%20#";

/// What `GET /prompts` is asked for.
#[derive(Default)]
pub(super) struct ListQuery {
    pub(super) limit: Option<usize>,
    /// How many entries were seen.
    pub(super) after: usize,
    pub(super) vault: Option<i64>,
    pub(super) kind: Option<String>,
}

impl ListQuery {
    pub(super) fn read(query: &str) -> Result<Self, Refusal> {
        let mut read = Self::default();
        for (name, value) in pairs(query) {
            match name.as_str() {
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=100).contains(limit));
                    read.limit = Some(limit.ok_or_else(|| bad("limit", "1 to 100"))?);
                }
                "vaultId" => {
                    let vault = value.parse().map_err(|_| bad("vaultId", "no integer"))?;
                    read.vault = Some(vault);
                }
                "type" if super::prompts::KINDS.contains(&value.as_str()) => {
                    read.kind = Some(value);
                }
                "cursor" => read.after = seen(&value).unwrap_or(0),
                other => return Err(bad(other, "not taken")),
            }
        }
        Ok(read)
    }
}

/// Refuses any query.
pub(super) fn none(query: &str) -> Result<(), Refusal> {
    match pairs(query).next() {
        Some((name, _)) => Err(bad(&name, "not taken")),
        None => Ok(()),
    }
}

/// The cursor behind this many entries.
pub(super) fn cursor(seen: usize) -> String {
    format!("{CURSOR_HEAD}{seen}{CURSOR_TAIL}")
}

fn seen(cursor: &str) -> Option<usize> {
    cursor.strip_prefix(CURSOR_HEAD)?.strip_suffix(CURSOR_TAIL)?.parse().ok()
}

fn pairs(query: &str) -> impl Iterator<Item = (String, String)> + '_ {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts.map(|part| part.split_once('=').unwrap_or((part, ""))).map(|(n, v)| (plain(n), plain(v)))
}

/// Without the escapes of a query, `+` for a space included.
fn plain(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escape = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let escape = escape.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        rest = tail;
        match (first, escape) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            (b'+', _) => bytes.push(b' '),
            (other, _) => bytes.push(*other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
