//! The steps of a journal in memory, of which the lines of its file tell.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::line::{Begin, Event, Kind, Line, List};
use crate::error::Error;
use crate::model::Timestamp;
use crate::send::evidence::Claims;

#[derive(Debug, Default)]
pub(super) struct Steps(Mutex<All>);

#[derive(Debug, Default)]
pub(super) struct All {
    steps: HashMap<String, Recorded>,
    /// The keys of those that are open: all others are left alone.
    open: HashSet<String>,
    /// When the newest result in a list was created, by the clock that the service has for it.
    newest: HashMap<List, Timestamp>,
}

#[derive(Debug, Clone)]
pub(super) struct Recorded {
    pub(super) begin: Begin,
    pub(super) state: State,
    /// The call may have been sent until then.
    since: Instant,
    pub(super) asked: Option<Instant>,
    is_running: bool,
    /// The newest result, in the same list, of the steps that had ended before this one began.
    pub(super) newest_before: Option<Timestamp>,
}

#[derive(Debug, Clone)]
pub(super) enum State {
    Open,
    /// What the service has neither is the result nor shows that there is none.
    Ambiguous(String),
    NotDone,
    Done(Value),
}

impl Recorded {
    fn new(begin: Begin, state: State) -> Self {
        let since = Instant::now();
        Self { begin, state, since, asked: None, is_running: false, newest_before: None }
    }

    pub(super) const fn is_open(&self) -> bool {
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

impl All {
    fn change<T>(&mut self, key: &str, change: impl FnOnce(&mut Recorded) -> T) -> Option<T> {
        let step = self.steps.get_mut(key)?;
        let changed = change(step);
        if step.is_open() {
            self.open.insert(key.to_owned());
        } else {
            self.open.remove(key);
        }
        Some(changed)
    }
}

impl Steps {
    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn apply(&self, line: Line) -> Result<(), String> {
        let (Line { key, event }, mut all) = (line, self.all());
        if let Event::Begin(begin) = &event {
            let fresh = || Recorded::new(begin.clone(), State::NotDone);
            all.steps.entry(key.clone()).or_insert_with(fresh);
        }
        let kind = match &event {
            Event::Begin(begin) => Some(begin.kind),
            _ => all.steps.get(&key).map(|step| step.begin.kind),
        };
        let list = kind.and_then(Kind::list);
        let newest_before = list.and_then(|list| all.newest.get(&list).copied());
        if let (Some(list), Event::Done { value }) = (list, &event) {
            let created = value.get("createdAt").and_then(|time| time.as_str()?.parse().ok());
            all.newest.extend(newest_before.max(created).map(|newest| (list, newest)));
        }
        let changed = all.change(&key, |step| match event {
            Event::Begin(begin) => {
                let is_running = step.is_running;
                let open = Recorded::new(begin, State::Open);
                *step = Recorded { is_running, newest_before, ..open };
            }
            Event::Done { value } => step.state = State::Done(value),
            Event::NotDone => step.state = State::NotDone,
        });
        changed.ok_or_else(|| format!("no step \"{key}\" has begun"))
    }

    pub(super) fn change(&self, key: &str, change: impl FnOnce(&mut Recorded)) {
        let _ = self.all().change(key, change);
    }

    pub(super) fn open(&self, is_wanted: impl Fn(&Recorded) -> bool) -> Vec<(String, Recorded)> {
        let all = self.all();
        let open = all.open.iter().filter_map(|key| all.steps.get_key_value(key));
        let wanted = open.filter(|(_, step)| is_wanted(step));
        let mut wanted: Vec<_> = wanted.map(|(key, step)| (key.clone(), step.clone())).collect();
        wanted.sort_by(|(key, step), (other, than)| {
            (step.begin.at, key).cmp(&(than.begin.at, other))
        });
        wanted
    }

    pub(super) fn claims(&self, list: List) -> Claims {
        let mut claims = Claims::default();
        for step in self.all().steps.values() {
            let Recorded { begin, state, .. } = step;
            if list == List::Prompts && begin.kind == Kind::Generation {
                let text = begin.content.get("prompt").and_then(Value::as_str);
                claims.add_text(text.unwrap_or_default());
            }
            let State::Done(value) = state else { continue };
            let id = value.get("id").and_then(Value::as_i64);
            if begin.kind.list() == Some(list) {
                claims.ids.extend(id);
            } else if begin.kind == Kind::Fork {
                claims.copies.extend(id);
            }
        }
        claims
    }
}

/// The right to work on a step, until it is dropped.
pub(super) struct Claim<'a> {
    steps: &'a Steps,
    pub(super) key: String,
    pub(super) kind: Kind,
}

impl<'a> Claim<'a> {
    pub(super) fn new(steps: &'a Steps, key: String, call: &Begin) -> Result<Self, Error> {
        let mut all = steps.all();
        let fresh = || Recorded::new(call.clone(), State::NotDone);
        let step = all.steps.entry(key.clone()).or_insert_with(fresh);
        let is_unknown = step.begin.content.is_null() || call.content.is_null();
        if step.begin.kind != call.kind || !is_unknown && step.begin.content != call.content {
            // What was not carried out may be corrected.
            if step.is_running || !matches!(step.state, State::NotDone) {
                let text = format!("the step \"{key}\" of the journal is another call");
                return Err(Error::input(text + "; use another key"));
            }
            *step = fresh();
        }
        Self::take(steps, key, step)
    }

    pub(super) fn open(steps: &'a Steps, key: &str, kind: Option<Kind>) -> Result<Self, Error> {
        let mut all = steps.all();
        match all.steps.get_mut(key).filter(|step| step.is_open()) {
            None => Err(Error::input(format!("no step \"{key}\" of the journal is open"))),
            // A copy of a vault is a vault.
            Some(step)
                if kind.is_some_and(|kind| kind != step.begin.kind)
                    && (kind, step.begin.kind) != (Some(Kind::Vault), Kind::Fork) =>
            {
                Err(Error::input(format!("the step \"{key}\" of the journal has another result")))
            }
            Some(step) => Self::take(steps, key.to_owned(), step),
        }
    }

    fn take(steps: &'a Steps, key: String, step: &mut Recorded) -> Result<Self, Error> {
        if std::mem::replace(&mut step.is_running, true) {
            return Err(Error::input(format!("the step \"{key}\" of the journal is running")));
        }
        Ok(Self { steps, key, kind: step.begin.kind })
    }

    pub(super) fn step(&self) -> Recorded {
        let step = self.steps.all().steps.get(&self.key).cloned();
        step.unwrap_or_else(|| Recorded::new(Begin::new(self.kind, Value::Null), State::NotDone))
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.steps.change(&self.key, |step| step.is_running = false);
    }
}

/// Marks, when it is dropped, that the call has ended.
pub(super) struct Sending<'a>(pub(super) &'a Claim<'a>);

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        self.0.steps.change(&self.0.key, |step| step.since = Instant::now());
    }
}
