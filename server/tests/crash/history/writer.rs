//! A client that changes prompts which no other client changes, one request after the other.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::record::{Id, Prompt, Write};
use super::target::Client;
use crate::support::http::Request;

pub(crate) const KINDS: [&str; 3] = ["image", "text", "video"];

pub(crate) struct Writer {
    client: Client,
    rng: StdRng,
    /// The most prompts it has at once; it has at least half of them once it began.
    most: usize,
    alive: Vec<(Id, Prompt)>,
    writes: BTreeMap<Id, Vec<Write>>,
}

impl Writer {
    /// A writer with as many prompts as it may have.
    pub(crate) async fn begin(client: Client, rng: StdRng, most: usize) -> Self {
        let most = most.max(2);
        let mut writer = Self { client, rng, most, alive: Vec::new(), writes: BTreeMap::new() };
        while writer.alive.len() < most {
            writer.create().await;
        }
        writer
    }

    /// Writes until it is stopped, and returns all writes since [`Writer::begin`].
    pub(crate) async fn run(mut self) -> BTreeMap<Id, Vec<Write>> {
        while !self.client.is_stopped() {
            match self.rng.random_range(0..10) {
                0..6 if self.alive.len() <= self.most / 2 => self.create().await,
                0..3 if self.alive.len() < self.most => self.create().await,
                0..6 => {
                    let (id, _) = self.take();
                    self.write("DELETE", id, "", Value::Null, None).await;
                }
                6..8 => self.update().await,
                _ => {
                    let (vault, (id, mut prompt)) = (self.vault(), self.take());
                    add(&mut prompt, vault);
                    self.write("POST", id, "/save", json!({ "vaultId": vault }), Some(prompt))
                        .await;
                }
            }
        }
        self.writes
    }

    async fn create(&mut self) {
        let (kind, vault) = (self.kind(), self.vault());
        let mut body =
            json!({ "title": "t", "prompt": "p", "promptType": kind, "modelId": "local/m" });
        let mut prompt = Prompt { kind, vaults: Vec::new() };
        if self.rng.random_bool(0.5) {
            add(&mut prompt, vault);
            body["vaultId"] = json!(vault);
        }
        let request = Request::post("/prompts", body);
        let (span, response) = self.client.call(&mut self.rng, &request).await;
        let id = response.data()["id"].as_i64().expect("a new prompt");
        self.alive.push((id, prompt.clone()));
        let earlier = self.writes.insert(id, vec![Write { span, after: Some(prompt) }]);
        assert!(earlier.is_none(), "two prompts have the id {id}");
    }

    /// Half of the updates change what filters look at.
    async fn update(&mut self) {
        let (kind, vault, (id, mut prompt)) = (self.kind(), self.vault(), self.take());
        let mut body = json!({ "title": "u" });
        if self.rng.random_bool(0.5) {
            prompt.kind = kind;
            body["promptType"] = json!(kind);
        }
        if self.rng.random_bool(0.2) {
            add(&mut prompt, vault);
            body["vaultId"] = json!(vault);
        }
        self.write("PATCH", id, "", body, Some(prompt)).await;
    }

    async fn write(&mut self, method: &str, id: Id, at: &str, body: Value, after: Option<Prompt>) {
        let request = Request::new(method, format!("/prompts/{id}{at}"), body);
        let (span, _) = self.client.call(&mut self.rng, &request).await;
        self.alive.extend(after.clone().map(|prompt| (id, prompt)));
        self.writes.entry(id).or_default().push(Write { span, after });
    }

    /// One that it has. [`Writer::write`] puts it back.
    fn take(&mut self) -> (Id, Prompt) {
        let chosen = self.rng.random_range(0..self.alive.len());
        self.alive.swap_remove(chosen)
    }

    fn kind(&mut self) -> &'static str {
        KINDS[self.rng.random_range(0..KINDS.len())]
    }

    fn vault(&mut self) -> Id {
        self.client.vaults[self.rng.random_range(0..self.client.vaults.len())]
    }
}

fn add(prompt: &mut Prompt, vault: Id) {
    if !prompt.vaults.contains(&vault) {
        prompt.vaults.push(vault);
    }
}
