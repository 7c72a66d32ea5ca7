//! The servers of a run, and the writers and readers that use them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::check::{Filter, Prompt, Prompts};
use crate::state::{Id, id_of};
use crate::support::TIMEOUT;
use crate::support::client::Response;
use crate::support::program::Server;

const KINDS: [&str; 3] = ["image", "text", "video"];
/// Vaults that prompts are saved to.
const VAULTS: usize = 3;
/// Walks by type, by vault, by both and by none.
pub(crate) const FILTERS: usize = 4;
/// Of the whole list, which is longer, and of a part of it.
const LIMITS: [[usize; 3]; 2] = [[20, 50, 100], [7, 20, 50]];
/// Pause after a request that was refused because of the load.
const PAUSE: Duration = Duration::from_millis(20);

/// Server processes with one store, and what happens to them.
pub(crate) struct Run {
    pub(crate) servers: Vec<Server>,
    /// Of an account of this run.
    key: String,
    began: Instant,
    vaults: Vec<Id>,
    prompts: Mutex<Prompts>,
    /// Writes, walks, pages, entries of pages, and requests that were refused because of the load
    /// and sent again.
    pub(crate) counts: [AtomicUsize; 5],
    pub(crate) stop: AtomicBool,
    _folder: TempDir,
}

impl Run {
    /// Without a blob store, the files are in a new folder.
    pub(crate) async fn start(place: &str, blob_store: Option<String>, replicas: usize) -> Self {
        let folder = TempDir::new().unwrap();
        let new_folder = || format!("file:{}", folder.path().join("blobs").display());
        let blob_store = blob_store.unwrap_or_else(new_folder);
        let run = rand::random::<u64>();
        let key = format!("promptarium_live_h{run}_s3cretOfTheHistory");
        let arguments =
            format!("--blob-store {blob_store} --log warn --seed-key {key}=history-{run} {place}");
        let start = |n| Server::start(folder.path().join(format!("{n}.log")), &arguments);
        let mut run = Self {
            servers: futures::future::join_all((0..replicas).map(start)).await,
            key,
            began: Instant::now(),
            vaults: Vec::new(),
            prompts: Mutex::default(),
            counts: Default::default(),
            stop: AtomicBool::new(false),
            _folder: folder,
        };
        for n in 0..VAULTS {
            let body = json!({ "name": format!("Vault {n}"), "visibility": "unlisted" });
            let response = run.call(&mut super::random(), "POST", "/vaults", body).await;
            run.vaults.push(id_of(&response.data()));
        }
        run
    }

    pub(crate) fn prompts(&self) -> MutexGuard<'_, Prompts> {
        self.prompts.lock().unwrap()
    }

    fn count(&self, what: usize, number: usize) {
        self.counts[what].fetch_add(number, Ordering::Relaxed);
    }

    fn vault(&self, rng: &mut StdRng) -> Id {
        self.vaults[rng.random_range(0..VAULTS)]
    }

    /// Sends a request to a random replica until it is carried out, which must succeed.
    async fn call(&self, rng: &mut StdRng, method: &str, path: &str, body: Value) -> Response {
        let first = Instant::now();
        loop {
            let server = &self.servers[rng.random_range(0..self.servers.len())];
            let response = server.call(&self.key, method, path, body.clone()).await;
            if matches!(response.status, 200 | 201) {
                return response;
            }
            // An outcome that is not known could not be compared.
            let summary = response.summary();
            let refused = matches!(response.status, 429 | 503) && !summary.contains("not known");
            assert!(refused && first.elapsed() < TIMEOUT, "{method} {path} got {summary}");
            self.count(4, 1);
            sleep(PAUSE).await;
        }
    }

    /// Walks until the run is stopped, each walk to its end; beginning with one of the filters.
    pub(crate) async fn walk_on(&self, first: usize) {
        for number in first.. {
            self.walk(number).await;
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
        }
    }

    /// One walk with the filter of this number.
    pub(crate) async fn walk(&self, number: usize) {
        let (mut rng, began) = (super::random(), self.began.elapsed());
        let kind = number.is_multiple_of(2).then(|| KINDS[rng.random_range(0..KINDS.len())]);
        let vault = (number % FILTERS > 1).then(|| self.vault(&mut rng));
        let is_part = kind.is_some() || vault.is_some();
        let limit = LIMITS[usize::from(is_part)][rng.random_range(0..3)];
        let mut query = format!("/prompts?limit={limit}");
        query.extend(kind.map(|kind| format!("&type={kind}")));
        query.extend(vault.map(|vault| format!("&vaultId={vault}")));
        let (mut path, mut pages) = (query.clone(), Vec::new());
        loop {
            let page = self.call(&mut rng, "GET", &path, Value::Null).await.json();
            let prompts = page["data"].as_array().expect("a page").iter();
            pages.push(prompts.map(id_of).collect::<Vec<_>>());
            let Some(cursor) = page["pagination"]["nextCursor"].as_str() else { break };
            path = format!("{query}&cursor={cursor}");
        }
        let faults = self.prompts().faults(began, Filter { kind, vault }, limit, &pages);
        let logs = || self.servers.iter().map(Server::log).collect::<String>();
        assert!(faults.is_empty(), "{query}: {faults:?} in {pages:?}\nlogs:\n{}", logs());
        for (what, number) in [(1, 1), (2, pages.len()), (3, pages.iter().flatten().count())] {
            self.count(what, number);
        }
    }

    /// Changes prompts which no other writer changes, one request after the other, until the run is
    /// stopped. It has at most so many at once, and at least half of them.
    pub(crate) async fn write_on(&self, mut mine: Vec<Id>, most: usize) {
        let mut rng = super::random();
        while !self.stop.load(Ordering::Relaxed) {
            let action = rng.random_range(0..10);
            if (action < 6 && mine.len() <= most / 2) || (action < 3 && mine.len() < most) {
                mine.push(self.create().await);
                continue;
            }
            let (kind, vault) = (KINDS[rng.random_range(0..KINDS.len())], self.vault(&mut rng));
            let at = rng.random_range(0..mine.len());
            let id = mine[at];
            let (_, mut after) = self.prompts().known[&id].clone();
            if let Some(prompt) = after.as_mut().filter(|_| action > 6) {
                prompt.vaults.insert(vault);
                prompt.kind = if action == 7 { kind } else { prompt.kind };
            }
            let (method, below, body) = match action {
                0..6 => ("DELETE", "", Value::Null),
                // In the list before and after, it must be there meanwhile.
                6 => ("PATCH", "", json!({ "title": "u" })),
                7 => ("PATCH", "", json!({ "promptType": kind, "vaultId": vault })),
                _ => ("POST", "/save", json!({ "vaultId": vault })),
            };
            if action < 6 {
                mine.swap_remove(at);
                after = None;
            }
            if action != 6 {
                self.prompts().known.get_mut(&id).unwrap().0 = None;
            }
            self.call(&mut rng, method, &format!("/prompts/{id}{below}"), body).await;
            self.count(0, 1);
            if action != 6 {
                let now = self.began.elapsed();
                self.prompts().known.insert(id, (Some(now), after));
            }
        }
    }

    /// Creates a prompt; its id.
    pub(crate) async fn create(&self) -> Id {
        let mut rng = super::random();
        let kind = KINDS[rng.random_range(0..KINDS.len())];
        let vault = rng.random_bool(0.5).then(|| self.vault(&mut rng));
        let mut body =
            json!({ "title": "t", "prompt": "p", "promptType": kind, "modelId": "local/m" });
        if let Some(vault) = vault {
            body["vaultId"] = json!(vault);
        }
        let id = id_of(&self.call(&mut rng, "POST", "/prompts", body).await.data());
        self.count(0, 1);
        let prompt = Prompt { kind, vaults: vault.into_iter().collect() };
        let now = (Some(self.began.elapsed()), Some(prompt));
        let earlier = self.prompts().known.insert(id, now);
        assert!(earlier.is_none(), "two prompts have the id {id}");
        id
    }
}
