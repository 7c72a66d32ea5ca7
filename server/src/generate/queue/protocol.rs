//! The queue protocol of fal.ai: what is sent, and what the responses say.

use std::time::Duration;

use bytes::Bytes;
use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Response};
use jiff::fmt::rfc2822;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use url::Url;

use crate::domain::{GenerationRequest, OutputKind};
use crate::generate::OutputError::{self, Permanent};
use crate::generate::{PollError, Progress, model};
use crate::limits::PROVIDER_REASON_CHARS_MAX;

/// The URLs of a submitted request. They are the `provider_state` of its ticket.
#[derive(Deserialize, Serialize)]
pub(super) struct RequestUrls {
    #[serde(alias = "status_url")]
    pub(super) status: Url,
    #[serde(alias = "response_url")]
    pub(super) response: Url,
}

/// The response to a submission.
#[derive(Deserialize)]
pub(super) struct Accepted {
    pub(super) request_id: String,
    #[serde(flatten)]
    pub(super) urls: RequestUrls,
}

#[derive(Deserialize)]
pub(super) struct OutputFile {
    pub(super) url: String,
    #[serde(default)]
    pub(super) width: Value,
    #[serde(default)]
    pub(super) height: Value,
}

/// The URL of the request's model, or for the caller why there can be none.
pub(super) fn model_url(provider: &Url, request: &GenerationRequest) -> Result<Url, String> {
    let model = model(request);
    // The caller chooses the id. It must not lead to anything else that the key gives access to.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let is_part = |part: &str| {
        part.bytes().all(is_plain) && !part.bytes().all(|byte| byte == b'.') && part != "requests"
    };
    if !model.split('/').all(is_part) {
        return Err("there can be no model of this id".into());
    }
    let mut url = provider.clone();
    url.set_path(&format!("{}/{model}", provider.path().trim_end_matches('/')));
    Ok(url)
}

/// The body of a submission: the model's own parameters, overwritten by the checked fields. Or for
/// the caller why the protocol cannot express the request.
pub(super) fn submit_body(request: &GenerationRequest) -> Result<Bytes, String> {
    if request.kind == OutputKind::Video && request.batch_count > 1 {
        return Err("it makes one video at a time; batchCount must be 1".into());
    }
    let fields = [
        ("prompt", json!(request.prompt)),
        ("aspect_ratio", json!(request.aspect_ratio)),
        ("num_images", json!((request.kind == OutputKind::Image).then_some(request.batch_count))),
        ("negative_prompt", json!(request.negative_prompt)),
        ("image_url", json!(request.image_input)),
        ("image_urls", json!(request.image_inputs)),
        ("reference_image_urls", json!(request.reference_image_urls)),
    ];
    let given =
        fields.into_iter().filter(|(_, value)| *value != Value::Null && *value != json!([]));
    let mut body: Map<String, Value> = request.parameters.clone().unwrap_or_default();
    body.extend(given.map(|(name, value)| (name.to_owned(), value)));
    Ok(Value::Object(body).to_string().into())
}

/// The progress of a request; `None` if it is completed and has a result.
pub(super) fn progress(body: &[u8]) -> Result<Option<Progress>, OutputError> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    match (body["status"].as_str(), message(&body["error"])) {
        (Some("IN_QUEUE"), _) => Ok(Some(Progress::Queued)),
        (Some("IN_PROGRESS"), _) => Ok(Some(Progress::InProgress)),
        (Some("COMPLETED"), None) => Ok(None),
        // Only the first is part of the protocol, but the others are unambiguous.
        (Some("COMPLETED" | "FAILED" | "ERROR" | "CANCELED" | "CANCELLED"), error) => {
            Err(Permanent(error.unwrap_or_default()))
        }
        _ => Err(PollError::new("the status is not readable").into()),
    }
}

/// The output files in a result: at least one.
pub(super) fn output_files(body: &[u8], kind: OutputKind) -> Result<Vec<OutputFile>, OutputError> {
    let mut body: Value = serde_json::from_slice(body).unwrap_or_default();
    if !body.is_object() {
        return Err(PollError::new("the result is not readable").into());
    }
    if let Some(error) = first_message(&body, &["error", "detail"]) {
        return Err(Permanent(error));
    }
    let (many, one) = match kind {
        OutputKind::Image => ("images", "image"),
        OutputKind::Video => ("videos", "video"),
    };
    let one = body[one].take();
    let listed = body[many].as_array_mut().into_iter().flatten().map(Value::take).chain([one]);
    // Not copied: a URL may contain a whole file.
    let files: Vec<_> = listed.filter_map(|file| serde_json::from_value(file).ok()).collect();
    if files.is_empty() {
        return Err(Permanent("the provider was done and sent nothing".into()));
    }
    Ok(files)
}

/// The id in a response that lacks something else.
pub(super) fn request_id(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    message(&body["request_id"]).unwrap_or_default()
}

/// `Retry-After`: seconds, or a date, compared with the provider's own `Date`.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let after = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = after.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let time = |text: &str| rfc2822::DateTimeParser::new().parse_timestamp(text).ok();
    time(after)?.duration_since(time(text(DATE)?)?).try_into().ok()
}

/// Why a response is no success: its status, and the provider's message if there is one.
pub(super) fn reason(response: &Response<Bytes>) -> String {
    let status = response.status().as_u16();
    let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    match first_message(&body, &["detail", "error", "message"]) {
        Some(message) => format!("{message} (status {status})"),
        None => format!("the provider answered with status {status}"),
    }
}

fn first_message(body: &Value, fields: &[&str]) -> Option<String> {
    fields.iter().find_map(|name| body.get(*name).and_then(message))
}

/// A text as it is; of lists and objects the texts that describe an error.
fn message(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(all) => all.iter().filter_map(message).collect::<Vec<_>>().join("; "),
        Value::Object(_) => first_message(value, &["msg", "message", "detail", "error", "type"])?,
        _ => return None,
    };
    let bounded: String = text.chars().take(PROVIDER_REASON_CHARS_MAX).collect();
    (!bounded.is_empty()).then_some(bounded)
}
