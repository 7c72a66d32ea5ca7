//! Tests of the worker, step by step and as a crew, on paused time.

mod crew;
mod step;

use std::collections::BTreeMap;
use std::sync::Mutex;

use futures::TryStreamExt;
use promptarium::VaultId;

use super::*;
use crate::domain::{Caller, JobRecord, ListedPrompt, NewVault, Reserved, VaultVisibility};
use crate::generate::PollError;
use crate::generate::scripted::{Scripted, clock, new_job, pictures, store, ticket};
use crate::store::memory::MemoryStore;
use crate::store::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

/// A shelf that fails as often as it is told, and takes a while.
#[derive(Default)]
struct TestShelf {
    delay: Duration,
    failures: Mutex<usize>,
    puts: Mutex<BTreeMap<String, usize>>,
}

#[async_trait::async_trait]
impl Shelf for TestShelf {
    async fn put(
        &self,
        job: &JobRecord,
        _: &ProviderTicket,
        place: usize,
        _: &Output,
    ) -> Result<Box<str>, NotShelved> {
        sleep(self.delay).await;
        let failures = &mut *self.failures.lock().unwrap();
        if *failures > 0 {
            *failures -= 1;
            return Err(NotShelved("the disk is full".into()));
        }
        let url = format!("http://localhost/{}/{place}", job.key.client_job_id);
        *self.puts.lock().unwrap().entry(url.clone()).or_default() += 1;
        Ok(url.into())
    }
}

struct World {
    store: Arc<MemoryStore>,
    by: Caller,
    provider: Arc<Scripted>,
    shelf: Arc<TestShelf>,
    worker: Worker,
}

impl World {
    async fn new(provider: Arc<Scripted>) -> Self {
        Self::with_shelf(provider, TestShelf::default()).await
    }

    async fn with_shelf(provider: Arc<Scripted>, shelf: TestShelf) -> Self {
        let (store, by) = store().await;
        let shelf = Arc::new(shelf);
        let worker = Worker::new(store.clone(), provider.clone(), shelf.clone(), clock());
        Self { store, by, provider, shelf, worker }
    }

    /// A job that the provider has taken.
    async fn queue(&self, name: &str, vault: Option<VaultId>) {
        let new = new_job(name, "A harbour", vault);
        let Reserved::New(job) = self.store.reserve_job(&self.by, new).await.unwrap() else {
            panic!("the name {name} was taken");
        };
        self.store.job_submitted(&job.key, ticket(name)).await.unwrap();
    }

    async fn state(&self, name: &str) -> JobState {
        self.store.job(&self.by, name).await.unwrap().state
    }

    /// Steps until the job has ended, and what the steps came to.
    async fn steps_to_the_end(&self, name: &str) -> Vec<Step> {
        let mut steps = Vec::new();
        while !matches!(self.state(name).await, JobState::Completed(..) | JobState::Failed(..)) {
            match self.worker.step().await.unwrap() {
                Step::Idle => self.store.job_due(SECOND).await,
                step => steps.push(step),
            }
        }
        steps
    }

    /// What the vault holds, General if none is named.
    async fn contents(&self, vault: Option<VaultId>) -> Vec<ListedPrompt> {
        let general = self.store.vaults(&self.by).await.unwrap().last().unwrap().id;
        let contents = self.store.contents(&self.by, vault.unwrap_or(general)).await.unwrap();
        contents.try_collect().await.unwrap()
    }

    async fn vault(&self) -> VaultId {
        let visibility = VaultVisibility::Private;
        let new = NewVault { name: "Sky".into(), description: None, visibility };
        self.store.create_vault(&self.by, new).await.unwrap().id
    }
}

fn at_once(progress: Progress) -> Arc<Scripted> {
    Scripted::on_poll(Duration::ZERO, move |_| Ok(progress.clone()))
}
