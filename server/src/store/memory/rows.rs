//! The rows of the tables, as records have them in JSON. A field that comes later needs a default.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use promptarium::PromptId;
use serde::{Deserialize, Serialize};

use crate::clock::after;
use crate::domain::{
    AccountId, JobKey, JobRecord, JobState, PromptInputs, SessionRecord, SharedPrompt,
};
use crate::limits::SESSION_IDLE;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Account {
    pub(super) name: Box<str>,
    pub(super) created_at: Timestamp,
}

/// Kinds of ids that are counted on their own, as a database does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Kind {
    Prompt,
    Vault,
    Membership,
    Other,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredPrompt {
    pub(super) shown: SharedPrompt,
    pub(super) inputs: PromptInputs,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Member {
    pub(super) prompt: PromptId,
    /// If it is pinned; later pins are greater.
    pub(super) pin: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Session {
    /// Of what the browser keeps.
    pub(super) digest: [u8; 32],
    pub(super) record: SessionRecord,
    pub(super) has_ended: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Code {
    pub(super) account: AccountId,
    pub(super) expires_at: Timestamp,
}

impl Session {
    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        let idle_end = after(self.record.last_seen_at, SESSION_IDLE);
        !self.has_ended && self.record.expires_at > now && idle_end > now
    }
}

/// A job with what its workers need.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) record: JobRecord,
    pub(super) digest: [u8; 32],
    /// When it was reserved, and later, when it is due for workers.
    pub(super) due_at: Timestamp,
    /// Of the lease on it, which runs until it is due.
    pub(super) fence: Option<u128>,
    pub(super) failed_attempts: u32,
    /// When the first of them was.
    pub(super) failing_since: Option<Timestamp>,
}

/// Where a job is among those that its account has listed, newest first.
pub(super) type ListKey = (AccountId, Reverse<(Timestamp, [u8; 32])>);

/// What is to be done with a job next: its submission, its work, and its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Phase {
    Submitting,
    Queued,
    Ended,
}

/// Where a job is among all jobs: those of one phase and account in the order of their times.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct QueueKey {
    pub(super) phase: Phase,
    pub(super) account: AccountId,
    /// When it is due, and after its end, when that was.
    pub(super) at: Timestamp,
    pub(super) name: Arc<str>,
}

impl QueueKey {
    pub(super) fn job(&self) -> (AccountId, Arc<str>) {
        (self.account, self.name.clone())
    }
}

impl Job {
    pub(super) const fn phase(&self) -> Phase {
        match self.record.state {
            JobState::Submitting => Phase::Submitting,
            JobState::Queued(_) | JobState::InProgress(_) => Phase::Queued,
            JobState::Completed(..) | JobState::Failed(..) => Phase::Ended,
        }
    }

    pub(super) fn is_submitting(&self) -> bool {
        self.phase() == Phase::Submitting
    }

    pub(super) fn queue_key(&self) -> QueueKey {
        let (phase, key) = (self.phase(), self.record.key.clone());
        let at = if phase == Phase::Ended { self.record.updated_at } else { self.due_at };
        QueueKey { phase, account: key.account, at, name: key.client_job_id }
    }

    pub(super) fn list_key(&self) -> ListKey {
        let JobRecord { key, created_at, .. } = &self.record;
        (key.account, Reverse((*created_at, JobKey::name_digest(&key.client_job_id))))
    }

    pub(super) fn enter(&mut self, state: JobState, now: Timestamp) {
        self.record.state = state;
        self.record.updated_at = later(now, self.record.updated_at);
    }

    pub(super) fn end(&mut self, state: JobState, now: Timestamp) {
        self.enter(state, now);
        self.fence = None;
    }

    pub(super) fn fail_attempt(&mut self, now: Timestamp) {
        self.failed_attempts += 1;
        self.failing_since.get_or_insert(now);
    }
}

/// The time of a change: now, but at least a microsecond after the previous change.
pub(super) fn later(now: Timestamp, before: Timestamp) -> Timestamp {
    let tick = SignedDuration::from_micros(1);
    now.max(before.checked_add(tick).unwrap_or(Timestamp::MAX))
}
