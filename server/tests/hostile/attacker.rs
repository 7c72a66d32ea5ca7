//! The attacker as a client of the API, for what an attack prepares.

use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::TIMEOUT;
use crate::target::{ATTACKER, Target};

pub(crate) struct Attacker {
    client: Client,
    base_url: String,
    key: &'static str,
}

impl Attacker {
    pub(crate) fn of(target: &Target) -> Self {
        Self::with(target, ATTACKER)
    }

    /// The owner of another key.
    pub(crate) fn with(target: &Target, key: &'static str) -> Self {
        // A fork of a large vault may take a minute.
        let client = Client::builder().timeout(2 * TIMEOUT).build().unwrap();
        Self { client, base_url: target.base_url().to_owned(), key }
    }

    /// The status and the `data` of a response, or the whole body of a refusal.
    pub(crate) async fn call(&self, method: Method, path: &str, json: String) -> (u16, Value) {
        let request = self.client.request(method, format!("{}{path}", self.base_url));
        let request = request.bearer_auth(self.key).header("content-type", "application/json");
        let response = request.body(json).send().await.unwrap();
        let status = response.status().as_u16();
        let mut body: Value = response.json().await.unwrap_or_default();
        if status < 300 { (status, body["data"].take()) } else { (status, body) }
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.done(Method::GET, path, String::new()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Value {
        self.done(Method::POST, path, body.to_string()).await
    }

    async fn done(&self, method: Method, path: &str, json: String) -> Value {
        let (status, data) = self.call(method, path, json).await;
        assert!((200..300).contains(&status), "{path}: {status} {data}");
        data
    }

    /// A vault of so many equal prompts.
    pub(crate) async fn vault(&self, prompts: usize, text: &str) -> i64 {
        let vault = json!({ "name": "Large", "visibility": "public" });
        let vault = self.post("/vaults", &vault).await["id"].as_i64().unwrap();
        let prompt = json!({ "title": "t", "prompt": text, "vaultId": vault });
        for _ in 0..prompts {
            self.post("/prompts", &prompt).await;
        }
        vault
    }
}
