//! Submission and workers on this store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_postgres::NoTls;
use url::Url;

use super::{StoreUnderTest, in_real_time};
use crate::blobs::Blobs;
use crate::blobs::asset_url::Assets;
use crate::clock::Clock;
use crate::domain::{GenerationRequest, JobState, NewJob, ProviderTicket, SigningKey};
use crate::generate::local::LocalProvider;
use crate::generate::output_store::AssetOutputStore;
use crate::generate::submit::Submitter;
use crate::generate::worker::{Worker, WorkerPool};
use crate::generate::{PollError, Progress, Provider, SubmitError};
use crate::store::jobs::contract_tests::{SECOND, new, ticket};
use crate::store::postgres::scratch;
use crate::store::{JobStore as _, Store};

#[tokio::test(flavor = "multi_thread")]
async fn worker_pools_on_two_stores_complete_every_job_once() {
    const COUNT: usize = 12;
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    let assets = Assets::new(&Url::parse("http://localhost").unwrap());
    let blobs = Blobs::in_memory();
    let provider = Arc::new(LocalProvider::new(Clock::System, assets.clone(), blobs.clone()));
    let stores: [Arc<dyn Store>; 2] =
        [Arc::new(world.store.clone()), Arc::new(world.another_store().await)];
    let outputs =
        Arc::new(AssetOutputStore::new(blobs.clone(), assets.clone(), &SigningKey::random()));
    let pools = stores.clone().map(|store| {
        let worker = Worker::new(store, provider.clone(), outputs.clone(), Clock::System);
        WorkerPool::start(&worker, 2)
    });
    let submitter = Submitter::new(stores[0].clone(), provider.clone());
    for at in 0..COUNT {
        let model_id = if at == 0 { "local/fail" } else { "local/plasma" };
        let order = GenerationRequest {
            model_id: model_id.into(),
            prompt: "A harbour".into(),
            aspect_ratio: "1:1".into(),
            batch_count: 2,
            ..GenerationRequest::default()
        };
        let job = NewJob { request: order.into(), ..new(&format!("{at}"), 1, None) };
        submitter.submit(&by, job).await.unwrap();
    }
    let mut image_count = 0;
    for at in 0..COUNT {
        let ended = async {
            loop {
                match world.store.job(&by, &format!("{at}")).await.unwrap().state {
                    JobState::Completed(..) => return true,
                    JobState::Failed(..) => return false,
                    _ => sleep(Duration::from_millis(20)).await,
                }
            }
        };
        let completed = timeout(60 * SECOND, ended).await.expect("a job does not end");
        assert_eq!(completed, at != 0, "job {at}");
    }
    for pool in pools {
        pool.stop().await;
    }
    let contents = world.contents(&by, world.general(&by).await).await;
    assert_eq!(contents.len(), COUNT - 1);
    for (_, images) in contents {
        for image in images {
            let name = assets.name_in(&image.url).unwrap();
            assert!(blobs.read_all(&name).await.unwrap().is_some());
            image_count += 1;
        }
    }
    assert_eq!(image_count, 2 * (COUNT - 1));
    world.check().await;
}

/// Accepts a submission when `go` is notified.
#[derive(Default)]
struct Slow {
    asked: Notify,
    go: Notify,
}

#[async_trait]
impl Provider for Slow {
    async fn submit(&self, _: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        self.asked.notify_one();
        self.go.notified().await;
        Ok(ticket())
    }

    async fn poll(&self, _: &ProviderTicket, _: &GenerationRequest) -> Result<Progress, PollError> {
        Ok(Progress::Queued)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accepted_submission_is_recorded_after_a_database_outage() {
    let world = in_real_time().await;
    let by = world.caller("alice").await;
    let name: String = world.sql("SELECT current_database()::text", &[]).await[0].get(0);
    let server = std::env::var(scratch::VARIABLE).unwrap();
    let (admin, connection) = tokio_postgres::connect(&server, NoTls).await.unwrap();
    tokio::spawn(connection);
    let open = async |open: bool| {
        let allow = format!("ALTER DATABASE {name} ALLOW_CONNECTIONS {open}");
        admin.batch_execute(&allow).await.unwrap();
    };
    let provider = Arc::new(Slow::default());
    let submitter = Submitter::new(Arc::new(world.store.clone()), provider.clone());
    let mut taking = {
        let by = by.clone();
        tokio::spawn(async move { submitter.submit(&by, new("j", 1, None)).await })
    };
    provider.asked.notified().await;
    open(false).await;
    let all = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1";
    admin.query(all, &[&name]).await.unwrap();
    assert!(world.store.check().await.is_err(), "the database is there");
    provider.go.notify_one();
    let early = timeout(Duration::from_millis(500), &mut taking).await;
    assert!(early.is_err(), "{early:?}");
    open(true).await;
    let (_, told) = taking.await.unwrap().unwrap();
    assert_eq!(told, ticket());
    assert_eq!(world.store.job(&by, "j").await.unwrap().state, JobState::Queued(ticket()));
}
