//! Faults in the work on a job, and in what it leaves (GE-26 to GE-32).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use promptarium::PromptId;
use promptarium_server::store::{
    AccountId, Caller, Claim, JobKey, JobRecord, JobState, Lease, NewJob, PromptImage, Release,
    Reserved, Turn,
};
use promptarium_server::store::{Store, StoreError};

use super::super::contents::held;
use crate::fault::{Fault, Intercept, fault};
use crate::shared::Shared;
use crate::store::{FaultyStore, with_fault};

/// How long the output is on its way after the job is said to be completed.
const LATE: Duration = Duration::from_millis(700);
/// How long a job rests that nobody has asked for.
const REST: Duration = Duration::from_millis(100);

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "generations.job-fails" ["GE-28"]
        Intercept::Store("POST /generations", |inner| with_fault(inner, Jobs::of(Slip::Fails))),
        "A job that is done is said to have failed." },
    fault! { "generations.negative-fails" ["GE-14"]
        Intercept::Store("POST /generations", |inner| with_fault(inner, Jobs::of(Slip::NegativeFails))),
        "A job with a negativePrompt fails." },
    fault! { "generations.job-early" ["GE-32"]
        Intercept::Store("POST /generations", |inner| with_fault(inner, Jobs::of(Slip::Early))),
        "A job is completed before its output is in the vault." },
    fault! { "generations.job-lazy" ["GE-27"]
        Intercept::Store("POST /generations", |inner| with_fault(inner, Jobs::of(Slip::Lazy))),
        "A job runs only once its status was asked for." },
    fault! { "generations.output-loose" ["GE-29"]
        Intercept::Store("POST /generations", |inner| with_fault(inner, Jobs::of(Slip::Loose))),
        "The output of a job is in no vault." },
    fault! { "generations.output-no-images" ["GE-29"]
        Intercept::Store("POST /generations", |inner| with_fault(inner, Jobs::of(Slip::NoImages))),
        "A job leaves a prompt without images." },
    fault! { "generations.batch-short" ["GE-30"]
        Intercept::Store("POST /generations", |inner| with_fault(inner, Jobs::of(Slip::Short))),
        "A batch lacks its last output." },
    fault! { "generations.batch-same" ["GE-30"]
        Intercept::Store("POST /generations", |inner| with_fault(inner, Jobs::of(Slip::Same))),
        "All outputs of a batch have the address of the first." },
    fault! { "generations.batch-twice" ["GE-30"]
        Intercept::Store("POST /generations", |inner| with_fault(inner, Jobs::of(Slip::Twice))),
        "The outputs of a batch are saved twice." },
    fault! { "generations.status-foreign" ["GE-31"]
        Intercept::Store("POST /generations", |inner| with_fault(inner, Jobs::of(Slip::Foreign))),
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

impl Jobs {
    fn of(slip: Slip) -> Self {
        Self { slip, callers: Shared::default(), asked_for: Shared::default() }
    }

    async fn foreign(&self, inner: &dyn Store, id: &str) -> Result<JobRecord, StoreError> {
        for caller in self.callers.with(|callers| callers.clone()).values() {
            if let Ok(job) = inner.job(caller, id).await {
                return Ok(job);
            }
        }
        Err(StoreError::NotFound)
    }

    /// Takes the output out of its vault.
    async fn loosen(
        &self,
        inner: &dyn Store,
        job: &JobKey,
        id: PromptId,
    ) -> Result<(), StoreError> {
        let caller = self.callers.with(|callers| callers.get(&job.account).cloned());
        let Some(caller) = caller else { return Ok(()) };
        for vault in inner.prompt(&caller, id).await?.vault_ids.clone() {
            for entry in held(inner, &caller, vault).await {
                if entry.prompt.id == id {
                    inner.remove_membership(&caller, vault, entry.membership).await?;
                }
            }
        }
        Ok(())
    }
}

#[async_trait]
impl FaultyStore for Jobs {
    async fn reserve_job(
        &self,
        inner: &dyn Store,
        caller: &Caller,
        mut new: NewJob,
    ) -> Result<Reserved, StoreError> {
        self.callers.with(|callers| callers.insert(caller.account, caller.clone()));
        if self.slip == Slip::NegativeFails && new.request.negative_prompt.is_some() {
            Arc::make_mut(&mut new.request).model_id = "local/fail".into();
        }
        inner.reserve_job(caller, new).await
    }

    async fn job(
        &self,
        inner: &dyn Store,
        caller: &Caller,
        client_job_id: &str,
    ) -> Result<JobRecord, StoreError> {
        self.asked_for.with(|asked| asked.insert(client_job_id.to_owned()));
        let job = inner.job(caller, client_job_id).await;
        if self.slip == Slip::Foreign && matches!(job, Err(StoreError::NotFound)) {
            return self.foreign(inner, client_job_id).await;
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
    ) -> Result<Option<Claim>, StoreError> {
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
    ) -> Result<PromptId, StoreError> {
        match self.slip {
            Slip::Early => tokio::time::sleep(LATE).await,
            Slip::NoImages => images.clear(),
            Slip::Short if images.len() > 1 => images.truncate(images.len() - 1),
            Slip::Same => {
                let first = images.first().map(|image| image.url.clone()).unwrap_or_default();
                images.iter_mut().for_each(|image| image.url = first.clone());
            }
            Slip::Twice if images.len() > 1 => images.extend(images.clone()),
            _ => {}
        }
        let id = inner.complete_job(lease, images).await?;
        if self.slip == Slip::Loose {
            self.loosen(inner, &lease.job, id).await?;
        }
        Ok(id)
    }
}
