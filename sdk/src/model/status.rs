//! The status of a generation job, whose fields the specification does not name.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::model::object::{Field, model};
use crate::model::{GenerationState, GenerationType, JobId, PromptId, Timestamp, VaultId};

model! {
    /// The status of a generation job.
    ///
    /// The specification names no field of the response, only the state `completed`. The state is
    /// the text of `status` or `state` in the outermost object that has one. Where two objects of
    /// one level, or `status` and `state` of one object, have different known states, it is
    /// unknown, and its text is both: `queued / failed`. The other fields are those of the object
    /// with the state, or else of the outermost one, whose other members are in `extra`.
    ///
    /// ```
    /// use promptarium::{GenerationState, GenerationStatus};
    /// # use serde_json::{from_value, json};
    /// let status: GenerationStatus = from_value(json!({ "job": { "state": "IN_PROGRESS" } }))?;
    /// assert_eq!(status.state, GenerationState::InProgress);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct GenerationStatus by decode {
        /// The id of the job.
        pub client_job_id as "clientJobId": Option<JobId>,
        /// The id of the request at the model provider.
        pub provider_request_id as "providerRequestId": Option<String>,
        /// The state (`status` on the wire). `unreadable` if the response names none.
        pub state as "status": GenerationState,
        /// The type of the output.
        pub generation_type as "generationType": Option<GenerationType>,
        /// The vault that takes the output.
        pub vault_id as "vaultId": Option<VaultId>,
        /// The prompt that holds the output, once the job is `completed`: `promptId` beside the
        /// state, in the outermost object, or in their members `output…`, `result…` and `data`.
        /// `None` if those differ.
        pub prompt_id as "promptId": Option<PromptId>,
        /// All prompts that hold the output, if the response names several (`promptIds`).
        pub prompt_ids as "promptIds": Vec<PromptId>,
        /// Why the job has `failed`, for people.
        pub error: Option<String>,
        /// A message for people that is not the error, such as the progress of the job.
        pub message: Option<String>,
        /// When the job was queued.
        pub created_at as "createdAt": Option<Timestamp>,
        /// When it last changed.
        pub updated_at as "updatedAt": Option<Timestamp>,
    }
}

fn decode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<GenerationStatus, D::Error> {
    let body = Value::deserialize(deserializer)?;
    let (state, object) = state(&body);
    let mut reader = Reader { objects: [object, body.as_object()], read: vec!["status"] };
    let names_state = |name: &str| body.get(name).and_then(word).is_some();
    if names_state("state") && !names_state("status") {
        reader.read.push("state");
    }
    let (prompt_id, prompt_ids) = reader.prompts();
    let failed = state == GenerationState::Failed;
    let error = ["error", "message", "reason"].into_iter().find_map(|name| {
        let text = reader.field(name, |value| error_text(value).filter(|_| failed))?;
        Some((name, text))
    });
    let (error_name, error) = error.unzip();
    reader.read.extend(error_name.map(|_| "error"));
    let mut status = GenerationStatus {
        state,
        prompt_id,
        prompt_ids,
        client_job_id: reader.field("clientJobId", decoded),
        provider_request_id: reader.field("providerRequestId", decoded),
        generation_type: reader.field("generationType", decoded),
        vault_id: reader.field("vaultId", decoded),
        message: if error_name == Some("message") {
            None
        } else {
            reader.field("message", |value| word(value).map(str::to_owned))
        },
        error,
        created_at: reader.field("createdAt", decoded),
        updated_at: reader.field("updatedAt", decoded),
        extra: Map::new().into(),
    };
    let Reader { read, .. } = reader;
    let mut extra = if let Value::Object(members) = body { members } else { Map::new() };
    extra.retain(|name, _| !read.contains(&name.as_str()));
    drop_other_prompts(&mut extra, &status);
    status.extra = extra.into();
    Ok(status)
}

/// The state of the job and the object that names it. Breadth first: the first level of the JSON
/// that names a state decides.
fn state(body: &Value) -> (GenerationState, Option<&Map<String, Value>>) {
    if let Some(text) = word(body) {
        return (state_of(text), None);
    }
    let mut level = vec![body];
    while !level.is_empty() {
        let objects = level.iter().filter_map(|value| value.as_object());
        let mut named = objects.filter_map(|object| Some((own_state(object)?, object)));
        if let Some((first, object)) = named.next() {
            let other = named.map(|(state, _)| state).find(|state| *state != first);
            let state = other.map(|other| both(&first, &other)).unwrap_or(first);
            return (state, Some(object));
        }
        level = level.into_iter().flat_map(children).collect();
    }
    (GenerationState::from("unreadable"), None)
}

/// The state that the object names itself.
fn own_state(object: &Map<String, Value>) -> Option<GenerationState> {
    let read = |name| object.get(name).and_then(word).map(state_of);
    let is_known = |state: &GenerationState| !matches!(state, GenerationState::Unknown(_));
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
    let letters = |text: &str| text.to_ascii_lowercase().replace([' ', '-', '_'], "");
    let known = GenerationState::KNOWN.iter();
    let mut known = known.filter(|known| letters(known.as_str()) == letters(text.trim()));
    known.next().cloned().unwrap_or_else(|| GenerationState::from(text))
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(values) => values.iter().collect(),
        _ => Vec::new(),
    }
}

/// Reads fields of the object with the state, or else of the outermost one.
struct Reader<'a> {
    objects: [Option<&'a Map<String, Value>>; 2],
    /// The names of the fields that were read, or are `null` in the outermost object.
    read: Vec<&'static str>,
}

impl Reader<'_> {
    fn field<T>(&mut self, name: &'static str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let values = self.objects.iter().flatten().filter_map(|object| object.get(name));
        let value = values.into_iter().find_map(read);
        let [_, outermost] = self.objects;
        let is_null = outermost.and_then(|object| object.get(name)).is_some_and(Value::is_null);
        if value.is_some() || is_null {
            self.read.push(name);
        }
        value
    }

    fn prompts(&mut self) -> (Option<PromptId>, Vec<PromptId>) {
        let mut named = NamedPrompts::default();
        self.objects.iter().flatten().for_each(|object| named.add(object));
        let (id, ids) = named.agreed();
        self.field("promptId", |_| id);
        let is_empty = |list: &Value| list.as_array().is_some_and(Vec::is_empty);
        self.field("promptIds", |list| (is_empty(list) || !ids.is_empty()).then_some(()));
        (id, ids)
    }
}

/// The prompts that an answer names as the output.
#[derive(Default)]
struct NamedPrompts {
    ids: Vec<PromptId>,
    lists: Vec<Vec<PromptId>>,
}

impl NamedPrompts {
    /// Adds those that the object names itself, and those within its members for output.
    fn add(&mut self, object: &Map<String, Value>) {
        self.ids.extend(object.get("promptId").and_then(decoded::<PromptId>));
        let list = object.get("promptIds").and_then(decoded::<Vec<_>>);
        self.lists.extend(list.filter(|list| !list.is_empty()));
        let outputs = object.iter().filter(|(name, _)| is_output(name));
        outputs.for_each(|(_, value)| self.add_within(value));
    }

    /// Adds those at any depth, but not those of an input.
    fn add_within(&mut self, value: &Value) {
        if let Value::Object(object) = value {
            self.add(object);
            let others = object.iter().filter(|(name, _)| !is_output(name) && !is_input(name));
            others.for_each(|(_, value)| self.add_within(value));
        } else {
            children(value).into_iter().for_each(|value| self.add_within(value));
        }
    }

    /// The prompts, if nothing contradicts them.
    fn agreed(&self) -> (Option<PromptId>, Vec<PromptId>) {
        let id = self.ids.first().filter(|first| self.ids.iter().all(|id| id == *first)).copied();
        match &*self.lists {
            [] => (id, Vec::new()),
            [list, others @ ..]
                if others.iter().all(|other| other == list)
                    && self.ids.iter().all(|id| list.contains(id)) =>
            {
                (id, list.clone())
            }
            _ => (None, Vec::new()),
        }
    }
}

fn is_output(name: &str) -> bool {
    name.starts_with("output") || name.starts_with("result") || name == "data"
}

fn is_input(name: &str) -> bool {
    ["input", "source", "request"].into_iter().any(|start| name.starts_with(start))
}

/// Removes the members in which other prompts would be found if the status were encoded with them
/// and decoded again.
fn drop_other_prompts(extra: &mut Map<String, Value>, status: &GenerationStatus) {
    let mut named = NamedPrompts::default();
    named.add(extra);
    named.ids.extend(status.prompt_id);
    named.lists.extend(Some(status.prompt_ids.clone()).filter(|ids| !ids.is_empty()));
    if named.agreed() != (status.prompt_id, status.prompt_ids.clone()) {
        extra.retain(|name, _| !is_output(name) && name != "promptId" && name != "promptIds");
    }
}

fn decoded<T: Field>(value: &Value) -> Option<T> {
    T::decode(value).ok()
}

/// Text that is not blank.
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
