//! The servers of a run, and requests to them with their times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::record::{Id, Span};
use crate::support::TIMEOUT;
use crate::support::http::{Http, Request, Response};
use crate::support::server::Server;

/// Vaults that prompts are saved to.
pub(crate) const VAULTS: usize = 3;
/// Pause after a request that was refused because of the load.
const PAUSE: Duration = Duration::from_millis(20);

/// Server processes with one store.
pub(crate) struct Target {
    servers: Vec<Server>,
    pub(crate) client: Client,
    _folder: TempDir,
}

/// What writers and readers share.
#[derive(Clone)]
pub(crate) struct Client {
    http: Http,
    /// Of an account of this run.
    key: Arc<str>,
    /// All replicas.
    addresses: Arc<[String]>,
    began: Instant,
    pub(crate) vaults: Arc<[Id]>,
    /// Requests that were refused because of the load, and sent again.
    pub(crate) refused: Arc<AtomicUsize>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Target {
    /// Without a blob store, the files are in a new folder.
    pub(crate) async fn start(
        database: Option<&str>,
        blob_store: Option<String>,
        replicas: usize,
    ) -> Self {
        let folder = TempDir::new().unwrap();
        let new_folder = || format!("file:{}", folder.path().join("blobs").display());
        let blob_store = blob_store.unwrap_or_else(new_folder);
        let run = rand::random::<u64>();
        let key = format!("promptarium_live_h{run}_s3cretOfTheHistory");
        let mut arguments =
            format!("--blob-store {blob_store} --log warn --seed-key {key}=history-{run}");
        if let Some(url) = database {
            arguments += &format!(" --database-url {url}");
        }
        let start = |n| Server::start(folder.path().join(format!("{n}.log")), &arguments);
        let servers = futures::future::join_all((0..replicas).map(start)).await;
        let mut client = Client {
            http: Http::new(),
            key: key.into(),
            addresses: servers.iter().map(|server| server.address.clone()).collect(),
            began: Instant::now(),
            vaults: Arc::default(),
            refused: Arc::default(),
            stop: Arc::default(),
        };
        let mut vaults = Vec::new();
        let mut rng = StdRng::seed_from_u64(0);
        for n in 0..VAULTS {
            let body = json!({ "name": format!("Vault {n}"), "visibility": "unlisted" });
            let (_, response) = client.call(&mut rng, &Request::post("/vaults", body)).await;
            vaults.push(response.data()["id"].as_i64().expect("a new vault"));
        }
        client.vaults = vaults.into();
        Self { servers, client, _folder: folder }
    }

    /// What all servers have logged.
    pub(crate) fn logs(&self) -> String {
        self.servers.iter().map(Server::log).collect()
    }
}

impl Client {
    /// Sends a request to a random replica until it is carried out, which must succeed. The span
    /// is that of the last attempt, as a refused one has done nothing.
    pub(crate) async fn call(&self, rng: &mut StdRng, request: &Request) -> (Span, Response) {
        let first = Instant::now();
        loop {
            let address = &self.addresses[rng.random_range(0..self.addresses.len())];
            let sent = self.began.elapsed();
            let response = self.http.call(address, &self.key, request).await.response();
            let answered = self.began.elapsed();
            let (status, summary) = (response.status, response.summary());
            if matches!(status, 200 | 201) {
                return (Span { sent, answered }, response);
            }
            // An outcome that is not known could not be compared.
            let refused = matches!(status, 429 | 503) && !summary.contains("not known");
            assert!(refused && first.elapsed() < TIMEOUT, "{request:?} got {summary}");
            self.refused.fetch_add(1, Ordering::Relaxed);
            sleep(PAUSE).await;
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
