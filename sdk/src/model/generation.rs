//! Generations: images and videos made by a model provider, and the status of their jobs.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::model::open_enum::open_enum;
use crate::model::{JobId, PromptId, Timestamp, VaultId, timestamp};

open_enum! {
    /// The type of the output.
    GenerationType {
        /// Images, the default.
        Image = "image",
        /// Videos.
        Video = "video",
    }
}

open_enum! {
    /// The state of a job. The specification names `completed`; the others are those of the
    /// reference server.
    GenerationState {
        /// Not started.
        Queued = "queued",
        /// Running.
        InProgress = "in_progress",
        /// Finished; the output is in the target vault.
        Completed = "completed",
        /// Failed; there is no output.
        Failed = "failed",
    }
}

impl GenerationState {
    /// Whether the job has ended. An unknown state is not final.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }

    /// Whether the output is in the target vault.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Completed)
    }
}

/// A queued generation. Its output appears in the target vault later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GenerationJob {
    /// The id of the job: the caller's own, or a UUID.
    pub client_job_id: JobId,
    /// The id of the request at the model provider, if the service returned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_request_id: Option<String>,
    /// Where the status of the job can be polled, if the service returned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_url: Option<String>,
    /// How to find the output if the status of the job does not name it.
    #[cfg(feature = "client")]
    #[serde(skip)]
    pub(crate) output: OutputHint,
}

/// What a client knows of the output of a job before the job has ended.
#[cfg(feature = "client")]
#[derive(Debug, Clone, Default)]
pub(crate) struct OutputHint {
    pub(crate) vault: Option<VaultId>,
    pub(crate) text: Option<String>,
    pub(crate) outputs: Option<u32>,
    /// The job was queued at this time at the earliest.
    pub(crate) earliest: Option<Timestamp>,
    /// The job was queued at this time at the latest.
    pub(crate) latest: Option<Timestamp>,
}

/// It is no part of the response, so jobs that differ in nothing else are equal.
#[cfg(feature = "client")]
impl PartialEq for OutputHint {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(feature = "client")]
impl Eq for OutputHint {}

/// The status of a generation job.
///
/// Only [`state`](Self::state) is always there: the specification names no field of the response,
/// only the state `completed`. So known names are looked for at any depth.
///
/// ```
/// use promptarium::{GenerationState, GenerationStatus};
/// # use serde_json::{from_value, json};
/// let status: GenerationStatus = from_value(json!({ "job": { "state": "IN_PROGRESS" } }))?;
/// assert_eq!(status.state, GenerationState::InProgress);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GenerationStatus {
    /// The id of the job.
    pub client_job_id: Option<JobId>,
    /// The id of the request at the model provider.
    pub provider_request_id: Option<String>,
    /// The state (`status` on the wire). Unknown if the response names none.
    #[serde(rename = "status")]
    pub state: GenerationState,
    /// The type of the output.
    pub generation_type: Option<GenerationType>,
    /// The vault that takes the output.
    pub vault_id: Option<VaultId>,
    /// The prompt that holds the output, once the job is `completed`.
    pub prompt_id: Option<PromptId>,
    /// All prompts that hold the output, if the response names several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompt_ids: Vec<PromptId>,
    /// Why the job has `failed`, for people.
    pub error: Option<String>,
    /// When the job was queued.
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    pub updated_at: Option<Timestamp>,
}

impl<'de> Deserialize<'de> for GenerationStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let body = Value::deserialize(deserializer)?;
        let members = Members::of(&body);
        Ok(Self {
            client_job_id: members.find(&["clientJobId"], read),
            provider_request_id: members.find(&["providerRequestId"], read),
            state: state(&body, &members),
            generation_type: members.find(&["generationType"], read),
            vault_id: members.find(&["vaultId"], read),
            prompt_id: members.find(&["promptId"], read),
            prompt_ids: members.find(&["promptIds"], read).unwrap_or_default(),
            error: members.find(&["error", "message"], error_text),
            created_at: members.find(&["createdAt"], |value| timestamp(value).ok()),
            updated_at: members.find(&["updatedAt"], |value| timestamp(value).ok()),
        })
    }
}

/// All members of all objects in a response, those of outer objects first.
struct Members<'a>(Vec<(&'a str, &'a Value)>);

impl<'a> Members<'a> {
    fn of(body: &'a Value) -> Self {
        let (mut members, mut queue) = (Vec::new(), VecDeque::from([body]));
        while let Some(value) = queue.pop_front() {
            match value {
                Value::Object(object) => {
                    members.extend(object.iter().map(|(name, value)| (name.as_str(), value)));
                    queue.extend(object.values());
                }
                Value::Array(values) => queue.extend(values),
                _ => {}
            }
        }
        Self(members)
    }

    fn find<T>(&self, names: &[&str], read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        names.iter().find_map(|wanted| {
            let of_name = self.0.iter().filter(|(name, _)| name == wanted);
            of_name.map(|(_, value)| value).find_map(|value| read(value))
        })
    }
}

/// Members whose text is a person's own and may be the name of a state by chance.
const FREE_TEXT: [&str; 8] =
    ["clientJobId", "error", "message", "reason", "prompt", "title", "name", "description"];

/// The state of the job. In this order: a known state in a member `status` or `state`, the text of
/// such a member in the outermost object, a known state in a member of another name, any text of
/// `status` or `state`.
fn state(body: &Value, members: &Members<'_>) -> GenerationState {
    const NAMES: [&str; 2] = ["status", "state"];
    let text = |value: &Value| value.as_str().map(GenerationState::from);
    let elsewhere = || {
        let others = members.0.iter().filter(|(name, _)| !FREE_TEXT.contains(name));
        others.map(|(_, value)| value).find_map(|value| known(value))
    };
    known(body)
        .or_else(|| members.find(&NAMES, known))
        .or_else(|| NAMES.iter().find_map(|name| body.get(name).and_then(text)))
        .or_else(elsewhere)
        .or_else(|| members.find(&NAMES, text))
        .unwrap_or_else(|| GenerationState::from("unreadable"))
}

/// A known state, whatever its case and separators.
fn known(value: &Value) -> Option<GenerationState> {
    let word = value.as_str()?.trim().to_ascii_lowercase().replace([' ', '-'], "_");
    GenerationState::known(&word)
}

fn read<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

fn error_text(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) if text.trim().is_empty() => None,
        value => Some(text(value).into_owned()),
    }
}

/// The text of a message: a string, or the `message` of an object.
pub(crate) fn message(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("message")?.as_str())
}

/// The text of a message, or the JSON of what has none.
pub(crate) fn text(value: &Value) -> Cow<'_, str> {
    message(value).map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}
