//! A job whose worker is gone, whether it died or only slept: another server goes
//! on with it in time, and it ends once.
//!
//! The provider is one on a socket here, because it can tell who asks it, and keep
//! a worker in the midst of its job for as long as a test likes.

mod provider;

use std::time::Duration;

use http::Method;
use promptarium_server::limits::JOB_LEASE as LEASE;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use self::provider::Provider;
use crate::PATIENCE;
use crate::cluster::Cluster;
use crate::folder::Folder;
use crate::http::{Answer, Http};
use crate::server::{PUBLIC_URL, Server};

const KEY: &str = "promptarium_live_c1_s3cretOfAClient";
/// Says what becomes of each claim.
const LOG: &str = "warn,promptarium_server::generate::worker=debug";
/// What a job may take beyond the lease of the worker that is gone.
const TAKE_OVER: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// Two servers on one database, known to the provider as `0` and `1`.
struct Stage {
    servers: Vec<Server>,
    provider: Provider,
    http: Http,
    _cluster: Cluster,
    _folder: Folder,
}

#[tokio::test(flavor = "multi_thread")]
async fn the_job_of_a_killed_worker_goes_on_elsewhere_within_lease_and_five_seconds() {
    let mut stage = Stage::set().await;
    stage.order().await;
    let worker = stage.provider.asked_by(1).await;
    let killed = Instant::now();
    stage.servers[worker].kill().await;

    let status = stage.end(1 - worker).await;
    let after = killed.elapsed();
    println!("a job whose worker was killed had ended after {after:.1?}");
    assert!(after <= LEASE + TAKE_OVER, "{after:?}");
    assert_eq!(stage.provider.asked_by(2).await, 1 - worker);
    stage.ended_once(1 - worker, &status).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_wakes_after_its_lease_changes_nothing() {
    let stage = Stage::set().await;
    stage.order().await;
    let worker = stage.provider.asked_by(1).await;
    stage.servers[worker].signal("STOP").await;
    let status = stage.end(1 - worker).await;
    // A worker that somebody else woke would have renewed its lease, or handed it back.
    assert!(stage.servers[worker].is_stopped(), "{}", stage.servers[worker].log());
    assert_eq!(stage.provider.asked_by(2).await, 1 - worker);

    stage.servers[worker].signal("CONT").await;
    stage.provider.release();
    stage.has_lost_its_lease(worker).await;
    stage.ended_once(worker, &status).await;
}

impl Stage {
    async fn set() -> Self {
        let (cluster, folder) = (Cluster::start().await, Folder::create("takeover"));
        let provider = Provider::start().await;
        let files = format!("file:{}", folder.path().join("files").display());
        let arguments = |n: usize| {
            let key = n.to_string();
            let arguments = [
                ["--database-url", &*cluster.url],
                ["--blob-store", &*files],
                ["--workers", "1"],
                ["--seed-key", &format!("{KEY}=client")],
                ["--provider", "queue"],
                ["--provider-url", &*provider.origin],
                ["--provider-key", &*key],
                ["--log", LOG],
            ];
            let arguments = arguments.concat().into_iter().chain(["--provider-private-outputs"]);
            arguments.map(str::to_owned).collect()
        };
        let start = |n| Server::start(folder.path().join(format!("{n}.log")), arguments(n));
        let servers = vec![start(0).await, start(1).await];
        Self { servers, provider, http: Http::new(), _cluster: cluster, _folder: folder }
    }

    async fn order(&self) {
        let body = json!({ "modelId": "local/any", "prompt": "A harbour", "clientJobId": "j" });
        let answer = self.call(0, Method::POST, "/generations", Some(&body)).await;
        assert_eq!(answer.status, 202, "{}", answer.shown());
    }

    /// The status of the completed job.
    async fn end(&self, at: usize) -> Value {
        let begun = Instant::now();
        loop {
            let status = self.call(at, Method::GET, "/generations/j/status", None).await.data();
            if status["status"] == "completed" {
                return status;
            }
            let after = begun.elapsed();
            assert!(after < LEASE + TAKE_OVER, "after {after:?} the job is {status}");
            sleep(PAUSE).await;
        }
    }

    /// The provider has had one order, and there is one prompt with its picture.
    async fn ended_once(&self, at: usize, status: &Value) {
        assert_eq!(self.provider.orders(), 1);
        let again = self.call(at, Method::GET, "/generations/j/status", None).await.data();
        assert_eq!(again, *status);
        let vault = &status["vaultId"];
        let contents = self.call(at, Method::GET, &format!("/vaults/{vault}/prompts"), None).await;
        let contents = contents.data();
        let prompts = contents.as_array().unwrap();
        assert_eq!(prompts.len(), 1, "{contents}");
        assert_eq!(prompts[0]["id"], status["promptId"]);
        let images = prompts[0]["images"].as_array().unwrap();
        assert_eq!(images.len(), 1, "{contents}");
        let path = images[0]["url"].as_str().unwrap().strip_prefix(PUBLIC_URL).unwrap();
        let url = format!("http://{}{path}", self.servers[at].address);
        assert_eq!(self.http.get(&url).await.answer().bytes, provider::picture());
    }

    async fn has_lost_its_lease(&self, at: usize) {
        let begun = Instant::now();
        while !self.servers[at].log().contains("LeaseLost") {
            assert!(begun.elapsed() < PATIENCE, "{}", self.servers[at].log());
            sleep(PAUSE).await;
        }
    }

    async fn call(&self, at: usize, method: Method, path: &str, body: Option<&Value>) -> Answer {
        self.http.call(&self.servers[at].address, KEY, method, path, body).await.answer()
    }
}
