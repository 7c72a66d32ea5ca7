//! The reference server in memory with all keys that scenarios can need, and
//! what is in its accounts.

use std::sync::Arc;

use promptarium_conformance::selection::Filters;
use promptarium_conformance::{RunOptions, Selection, Suite, Target, TargetConfig};
use promptarium_server::EmbeddedServer;
use reqwest::Client;
use serde_json::{Value, json};

use crate::embedded::builder;
use crate::keys;

pub(crate) async fn server() -> EmbeddedServer {
    builder().start().await.unwrap()
}

/// What a run is told about it.
pub(crate) fn config(base_url: &str) -> TargetConfig {
    keys::target(base_url).unwrap()
}

/// The built-in scenarios whose ids begin so; all of them without a filter.
pub(crate) fn chosen(filters: &[&str]) -> Selection {
    let filter = filters.iter().map(|filter| (*filter).to_owned()).collect();
    Selection::new(&Suite::builtin(), Filters { filter, ..Filters::default() }).unwrap()
}

pub(crate) fn target(base_url: &str, options: RunOptions) -> Arc<Target> {
    let config = TargetConfig { options, ..config(base_url) };
    Arc::new(Target::new(config).unwrap())
}

/// An account as one who has its key sees it.
#[derive(Clone)]
pub(crate) struct Account {
    http: Client,
    base_url: String,
    key: &'static str,
}

impl Account {
    pub(crate) fn new(base_url: &str, key: &'static str) -> Self {
        Self { http: Client::new(), base_url: base_url.to_owned(), key }
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        let request = self.http.get(format!("{}{path}", self.base_url));
        let reply = request.bearer_auth(self.key).send().await.unwrap();
        (reply.status().as_u16(), serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap())
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        let request = self.http.post(format!("{}{path}", self.base_url));
        let request = request.bearer_auth(self.key).header("content-type", "application/json");
        let reply = request.body(body.to_string()).send().await.unwrap();
        assert!(reply.status().is_success(), "{path} {body}: {}", reply.status());
        serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap()
    }

    pub(crate) async fn delete(&self, path: &str) {
        let request = self.http.delete(format!("{}{path}", self.base_url));
        let reply = request.bearer_auth(self.key).send().await.unwrap();
        assert!(reply.status().is_success(), "{path}: {}", reply.status());
    }

    pub(crate) async fn vaults(&self) -> Vec<Value> {
        self.get("/vaults").await.1["data"].as_array().unwrap().clone()
    }

    /// All prompts of the list.
    pub(crate) async fn prompts(&self) -> Vec<Value> {
        let (mut prompts, mut cursor) = (Vec::new(), String::new());
        loop {
            let (_, page) = self.get(&format!("/prompts?limit=100{cursor}")).await;
            prompts.extend(page["data"].as_array().unwrap().iter().cloned());
            match page["pagination"]["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return prompts,
            }
        }
    }

    pub(crate) async fn prompt(&self, title: &str, text: &str) -> i64 {
        let made = self.post("/prompts", json!({ "title": title, "prompt": text })).await;
        made["data"]["id"].as_i64().unwrap()
    }

    pub(crate) async fn vault(&self, name: &str) -> i64 {
        let made = self.post("/vaults", json!({ "name": name })).await;
        made["data"]["id"].as_i64().unwrap()
    }
}
