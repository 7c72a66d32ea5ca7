//! The queue protocol of fal.ai: what is sent, and what the responses say.

use bytes::Bytes;
use http::Response;
use promptarium::limits::GENERATION_MODEL_ID_CHARS;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use url::Url;

use crate::domain::{GenerationRequest, OutputKind};
use crate::generate::{Progress, model};
use crate::limits::{PROVIDER_REASON_CHARS_MAX, PROVIDER_REQUEST_ID_CHARS_MAX};

/// The URLs of a submitted request. They are the `provider_state` of its ticket.
#[derive(Deserialize, Serialize)]
pub(super) struct RequestUrls {
    #[serde(alias = "status_url")]
    pub(super) status: Url,
    #[serde(alias = "response_url")]
    pub(super) response: Url,
}

/// One output in a result.
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
    let is_model = GENERATION_MODEL_ID_CHARS.contains(&model.chars().count())
        && model.split('/').all(|part| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
            !part.is_empty()
                && part.chars().all(plain)
                && !part.bytes().all(|byte| byte == b'.')
                && part != "requests"
        });
    if !is_model {
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
    let list = |urls: &Vec<Box<str>>| (!urls.is_empty()).then(|| json!(urls));
    let text = |text: &Option<Box<str>>| text.as_ref().map(|text| json!(text));
    let images = (request.kind == OutputKind::Image).then(|| json!(request.batch_count));
    let mut body: Map<String, Value> = request.parameters.clone().unwrap_or_default();
    for (name, value) in [
        ("prompt", Some(json!(request.prompt))),
        ("aspect_ratio", Some(json!(request.aspect_ratio))),
        ("num_images", images),
        ("negative_prompt", text(&request.negative_prompt)),
        ("image_url", text(&request.image_input)),
        ("image_urls", list(&request.image_inputs)),
        ("reference_image_urls", list(&request.reference_image_urls)),
    ] {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    }
    Ok(Value::Object(body).to_string().into())
}

pub(super) fn submit_response(body: &[u8]) -> Option<(String, RequestUrls)> {
    #[derive(Deserialize)]
    struct Accepted {
        request_id: String,
        #[serde(flatten)]
        urls: RequestUrls,
    }
    let Accepted { request_id: id, urls } = serde_json::from_slice(body).ok()?;
    let valid = !id.is_empty() && !id.contains('\0');
    (valid && id.chars().count() <= PROVIDER_REQUEST_ID_CHARS_MAX).then_some((id, urls))
}

/// The progress of a request, without the outputs of a completed one.
pub(super) fn status(body: &[u8]) -> Option<Progress> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let error = first_message(&body, &["error"]);
    match (body.get("status")?.as_str()?, error) {
        ("IN_QUEUE", _) => Some(Progress::Queued),
        ("IN_PROGRESS", _) => Some(Progress::InProgress),
        ("COMPLETED", None) => Some(Progress::Completed(Vec::new())),
        ("COMPLETED", Some(error)) => Some(Progress::Failed(error)),
        // Not part of the protocol, but unambiguous.
        (end @ ("FAILED" | "ERROR" | "CANCELED" | "CANCELLED"), error) => {
            Some(Progress::Failed(error.unwrap_or_else(|| format!("the provider says {end}"))))
        }
        _ => None,
    }
}

/// The output files in a result, or the error in place of them. `None` if it is no object.
pub(super) fn result(body: &[u8], kind: OutputKind) -> Option<Result<Vec<OutputFile>, String>> {
    let body: Value = serde_json::from_slice(body).ok()?;
    body.as_object()?;
    if let Some(error) = first_message(&body, &["error", "detail"]) {
        return Some(Err(error));
    }
    let (many, one) = match kind {
        OutputKind::Image => ("images", "image"),
        OutputKind::Video => ("videos", "video"),
    };
    let file = |value: &Value| OutputFile::deserialize(value).ok();
    let listed = body.get(many).and_then(Value::as_array).into_iter().flatten();
    let mut files: Vec<_> = listed.filter_map(file).collect();
    if files.is_empty() {
        files.extend(body.get(one).and_then(file));
    }
    Some(Ok(files))
}

/// Why a response is no success: its status, and the provider's message if there is one.
pub(super) fn reason(response: &Response<Bytes>) -> String {
    let status = response.status().as_u16();
    let body: Option<Value> = serde_json::from_slice(response.body()).ok();
    match body.and_then(|body| first_message(&body, &["detail", "error", "message"])) {
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
