//! A client under load: it sends one request after the other, each to a random replica,
//! and keeps the expected state of its account.
//!
//! After a write whose outcome is unknown it leaves the account alone and continues with
//! the next one. So when the service has recovered, an account is either in its expected
//! state or in that state after one more write.

mod choose;
pub(crate) mod files;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::Value;

use crate::state::{Id, Key, NEW, State, Write, id_of};
use crate::support::http::{Http, Outcome, json_request};

/// Pause after a request that was not served.
const PAUSE: Duration = Duration::from_millis(50);

/// How often something happened to any client.
pub(crate) type Counts = Arc<Mutex<BTreeMap<&'static str, usize>>>;

pub(crate) struct Client {
    pub(crate) http: Http,
    /// All replicas.
    pub(crate) addresses: Arc<[String]>,
    pub(crate) rng: StdRng,
    /// How many generations it may still submit.
    pub(crate) jobs_left: u32,
    pub(crate) counts: Counts,
    pub(crate) role: Role,
}

#[derive(Clone, Copy)]
pub(crate) enum Role {
    /// Does everything.
    Any,
    Uploader,
    /// Its generations take a while.
    Generator,
}

#[derive(Default)]
pub(crate) struct Account {
    pub(crate) key: String,
    pub(crate) number: usize,
    /// The state after all acknowledged writes.
    pub(crate) state: State,
    /// A write that may or may not have happened.
    pub(crate) unknown: Option<Write>,
    /// The vault for outputs. Of all writes only generations change its members.
    pub(crate) jobs_vault: Id,
    pub(crate) jobs: BTreeMap<String, Job>,
    pub(crate) uploads: Vec<Upload>,
    /// Wrong responses and contents.
    pub(crate) faults: Vec<String>,
    pub(crate) names: i64,
}

pub(crate) struct Job {
    pub(crate) body: Value,
    /// `providerRequestId` of the response, if it was acknowledged.
    pub(crate) request_id: Option<String>,
    /// The output, when it is known.
    pub(crate) prompt: Option<Id>,
}

pub(crate) struct Upload {
    /// Path of the asset.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) acknowledged: bool,
}

impl Client {
    /// Works on the accounts one after the other until it is stopped.
    pub(crate) async fn run(
        mut self,
        mut accounts: Vec<Account>,
        stop: Arc<AtomicBool>,
    ) -> Vec<Account> {
        for account in &mut accounts {
            while !stop.load(Ordering::SeqCst) && account.unknown.is_none() {
                let chance = match self.role {
                    Role::Any => self.rng.random_range(0..100),
                    Role::Uploader => 0,
                    Role::Generator => 3 + u8::from(self.jobs_left == 0),
                };
                match chance {
                    0..3 => self.upload(account).await,
                    3 => self.generate(account).await,
                    4 => self.repeat_generation(account).await,
                    _ => {
                        if let Some(write) = self.choose_write(account).await {
                            self.write(account, write).await;
                        }
                    }
                }
            }
            // An outage costs one account only.
            while !stop.load(Ordering::SeqCst) && self.read(account, "/vaults").await.is_none() {}
        }
        accounts
    }

    /// Sends a write and records its outcome. Returns the `data` of an acknowledgement.
    async fn write(&mut self, account: &mut Account, write: Write) -> Option<Value> {
        match self.send(account, &write.request).await {
            Outcome::Response(response) if response.status < 300 => {
                self.count("acknowledged");
                let data = response.data();
                let new = data["id"].as_i64().unwrap_or_else(|| account.placeholder());
                account.state.apply(&write, new);
                return Some(data);
            }
            Outcome::Response(response) => {
                account.fault(format!("{write:?} got {}", response.summary()));
            }
            Outcome::NotSent => {}
            Outcome::Unknown => {
                self.count("unknown");
                account.unknown = Some(write);
            }
        }
        None
    }

    /// Reads a vault and chooses one of its members.
    async fn read_member(&mut self, account: &mut Account) -> Option<(Id, Value)> {
        let vault = self.choose_vault(account, |_, _| true)?;
        let path = format!("/vaults/{vault}/prompts");
        let contents = self.read(account, &path).await?;
        let members = contents.as_array().unwrap();
        let listed = members.iter().map(|one| (id_of(one), &one["isPinned"]));
        let expected = account.state.prompts(vault).collect::<BTreeMap<_, _>>();
        if listed.collect::<BTreeMap<_, _>>() != expected {
            account.fault(format!("{path} is {contents}, not {expected:?}"));
            return None;
        }
        Some((vault, members.choose(&mut self.rng)?.clone()))
    }

    /// The `data` at a path; `None` if it was not served.
    async fn read(&mut self, account: &mut Account, path: &str) -> Option<Value> {
        let request = json_request(&account.key, "GET", path, Value::Null);
        let Outcome::Response(response) = self.send(account, request).await else { return None };
        self.count("read");
        Some(response.data())
    }

    /// Sends a request to a random replica, and to the others if it does not listen. The outcome of
    /// a 503 is unknown. A pause follows what was not served.
    async fn send(&mut self, account: &mut Account, request: impl AsRef<[u8]>) -> Outcome {
        let first = self.rng.random_range(0..self.addresses.len());
        let (before, from) = self.addresses.split_at(first);
        let mut outcome = Outcome::NotSent;
        for address in from.iter().chain(before) {
            outcome = self.http.send(address, &request).await;
            if !matches!(outcome, Outcome::NotSent) {
                break;
            }
        }
        if let Outcome::Response(response) = &outcome {
            if response.status != 503 {
                return outcome;
            }
            self.count("unavailable");
            if !response.is_error_envelope() {
                account.fault(format!("not an error envelope: {}", response.summary()));
            }
            outcome = Outcome::Unknown;
        }
        tokio::time::sleep(PAUSE).await;
        outcome
    }

    fn count(&self, what: &'static str) {
        *self.counts.lock().unwrap().entry(what).or_default() += 1;
    }
}

impl Account {
    /// A text that is used once.
    fn name(&mut self, what: &str) -> String {
        self.names += 1;
        format!("{what} {}-{}", self.number, self.names)
    }

    /// An id for something whose id no response gave.
    pub(crate) fn placeholder(&mut self) -> Id {
        self.names += 1;
        NEW - self.names
    }

    pub(crate) fn fault(&mut self, what: impl Into<String>) {
        self.faults.push(format!("account {}: {}", self.number, what.into()));
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        body: Value,
        effects: impl IntoIterator<Item = (Key, Option<Value>)>,
    ) -> Write {
        let request = json_request(&self.key, method, path, body);
        Write { request, effects: effects.into_iter().collect() }
    }
}
