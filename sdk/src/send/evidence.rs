//! What an answer proves about a thing that was asked for: that the service has it, that it does
//! not, or neither. The one place that decides it.
//!
//! | question | it is there | it is not there |
//! |---|---|---|
//! | the response to its request | a success that is neither `null` nor `success: false` | |
//! | the status of a job | a known state that is not one in a list, or the id of the job, and no other id | 404 or 410 with an error of the API |
//! | a prompt or a vault by its id | its data | 404 with an error of the API |
//! | the output of a job, in a vault | as many new images with its text as the job has outputs | |
//! | an open step of a journal, in a list | the same content, created since the step began, in no more copies than there are steps | nothing with the same letters, and nothing created since the step began, or since a step before it had its result, that belongs to no step |
//!
//! Anything else is no proof: a success without a known state, the page of a proxy, two candidates.
//! A thing that is not there now may be there later, when a request is carried out late, so the
//! caller decides for how long it asks again.

#[cfg(feature = "durable")]
mod listed;

use http::{Method, StatusCode};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

#[cfg(feature = "durable")]
pub(crate) use self::listed::{Claims, Content, Item, Sought, of_steps};
use super::reply::RawResponse;
use crate::error::Error;
use crate::model::{GenerationState, GenerationStatus, JobId, OutputHint, Prompt, letters};

#[derive(Debug)]
pub(crate) enum Evidence<T> {
    Present(T),
    Absent,
    Unclear(String),
}

#[cfg(feature = "durable")]
impl<T> Evidence<T> {
    /// With this in place of what is present.
    pub(crate) fn map<U, E>(self, map: impl FnOnce(T) -> Result<U, E>) -> Result<Evidence<U>, E> {
        Ok(match self {
            Self::Present(thing) => Evidence::Present(map(thing)?),
            Self::Absent => Evidence::Absent,
            Self::Unclear(reason) => Evidence::Unclear(reason),
        })
    }
}

/// Whether the response says that there is no such thing, whatever its body.
pub(crate) fn is_absent(error: &Error) -> bool {
    matches!(error.status(), Some(StatusCode::NOT_FOUND | StatusCode::GONE))
}

impl RawResponse {
    /// What this response to a request for the status of a job proves; an error if it was refused.
    pub(crate) fn job_evidence(&self) -> Result<Evidence<()>, Error> {
        if !self.status.is_success() {
            let error = self.refused();
            let is_proof = is_absent(&error) && self.error_envelope().is_some();
            return if is_proof { Ok(Evidence::Absent) } else { Err(error) };
        }
        let data = self.envelope::<Value, IgnoredAny>()?.data;
        Ok(match &self.job {
            Some(job) if shows(job, &data) => Evidence::Present(()),
            _ => Evidence::Unclear(format!(
                "the answer {} to the request for its status has neither a known state nor its id",
                self.status
            )),
        })
    }

    /// What the service says of a job that it has. The success of a request to queue one is doubtful if
    /// it says that it did not.
    pub(crate) fn job(self) -> Result<Map<String, Value>, Error> {
        let data = self.envelope::<Value, IgnoredAny>()?.data;
        let is_refused = data.is_null() || data.get("success") == Some(&Value::Bool(false));
        match data {
            _ if is_refused && self.route.method == Method::POST => {
                let reason = "it does not say that the generation was queued";
                Err(self.error(Error::decode(self.status, Some("data"), reason, None)).doubted())
            }
            Value::Object(members) => Ok(members),
            _ => Ok(Map::new()),
        }
    }

    /// The `data` of a success; `None` if the API says that there is no such thing.
    pub(crate) fn data_if_found<T: DeserializeOwned>(self) -> Result<Option<T>, Error> {
        match self.data() {
            Ok(data) => Ok(Some(data)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// States that say that there is no such job, without spaces and separators.
const DENIALS: [&str; 7] =
    ["notfound", "unknown", "none", "null", "missing", "nonexistent", "doesnotexist"];

/// Whether this status is of the job.
fn shows(job: &JobId, data: &Value) -> bool {
    let Ok(status) = GenerationStatus::deserialize(data) else { return false };
    let is_false = |name: &&str| data.get(*name) == Some(&Value::Bool(false));
    let is_denied = ["exists", "found"].iter().any(is_false)
        || DENIALS.contains(&&*letters(status.state.as_str()));
    let told = GenerationStatus::from(without_lists(data)).state;
    let is_known = !matches!(told, GenerationState::Unknown(_));
    let mut ids = Vec::new();
    add_ids(data, &mut ids);
    // Some services change the case.
    let is_named = ids.iter().any(|(_, id)| id.eq_ignore_ascii_case(job.as_str().trim()));
    let is_another = !is_named && ids.iter().any(|(is_job, _)| *is_job);
    !is_denied && !is_another && (is_known || is_named)
}

/// The data without lists, which may be of other jobs.
fn without_lists(data: &Value) -> Value {
    let of_member = |(name, value): (&String, _)| (name.clone(), without_lists(value));
    match data {
        Value::Object(members) => members.iter().map(of_member).collect(),
        Value::Array(_) => Value::Null,
        other => other.clone(),
    }
}

/// Adds the texts of members for an id, at any depth, and whether each is that of a job.
fn add_ids<'a>(data: &'a Value, ids: &mut Vec<(bool, &'a str)>) {
    match data {
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            let name = letters(name);
            match value.as_str().filter(|_| name.ends_with("id")) {
                Some(id) => ids.push((name == "clientjobid", id.trim())),
                None => add_ids(value, ids),
            }
        }),
        Value::Array(values) => values.iter().for_each(|value| add_ids(value, ids)),
        _ => {}
    }
}

/// Which of these prompts are the output of a job. Nothing is guessed.
pub(crate) fn output(
    mut fitting: Vec<Prompt>,
    status: &GenerationStatus,
    hint: &OutputHint,
) -> Evidence<Vec<Prompt>> {
    // The job and its output are made by the same clock.
    let earliest = status.created_at.or(hint.earliest);
    let latest = status.created_at.or(hint.latest);
    let outputs = hint.batch_count.unwrap_or(1) as usize;
    let images =
        |prompts: &[Prompt]| prompts.iter().map(|prompt| prompt.images.len()).sum::<usize>();
    fitting.retain(|prompt| hint.prompt.as_ref().is_none_or(|text| *text == prompt.text));
    let of_any_time = images(&fitting);
    fitting.retain(|prompt| earliest.is_none_or(|earliest| prompt.created_at >= earliest));
    if images(&fitting) > outputs {
        // Some may have been there before: those are left whose time excludes it.
        fitting.retain(|prompt| latest.is_none_or(|latest| prompt.created_at >= latest));
    }
    fitting.retain(|prompt| !prompt.images.is_empty());
    fitting.sort_by_key(|prompt| (prompt.created_at, prompt.id));
    let count = images(&fitting);
    if count == outputs {
        return Evidence::Present(fitting);
    }
    let of_text = hint.prompt.as_ref().map_or("", |_| " with its text");
    let mut problem = if count > outputs {
        format!("{count} images of new prompts{of_text}, of which {outputs} are the output")
    } else {
        format!("{count} of {outputs} images of new prompts{of_text}")
    };
    if of_any_time > count {
        let others = of_any_time - count;
        problem += &format!(", and {others} of prompts that may be older than the job");
    }
    Evidence::Unclear(problem + "; a vault of its own (`vault`) tells the output of a job apart")
}
