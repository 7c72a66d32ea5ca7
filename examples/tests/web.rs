//! `web` as a browser uses it.

use std::process::Stdio;
use std::time::Duration;

use futures::StreamExt as _;
use promptarium_server::EmbeddedServer;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::sleep;

use crate::program;
use crate::proxy::Proxy;

/// The running example and its URL. It is killed when the process is dropped.
async fn start(environment: &[(&str, &str)]) -> (Child, String) {
    let mut command = Command::new(program("web"));
    command.env_remove("PROMPTARIUM_BASE_URL").env_remove("PROMPTARIUM_API_KEY");
    command.envs(environment.iter().copied()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut web = command.spawn().unwrap();
    let mut lines = BufReader::new(web.stdout.take().unwrap()).lines();
    let line = lines.next_line().await.unwrap().unwrap();
    let (_, url) = line.rsplit_once(": ").unwrap();
    (web, url.trim_end_matches('/').to_owned())
}

async fn get(url: String) -> Value {
    reqwest::get(url).await.unwrap().json().await.unwrap()
}

async fn generate(url: &str, prompt: &str) -> (u16, Value) {
    let body = json!({ "prompt": prompt });
    let client = reqwest::Client::new();
    let response = client.post(format!("{url}/generate")).json(&body).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test]
async fn the_web_application_shows_prompts_and_follows_a_generation() {
    let (_web, url) = start(&[]).await;
    let page = reqwest::get(&url).await.unwrap().text().await.unwrap();
    assert!(page.contains("EventSource"), "{page}");

    let first = get(format!("{url}/prompts")).await;
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = get(format!("{url}/prompts?cursor={cursor}")).await;
    let count = |page: &Value| page["items"].as_array().unwrap().len();
    assert_eq!((count(&first), count(&second)), (20, 10));
    assert_eq!(second["nextCursor"], Value::Null);

    let (status, job) = generate(&url, "A harbour").await;
    assert_eq!(status, 202, "{job}");
    let job = job["clientJobId"].as_str().unwrap();
    let events = reqwest::get(format!("{url}/generate/{job}/events")).await.unwrap();
    let events = events.text().await.unwrap();
    assert!(events.starts_with("event: status\ndata: {"), "{events}");
    assert!(events.contains(r#""status":"completed""#), "{events}");

    let events = reqwest::get(format!("{url}/generate/nobody/events")).await.unwrap();
    assert!(events.text().await.unwrap().starts_with("event: failure\n"));
}

#[tokio::test]
async fn an_error_of_the_service_comes_to_the_browser_with_its_fields() {
    let (_web, url) = start(&[]).await;
    let (status, body) = generate(&url, "").await;
    assert_eq!(status, 400, "{body}");
    assert_eq!(body["fields"]["prompt"], "must be 1 to 100000 characters, but has 0");
    assert_eq!(body["mayBeQueued"], false);

    let base = ("PROMPTARIUM_BASE_URL", "http://127.0.0.1:1/api/v1");
    let (_web, url) = start(&[base, ("PROMPTARIUM_API_KEY", "k")]).await;
    let response = reqwest::get(format!("{url}/prompts")).await.unwrap();
    assert_eq!(response.status().as_u16(), 503);
    let body = response.text().await.unwrap();
    assert!(!body.contains("127.0.0.1"), "{body}");
}

#[tokio::test]
async fn a_visitor_who_leaves_stops_the_polling() {
    let proxy = Proxy::start(false).await;
    // Without workers the job remains queued.
    let server = EmbeddedServer::builder().workers(0).start().await.unwrap();
    proxy.forward_to(server.local_addr());
    let base = format!("{}/api/v1", proxy.url());
    let environment = [("PROMPTARIUM_BASE_URL", &*base), ("PROMPTARIUM_API_KEY", server.api_key())];
    let (_web, url) = start(&environment).await;
    let (_, job) = generate(&url, "A harbour").await;
    let job = job["clientJobId"].as_str().unwrap();
    let events = reqwest::get(format!("{url}/generate/{job}/events")).await.unwrap();
    let mut events = events.bytes_stream();
    assert!(events.next().await.unwrap().unwrap().starts_with(b"event: status\n"));
    let polls = || proxy.seen().iter().filter(|seen| seen.line.ends_with("/status")).count();
    while polls() < 2 {
        sleep(Duration::from_millis(50)).await;
    }
    drop(events);
    // The poll that is under way may end.
    sleep(Duration::from_millis(500)).await;
    let before = polls();
    sleep(Duration::from_secs(4)).await;
    assert_eq!(polls(), before);
}
