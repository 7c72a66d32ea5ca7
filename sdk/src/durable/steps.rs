//! The steps of a journal in memory, as its lines tell them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::Shared;
use super::line::Line;
use super::step::Kind;
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
    pub(super) state: State,
    /// The call may have been sent until then.
    since: Instant,
    /// When the service was asked whether it was carried out.
    pub(super) asked: Option<Instant>,
    is_running: bool,
}

#[derive(Debug, Clone)]
pub(super) enum State {
    Open,
    /// What the service has fits in more than one way.
    Ambiguous(&'static str),
    NotDone,
    Done(Value),
}

impl Recorded {
    fn new(kind: Kind, content: Value, state: State) -> Self {
        Self {
            kind,
            content,
            began_at: Timestamp::now(),
            job: None,
            slot: None,
            state,
            since: Instant::now(),
            asked: None,
            is_running: false,
        }
    }

    const fn is_open(&self) -> bool {
        matches!(self.state, State::Open | State::Ambiguous(_))
    }

    /// The time from which on an absence counts; `None` if never.
    pub(super) fn settled_at(&self, settle: Duration) -> Option<Instant> {
        self.since.checked_add(settle)
    }

    /// Whether asking may tell more of the step than is known.
    pub(super) fn is_due(&self, settle: Duration) -> bool {
        let has_settled = |asked| {
            let settled = self.settled_at(settle);
            settled.is_some_and(|settled| asked < settled && settled <= Instant::now())
        };
        matches!(self.state, State::Open) && self.asked.is_none_or(has_settled)
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
                let step = Recorded::new(kind, content, State::Open);
                steps.insert(key, Recorded { began_at, job, is_running, ..step });
                return Ok(());
            }
            Line::Slot { key, image } => (key, Some(image), State::Open),
            Line::Done { key, value } => (key, None, State::Done(value)),
            Line::NotDone { key } => (key, None, State::NotDone),
        };
        let step = steps.get_mut(&key).ok_or_else(|| format!("no step \"{key}\" has begun"))?;
        (step.slot, step.state) = (slot.or(step.slot.take()), state);
        Ok(())
    }

    pub(super) fn change(&self, key: &str, change: impl FnOnce(&mut Recorded)) {
        if let Some(step) = self.all().get_mut(key) {
            change(step);
        }
    }

    /// The open steps of this kind, in the order in which they began.
    pub(super) fn open(&self, kind: Kind) -> Vec<(String, Recorded)> {
        let steps = self.all();
        let open = steps.iter().filter(|(_, step)| step.kind == kind);
        let open = open.filter(|(_, step)| matches!(step.state, State::Open));
        let mut open: Vec<_> = open.map(|(key, step)| (key.clone(), step.clone())).collect();
        open.sort_by(|(a, left), (b, right)| (left.began_at, a).cmp(&(right.began_at, b)));
        open
    }

    /// The ids of the prompts or vaults that are results of steps.
    pub(super) fn results(&self, kind: Kind) -> Vec<Value> {
        let steps = self.all();
        let id = |step: &Recorded| match &step.state {
            State::Done(value) if step.kind == kind => value.get("id").cloned(),
            _ => None,
        };
        steps.values().filter_map(id).collect()
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
        let fresh = || Recorded::new(kind, content.clone(), State::NotDone);
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
                Err(Error::input(format!("the step \"{key}\" of the journal has another result")))
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

    /// The step as it is now.
    pub(super) fn step(&self) -> Recorded {
        let step = self.shared.steps.all().get(&self.key).cloned();
        step.unwrap_or_else(|| Recorded::new(self.kind, Value::Null, State::NotDone))
    }

    /// Marks, when it is dropped, that the call has ended.
    pub(super) const fn ended_on_drop(&self) -> impl Drop + use<'_> {
        Ended(self)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.shared.steps.change(&self.key, |step| step.is_running = false);
    }
}

struct Ended<'a>(&'a Claim);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.shared.steps.change(&self.0.key, |step| step.since = Instant::now());
    }
}
