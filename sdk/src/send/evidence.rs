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
use std::collections::HashSet;

use http::{Method, StatusCode};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

use super::reply::Reply;
use crate::error::Error;
use crate::model::{GenerationState, GenerationStatus, JobId, OutputHint, Prompt, letters};

/// What an answer proves.
#[derive(Debug)]
pub(crate) enum Evidence<T> {
    Present(T),
    Absent,
    /// Neither, for this reason.
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

impl Reply {
    /// What this response to a request for the status of a job proves; an error if the request was
    /// refused.
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

#[cfg(feature = "durable")]
pub(crate) use listed::{Claims, Content, Item, Sought, of_steps};

/// Open steps of a journal, looked for in a list.
#[cfg(feature = "durable")]
mod listed {
    use std::collections::HashMap;

    use icu_normalizer::ComposingNormalizerBorrowed;
    use serde_json::json;

    use super::{Evidence, HashSet, Value};
    use crate::model::Timestamp;

    /// The fields by which a prompt or a vault is recognized, normalized: first the two texts, then
    /// the others. `None` for a copy, of whose fields nothing is known.
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    pub(crate) struct Content {
        fields: Option<[Value; 4]>,
        /// The two texts without case, spaces and punctuation.
        letters: String,
    }

    /// Without what services change in texts: spaces at the ends, line ends, Unicode normalization.
    fn normalized(text: &str) -> String {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        ComposingNormalizerBorrowed::new_nfc().normalize(text.trim()).into_owned()
    }

    impl Content {
        pub(crate) const COPY: Self = Self { fields: None, letters: String::new() };

        pub(crate) fn of_prompt(value: &Value) -> Self {
            Self::new(value, ["title", "prompt", "promptType", "platform"])
        }

        pub(crate) fn of_vault(value: &Value) -> Self {
            Self::new(value, ["name", "description", "visibility", ""])
        }

        /// Fields that are not set have the values that a call without them has.
        fn new(value: &Value, fields: [&str; 4]) -> Self {
            let fields = fields.map(|name| match (value.get(name), name) {
                (None | Some(Value::Null), "promptType") => json!("text"),
                (None | Some(Value::Null), "visibility") => json!("private"),
                (None | Some(Value::Null), "description") => json!(""),
                (Some(Value::String(text)), _) => json!(normalized(text)),
                (value, _) => value.cloned().unwrap_or_default(),
            });
            let texts = fields.iter().take(2).filter_map(Value::as_str).collect::<Vec<_>>();
            let is_dropped = |char: char| char.is_whitespace() || char.is_ascii_punctuation();
            let letters = texts.join("\0").to_lowercase().replace(is_dropped, "");
            Self { fields: Some(fields), letters }
        }

        /// What things that are alike have in common; `None` for a copy.
        pub(crate) fn letters(&self) -> Option<&str> {
            self.fields.as_ref().map(|_| &*self.letters)
        }
    }

    /// The result of an open step.
    pub(crate) struct Sought {
        pub(crate) content: Content,
        /// When the step began.
        pub(crate) began: Timestamp,
        /// What was created before it is no result, unless it is alike.
        pub(crate) since: Timestamp,
    }

    /// A prompt or a vault in a list.
    pub(crate) struct Item {
        pub(crate) content: Content,
        /// The latest time at which it may have been created, by the clock of this machine.
        pub(crate) created_at: Timestamp,
        pub(crate) value: Value,
    }

    /// What the steps of a journal that were carried out account for.
    #[derive(Debug, Default)]
    pub(crate) struct Claims {
        /// The ids of their results.
        pub(crate) ids: HashSet<i64>,
        /// Copied vaults, whose prompts are copies too.
        pub(crate) copies: HashSet<i64>,
        /// The texts of generations, whose output is in the list of prompts.
        pub(crate) generated: HashSet<String>,
    }

    impl Claims {
        pub(crate) fn add_text(&mut self, text: &str) {
            self.generated.insert(normalized(text));
        }

        /// Whether this item belongs to a step, or is a vault of the service itself.
        pub(crate) fn include(&self, item: &Value) -> bool {
            let id = |value: &Value, ids: &HashSet<i64>| {
                value.as_i64().is_some_and(|id| ids.contains(&id))
            };
            let list = |name| item.get(name).and_then(Value::as_array).into_iter().flatten();
            let text = item.get("prompt").and_then(Value::as_str);
            item.get("id").is_none_or(|it| id(it, &self.ids))
                || item.get("isSystem") == Some(&Value::Bool(true))
                || list("vaultIds").any(|it| id(it, &self.copies))
                || list("images").next().is_some()
                    && text.is_some_and(|text| self.generated.contains(&normalized(text)))
        }
    }

    /// What a list, of which these items belong to no step, proves about the results of open steps.
    pub(crate) fn of_steps(steps: &[Sought], mut items: Vec<Item>) -> Vec<Evidence<Value>> {
        items.sort_by_key(|item| item.created_at);
        let mut alike = HashMap::<_, (usize, Timestamp)>::new();
        for Sought { content, began, .. } in steps.iter().filter(|it| it.content != Content::COPY) {
            let (count, first) = alike.entry(content).or_insert((0, *began));
            (*count, *first) = (*count + 1, *began.min(first));
        }
        let (mut found, mut strangers) = (HashMap::<_, Vec<_>>::new(), Vec::new());
        for item in items {
            match alike.get_key_value(&item.content) {
                Some((content, (_, first))) if item.created_at >= *first => {
                    found.entry(*content).or_default().push(item.value);
                }
                _ => strangers.push(item),
            }
        }
        let of_step = |Sought { content, since, .. }: &Sought| {
            let copies = alike.get(content).map_or(0, |(count, _)| *count);
            if let Some(results) = found.get_mut(content)
                && !results.is_empty()
            {
                if results.len() > copies {
                    let reason = "the service has more like it than steps of the journal";
                    return Evidence::Unclear(reason.to_owned());
                }
                return Evidence::Present(results.remove(0));
            }
            let is_like = |item: &&Item| {
                item.created_at >= *since
                    || content.letters().is_some() && item.content.letters() == content.letters()
            };
            match strangers.iter().find(is_like) {
                None => Evidence::Absent,
                Some(item) => Evidence::Unclear(format!(
                    "it may be the one with the id {}, which belongs to no step of the journal",
                    item.value.get("id").unwrap_or(&Value::Null)
                )),
            }
        };
        steps.iter().map(of_step).collect()
    }
}
