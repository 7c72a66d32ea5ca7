//! The reference server in memory with all keys that scenarios can need, and
//! what is in its accounts.

use http::Method;
use reqwest::Client;

use crate::keys;
use crate::prelude::*;

pub(crate) async fn server() -> EmbeddedServer {
    builder().start().await.unwrap()
}

/// A server, and the address of a front that changes what passes.
pub(crate) async fn server_behind(changes: Changes) -> (EmbeddedServer, String, Balancer) {
    let (server, socket) = (server().await, Socket::bind().await.unwrap());
    let base_url = format!("{}/api/v1", socket.url().unwrap());
    let front = socket.forward_to(&[server.local_addr()], changes);
    (server, base_url, front)
}

/// The built-in scenarios whose ids begin so; all of them without a filter.
pub(crate) fn chosen(filters: &[&str]) -> Selection {
    let filter = filters.iter().map(|filter| (*filter).to_owned()).collect();
    Selection::new(&Suite::builtin(), Filters { filter, ..Filters::default() }).unwrap()
}

pub(crate) fn target(base_url: &str, options: RunOptions) -> Arc<Target> {
    Target::new(TargetConfig { options, ..keys::target(base_url).unwrap() }).unwrap().into()
}

/// Other tests share the processor, and speed is not what is tested.
pub(crate) fn patient() -> RunOptions {
    RunOptions { time_scale: 5.0, ..RunOptions::default() }
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

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> (u16, Value) {
        let request = self.http.request(method, format!("{}{path}", self.base_url));
        let request = request.bearer_auth(self.key).header("content-type", "application/json");
        let request = request.body(body.map(Value::to_string).unwrap_or_default());
        let reply = request.send().await.unwrap();
        (reply.status().as_u16(), serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap())
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.call(Method::GET, path, None).await
    }

    /// The data of a success.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        let (status, mut reply) = self.call(Method::POST, path, Some(&body)).await;
        assert!(status < 300, "{path} {body}: {status}");
        reply["data"].take()
    }

    pub(crate) async fn delete(&self, path: &str) {
        let (status, _) = self.call(Method::DELETE, path, None).await;
        assert!(status < 300, "{path}: {status}");
    }

    pub(crate) async fn vaults(&self) -> Vec<Value> {
        self.get("/vaults").await.1["data"].as_array().unwrap().clone()
    }

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
        made["id"].as_i64().unwrap()
    }

    pub(crate) async fn vault(&self, name: &str) -> i64 {
        self.post("/vaults", json!({ "name": name })).await["id"].as_i64().unwrap()
    }

    /// Something to look at: vaults with so many prompts each.
    pub(crate) async fn furnish(&self, vaults: usize, prompts: usize) {
        for n in 0..vaults {
            let vault = self.vault(&format!("Theirs {n}")).await;
            for m in 0..prompts {
                let prompt = self.prompt(&format!("Theirs {n} {m}"), "A pier").await;
                self.add(vault, &[prompt]).await;
            }
        }
    }

    pub(crate) async fn add(&self, vault: i64, prompts: &[i64]) {
        let path = format!("/vaults/{vault}/prompts");
        for some in prompts.chunks(50) {
            self.post(&path, json!({ "promptIds": some })).await;
        }
    }
}
