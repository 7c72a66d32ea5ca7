//! The steps of a journal in memory, as its lines tell them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::line::Line;
use super::step::Kind;
use super::{Shared, settled_at};
use crate::error::Error;
use crate::model::{JobId, Timestamp};
use crate::resources::uploads::UploadedImage;

#[derive(Debug, Default)]
pub(super) struct Steps(Mutex<HashMap<String, Recorded>>);

#[derive(Debug, Clone)]
pub(super) struct Recorded {
    pub(super) kind: Kind,
    pub(super) content: Value,
    pub(super) began_at: Timestamp,
    pub(super) job: Option<JobId>,
    pub(super) slot: Option<UploadedImage>,
    state: State,
    is_running: bool,
}

#[derive(Debug, Clone)]
pub(super) enum State {
    /// It may have been sent until `since`; the service was asked at `asked`.
    Open {
        since: Instant,
        asked: Option<Instant>,
    },
    /// The answers of the service fit in more than one way.
    Ambiguous(String),
    NotDone,
    Done(Value),
}

impl Recorded {
    const fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. } | State::Ambiguous(_))
    }
}

impl Steps {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Recorded>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies a line that was read or written.
    pub(super) fn apply(&self, line: Line) -> Result<(), String> {
        let mut steps = self.all();
        let (key, slot, state) = match line {
            Line::Begin { key, kind, content, job, at: began_at } => {
                let is_running = steps.get(&key).is_some_and(|step| step.is_running);
                let state = State::Open { since: Instant::now(), asked: None };
                let step = Recorded { kind, content, began_at, job, slot: None, state, is_running };
                steps.insert(key, step);
                return Ok(());
            }
            Line::Slot { key, image } => (key, Some(image), None),
            Line::Done { key, value } => (key, None, Some(State::Done(value))),
            Line::NotDone { key } => (key, None, Some(State::NotDone)),
        };
        let step = steps.get_mut(&key).ok_or_else(|| format!("no step \"{key}\" has begun"))?;
        step.slot = slot.or(step.slot.take());
        step.state = state.unwrap_or_else(|| step.state.clone());
        Ok(())
    }

    pub(super) fn state(&self, key: &str) -> State {
        self.all().get(key).map_or(State::NotDone, |step| step.state.clone())
    }

    pub(super) fn has_slot(&self, key: &str) -> bool {
        self.all().get(key).is_some_and(|step| step.slot.is_some())
    }

    /// The job id of the step, if it began before.
    pub(super) fn job(&self, key: &str) -> Option<JobId> {
        self.all().get(key).and_then(|step| step.job.clone())
    }

    /// The step if it is open, and the time since when.
    pub(super) fn open_step(&self, key: &str) -> Option<(Recorded, Instant)> {
        let step = self.all().get(key)?.clone();
        if let State::Open { since, .. } = step.state { Some((step, since)) } else { None }
    }

    /// Marks, when it is dropped, that the call of the step has ended.
    pub(super) const fn ended_on_drop<'a>(&'a self, key: &'a str) -> impl Drop + use<'a> {
        Ended { steps: self, key }
    }

    pub(super) fn asked(&self, key: &str, at: Instant) {
        if let Some(Recorded { state: State::Open { asked, .. }, .. }) = self.all().get_mut(key) {
            *asked = Some(at);
        }
    }

    pub(super) fn ambiguous(&self, key: &str, reason: &str) {
        if let Some(step) = self.all().get_mut(key) {
            step.state = State::Ambiguous(reason.to_owned());
        }
    }

    /// Whether asking may tell more of the open step than was known before.
    pub(super) fn is_due(&self, key: &str, settle: Duration) -> bool {
        let State::Open { since, asked } = self.state(key) else { return false };
        let settled = settled_at(since, settle);
        asked.is_none_or(|asked| {
            settled.is_some_and(|settled| asked < settled && Instant::now() >= settled)
        })
    }

    /// The time from which on an absence counts for every step of this kind that is open now.
    pub(super) fn settled_at(&self, kind: Kind, key: &str, settle: Duration) -> Option<Instant> {
        let steps = self.all();
        let since = steps.iter().filter_map(|(name, step)| match step.state {
            State::Open { since, .. } if name == key || kind.is_listed() && step.kind == kind => {
                Some(since)
            }
            _ => None,
        });
        settled_at(since.max()?, settle)
    }

    /// The open steps of this kind, in the order in which they began, with the time since when.
    pub(super) fn open(&self, kind: Kind) -> Vec<(String, Recorded, Instant)> {
        let steps = self.all();
        let open = steps.iter().filter_map(|(key, step)| match step.state {
            State::Open { since, .. } if step.kind == kind => Some((key, step, since)),
            _ => None,
        });
        let mut open: Vec<_> =
            open.map(|(key, step, since)| (key.clone(), step.clone(), since)).collect();
        open.sort_by(|(a, left, _), (b, right, _)| (left.began_at, a).cmp(&(right.began_at, b)));
        open
    }

    /// The ids of the results of this kind.
    pub(super) fn results(&self, kind: Kind) -> Vec<Value> {
        let steps = self.all();
        let of_kind = steps.values().filter(|step| step.kind == kind);
        let id = |step: &Recorded| match &step.state {
            State::Done(value) => value.get("id").cloned(),
            _ => None,
        };
        of_kind.filter_map(id).collect()
    }
}

/// The right to work on a step, until it is dropped.
pub(super) struct Claim {
    shared: Arc<Shared>,
    pub(super) key: String,
    pub(super) kind: Kind,
}

impl Claim {
    /// Claims a step, new or not, for a call with this content.
    pub(super) fn new(
        shared: &Arc<Shared>,
        key: String,
        kind: Kind,
        content: &Value,
    ) -> Result<Self, Error> {
        let mut steps = shared.steps.all();
        let fresh = || Recorded {
            kind,
            content: content.clone(),
            began_at: Timestamp::now(),
            job: None,
            slot: None,
            state: State::NotDone,
            is_running: false,
        };
        let step = steps.entry(key.clone()).or_insert_with(fresh);
        let is_unknown = step.content.is_null() || content.is_null();
        if step.kind != kind || !is_unknown && step.content != *content {
            // What was not carried out may be corrected.
            if step.is_running || !matches!(step.state, State::NotDone) {
                let text = format!("the step \"{key}\" of the journal is another call");
                return Err(Error::input(text + "; use another key"));
            }
            *step = fresh();
        }
        Self::take(shared, key, step)
    }

    /// Claims an open step, of this kind if there is one.
    pub(super) fn open(shared: &Arc<Shared>, key: &str, kind: Option<Kind>) -> Result<Self, Error> {
        let mut steps = shared.steps.all();
        match steps.get_mut(key).filter(|step| step.is_open()) {
            None => Err(Error::input(format!("no step \"{key}\" of the journal is open"))),
            Some(step) if kind.is_some_and(|kind| kind != step.kind) => {
                Err(Error::input(format!("the result is not one of the call of step \"{key}\"")))
            }
            Some(step) => Self::take(shared, key.to_owned(), step),
        }
    }

    /// Claims the open steps that are not running, in the order in which they began.
    pub(super) fn all_open(shared: &Arc<Shared>) -> Vec<Self> {
        let mut steps = shared.steps.all();
        let mut open: Vec<_> = steps.iter_mut().filter(|(_, step)| step.is_open()).collect();
        open.sort_by_key(|(key, step)| (step.began_at, (*key).clone()));
        let claims = open.into_iter().map(|(key, step)| Self::take(shared, key.clone(), step));
        claims.filter_map(Result::ok).collect()
    }

    fn take(shared: &Arc<Shared>, key: String, step: &mut Recorded) -> Result<Self, Error> {
        if std::mem::replace(&mut step.is_running, true) {
            return Err(Error::input(format!("the step \"{key}\" of the journal is running")));
        }
        Ok(Self { shared: shared.clone(), key, kind: step.kind })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(step) = self.shared.steps.all().get_mut(&self.key) {
            step.is_running = false;
        }
    }
}

struct Ended<'a> {
    steps: &'a Steps,
    key: &'a str,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        if let Some(Recorded { state: State::Open { since, .. }, .. }) =
            self.steps.all().get_mut(self.key)
        {
            *since = Instant::now();
        }
    }
}
