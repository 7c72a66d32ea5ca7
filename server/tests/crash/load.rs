//! A client that does one thing after the other, as fast as it is answered, and
//! remembers exactly what it was told.

mod choose;
mod files;
mod jobs;
mod look;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use crate::account::{Account, Change};
use crate::http::{Answer, Got, Http};

/// How long a client rests when it is told that the service cannot serve it.
const REST: Duration = Duration::from_millis(50);

/// One client of one account.
pub(crate) struct Client {
    http: Http,
    /// Of all replicas; each request goes to any of them.
    addresses: Arc<[String]>,
    account: Account,
    rng: StdRng,
    /// Generations are dear; only so many are asked for.
    jobs_left: u32,
}

/// What a client does next.
enum Act {
    Change(Change),
    Upload,
    Generate,
    GenerateAgain(String),
    LookAtPrompt(i64),
    LookAtVault(i64),
}

impl Client {
    pub(crate) fn new(
        http: Http,
        addresses: Arc<[String]>,
        account: Account,
        seed: u64,
        jobs: u32,
    ) -> Self {
        let rng = StdRng::seed_from_u64(seed);
        Self { http, addresses, account, rng, jobs_left: jobs }
    }

    /// Goes on until it is stopped.
    pub(crate) async fn run(mut self, stop: Arc<AtomicBool>) -> Account {
        while !stop.load(Ordering::SeqCst) {
            self.act().await;
        }
        self.account
    }

    async fn act(&mut self) {
        match self.choose() {
            Act::Change(change) => self.change(change).await,
            Act::Upload => self.upload().await,
            Act::Generate => self.generate().await,
            Act::GenerateAgain(name) => self.generate_again(&name).await,
            Act::LookAtPrompt(id) => self.look_at_prompt(id).await,
            Act::LookAtVault(id) => self.look_at_vault(id).await,
        }
    }

    async fn change(&mut self, change: Change) {
        let (method, path, body, success) = change.request();
        let what = format!("{method} {path} ({change:?})");
        match self.call(method, &path, body.as_ref(), &what).await {
            Some(Got::Answer(answer)) if answer.status == success => {
                self.account.tally.acknowledged += 1;
                self.acknowledged(change, &answer, &what);
            }
            Some(Got::Answer(answer)) => self.wrong(&what, &answer),
            Some(Got::Unknown(_)) => {
                self.account.tally.in_doubt += 1;
                self.account.doubts.push(change);
            }
            Some(Got::NotSent) | None => {}
        }
    }

    fn acknowledged(&mut self, change: Change, answer: &Answer, what: &str) {
        let data = answer.data();
        let made = match &change {
            Change::CreatePrompt { .. } | Change::CreateVault { .. } => data["id"].as_i64(),
            Change::Move { .. } => data["vaultPromptId"].as_i64(),
            _ => None,
        };
        if let Change::Fork { source, name, copies, .. } = change {
            if data["promptCount"] != copies.len() {
                self.wrong(what, answer);
            }
            let made = data["id"].as_i64();
            self.account.doubts.push(Change::Fork { source, name, copies, made });
            return;
        }
        self.account.world.apply(&change, made);
        if let Change::Add { vault, .. } = change {
            let count = self.account.world.vaults[&vault].members.len();
            if data["promptCount"] != count {
                self.wrong(what, answer);
            }
        }
    }

    /// Sends a request to some replica; to another one if there is none. That the
    /// service cannot say is an unknown outcome, too. `None` if nobody took it.
    async fn call(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        what: &str,
    ) -> Option<Got> {
        let first = self.rng.random_range(0..self.addresses.len());
        for turn in 0..self.addresses.len() {
            let address = &self.addresses[(first + turn) % self.addresses.len()];
            let got = self.http.call(address, &self.account.key, method.clone(), path, body).await;
            if !matches!(got, Got::NotSent) {
                return Some(self.weighed(got, what).await);
            }
        }
        self.account.tally.not_sent += 1;
        tokio::time::sleep(REST).await;
        None
    }

    /// Takes "it is not known" for what it says.
    async fn weighed(&mut self, got: Got, what: &str) -> Got {
        match got {
            Got::Answer(answer) if answer.status == 503 => {
                self.account.tally.refused += 1;
                let body = answer.json();
                if !(body["data"].is_null()
                    && body["error"].is_string()
                    && body["details"].is_object())
                {
                    self.wrong(what, &answer);
                }
                tokio::time::sleep(REST).await;
                Got::Unknown(answer.shown())
            }
            got => got,
        }
    }

    fn wrong(&mut self, what: &str, answer: &Answer) {
        self.account.wrong(format!("{what} was answered by {}", answer.shown()));
    }
}
