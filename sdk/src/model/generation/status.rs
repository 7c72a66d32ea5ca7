//! What the status address of a job says, in whatever form.
//!
//! The specification shows no more of the answer than the word `completed`. The
//! form read here is the reference server's; of another one as much is kept as can
//! be told from it.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::model::time::{self, Timestamp};
use crate::model::{GenerationState, GenerationType, JobId, PromptId, VaultId};

/// How far a job has come.
///
/// Only [`status`](Self::status) is always there: the specification leaves the
/// fields open (`GE-31`, `GE-32`), and a service may leave out the others.
///
/// ```
/// use promptarium::{GenerationState, GenerationStatus};
/// # use serde_json::{from_value, json};
/// let status: GenerationStatus = from_value(json!({ "status": "in_progress" }))?;
/// assert_eq!(status.status, GenerationState::InProgress);
/// assert!(!status.status.is_final());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GenerationStatus {
    /// Names the job.
    pub client_job_id: Option<JobId>,
    /// Names the request at the external model provider.
    pub provider_request_id: Option<String>,
    /// Where the job stands.
    pub status: GenerationState,
    /// What it makes.
    pub generation_type: Option<GenerationType>,
    /// The vault that takes the output.
    pub vault_id: Option<VaultId>,
    /// The prompt that holds the output, once the job is `completed`.
    pub prompt_id: Option<PromptId>,
    /// Why the job has `failed`, for a person.
    pub error: Option<String>,
    /// When the job was queued.
    #[serde(serialize_with = "time::serialize_optional")]
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    #[serde(serialize_with = "time::serialize_optional")]
    pub updated_at: Option<Timestamp>,
}

impl<'de> Deserialize<'de> for GenerationStatus {
    /// Fails only when nothing says where the job stands. A member that is absent,
    /// `null` or of another form than expected is `None`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = match Value::deserialize(deserializer)? {
            Value::Object(members) => members,
            word @ Value::String(_) => Map::from_iter([("status".to_owned(), word)]),
            _ => Map::new(),
        };
        let status = state(&members)
            .ok_or_else(|| D::Error::custom("no member says how far the job has come"))?;
        Ok(Self {
            client_job_id: member(&members, "clientJobId"),
            provider_request_id: member(&members, "providerRequestId"),
            status,
            generation_type: member(&members, "generationType"),
            vault_id: member(&members, "vaultId"),
            prompt_id: member(&members, "promptId"),
            error: members.get("error").and_then(reason),
            created_at: moment(&members, "createdAt"),
            updated_at: moment(&members, "updatedAt"),
        })
    }
}

/// Texts that certainly say something else.
const OTHER_TEXTS: [&str; 7] = [
    "clientJobId",
    "providerRequestId",
    "statusUrl",
    "generationType",
    "error",
    "createdAt",
    "updatedAt",
];

/// The member that says where the job stands: the one of that name if there is one,
/// else one with a word that is known, else any text at all.
fn state(members: &Map<String, Value>) -> Option<GenerationState> {
    let named = ["status", "state"].iter().find_map(|name| members.get(*name)?.as_str());
    let texts = || {
        let others = members.iter().filter(|(name, _)| !OTHER_TEXTS.contains(&name.as_str()));
        others.filter_map(|(_, value)| value.as_str())
    };
    named
        .map(GenerationState::from)
        .or_else(|| texts().find_map(GenerationState::known))
        .or_else(|| texts().next().map(GenerationState::from))
}

fn member<T: for<'a> Deserialize<'a>>(members: &Map<String, Value>, name: &str) -> Option<T> {
    members.get(name).and_then(|value| T::deserialize(value).ok())
}

fn moment(members: &Map<String, Value>, name: &str) -> Option<Timestamp> {
    members.get(name).and_then(|value| time::deserialize(value).ok())
}

fn reason(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => Some(text.clone()),
        Value::Object(members) => match members.get("message").and_then(Value::as_str) {
            Some(text) => Some(text.to_owned()),
            None => Some(value.to_string()),
        },
        _ => Some(value.to_string()),
    }
}
