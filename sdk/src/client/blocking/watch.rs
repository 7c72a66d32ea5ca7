//! What becomes of a job, as an iterator.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::Blocking;
use super::steps::Steps;
use crate::client::Error;
use crate::client::generations::{Generations, JobHandle};
use crate::model::{GenerationStatus, JobId};

/// What becomes of a job: its status at once, then each status that differs from the
/// one before, and last the final one.
///
/// It asks, waits and ends as [`promptarium::Watch`](crate::Watch) does, and blocks
/// meanwhile. The deadline starts with the first step.
///
/// ```
/// # fn example(client: promptarium::blocking::Client) -> Result<(), promptarium::Error> {
/// for status in client.generations().watch("invoice-17") {
///     println!("{}", status?.status);
/// }
/// # Ok(())
/// # }
/// # promptarium::testing::demo::run_blocking(example);
/// ```
#[derive(Debug)]
#[must_use = "an iterator asks only when it is asked"]
pub struct Watch {
    job: JobId,
    steps: Steps<crate::Watch>,
}

impl Watch {
    /// How long to wait before asking again, from the first time to the longest. Each
    /// delay is drawn between half its length and the whole.
    pub fn poll_every(self, delays: RangeInclusive<Duration>) -> Self {
        Self { steps: self.steps.with(|watch| watch.poll_every(delays)), ..self }
    }

    /// How long the whole may take, a poll on its way included;
    /// [`Duration::MAX`] for as long as it needs.
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { steps: self.steps.with(|watch| watch.deadline(deadline)), ..self }
    }

    /// Names the job.
    #[must_use]
    pub const fn job_id(&self) -> &JobId {
        &self.job
    }

    /// The last status that was heard of, also when it did not differ.
    #[must_use]
    pub fn last_status(&self) -> Option<&GenerationStatus> {
        self.steps.stream()?.last()
    }

    /// Why the last poll failed, if it did and may yet succeed.
    #[must_use]
    pub fn last_failure(&self) -> Option<&Error> {
        self.steps.stream()?.last_failure()
    }
}

impl Iterator for Watch {
    type Item = Result<GenerationStatus, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.steps.next()
    }
}

/// Of a [`blocking::Client`](crate::blocking::Client).
impl Generations<Blocking> {
    /// What becomes of a job, as an iterator; see [`Watch`].
    pub fn watch(&self, job: impl Into<JobId>) -> Watch {
        self.job(job).watch()
    }
}

/// Of a [`blocking::Client`](crate::blocking::Client).
impl JobHandle<Blocking> {
    /// What becomes of the job, as an iterator; see [`Watch`].
    pub fn watch(&self) -> Watch {
        let steps = Steps::new(self.changes(), self.client.mode.clone());
        Watch { job: self.id().clone(), steps }
    }
}
