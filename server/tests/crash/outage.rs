//! The database does not respond for a while: requests fail in time with 503, and everything works
//! again without intervention when it is back. Tests of the store have a database that is stopped.

use std::time::Duration;

use futures::future::{join, join_all};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::KEY;
use crate::cluster::Cluster;
use crate::support::client::Response;
use crate::support::program::{Server, signal};
use crate::support::{folder_store, wait_until};

/// How long a request may take that fails.
const FAILURE_MAX: Duration = Duration::from_secs(10);
const RECOVERY_MAX: Duration = Duration::from_secs(15);

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_database_gives_503_in_time_and_recovery_by_itself() {
    let (cluster, folder) = (Cluster::start().await, TempDir::new().unwrap());
    let arguments = format!(
        "--database-url {} --blob-store {}/blobs --seed-key {KEY}=client",
        cluster.url,
        folder_store(&folder)
    );
    let server = Server::start(folder.path().join("log"), &arguments).await;
    // One that is not changed, and one that may be changed during the outage.
    let prompts = [create_prompt(&server).await, create_prompt(&server).await];
    assert_eq!(server.get("/readyz").await.status, 200);
    let processes = cluster.freeze().await;
    assert_unavailable(&server, &prompts).await;
    signal("CONT", &processes).await;
    assert_recovery(&server, &prompts[0]).await;
}

/// Its path.
async fn create_prompt(server: &Server) -> String {
    let body = json!({ "title": "Harbour", "prompt": "A harbour at dawn" });
    let response = server.call(KEY, "POST", "/prompts", body).await;
    assert_eq!(response.status, 201, "{}", response.summary());
    format!("/prompts/{}", response.data()["id"])
}

/// Sends all requests at once, so that none profits from the failure of another.
async fn assert_unavailable(server: &Server, [one, other]: &[String; 2]) {
    let prompt = json!({ "title": "Quay", "prompt": "A quay at dusk" });
    let job = json!({ "modelId": "local/plasma", "prompt": "A quay" });
    let slot = json!({ "contentType": "image/png", "size": 9 });
    let failures = [
        ("GET", &**one, Value::Null),
        ("GET", "/prompts", Value::Null),
        ("GET", "/vaults", Value::Null),
        ("GET", "/generations/j/status", Value::Null),
        ("POST", "/prompts", prompt.clone()),
        ("POST", "/prompts", json!({})),
        ("PATCH", other, prompt),
        ("DELETE", other, Value::Null),
        ("POST", "/generations", job),
        ("POST", "/uploads/images", slot),
    ]
    .map(|(method, path, body)| async move {
        let (begin, request) = (Instant::now(), format!("{method} {path} {body}"));
        let response = server.call(KEY, method, path, body).await;
        assert_failed(&response, begin, &request);
        // A write that may have happened must not be repeated blindly.
        let unknown = method != "GET" && response.summary().contains("not known whether");
        assert_eq!(response.header("retry-after").is_some(), !unknown, "{request}");
    });
    let health = async {
        let begin = Instant::now();
        let response = server.get("/readyz").await;
        assert_failed(&response, begin, "/readyz");
        assert_eq!(response.header("retry-after"), Some("2"));
        let begin = Instant::now();
        assert_eq!(server.get("/healthz").await.status, 200);
        assert!(begin.elapsed() < Duration::from_secs(1), "/healthz needs no database");
    };
    join(health, join_all(failures)).await;
}

/// Reads, writes and generations work again in time.
async fn assert_recovery(server: &Server, prompt: &str) {
    let is_ready = async || server.get("/readyz").await.status == 200;
    wait_until(RECOVERY_MAX, is_ready).await.expect("recovery");
    let found = server.call(KEY, "GET", prompt, Value::Null).await;
    assert_eq!(found.status, 200, "{}", found.summary());
    create_prompt(server).await;
    let job = json!({ "modelId": "local/plasma", "prompt": "A mole", "clientJobId": "j" });
    let queued = server.call(KEY, "POST", "/generations", job).await;
    assert_eq!(queued.status, 202, "{}", queued.summary());
    let status = async || server.call(KEY, "GET", "/generations/j/status", Value::Null).await;
    let is_completed = async || status().await.data()["status"] == "completed";
    wait_until(RECOVERY_MAX, is_completed).await.expect("the job");
}

fn assert_failed(response: &Response, begin: Instant, request: &str) {
    assert!(begin.elapsed() < FAILURE_MAX, "{request} took {:?}", begin.elapsed());
    assert_eq!(response.status, 503, "{request}: {}", response.summary());
    assert!(response.is_error_envelope(), "{request}: {}", response.summary());
}
