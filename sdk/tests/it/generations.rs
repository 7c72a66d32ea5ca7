//! Generations over real sockets: the id of a job, waiting for it, its output. What
//! is a matter of time is tested beside the code, on a clock of its own.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use insta::assert_snapshot;
use promptarium::request::Wait;
use promptarium::{Client, JobId, PromptId};
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::errors::kinds;
use crate::stub::{answering, client, envelope, on_a_fast_clock, outcome, prompt};

/// A service whose jobs go through these states, one a poll, and stay in the last;
/// "503" is no state but a bad moment.
pub(crate) async fn service(states: &'static [&'static str]) -> MockServer {
    let (server, polls) = (MockServer::start().await, Mutex::new(0));
    let answer = move |request: &Request| {
        let data = match (request.method.as_str(), request.url.path()) {
            ("POST", "/api/v1/generations") => queued(request),
            (_, path) if path.ends_with("/status") => {
                let mut polls = polls.lock().unwrap();
                let state = states[states.len().min(*polls + 1) - 1];
                *polls += 1;
                match state.parse::<u16>() {
                    Ok(status) => return ResponseTemplate::new(status),
                    Err(_) => status(state),
                }
            }
            (_, "/api/v1/prompts/7") => prompt(7),
            _ => return ResponseTemplate::new(500),
        };
        ResponseTemplate::new(200).set_body_json(envelope(&data))
    };
    Mock::given(any()).respond_with(answer).mount(&server).await;
    server
}

fn queued(request: &Request) -> Value {
    let id = request.body_json::<Value>().unwrap()["clientJobId"].clone();
    let elsewhere = "http://127.0.0.1:1/never/asked";
    json!({ "success": true, "clientJobId": id, "providerRequestId": "r", "statusUrl": elsewhere })
}

fn status(state: &str) -> Value {
    let done = (state == "completed").then_some(7);
    let reason = (state == "failed").then_some("no paint left");
    json!({ "clientJobId": "job-1", "status": state, "promptId": done, "error": reason })
}

fn waiting(client: &Client) -> Wait {
    client.generations().job("job-1").wait()
}

async fn paths(server: &MockServer) -> Vec<String> {
    let requests = server.received_requests().await.unwrap();
    requests.iter().map(|request| format!("{} {}", request.method, request.url.path())).collect()
}

#[tokio::test]
async fn a_job_has_an_id_before_it_is_sent_and_the_same_when_it_is_sent_again() {
    let server = service(&["queued"]).await;
    let create = client(server.uri()).generations().create("local/plasma", "A harbour");
    let id = create.job_id().clone();
    let parts: Vec<_> = id.as_str().split('-').map(str::len).collect();
    assert_eq!(parts, [8, 4, 4, 4, 12]);
    assert_eq!(id.as_str().as_bytes()[14], b'4');

    assert_eq!(create.clone().await.unwrap().client_job_id, id);
    assert_eq!(create.await.unwrap().client_job_id, id);
    let sent: Vec<Value> = server
        .received_requests()
        .await
        .unwrap()
        .iter()
        .map(|request| request.body_json::<Value>().unwrap()["clientJobId"].clone())
        .collect();
    assert_eq!(sent, [json!(id), json!(id)]);

    let other = client(server.uri()).generations().create("local/plasma", "A harbour");
    assert_ne!(*other.job_id(), id);
}

#[tokio::test]
async fn create_gives_the_job() {
    let server = service(&["queued"]).await;
    let create = client(server.uri()).generations().create("local/plasma", "A harbour");
    let job = create.client_job_id("job-1").await.unwrap();
    assert_eq!((job.success, job.client_job_id.as_str()), (true, "job-1"));
    assert_eq!(job.provider_request_id, "r");
}

#[tokio::test]
async fn what_is_sent_can_be_checked_before_it_is_sent() {
    let error = outcome(ResponseTemplate::new(500), |client| {
        client.generations().create("m", "p").parameters(json!([1])).parameter("seed", 7)
    });
    let error = error.await.unwrap_err();
    assert_snapshot!(error, @"the parameters of a generation are no JSON object");
    assert_eq!(kinds(&error), "input");
    for id in ["", ".", ".."] {
        let asked = outcome(ResponseTemplate::new(500), |client| client.generations().status(id));
        let error = asked.await.unwrap_err();
        assert_eq!(error.to_string(), format!("the job id \"{id}\" cannot stand in an address"));
        assert_eq!(kinds(&error), "input");
    }
}

#[tokio::test]
async fn a_generation_is_waited_for_and_brings_its_pictures() {
    let server = service(&["queued", "503", "in_progress", "completed"]).await;
    let client = client(server.uri());
    let finished = on_a_fast_clock(async {
        let job = client.generations().create("local/plasma", "A harbour").await?;
        let told = Arc::new(Mutex::new(Vec::new()));
        let noted = told.clone();
        let wait = client.generations().wait(&job);
        let wait = wait.on_change(move |status| noted.lock().unwrap().push(status.status.clone()));
        let finished = wait.await?;
        assert_eq!(
            *told.lock().unwrap(),
            ["queued".into(), "in_progress".into(), "completed".into()]
        );
        let status = format!("GET /api/v1/generations/{}/status", job.client_job_id);
        let asked = paths(&server).await;
        assert_eq!(asked[0], "POST /api/v1/generations");
        assert_eq!(asked[1..5], [&*status; 4]);
        assert_eq!(asked[5..], ["GET /api/v1/prompts/7"]);
        Ok::<_, promptarium::Error>(finished)
    });
    let finished = finished.await.unwrap();
    assert_eq!(finished.prompt.as_ref().unwrap().id, PromptId::new(7));
    assert_eq!(finished.images()[0].url.as_str(), "https://cdn.example/a.png");
}

#[tokio::test]
async fn a_job_is_found_again_by_its_id_alone() {
    let server = service(&["in_progress", "completed"]).await;
    let kept = String::from("job-1");
    let handle = client(server.uri()).generations().job(kept);
    assert_eq!(handle.id(), &JobId::from("job-1"));
    assert_eq!(handle.status().await.unwrap().status.as_str(), "in_progress");
    assert!(handle.wait().await.unwrap().prompt.is_some());
}

#[tokio::test]
async fn a_job_that_failed_is_told_apart_from_a_call_that_did() {
    let server = service(&["failed"]).await;
    let error = waiting(&client(server.uri())).await.unwrap_err();
    assert_snapshot!(error, @r#"the generation "job-1" failed: no paint left"#);
    assert_eq!(kinds(&error), "job_failed");

    let missing = answering(ResponseTemplate::new(404)).await;
    let error = waiting(&client(missing.uri())).await.unwrap_err();
    assert_snapshot!(error, @"GET /generations/{clientJobId}/status: 404 Not Found, with an empty body");
    assert_eq!(kinds(&error), "not_found");
    assert_eq!(missing.received_requests().await.unwrap().len(), 1);

    let odd = ResponseTemplate::new(200).set_body_json(envelope(&json!({ "done": true })));
    let odd = answering(odd).await;
    let error = waiting(&client(odd.uri())).await.unwrap_err();
    assert_snapshot!(error, @r#"GET /generations/{clientJobId}/status: 200 OK, but the answer cannot be read at `data`, near: {"data":{"done":true},"error":null}"#);
    assert_eq!(kinds(&error), "decode");
}

#[tokio::test]
async fn a_service_that_is_away_is_asked_until_the_deadline() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let client = client(format!("http://{address}"));
    let error = on_a_fast_clock(waiting(&client).timeout(Duration::from_secs(20)).into_future());
    let error = error.await.unwrap_err();
    assert_snapshot!(error, @r#"the generation "job-1" was not finished within 20s; nothing was heard of it"#);
    assert_eq!(kinds(&error), "deadline");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("cannot connect to http://127.0.0.1:"), "{cause}");
}

#[tokio::test]
async fn dropping_a_watch_stops_its_traffic() {
    let server = service(&["queued", "in_progress", "queued", "in_progress"]).await;
    let client = client(server.uri());
    on_a_fast_clock(async {
        let mut watch = client.generations().watch("job-1");
        for _ in 0..3 {
            watch.next().await.unwrap().unwrap();
        }
        drop(watch);
        let after = Duration::from_secs(30);
        let wait = waiting(&client).timeout(Duration::MAX).into_future();
        assert!(tokio::time::timeout(after, wait).await.is_err());
        let asked = server.received_requests().await.unwrap().len();
        tokio::time::sleep(after).await;
        assert_eq!(server.received_requests().await.unwrap().len(), asked);
    })
    .await;
}

#[tokio::test]
async fn watches_and_waits_go_to_another_task() {
    fn movable<T: Send + 'static>(value: T) -> T {
        value
    }
    let server = service(&["completed"]).await;
    let client = client(server.uri());
    let mut watch = movable(client.generations().watch("job-1"));
    let wait = movable(waiting(&client).into_future());
    let both = tokio::spawn(async move { (watch.next().await.is_some(), wait.await.is_ok()) });
    assert_eq!(both.await.unwrap(), (true, true));
    let shown = format!("{:?} {:?}", client.generations().watch("job-1"), waiting(&client));
    assert!(!shown.contains("s3cret"), "{shown}");
}
