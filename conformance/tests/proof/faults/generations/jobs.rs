//! Faults in the work on a job, and in what it leaves (GE-26 to GE-32).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use promptarium::PromptId;
use promptarium_server::store::{
    AccountId, Caller, Claim, JobRecord, JobState, Lease, NewJob, PromptImage, Release, Reserved,
    Store, StoreError, Turn,
};

use crate::fault::{Fault, Intercept, fault};
use crate::shared::Shared;
use crate::store::{FaultyStore, Good, Result, in_store};

/// How long the output is on its way after the job is said to be completed.
const LATE: Duration = Duration::from_millis(700);
/// How long a job rests that nobody has asked for.
const REST: Duration = Duration::from_millis(100);

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "generations.job-fails" ["GE-28"] jobs(Slip::Fails),
        "A job that is done is said to have failed." },
    fault! { "generations.negative-fails" ["GE-14"] jobs(Slip::NegativeFails),
        "A job with a negativePrompt fails." },
    fault! { "generations.job-early" ["GE-32"] jobs(Slip::Early),
        "A job is completed before its output is in the vault." },
    fault! { "generations.job-lazy" ["GE-27"] jobs(Slip::Lazy),
        "A job runs only once its status was asked for." },
    fault! { "generations.output-loose" ["GE-29"] jobs(Slip::Loose),
        "The output of a job is in no vault." },
    fault! { "generations.output-no-images" ["GE-29"] jobs(Slip::NoImages),
        "A job leaves a prompt without images." },
    fault! { "generations.batch-short" ["GE-30"] jobs(Slip::Short),
        "A batch lacks its last output." },
    fault! { "generations.batch-same" ["GE-30"] jobs(Slip::Same),
        "All outputs of a batch have the address of the first." },
    fault! { "generations.batch-twice" ["GE-30"] jobs(Slip::Twice),
        "The outputs of a batch are saved twice." },
    fault! { "generations.status-foreign" ["GE-31"] jobs(Slip::Foreign),
        "Another account reads the status of a job by its id." },
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slip {
    Fails,
    NegativeFails,
    Early,
    Lazy,
    Loose,
    NoImages,
    Short,
    Same,
    Twice,
    Foreign,
}

struct Jobs {
    slip: Slip,
    callers: Shared<HashMap<AccountId, Caller>>,
    asked_for: Shared<BTreeSet<String>>,
}

fn jobs(slip: Slip) -> Intercept {
    let (callers, asked_for) = (Shared::default(), Shared::default());
    in_store("POST /generations", Jobs { slip, callers, asked_for })
}

impl Jobs {
    async fn foreign(&self, good: Good<'_>, id: &str) -> Result<JobRecord> {
        for caller in self.callers.with(|callers| callers.clone()).values() {
            if let Ok(job) = good.of(caller).job(id).await {
                return Ok(job);
            }
        }
        Err(StoreError::NotFound)
    }
}

#[async_trait]
impl FaultyStore for Jobs {
    async fn reserve_job(&self, good: Good<'_>, mut new: NewJob) -> Result<Reserved> {
        self.callers.with(|callers| callers.insert(good.caller.account, good.caller.clone()));
        if self.slip == Slip::NegativeFails && new.request.negative_prompt.is_some() {
            Arc::make_mut(&mut new.request).model_id = "local/fail".into();
        }
        good.reserve_job(new).await
    }

    async fn job(&self, good: Good<'_>, client_job_id: &str) -> Result<JobRecord> {
        self.asked_for.with(|asked| asked.insert(client_job_id.to_owned()));
        let job = good.job(client_job_id).await;
        if self.slip == Slip::Foreign && matches!(job, Err(StoreError::NotFound)) {
            return self.foreign(good, client_job_id).await;
        }
        let mut job = job?;
        job.state = match (self.slip, job.state) {
            (Slip::Fails, JobState::Completed(ticket, _)) => {
                JobState::Failed(Some(ticket), "the provider gave no answer".into())
            }
            (Slip::Early, JobState::Queued(ticket) | JobState::InProgress(ticket))
                if &*job.request.model_id != "local/fail" =>
            {
                JobState::Completed(ticket, PromptId::new(i64::MAX))
            }
            (_, state) => state,
        };
        Ok(job)
    }

    async fn claim_job(
        &self,
        inner: &dyn Store,
        lease: Duration,
        turn: &Turn,
    ) -> Result<Option<Claim>> {
        let claim = inner.claim_job(lease, turn).await?;
        let Some(claim) = claim else { return Ok(None) };
        let name = &*claim.job.key.client_job_id;
        if self.slip == Slip::Lazy && !self.asked_for.with(|asked| asked.contains(name)) {
            inner.release_job(&claim.lease, REST, Release::Waiting).await?;
            return Ok(None);
        }
        Ok(Some(claim))
    }

    async fn complete_job(
        &self,
        inner: &dyn Store,
        lease: &Lease,
        mut images: Vec<PromptImage>,
    ) -> Result<PromptId> {
        match self.slip {
            Slip::Early => tokio::time::sleep(LATE).await,
            Slip::NoImages => images.clear(),
            Slip::Short if images.len() > 1 => images.truncate(images.len() - 1),
            Slip::Same => {
                let sources = images.iter().map(|image| image.source.clone());
                let first: Vec<_> = sources.take(1).collect();
                images.iter_mut().for_each(|image| image.source.clone_from(&first[0]));
            }
            Slip::Twice if images.len() > 1 => images.extend(images.clone()),
            _ => {}
        }
        let id = inner.complete_job(lease, images).await?;
        if self.slip == Slip::Loose {
            let caller = self.callers.with(|callers| callers.get(&lease.job.account).cloned());
            if let Some(caller) = caller {
                Good { inner, caller: &caller }.take_out(id, |_| true).await?;
            }
        }
        Ok(id)
    }
}
