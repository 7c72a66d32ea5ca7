//! The status of a generation job, whose fields the specification does not name.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::model::declare::model;
use crate::model::lenient::timestamp;
use crate::model::{GenerationState, GenerationType, JobId, PromptId, Timestamp, VaultId};

model! {
    /// The status of a generation job.
    ///
    /// The specification names no field of the response, only the state `completed`. The state is
    /// the text of `status` or `state` in the outermost object that has one. Where two of one level
    /// have different known states, it is unknown, and its text is both: `queued / failed`. Without
    /// any, another member of the outermost object counts if it alone has a known state. The other
    /// fields are those of the object with the state, or else of the outermost one.
    ///
    /// ```
    /// use promptarium::{GenerationState, GenerationStatus};
    /// # use serde_json::{from_value, json};
    /// let status: GenerationStatus = from_value(json!({ "job": { "state": "IN_PROGRESS" } }))?;
    /// assert_eq!(status.state, GenerationState::InProgress);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[serde(from = "Value")]
    pub struct GenerationStatus {
        /// The id of the job.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub client_job_id: Option<JobId>,
        /// The id of the request at the model provider.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub provider_request_id: Option<String>,
        /// The state (`status` on the wire). `unreadable` if the response names none.
        #[serde(rename = "status")]
        pub state: GenerationState,
        /// The type of the output.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub generation_type: Option<GenerationType>,
        /// The vault that takes the output.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub vault_id: Option<VaultId>,
        /// The prompt that holds the output: `promptId` beside the state, in the outermost object,
        /// or in their members `output…`, `result…` and `data`. `None` if those differ.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub prompt_id: Option<PromptId>,
        /// All prompts that hold the output, if the response names several (`promptIds`).
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub prompt_ids: Vec<PromptId>,
        /// Why the job has `failed`, for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub error: Option<String>,
        /// A message for people that is not the error, such as the progress of the job.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub message: Option<String>,
        /// When the job was queued.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub created_at: Option<Timestamp>,
        /// When it last changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub updated_at: Option<Timestamp>,
    }
}

impl From<Value> for GenerationStatus {
    fn from(body: Value) -> Self {
        let (state, object) = state(&body);
        // Each field has the value in the first of these that has one.
        let objects = [object, &body];
        let mut named = NamedPrompts::default();
        objects
            .into_iter()
            .filter_map(Value::as_object)
            .for_each(|object| named.add(object, false));
        let (prompt_id, prompt_ids) = named.agreed();
        let names: &[_] =
            if state == GenerationState::Failed { &["error", "message", "reason"] } else { &[] };
        let error = names.iter().find_map(|name| Some((*name, field(objects, name, error_text)?)));
        let (error_name, error) = error.unzip();
        let message = field(objects, "message", |value| word(value).map(str::to_owned));
        let mut status = Self {
            state,
            prompt_id,
            prompt_ids,
            client_job_id: field(objects, "clientJobId", decoded),
            provider_request_id: field(objects, "providerRequestId", decoded),
            generation_type: field(objects, "generationType", decoded),
            vault_id: field(objects, "vaultId", decoded),
            error,
            message: message.filter(|_| error_name != Some("message")),
            created_at: field(objects, "createdAt", |value| timestamp(value).ok()),
            updated_at: field(objects, "updatedAt", |value| timestamp(value).ok()),
            extra: Map::new().into(),
        };
        status.extra = extra(body, &status, error_name).into();
        status
    }
}

fn field<T>(objects: [&Value; 2], name: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
    let values = objects.iter().filter_map(|object| object.get(name));
    values.filter(|value| !value.is_null()).find_map(read)
}

/// The members of the outermost object that are not fields of the status.
fn extra(body: Value, status: &GenerationStatus, error_name: Option<&str>) -> Map<String, Value> {
    let Value::Object(mut members) = body else { return Map::new() };
    let is_state_read = members.get("status").and_then(word).is_none();
    let fields = json!(status);
    members.retain(|name, value| match &**name {
        "state" if is_state_read => word(value).is_none(),
        "promptIds" if value.as_array().is_some_and(Vec::is_empty) => false,
        name if error_name == Some(name) => false,
        "clientJobId" | "providerRequestId" | "status" | "generationType" | "vaultId"
        | "promptId" | "promptIds" | "error" | "message" | "createdAt" | "updatedAt" => {
            !value.is_null() && fields.get(name).is_none()
        }
        _ => true,
    });
    // Without those in which other prompts would be found if the status were encoded with them and
    // decoded again.
    let mut named = NamedPrompts::default();
    named.add(&members, false);
    named.ids.extend(status.prompt_id);
    named.lists.push(status.prompt_ids.clone());
    if named.agreed() != (status.prompt_id, status.prompt_ids.clone()) {
        members.retain(|name, _| !is_output(name) && name != "promptId" && name != "promptIds");
    }
    members
}

/// The state of the job and the object that names it. Breadth first: the first level of the JSON
/// that names a state decides.
fn state(body: &Value) -> (GenerationState, &Value) {
    if let Some(text) = word(body) {
        return (state_of(text), body);
    }
    let mut level = vec![body];
    while !level.is_empty() {
        let mut named = level.iter().filter_map(|value| Some((own_state(value)?, *value)));
        if let Some((first, object)) = named.next() {
            let other = named.find(|(state, _)| *state != first);
            return (
                other.map_or_else(|| first.clone(), |(other, _)| both(&first, &other)),
                object,
            );
        }
        level = level.into_iter().flat_map(children).collect();
    }
    // Another member may name it, as the specification names none: if all that do agree.
    let others = body.as_object().into_iter().flatten();
    let others = others.filter(|(name, _)| !FREE_TEXT.contains(&name.as_str()));
    let mut known = others.filter_map(|(_, value)| word(value).map(state_of)).filter(is_known);
    let first = known.next().filter(|first| known.all(|other| other == *first));
    (first.unwrap_or_else(|| GenerationState::from("unreadable")), body)
}

/// Members with text of a person, which may be the name of a state by chance.
const FREE_TEXT: [&str; 8] =
    ["clientJobId", "error", "message", "reason", "prompt", "title", "name", "description"];

fn is_known(state: &GenerationState) -> bool {
    !matches!(state, GenerationState::Unknown(_))
}

fn own_state(object: &Value) -> Option<GenerationState> {
    let read = |name| object.get(name).and_then(word).map(state_of);
    match (read("status"), read("state")) {
        (Some(status), Some(state)) if status != state && is_known(&status) && is_known(&state) => {
            Some(both(&status, &state))
        }
        (status, state) => status.or(state),
    }
}

fn both(first: &GenerationState, second: &GenerationState) -> GenerationState {
    GenerationState::from(&*format!("{first} / {second}"))
}

/// A known state, whatever its case and separators, or an unknown one.
fn state_of(text: &str) -> GenerationState {
    let mut known = GenerationState::KNOWN.iter();
    let known = known.find(|known| letters(known.as_str()) == letters(text));
    known.cloned().unwrap_or_else(|| GenerationState::from(text))
}

/// The name of a state without case and separators.
pub(crate) fn letters(state: &str) -> String {
    state.trim().to_ascii_lowercase().replace([' ', '-', '_'], "")
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(values) => values.iter().collect(),
        _ => Vec::new(),
    }
}

/// The prompts that an answer names as the output.
#[derive(Default)]
struct NamedPrompts {
    ids: Vec<PromptId>,
    lists: Vec<Vec<PromptId>>,
}

impl NamedPrompts {
    /// Adds those that the object names itself, and those within its members for output; within
    /// output also those at any depth, but not those of an input.
    fn add(&mut self, object: &Map<String, Value>, is_within_output: bool) {
        self.ids.extend(object.get("promptId").and_then(decoded::<PromptId>));
        self.lists.extend(object.get("promptIds").and_then(decoded::<Vec<_>>));
        for (name, value) in object {
            if is_output(name) || is_within_output && !is_input(name) {
                objects(value).into_iter().for_each(|object| self.add(object, true));
            }
        }
    }

    /// The prompts, if nothing contradicts them.
    fn agreed(&self) -> (Option<PromptId>, Vec<PromptId>) {
        let id = self.ids.first().copied().filter(|first| self.ids.iter().all(|id| id == first));
        let mut lists = self.lists.iter().filter(|list| !list.is_empty());
        let list = lists.next().cloned().unwrap_or_default();
        let has_all = list.is_empty() || self.ids.iter().all(|id| list.contains(id));
        if has_all && lists.all(|other| *other == list) { (id, list) } else { (None, Vec::new()) }
    }
}

/// The value, if it is an object, or the objects in the array.
fn objects(value: &Value) -> Vec<&Map<String, Value>> {
    match value {
        Value::Object(object) => vec![object],
        Value::Array(values) => values.iter().flat_map(objects).collect(),
        _ => Vec::new(),
    }
}

fn is_output(name: &str) -> bool {
    name.starts_with("output") || name.starts_with("result") || name == "data"
}

fn is_input(name: &str) -> bool {
    ["input", "source", "request"].into_iter().any(|start| name.starts_with(start))
}

fn decoded<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

fn word(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.trim().is_empty())
}

fn error_text(value: &Value) -> Option<String> {
    let is_error = !matches!(value, Value::Null | Value::Bool(false));
    let text = Some(text(value)).filter(|text| is_error && !text.trim().is_empty());
    text.map(Cow::into_owned)
}

/// The text of a message: a string, or the `message` of an object.
pub(crate) fn message(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("message")?.as_str())
}

/// The text of a message, or the JSON of what has none.
pub(crate) fn text(value: &Value) -> Cow<'_, str> {
    message(value).map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}
