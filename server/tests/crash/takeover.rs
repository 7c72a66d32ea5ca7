//! The job of a worker that was killed or frozen: a second server completes it in time,
//! and exactly once.

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::cluster::Cluster;
use crate::support::program::{PUBLIC_URL, Server};
use crate::support::{TIMEOUT, folder_store, provider, wait_until};
use crate::{KEY, TAKEOVER_MAX};

#[tokio::test(flavor = "multi_thread")]
async fn the_job_of_a_killed_worker_is_taken_over_in_time_and_completes_once() {
    let (cluster, folder) = (Cluster::start().await, TempDir::new().unwrap());
    let mut first = start_with_a_job(&cluster, &folder, "late-killed").await;
    first.kill().await;
    let (second, status) = take_over(&cluster, &folder).await;
    assert_completed_once(&second, "late-killed", &status).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_was_frozen_beyond_its_lease_changes_nothing() {
    let (cluster, folder) = (Cluster::start().await, TempDir::new().unwrap());
    let frozen = start_with_a_job(&cluster, &folder, "late-frozen").await;
    frozen.running().signal("STOP").await;
    let (second, status) = take_over(&cluster, &folder).await;
    let state = frozen.running().status("State");
    assert!(state.starts_with('T'), "something woke it: {state} {}", frozen.log());

    frozen.running().signal("CONT").await;
    let woken = wait_until(TIMEOUT, async || frozen.log().contains("LeaseLost")).await;
    assert!(woken.is_some(), "{}", frozen.log());
    for server in [&frozen, &second] {
        assert_completed_once(server, "late-frozen", &status).await;
    }
}

/// A server whose worker waits for the provider, which does not answer the first request for the
/// status of a job with this behaviour.
async fn start_with_a_job(cluster: &Cluster, folder: &TempDir, behaviour: &str) -> Server {
    let server = start_server(cluster, folder, "first").await;
    let model = format!("local/{behaviour}");
    let job = json!({ "clientJobId": "j", "modelId": model, "prompt": "A harbour" });
    let response = server.call(KEY, "POST", "/generations", job).await;
    assert_eq!(response.status, 202, "{}", response.summary());
    let claim = wait_until(TIMEOUT, async || provider::requests("GET", behaviour) > 0).await;
    assert!(claim.is_some(), "no worker claims the job");
    server
}

/// Starts a second server, and waits until it has completed the job.
async fn take_over(cluster: &Cluster, folder: &TempDir) -> (Server, Value) {
    let begin = Instant::now();
    let server = start_server(cluster, folder, "second").await;
    let status = async || get(&server, "/generations/j/status").await;
    let rest = TAKEOVER_MAX.saturating_sub(begin.elapsed());
    wait_until(rest, async || status().await["status"] == "completed").await;
    let status = status().await;
    assert_eq!(status["status"], "completed", "the job was not taken over: {status}");
    println!("a job was completed by another worker after {:.1?}", begin.elapsed());
    (server, status)
}

/// The job was submitted once, and the server shows the same status and one prompt with
/// one image.
async fn assert_completed_once(server: &Server, behaviour: &str, status: &Value) {
    assert_eq!(provider::requests("POST", behaviour), 1);
    assert_eq!(get(server, "/generations/j/status").await, *status);
    let contents = get(server, &format!("/vaults/{}/prompts", status["vaultId"])).await;
    let [prompt] = &**contents.as_array().unwrap() else { panic!("{contents}") };
    assert_eq!(prompt["id"], status["promptId"]);
    let [image] = &**prompt["images"].as_array().unwrap() else { panic!("{contents}") };
    let path = image["url"].as_str().unwrap().strip_prefix(PUBLIC_URL).unwrap();
    assert_eq!(server.get(path).await.status, 200, "{image}");
}

async fn get(server: &Server, path: &str) -> Value {
    server.call(KEY, "GET", path, Value::Null).await.data()
}

async fn start_server(cluster: &Cluster, folder: &TempDir, name: &str) -> Server {
    let arguments = format!(
        "--database-url {} --blob-store {}/blobs --seed-key {KEY}=client --provider queue \
         --provider-url {} --provider-key k --log warn,promptarium_server::generate::worker=debug",
        cluster.url,
        folder_store(folder),
        provider::url(),
    );
    Server::start(folder.path().join(name), &arguments).await
}
