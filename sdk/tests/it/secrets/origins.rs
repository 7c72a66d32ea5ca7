//! The key is sent to the service and nowhere else, whatever URL a response contains.

use promptarium::{Client, PromptId, RetryPolicy, UploadSource};
use serde_json::json;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::{builder, client, slot};
use crate::stub::{KEY, answering, envelope, get, prompt};

/// Another server, which answers every request.
async fn elsewhere() -> MockServer {
    answering(ResponseTemplate::new(200).set_body_json(envelope(&prompt(7)))).await
}

async fn requests(server: &MockServer) -> Vec<Request> {
    server.received_requests().await.unwrap()
}

fn holds_the_key(request: &Request) -> bool {
    let mut values = request.headers.values();
    let in_headers = values.any(|value| String::from_utf8_lossy(value.as_bytes()).contains(KEY));
    in_headers || request.url.as_str().contains(KEY)
}

/// URLs of one server: by its address, by its name (another host), with a password, and without a
/// scheme.
fn names(server: &MockServer) -> [String; 4] {
    let port = server.address().port();
    [
        format!("http://127.0.0.1:{port}/api/v1/prompts/7"),
        format!("http://localhost:{port}/api/v1/prompts/7"),
        format!("http://a:b@127.0.0.1:{port}/api/v1/prompts/7"),
        format!("//127.0.0.1:{port}/api/v1/prompts/7"),
    ]
}

#[tokio::test]
async fn no_call_follows_a_redirect_to_another_origin() {
    let elsewhere = elsewhere().await;
    for location in names(&elsewhere) {
        for status in [301, 302, 303, 307, 308] {
            let moved = ResponseTemplate::new(status).insert_header("location", &*location);
            let server = answering(moved).await;
            let client = client(&server.uri());
            assert!(get(&client).await.unwrap_err().is_redirect(), "{status} {location}");
            assert!(client.prompts().create("t", "p").await.unwrap_err().is_redirect());
            assert!(client.get("/x").await.unwrap_err().is_redirect());
            assert_eq!(requests(&server).await.len(), 3);
        }
    }
    assert!(requests(&elsewhere).await.is_empty());
}

#[tokio::test]
async fn an_http_client_that_follows_redirects_takes_no_key_along() {
    let elsewhere = elsewhere().await;
    for location in names(&elsewhere) {
        let moved = ResponseTemplate::new(307).insert_header("location", &*location);
        let server = answering(moved).await;
        let client = builder(&server.uri()).http_client(reqwest::Client::new()).build().unwrap();
        assert!(get(&client).await.unwrap_err().is_redirect(), "{location}");
    }
    let requests = requests(&elsewhere).await;
    assert_eq!(requests.len(), 4);
    assert!(!requests.iter().any(holds_the_key), "{requests:?}");
}

#[tokio::test]
async fn a_storage_gets_no_key_and_where_it_leads_no_token_either() {
    let elsewhere = elsewhere().await;
    for location in names(&elsewhere) {
        for status in [301, 302, 303, 307, 308] {
            let moved = ResponseTemplate::new(status).insert_header("location", &*location);
            let storage = answering(moved).await;
            let given = ResponseTemplate::new(201).set_body_json(envelope(&slot(&storage.uri())));
            let service = answering(given).await;
            let image = UploadSource::bytes(&b"GIF89a......"[..]);
            let outcome = client(&service.uri()).uploads().image(image).await;
            assert_eq!(outcome.is_ok(), matches!(status, 307 | 308), "{status} {location}");
            let puts = requests(&storage).await;
            assert_eq!(puts[0].headers["authorization"], "Bearer s3cretToken");
            assert!(!puts.iter().any(holds_the_key), "{puts:?}");
        }
    }
    let requests = requests(&elsewhere).await;
    assert_eq!(requests.len(), 8);
    for put in requests {
        let shown = format!("{:?}", put.headers);
        assert!(!holds_the_key(&put) && !shown.contains("s3cretToken"), "{shown}");
    }
}

#[tokio::test]
async fn an_asset_is_fetched_without_the_key_wherever_it_leads() {
    let elsewhere = elsewhere().await;
    // Also for redirects back to the service.
    let client = client(&elsewhere.uri());
    for location in names(&elsewhere) {
        for status in [301, 302, 303, 307, 308] {
            let moved = ResponseTemplate::new(status).insert_header("location", &*location);
            let first = answering(moved).await;
            client.assets().download(format!("{}/a.png?x", first.uri())).await.unwrap();
            assert!(!requests(&first).await.iter().any(holds_the_key));
        }
    }
    let requests = requests(&elsewhere).await;
    assert_eq!(requests.len(), 20);
    assert!(!requests.iter().any(holds_the_key));
    assert!(!requests.iter().any(|request| request.headers.contains_key("referer")));
}

#[tokio::test]
async fn the_status_url_of_a_job_is_not_requested() {
    let elsewhere = elsewhere().await;
    let url = format!("{}/api/v1/generations/j/status", elsewhere.uri());
    let answer = move |request: &Request| {
        let data = match request.url.path() {
            "/api/v1/generations" => json!({
                "success": true, "clientJobId": "j", "providerRequestId": "r", "statusUrl": url,
            }),
            "/api/v1/prompts/7" => prompt(7),
            _ => json!({ "status": "completed", "promptId": 7, "statusUrl": url }),
        };
        ResponseTemplate::new(200).set_body_json(envelope(&data))
    };
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(answer).mount(&server).await;
    let client = client(&server.uri());
    let job = client.generations().create("local/plasma", "p").client_job_id("j").await.unwrap();
    assert!(job.status_url.as_ref().unwrap().starts_with(&elsewhere.uri()));
    client.generations().wait(&job).await.unwrap();
    client.generations().status(&job).await.unwrap();
    let paths: Vec<_> =
        requests(&server).await.iter().map(|request| request.url.path().to_owned()).collect();
    let status = "/api/v1/generations/j/status";
    assert_eq!(paths, ["/api/v1/generations", status, "/api/v1/prompts/7", status]);
    assert!(requests(&elsewhere).await.is_empty());
}

#[tokio::test]
async fn a_cursor_that_is_an_address_is_still_only_a_cursor() {
    let elsewhere = elsewhere().await;
    let server = MockServer::start().await;
    let next = names(&elsewhere)[0].clone();
    let cursor = next.clone();
    let answer = move |request: &Request| {
        let begins = !request.url.query().is_some_and(|query| query.contains("cursor"));
        let next = begins.then_some(&cursor);
        let page =
            json!({ "data": [prompt(1)], "error": null, "pagination": { "nextCursor": next } });
        ResponseTemplate::new(200).set_body_json(page)
    };
    Mock::given(any()).respond_with(answer).mount(&server).await;
    let mut prompts = client(&server.uri()).prompts().list().items();
    let mut count = 0;
    while let Some(prompt) = prompts.next().await {
        assert_eq!(prompt.unwrap().id, PromptId::new(1));
        count += 1;
    }
    assert_eq!(count, 2);
    let asked = requests(&server).await;
    assert_eq!(asked[1].url.path(), "/api/v1/prompts");
    assert!(asked[1].url.query_pairs().any(|(name, value)| name == "cursor" && value == next));
    assert!(requests(&elsewhere).await.is_empty());
}

/// A client whose base URL has no path, so that a path of a call follows the host directly.
fn bare(server: &MockServer) -> Client {
    let builder = Client::builder().base_url(server.uri()).api_key(KEY);
    builder.retry(RetryPolicy::never()).build().unwrap()
}

#[tokio::test]
async fn no_path_and_no_id_leads_to_another_host() {
    let (server, elsewhere) = (elsewhere().await, elsewhere().await);
    let host = elsewhere.address().to_string();
    for client in [client(&server.uri()), bare(&server)] {
        let paths = [
            format!("//{host}/x"),
            format!("///{host}/x"),
            format!("/@{host}/x"),
            format!("/:80@{host}/x"),
            format!("/http://{host}/x"),
            format!("/%2F%2F{host}/x"),
            format!("/..%2f..%2f{host}/x"),
            format!("/..;/{host}/x"),
        ];
        for path in paths {
            let before = requests(&server).await.len();
            let outcome = client.get(&*path).await;
            assert!(outcome.is_ok(), "{path}: {outcome:?}");
            let asked = requests(&server).await;
            assert_eq!(asked.len(), before + 1, "{path}");
            let base = client.base_url().trim_start_matches(&server.uri()).to_owned();
            assert_eq!(asked[before].url.path(), format!("{base}{path}"));
        }
        for path in [format!("@{host}/x"), format!(":80@{host}"), format!("/\\{host}/x")] {
            assert!(client.get(&*path).await.unwrap_err().is_input(), "{path}");
        }
        for id in [format!("//{host}/x"), format!("../../{host}"), format!("@{host}?a#b")] {
            let _ = client.generations().status(&*id).await;
        }
    }
    let asked = requests(&server).await;
    assert_eq!(asked.len(), 2 * (8 + 3));
    assert!(asked.iter().all(holds_the_key));
    assert!(requests(&elsewhere).await.is_empty());
}
