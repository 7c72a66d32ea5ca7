//! A scripted provider and a store for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;
use promptarium::VaultId;
use tokio::time::sleep;

use super::{Output, PollError, Progress, Provider, SubmitError, request_digest};
use crate::clock::{Clock, ManualClock};
use crate::domain::{Caller, GenerationRequest, Media, NewJob, NewKey, ProviderTicket, Scopes};
use crate::store::memory::MemoryStore;
use crate::store::prelude::*;

type OnSubmit = dyn Fn(usize) -> Result<(), SubmitError> + Send + Sync;
type OnPoll = dyn Fn(usize) -> Result<Progress, PollError> + Send + Sync;

/// Each call takes `delay`; its result is chosen by its number, counting from 0.
pub(super) struct Scripted {
    delay: Duration,
    on_submit: Box<OnSubmit>,
    on_poll: Box<OnPoll>,
    submits: AtomicUsize,
    polls: AtomicUsize,
}

impl Scripted {
    pub(super) fn on_submit(
        delay: Duration,
        on_submit: impl Fn(usize) -> Result<(), SubmitError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            delay,
            on_submit: Box::new(on_submit),
            on_poll: Box::new(|_| Ok(Progress::Queued)),
            submits: AtomicUsize::new(0),
            polls: AtomicUsize::new(0),
        })
    }

    pub(super) fn on_poll(
        delay: Duration,
        on_poll: impl Fn(usize) -> Result<Progress, PollError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            delay,
            on_submit: Box::new(|_| Ok(())),
            on_poll: Box::new(on_poll),
            submits: AtomicUsize::new(0),
            polls: AtomicUsize::new(0),
        })
    }

    /// How many submissions and polls have begun.
    pub(super) fn calls(&self) -> (usize, usize) {
        (self.submits.load(Ordering::SeqCst), self.polls.load(Ordering::SeqCst))
    }
}

#[async_trait]
impl Provider for Scripted {
    async fn submit(&self, _: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let number = self.submits.fetch_add(1, Ordering::SeqCst);
        sleep(self.delay).await;
        (self.on_submit)(number).map(|()| ticket(&format!("r-{number}")))
    }

    async fn poll(&self, _: &ProviderTicket, _: &GenerationRequest) -> Result<Progress, PollError> {
        let number = self.polls.fetch_add(1, Ordering::SeqCst);
        sleep(self.delay).await;
        (self.on_poll)(number)
    }
}

pub(super) fn ticket(request_id: &str) -> ProviderTicket {
    ProviderTicket { request_id: request_id.into(), provider_state: "".into() }
}

pub(super) fn pictures(count: u32) -> Progress {
    let picture = |at: u32| Output {
        bytes: Bytes::from(format!("picture {at}")),
        media: Media::Png,
        width: 640,
        height: 480 + at,
    };
    Progress::Completed((0..count).map(picture).collect())
}

pub(super) fn new_job(name: &str, prompt: &str, vault: Option<VaultId>) -> NewJob {
    let request = GenerationRequest {
        model_id: "local/plasma".into(),
        prompt: prompt.into(),
        aspect_ratio: "1:1".into(),
        batch_count: 1,
        ..GenerationRequest::default()
    };
    NewJob {
        client_job_id: name.into(),
        digest: request_digest(&request, vault),
        request: Arc::new(request),
        vault,
    }
}

/// A clock that does not move.
pub(super) fn clock() -> Clock {
    Clock::Manual(ManualClock::new(Timestamp::UNIX_EPOCH))
}

/// A store with one account. Its schedule uses the time of the runtime.
pub(super) async fn store() -> (Arc<MemoryStore>, Caller) {
    let store = Arc::new(MemoryStore::new(Clock::System));
    let scopes = Scopes::ALL;
    let key = NewKey { public_id: "a".into(), digest: [7; 32], scopes, revoked: false };
    store.seed_key("alice", key).await.unwrap();
    let caller = store.find_key("a").await.unwrap().unwrap().caller();
    (store, caller)
}
