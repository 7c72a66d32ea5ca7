//! Large vaults on PostgreSQL: forks at once, and readers that stop reading.

use std::time::Duration;

use futures::future::join_all;
use promptarium_server::test_support::ScratchDatabase;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::peer::{Peer, head};
use crate::target::{ATTACKER, Target};

const FORKS: usize = 16;
const READERS: usize = 30;
/// The first prompts of the vault; each fork and its addition doubles them.
const FIRST: usize = 50;
const DOUBLINGS: usize = if cfg!(debug_assertions) { 7 } else { 10 };

struct Attacker {
    client: Client,
    base_url: String,
}

impl Attacker {
    async fn call(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let request = self.client.request(method, format!("{}{path}", self.base_url));
        let response = request.bearer_auth(ATTACKER).json(body).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap_or_default())
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let (status, body) = self.call(Method::POST, path, body).await;
        assert!((200..300).contains(&status), "{path}: {status} {body}");
        body
    }

    /// A public vault of `FIRST` × 2^`DOUBLINGS` prompts.
    async fn large_vault(&self) -> i64 {
        let vault = json!({ "name": "Large", "visibility": "public" });
        let vault = self.post("/vaults", &vault).await["data"]["id"].as_i64().unwrap();
        for _ in 0..FIRST {
            let prompt =
                json!({ "title": "t", "prompt": "A harbour. ".repeat(100), "vaultId": vault });
            self.post("/prompts", &prompt).await;
        }
        for _ in 0..DOUBLINGS {
            let copy = self.post(&format!("/vaults/{vault}/fork"), &json!({})).await;
            let path = format!("/vaults/{}/prompts", copy["data"]["id"]);
            let (_, copies) = self.call(Method::GET, &path, &Value::Null).await;
            let ids: Vec<_> = copies["data"].as_array().unwrap().iter().map(|p| &p["id"]).collect();
            for ids in ids.chunks(50) {
                let added = json!({ "promptIds": ids });
                self.post(&format!("/vaults/{vault}/prompts"), &added).await;
            }
        }
        vault
    }
}

#[tokio::test]
async fn sixteen_forks_and_thirty_readers_that_stop_of_a_large_vault() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = database.url();
    let target = Target::start(&["--database-url", &url, "--blob-store", "memory:"]).await;
    let client = Client::builder().timeout(Duration::from_secs(120)).build().unwrap();
    let attacker = Attacker { client, base_url: target.server.base_url().to_owned() };
    let vault = attacker.large_vault().await;

    let readers = (0..READERS).map(async |_| {
        let mut peer = Peer::open(target.address()).await;
        peer.send(head("GET", &format!("/vaults/{vault}/prompts"), 0)).await;
        peer
    });
    let readers = join_all(readers).await;
    let path = format!("/vaults/{vault}/fork");
    let forks = (0..FORKS).map(async |_| attacker.call(Method::POST, &path, &json!({})).await);
    let forks = join_all(forks).await;
    let forked = forks.iter().filter(|(status, _)| *status == 201).count();
    let refused = forks.iter().filter(|(status, _)| *status == 503).count();
    println!("{forked} forks were made and {refused} refused");
    assert!(forked > 0 && forked + refused == FORKS, "{forks:?}");
    sleep(Duration::from_secs(1)).await;
    drop(readers);
    target.end("16 forks and 30 readers of a large vault").await;
}
