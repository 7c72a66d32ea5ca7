//! What a handler gives back: a success or a refusal, and the envelope around
//! either.

use std::sync::atomic::{AtomicU64, Ordering};

use super::prelude::*;

static REFUSALS: AtomicU64 = AtomicU64::new(0);

pub(super) type Outcome = Result<Answer, Refusal>;

#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) data: Value,
    /// The next cursor, of a page.
    pub(super) page: Option<Option<String>>,
}

#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) text: &'static str,
    details: Value,
}

impl Answer {
    pub(super) fn ok(data: Value) -> Self {
        Self { status: 200, data, page: None }
    }

    pub(super) fn created(data: Value) -> Self {
        Self { status: 201, ..Self::ok(data) }
    }

    pub(super) fn queued(data: Value) -> Self {
        Self { status: 202, ..Self::ok(data) }
    }

    pub(super) fn page(entries: Vec<Value>, next_cursor: Option<String>) -> Self {
        Self { page: Some(next_cursor), ..Self::ok(Value::Array(entries)) }
    }

    /// 200 for a prompt or a vault that is gone.
    pub(super) fn deleted(choices: &Choices, id: i64) -> Self {
        let mut data = json!({ "id": id, "deleted": true });
        if choices.wire.extras {
            data["undo"] = Value::Null;
        }
        Self::ok(data)
    }

    pub(super) fn envelope(self, choices: &Choices) -> Value {
        let mut body = json!({ "data": self.data, "error": null });
        if let Some(next) = &self.page {
            body["pagination"] = json!({ "nextCursor": next });
        }
        if choices.wire.extras {
            let entries = body["data"].as_array().map(Vec::len);
            body["pagination"] = match entries {
                Some(entries) => {
                    json!({ "nextCursor": self.page.flatten(), "entries": entries, "total": null })
                }
                None => Value::Null,
            };
            body["details"] = json!({});
            body["meta"] = json!({ "server": "Gegenstück", "warnings": [] });
        }
        super::slips::success(choices, &mut body);
        body
    }
}

impl Refusal {
    pub(super) fn envelope(mut self, choices: &Choices) -> (u16, Value) {
        let text = choices.wire.words.unwrap_or(self.text);
        let mut body = json!({ "data": null, "error": text, "details": {} });
        if choices.wire.details {
            body["details"] = self.details.take();
        }
        if choices.wire.extras {
            body["pagination"] = json!({});
            // No two refusals are the same, byte for byte.
            let count = REFUSALS.fetch_add(1, Ordering::Relaxed);
            let warnings = [[json!("error"), json!(self.status), json!(count)]];
            body["meta"] = json!({ "server": "Gegenstück", "warnings": warnings });
        }
        super::slips::refusal(choices, &mut self.status, &mut body);
        (self.status, body)
    }
}

/// 400: a field of the body or a parameter of the query is at fault.
pub(super) fn bad(field: &str, issue: &str) -> Refusal {
    let details = json!({ field: [{ "issue": issue, "path": [field] }], "issues": [[field]] });
    Refusal { details, ..refused(400, "Bad value") }
}

/// 400: the body as a whole is at fault.
pub(super) fn unreadable() -> Refusal {
    refused(400, "Unreadable")
}

/// 401, and what would mend it.
pub(super) fn no_entry(text: &'static str) -> Refusal {
    Refusal { details: json!({ "needed": [["Bearer"], []] }), ..refused(401, text) }
}

pub(super) fn not_found() -> Refusal {
    refused(404, "Nothing here")
}

/// 404 for what the path names and belongs to another account.
pub(super) fn not_yours() -> Refusal {
    refused(404, "Not yours")
}

/// Another refusal, with a status of the server's choice.
pub(super) fn refused(status: u16, text: &'static str) -> Refusal {
    Refusal { status, text, details: json!({}) }
}

/// [`refused`], as the end of a handler.
pub(super) fn refuse<T>(status: u16, text: &'static str) -> Result<T, Refusal> {
    Err(refused(status, text))
}
