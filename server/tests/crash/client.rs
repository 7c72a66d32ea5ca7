//! A client under load: it sends one request after the other, each to a random replica,
//! and keeps the expected state of its account.
//!
//! After a write whose outcome is unknown it leaves the account alone and continues with
//! the next one. So when the service has recovered, an account is either in its expected
//! state or in that state after one more write.

mod choose;
mod files;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::Value;

use crate::state::{Id, Member, State, Write, parse};
use crate::support::client::Response;
use crate::support::http::{Http, Outcome, Request};

/// Pause after a request that was not served.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) struct Client {
    pub(crate) http: Http,
    /// All replicas.
    pub(crate) addresses: Arc<[String]>,
    pub(crate) rng: StdRng,
    /// How many generations it may still submit.
    pub(crate) jobs_left: u32,
    /// Counts the acknowledged writes of all clients.
    pub(crate) acknowledged: Arc<AtomicUsize>,
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
    /// How often something happened.
    pub(crate) counts: BTreeMap<&'static str, usize>,
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
    /// Address of the asset.
    pub(crate) url: String,
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
                self.step(account).await;
            }
            // An outage costs one account only.
            while !stop.load(Ordering::SeqCst) && self.read(account, "/vaults").await.is_none() {}
        }
        accounts
    }

    async fn step(&mut self, account: &mut Account) {
        match self.rng.random_range(0..100) {
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

    /// Sends a write and records its outcome. Returns the `data` of an acknowledgement.
    async fn write(&mut self, account: &mut Account, write: Write) -> Option<Value> {
        let response = match self.call(account, &write.request).await {
            Outcome::Response(response) => response,
            Outcome::NotSent => return None,
            Outcome::Unknown => {
                account.count("unknown");
                account.unknown = Some(write);
                return None;
            }
        };
        if !(200..300).contains(&response.status) {
            account.fault(format!("{write:?} got {}", response.summary()));
            return None;
        }
        account.count("acknowledged");
        self.acknowledged.fetch_add(1, Ordering::Relaxed);
        let data = response.data();
        let new = data["id"].as_i64().unwrap_or_else(|| account.placeholder());
        account.state.apply(&write, new);
        Some(data)
    }

    /// Reads a vault and chooses one of its members.
    async fn read_member(&mut self, account: &mut Account) -> Option<(Id, Member)> {
        let vault = self.choose_vault(account, |_| true)?;
        let path = format!("/vaults/{vault}/prompts");
        let response = self.read(account, &path).await?;
        let mut members: Vec<Member> = parse(&response.data());
        let listed: BTreeMap<_, _> = members.iter().map(|one| (one.prompt, one.pinned)).collect();
        let expected = &account.state.vaults[&vault].members;
        if listed != *expected {
            account.fault(format!("{path} is not {expected:?}: {}", response.summary()));
            return None;
        }
        let chosen = (!members.is_empty()).then(|| self.rng.random_range(0..members.len()))?;
        Some((vault, members.swap_remove(chosen)))
    }

    /// `None` if it was not served.
    async fn read(&mut self, account: &mut Account, path: &str) -> Option<Response> {
        match self.call(account, &Request::get(path)).await {
            Outcome::Response(response) => {
                account.count("read");
                Some(response)
            }
            Outcome::NotSent | Outcome::Unknown => None,
        }
    }

    /// Sends a request to a random replica, and to the others if it does not listen.
    async fn call(&mut self, account: &mut Account, request: &Request) -> Outcome {
        let first = self.rng.random_range(0..self.addresses.len());
        for turn in 0..self.addresses.len() {
            let address = &self.addresses[(first + turn) % self.addresses.len()];
            let outcome = self.http.call(address, &account.key, request).await;
            if !matches!(outcome, Outcome::NotSent) {
                return served(account, outcome).await;
            }
        }
        served(account, Outcome::NotSent).await
    }
}

/// Turns 503 into an unknown outcome, and pauses after what was not served.
async fn served(account: &mut Account, outcome: Outcome) -> Outcome {
    let outcome = match outcome {
        Outcome::Response(response) if response.status == 503 => {
            account.count("unavailable");
            if !response.is_error_envelope() {
                account.fault(format!("not an error envelope: {}", response.summary()));
            }
            Outcome::Unknown
        }
        Outcome::Response(response) => return Outcome::Response(response),
        outcome => outcome,
    };
    tokio::time::sleep(PAUSE).await;
    outcome
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
        -self.names
    }

    pub(crate) fn fault(&mut self, what: impl Into<String>) {
        self.faults.push(format!("account {}: {}", self.number, what.into()));
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }
}
