//! The servers of a run, and the writers and readers that use them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::check::{Filter, Id, Prompt, Prompts};
use crate::support::TIMEOUT;
use crate::support::client::Response;
use crate::support::http::Request;
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
        let database = database.map(|url| format!("--database-url {url}")).unwrap_or_default();
        let arguments = format!(
            "--blob-store {blob_store} --log warn --seed-key {key}=history-{run} {database}"
        );
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
            let response = run.call(&mut super::random(), &Request::post("/vaults", body)).await;
            run.vaults.push(response.data()["id"].as_i64().expect("a new vault"));
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
    async fn call(&self, rng: &mut StdRng, request: &Request) -> Response {
        let first = Instant::now();
        loop {
            let server = &self.servers[rng.random_range(0..self.servers.len())];
            let response = server.call(&self.key, request).await;
            if matches!(response.status, 200 | 201) {
                return response;
            }
            // An outcome that is not known could not be compared.
            let summary = response.summary();
            let refused = matches!(response.status, 429 | 503) && !summary.contains("not known");
            assert!(refused && first.elapsed() < TIMEOUT, "{request:?} got {summary}");
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
            let page = self.call(&mut rng, &Request::get(&path)).await.json();
            let ids = page["data"].as_array().expect("a page").iter();
            let ids: Vec<_> = ids.map(|prompt| prompt["id"].as_i64().expect("an id")).collect();
            pages.push(ids);
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
            let (kind, vault) = (KINDS[rng.random_range(0..KINDS.len())], self.vault(&mut rng));
            match rng.random_range(0..10) {
                0..6 if mine.len() <= most / 2 => mine.push(self.create().await),
                0..3 if mine.len() < most => mine.push(self.create().await),
                0..6 => {
                    let id = mine.swap_remove(rng.random_range(0..mine.len()));
                    self.change("DELETE", id, "", Value::Null, |_| None).await;
                }
                action => {
                    let id = mine[rng.random_range(0..mine.len())];
                    let (method, at, body, kind, vault) = match action {
                        // In the list before and after, it must be there meanwhile.
                        6 => ("PATCH", "", json!({ "title": "u" }), None, None),
                        7 => {
                            let body = json!({ "promptType": kind, "vaultId": vault });
                            ("PATCH", "", body, Some(kind), Some(vault))
                        }
                        _ => ("POST", "/save", json!({ "vaultId": vault }), None, Some(vault)),
                    };
                    let change = |mut prompt: Prompt| {
                        prompt.kind = kind.unwrap_or(prompt.kind);
                        prompt.vaults.extend(vault);
                        Some(prompt)
                    };
                    self.change(method, id, at, body, change).await;
                }
            }
        }
    }

    /// Creates a prompt; its id.
    pub(crate) async fn create(&self) -> Id {
        let mut rng = super::random();
        let (kind, vault) = (KINDS[rng.random_range(0..KINDS.len())], self.vault(&mut rng));
        let mut body =
            json!({ "title": "t", "prompt": "p", "promptType": kind, "modelId": "local/m" });
        let vault = rng.random_bool(0.5).then_some(vault);
        if let Some(vault) = vault {
            body["vaultId"] = json!(vault);
        }
        let response = self.call(&mut rng, &Request::post("/prompts", body)).await;
        let id = response.data()["id"].as_i64().expect("a new prompt");
        self.count(0, 1);
        let prompt = Prompt { kind, vaults: vault.into_iter().collect() };
        let earlier = self.prompts().alive.insert(id, (Some(self.began.elapsed()), prompt));
        assert!(earlier.is_none(), "two prompts have the id {id}");
        id
    }

    /// Changes a prompt, or deletes it.
    async fn change(
        &self,
        method: &str,
        id: Id,
        at: &str,
        body: Value,
        change: impl FnOnce(Prompt) -> Option<Prompt>,
    ) {
        let after = change(self.prompts().alive[&id].1.clone());
        let is_title = body.get("title").is_some();
        if !is_title {
            self.prompts().alive.get_mut(&id).unwrap().0 = None;
        }
        let request = Request::new(method, format!("/prompts/{id}{at}"), body);
        self.call(&mut super::random(), &request).await;
        self.count(0, 1);
        let (now, mut prompts) = (self.began.elapsed(), self.prompts());
        match after {
            _ if is_title => {}
            Some(after) => drop(prompts.alive.insert(id, (Some(now), after))),
            None => {
                prompts.alive.remove(&id);
                prompts.deleted.insert(id, now);
            }
        }
    }
}
