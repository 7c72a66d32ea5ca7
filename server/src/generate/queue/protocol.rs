//! The queue protocol of fal.ai: what is sent, and what the responses say.

use std::collections::BTreeMap;

use http::Response;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use url::Url;

use crate::domain::{GenerationRequest, OutputKind, ProviderTicket};
use crate::generate::{PollError, Progress, model};
use crate::limits::PROVIDER_REASON_CHARS_MAX;
use crate::outbound::retry_after;

/// The addresses of a submitted request. They are the `provider_state` of its ticket.
#[derive(Deserialize, Serialize)]
pub(super) struct RequestUrls {
    pub(super) status: Url,
    pub(super) response: Url,
    #[serde(default)]
    pub(super) cancel: Option<Url>,
    /// Of the outputs, once they are known: the provider deletes a result long before its files.
    #[serde(default)]
    pub(super) outputs: Vec<OutputFile>,
}

#[derive(Default, Deserialize, Serialize)]
pub(super) struct OutputFile {
    pub(super) url: String,
    #[serde(default)]
    pub(super) width: Value,
    #[serde(default)]
    pub(super) height: Value,
    /// Whether the provider's safety filter has replaced it.
    #[serde(default)]
    pub(super) is_filtered: bool,
}

impl OutputFile {
    /// A file as an object or as its address alone, and no other text. It is not copied: an address
    /// may contain all of it.
    fn new(value: Value) -> Option<Self> {
        let is_address = |url: &str| {
            let start = url.get(..4).unwrap_or_default().to_ascii_lowercase();
            ["http", "data"].contains(&&*start)
        };
        match value {
            Value::String(url) => is_address(&url).then(|| Self { url, ..Self::default() }),
            value => serde_json::from_value(value).ok(),
        }
    }

    /// Whether the file is in its address.
    pub(super) fn is_embedded(&self) -> bool {
        self.url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
    }
}

impl RequestUrls {
    pub(super) fn of(ticket: &ProviderTicket) -> Result<Self, PollError> {
        let urls = serde_json::from_str(&ticket.provider_state);
        urls.map_err(|_| PollError::transient("the ticket is of another provider"))
    }

    /// For the `provider_state` of a ticket.
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The addresses in the response to a submission that are `valid`; `None` without the two that
    /// are needed.
    pub(super) fn given(body: &Value, valid: impl Fn(&Url) -> bool) -> Option<Self> {
        let url = |name| Url::parse(body[name].as_str()?).ok().filter(&valid);
        let (status, response) = (url("status_url")?, url("response_url")?);
        Some(Self { status, response, cancel: url("cancel_url"), outputs: Vec::new() })
    }

    /// The addresses that the protocol has for a request. They are of the owner and the name of a
    /// model, without what else is in its id.
    pub(super) fn built(provider: &Url, model: &str, request_id: &str) -> Self {
        let app = model.split('/').take(2);
        let url = |last: &[&str]| {
            let mut url = provider.clone();
            if let Ok(mut path) = url.path_segments_mut() {
                path.pop_if_empty()
                    .extend(app.clone())
                    .extend(["requests", request_id])
                    .extend(last);
            }
            url
        };
        let (status, cancel) = (url(&["status"]), Some(url(&["cancel"])));
        Self { status, response: url(&[]), cancel, outputs: Vec::new() }
    }
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

/// What the provider is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Submission,
    /// Or a cancellation.
    Status,
    Result,
    Output,
}

/// What a response means: success, `false` if the request is not completed yet, or why there is
/// neither. A submission that is doubtful may have been accepted. The first fitting row decides.
pub(super) fn answer<T>(part: Part, of: &Response<T>, body: &[u8]) -> Result<bool, PollError> {
    use Part::{Output, Result, Status, Submission};
    use PollError::{Doubtful, NotAuthorized, Permanent, Transient};
    let status = of.status().as_u16();
    if of.status().is_success() {
        return Ok((part, status) != (Result, 202));
    }
    let reason = match part {
        Output => format!("an output cannot be fetched: status {status}"),
        _ => reason(status, body),
    };
    let retry_after = retry_after(of.headers());
    Err(match (part, status) {
        (Result, 400) if reason.to_ascii_lowercase().contains("in progress") => return Ok(false),
        (Submission, 408) => Doubtful(reason),
        // It asks for another request, so this one was not accepted.
        (Submission, 301 | 307 | 308) => Permanent(reason),
        (Submission, 503) | (_, 408 | 425 | 429) => Transient { cause: reason, retry_after },
        // The address of an output has expired, leads nowhere, or it is deleted.
        (Output, 300..500) | (Status | Result, 404 | 409) => Doubtful(reason),
        (_, 401..=403) => NotAuthorized(reason),
        (_, 400..500) => Permanent(reason),
        (Submission, _) => Doubtful(reason),
        (Result, 500..) if is_of_model(of, body) => Permanent(reason),
        _ => Transient { cause: reason, retry_after },
    })
}

/// The progress of a request; `None` if it is completed and has a result.
pub(super) fn progress(body: &Value) -> Result<Option<Progress>, PollError> {
    let status = body["status"].as_str().unwrap_or_default().to_ascii_uppercase();
    match (&*status, message(&body["error"])) {
        ("IN_QUEUE", _) => Ok(Some(Progress::Queued)),
        ("IN_PROGRESS", _) => Ok(Some(Progress::InProgress)),
        ("COMPLETED", None) => Ok(None),
        (end, error) if ENDS.contains(&end) => {
            let error = error.or_else(|| first_message(body, &["detail", "message"]));
            let default = match end.starts_with("CANCEL") {
                true => "the provider cancelled it".to_owned(),
                false => format!("its status at the provider is {end}"),
            };
            Err(PollError::Permanent(error.unwrap_or(default)))
        }
        _ => Err(PollError::transient("the status is not readable")),
    }
}

/// Statuses of a request that has failed. Only the first is part of the protocol, but the others are
/// unambiguous.
const ENDS: [&str; 8] =
    ["COMPLETED", "FAILED", "ERROR", "CANCELED", "CANCELLED", "EXPIRED", "REJECTED", "TIMEOUT"];

/// Fields of a result that say whether its outputs, or each of them, were replaced by the safety
/// filter of the provider.
const FILTERED: [&str; 2] = ["has_nsfw_concepts", "nsfw_content_detected"];

/// The output files in a result: at least one. They count more than a text beside them.
pub(super) fn output_files(
    body: &mut Value,
    kind: OutputKind,
) -> Result<Vec<OutputFile>, PollError> {
    if !body.is_object() {
        return Err(PollError::transient("the result is not readable"));
    }
    let (many, one) = match kind {
        OutputKind::Image => ("images", "image"),
        OutputKind::Video => ("videos", "video"),
    };
    let named = [many, one, "output"].map(|name| body.get_mut(name).map(Value::take));
    let listed = named.into_iter().flatten().flat_map(|value| match value {
        // The place in a list is also that of its flag.
        Value::Array(all) => all,
        Value::Null => Vec::new(),
        one => vec![one],
    });
    let is_filtered = |at| {
        FILTERED.iter().any(|name| match &body[*name] {
            Value::Array(all) => all.get(at) == Some(&Value::Bool(true)),
            all => *all == Value::Bool(true),
        })
    };
    let files = listed.enumerate().filter_map(|(at, file)| {
        Some(OutputFile { is_filtered: is_filtered(at), ..OutputFile::new(file)? })
    });
    let files: Vec<_> = files.collect();
    if files.is_empty() {
        let no_file = || format!("the provider's result has no {one} that can be read");
        let reason = first_message(body, &["error", "detail"]).unwrap_or_else(no_file);
        return Err(PollError::Permanent(reason));
    }
    Ok(files)
}

/// The names of the fields of a result, by which an operator finds an output that is not read here.
pub(super) fn field_names(body: &Value) -> String {
    let names = body.as_object().into_iter().flat_map(Map::keys);
    let names = names.map(String::as_str).collect::<Vec<_>>().join(", ");
    names.chars().take(PROVIDER_REASON_CHARS_MAX).collect()
}

/// The fields of a body, null if it is not an object of JSON. Each is read on its own: logs of any
/// depth, or a text that is cut within a character, do not cost the outputs beside them.
pub(super) fn fields(body: &[u8]) -> Value {
    let text = String::from_utf8_lossy(body);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(text) else {
        return Value::Null;
    };
    let value = |raw: &RawValue| serde_json::from_str(raw.get()).unwrap_or_default();
    Value::Object(fields.into_iter().map(|(name, raw)| (name, value(raw))).collect())
}

/// Whether a failed response is the model's own, and not one of a proxy on the way to it.
fn is_of_model<T>(response: &Response<T>, body: &[u8]) -> bool {
    let marks = ["x-fal-request-id", "x-fal-error-type"];
    marks.iter().any(|name| response.headers().contains_key(*name))
        || fields(body)["error_type"].is_string()
}

/// Why a response is no success: its status, and the provider's message if there is one.
fn reason(status: u16, body: &[u8]) -> String {
    match first_message(&fields(body), &["detail", "error", "message"]) {
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
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let bounded: String = text.chars().map(visible).take(PROVIDER_REASON_CHARS_MAX).collect();
    (!bounded.is_empty()).then_some(bounded)
}
