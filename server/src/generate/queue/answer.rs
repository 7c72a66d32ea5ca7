//! What the provider says, read as leniently as is safe.

use bytes::Bytes;
use http::Response;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::domain::OutputKind;

/// Shown of the provider's own words.
const CHARS_MAX: usize = 400;
/// A longer id of a request is not one.
const ID_CHARS_MAX: usize = 256;

/// The answer to an order that was taken.
#[derive(Deserialize)]
pub(super) struct Taken {
    pub(super) request_id: String,
    pub(super) status_url: Url,
    pub(super) response_url: Url,
}

/// How far a request is.
pub(super) enum Status {
    Queued,
    AtWork,
    Done,
    Failed(String),
}

/// What came of a request.
pub(super) struct Made(Value);

/// One output.
#[derive(Deserialize)]
pub(super) struct MadeFile {
    pub(super) url: String,
    #[serde(default)]
    pub(super) width: Value,
    #[serde(default)]
    pub(super) height: Value,
}

pub(super) fn taken(body: &[u8]) -> Option<Taken> {
    let taken: Taken = serde_json::from_slice(body).ok()?;
    let id = taken.request_id.chars();
    let sound = !taken.request_id.is_empty() && !taken.request_id.contains('\0');
    (sound && id.count() <= ID_CHARS_MAX).then_some(taken)
}

pub(super) fn status(body: &[u8]) -> Option<Status> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let error = words_of(&body, &["error"]);
    match (body.get("status")?.as_str()?, error) {
        ("IN_QUEUE", _) => Some(Status::Queued),
        ("IN_PROGRESS", _) => Some(Status::AtWork),
        ("COMPLETED", None) => Some(Status::Done),
        ("COMPLETED", Some(error)) => Some(Status::Failed(error)),
        // Not of the protocol, but not to be misunderstood.
        (end @ ("FAILED" | "ERROR" | "CANCELED" | "CANCELLED"), error) => {
            Some(Status::Failed(error.unwrap_or_else(|| format!("the provider says {end}"))))
        }
        _ => None,
    }
}

pub(super) fn result(body: &[u8]) -> Option<Made> {
    let value: Value = serde_json::from_slice(body).ok()?;
    value.is_object().then_some(Made(value))
}

impl Made {
    /// An error in the place of outputs.
    pub(super) fn error(&self) -> Option<String> {
        words_of(&self.0, &["error", "detail"])
    }

    /// The outputs of a kind.
    pub(super) fn files(&self, kind: OutputKind) -> Vec<MadeFile> {
        let (many, one) = match kind {
            OutputKind::Image => ("images", "image"),
            OutputKind::Video => ("videos", "video"),
        };
        let listed = self.0.get(many).and_then(Value::as_array).into_iter().flatten();
        let all: Vec<_> = listed.filter_map(|file| MadeFile::deserialize(file).ok()).collect();
        if all.is_empty() {
            let single = self.0.get(one).and_then(|file| MadeFile::deserialize(file).ok());
            return single.into_iter().collect();
        }
        all
    }
}

/// Why an answer is no success: its status, and the provider's words if it has any.
pub(super) fn reason(answer: &Response<Bytes>) -> String {
    let status = answer.status();
    let words = serde_json::from_slice(answer.body())
        .ok()
        .and_then(|body: Value| words_of(&body, &["detail", "error", "message"]));
    match words {
        Some(words) => format!("{words} (status {})", status.as_u16()),
        None => format!("the provider answered with status {}", status.as_u16()),
    }
}

/// The first of some fields that has anything to say, in words for a person.
fn words_of(body: &Value, fields: &[&str]) -> Option<String> {
    let field = |name: &&str| body.get(*name).and_then(words);
    fields.iter().find_map(field)
}

/// Texts as they are; of lists and objects the texts that say what is wrong.
fn words(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(all) => all.iter().filter_map(words).collect::<Vec<_>>().join("; "),
        Value::Object(_) => words_of(value, &["msg", "message", "detail", "error", "type"])?,
        _ => return None,
    };
    let bounded: String = text.chars().take(CHARS_MAX).collect();
    (!bounded.is_empty()).then_some(bounded)
}
