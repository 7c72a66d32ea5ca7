//! Random steps on generations.
//!
//! Times are whole seconds: see [`super::super::compare`].

use std::ops::Range;
use std::time::Duration;

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Pick, Who, pick, who};
use crate::domain::Release;

/// One step on a generation.
#[derive(Clone, Debug)]
pub(crate) enum JobOp {
    Reserve { by: Who, name: NamePick, digest: u8, order: u8, vault: Option<Pick> },
    Submitted(JobPick, u8),
    Lost(JobPick, u8),
    Discard(JobPick),
    Job(Who, JobPick),
    JobByKey(JobPick),
    Claim { lease: Duration, submit_limit: Duration },
    Renew(LeasePick, Duration),
    Release(LeasePick, Duration, Release),
    Complete(LeasePick, usize),
    Fail(LeasePick, u8),
}

/// The name that a generation is ordered under.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NamePick {
    /// One that nobody has used.
    Fresh,
    /// One that an account has used, this one or another.
    Used(usize),
}

/// Some job, settled when the step is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum JobPick {
    /// One that is being submitted.
    Submitting(usize),
    /// One that is or was there.
    Any(usize),
    /// One that never was.
    Nothing,
}

/// Some lease, settled when the step is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LeasePick {
    /// One that has not been given back and that nobody has been given since.
    Held(usize),
    /// Any that was given.
    Any(usize),
    /// One that nobody was given, on a job that is or was there.
    Forged(usize),
}

impl LeasePick {
    pub(crate) const fn number(self) -> usize {
        match self {
            Self::Held(number) | Self::Any(number) | Self::Forged(number) => number,
        }
    }
}

pub(super) fn jobs() -> impl Strategy<Value = JobOp> {
    prop_oneof![
        14 => taking_on(),
        18 => working(),
    ]
}

fn taking_on() -> impl Strategy<Value = JobOp> {
    let name = prop_oneof![
        3 => Just(NamePick::Fresh),
        1 => any::<usize>().prop_map(NamePick::Used),
    ];
    let digest = prop_oneof![4 => Just(0_u8), 1 => Just(1)];
    prop_oneof![
        6 => (who(), name, digest, any::<u8>(), option::weighted(0.6, pick())).prop_map(
            |(by, name, digest, order, vault)| JobOp::Reserve { by, name, digest, order, vault }
        ),
        5 => (job(), any::<u8>()).prop_map(|(job, ticket)| JobOp::Submitted(job, ticket)),
        1 => (job(), any::<u8>()).prop_map(|(job, reason)| JobOp::Lost(job, reason)),
        1 => job().prop_map(JobOp::Discard),
        1 => (who(), job()).prop_map(|(by, job)| JobOp::Job(by, job)),
        1 => job().prop_map(JobOp::JobByKey),
    ]
}

fn working() -> impl Strategy<Value = JobOp> {
    use Release::{FailedAttempt, InProgress, Shutdown, Waiting};
    let seen = select(&[Waiting, InProgress, InProgress, FailedAttempt, Shutdown][..]);
    prop_oneof![
        8 => (seconds(1..8), seconds(2..7))
            .prop_map(|(lease, submit_limit)| JobOp::Claim { lease, submit_limit }),
        1 => (lease(), seconds(1..8)).prop_map(|(lease, lasting)| JobOp::Renew(lease, lasting)),
        6 => (lease(), seconds(0..3), seen)
            .prop_map(|(lease, pause, seen)| JobOp::Release(lease, pause, seen)),
        3 => (lease(), 0..4_usize).prop_map(|(lease, images)| JobOp::Complete(lease, images)),
        1 => (lease(), any::<u8>()).prop_map(|(lease, reason)| JobOp::Fail(lease, reason)),
    ]
}

fn seconds(range: Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_secs)
}

fn job() -> impl Strategy<Value = JobPick> {
    prop_oneof![
        12 => any::<usize>().prop_map(JobPick::Submitting),
        4 => any::<usize>().prop_map(JobPick::Any),
        1 => Just(JobPick::Nothing),
    ]
}

fn lease() -> impl Strategy<Value = LeasePick> {
    prop_oneof![
        12 => any::<usize>().prop_map(LeasePick::Held),
        3 => any::<usize>().prop_map(LeasePick::Any),
        1 => any::<usize>().prop_map(LeasePick::Forged),
    ]
}
