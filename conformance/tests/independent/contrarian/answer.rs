//! What a handler gives back: a success or a refusal, and the envelope around
//! either.
//!
//! Differs in: unknown keys and a `null` or empty `details` and `pagination`
//! where they mean nothing (S-68), terse texts (S-53), nested arrays in
//! `details`, on a 401 too (S-60), statuses such as 403, 409, 422 and 423
//! (S-57, S-59), a text of its own for what belongs to another account.

use serde_json::{Value, json};

/// What every handler returns.
pub(super) type Outcome = Result<Answer, Refusal>;

/// A success.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    data: Value,
    next_cursor: Option<String>,
}

/// An error response.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    text: &'static str,
    details: Value,
}

impl Answer {
    /// 200.
    pub(super) fn ok(data: Value) -> Self {
        Self { status: 200, data, next_cursor: None }
    }

    /// 201.
    pub(super) fn created(data: Value) -> Self {
        Self { status: 201, ..Self::ok(data) }
    }

    /// 200 with one page of a list.
    pub(super) fn page(entries: Vec<Value>, next_cursor: Option<String>) -> Self {
        Self { next_cursor, ..Self::ok(Value::Array(entries)) }
    }

    /// The body.
    pub(super) fn envelope(self) -> Value {
        let pagination = match &self.data {
            Value::Array(entries) => {
                json!({ "nextCursor": self.next_cursor, "entries": entries.len(), "total": null })
            }
            _ => Value::Null,
        };
        json!({
            "data": self.data,
            "error": null,
            "details": {},
            "pagination": pagination,
            "meta": { "server": "Gegenstück", "warnings": [] },
        })
    }
}

impl Refusal {
    fn new(status: u16, text: &'static str) -> Self {
        Self { status, text, details: json!({}) }
    }

    /// The body.
    pub(super) fn envelope(self) -> Value {
        json!({
            "data": null,
            "error": self.text,
            "details": self.details,
            "pagination": {},
            "meta": { "server": "Gegenstück", "warnings": [["error", self.status]] },
        })
    }
}

/// 400: a field of the body or a parameter of the query is at fault.
pub(super) fn bad(field: &str, issue: &str) -> Refusal {
    let details = json!({ field: [{ "issue": issue, "path": [field] }], "issues": [[field]] });
    Refusal { details, ..Refusal::new(400, "Bad value") }
}

/// 400: the body as a whole is at fault.
pub(super) fn unreadable() -> Refusal {
    Refusal::new(400, "Unreadable")
}

/// 401, and what would mend it.
pub(super) fn no_entry(text: &'static str) -> Refusal {
    Refusal { details: json!({ "needed": [["Bearer"], []] }), ..Refusal::new(401, text) }
}

/// 404 for what the path names and is not there.
pub(super) fn not_found() -> Refusal {
    Refusal::new(404, "Nothing here")
}

/// 404 for what the path names and belongs to another account.
pub(super) fn not_yours() -> Refusal {
    Refusal::new(404, "Not yours")
}

/// Another refusal: 403 foreign things, 404 and 422 references, 409 conflicts,
/// 423 locked vaults.
pub(super) fn refused(status: u16, text: &'static str) -> Refusal {
    Refusal::new(status, text)
}
