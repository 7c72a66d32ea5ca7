//! Rate limits, the memory of bodies, and what metrics show of both.

use std::time::Duration;

use tokio::time::sleep;

use crate::support::PROMPT;
use crate::support::browser::{OWN, cookie_of, sign_in_request};
use crate::support::client::{Connection, Response, head, request};
use crate::support::program::Running;

const ONE: &str = "promptarium_live_a1_s3cret";
const OTHER: &str = "promptarium_live_a2_s3cret";

async fn start(limits: &str) -> Running {
    Running::start(&format!(
        "--seed-key={ONE}=alice --seed-key={OTHER}=alice --admin-listen=127.0.0.1:0 {limits}"
    ))
    .await
}

async fn send(server: &Running, request: String) -> Response {
    Connection::to(server).await.ask(request).await
}

/// Checks the values of these series in `/metrics`.
async fn assert_metrics(server: &mut Running, series: &[(&str, &str)]) {
    let page = server.admin().await.get("/metrics").await.body;
    for (name, value) in series {
        assert!(page.contains(&format!("\n{name} {value}\n")), "{name} {value} in {page}");
    }
}

#[tokio::test]
async fn a_request_beyond_a_rate_limit_is_429_and_says_when_to_try_again() {
    let limits = "--rate-limit=key:requests=3/60 --rate-limit=account:generations=1/3600";
    let mut server = start(limits).await;
    let list = |key| request(key, "GET", "/prompts", None);
    let generation = r#"{"modelId":"local/fail","prompt":"A harbour"}"#;
    let generation = |key| request(key, "POST", "/generations", Some(generation));

    let first = send(&server, list(ONE)).await;
    assert_eq!(first.status, 200);
    assert_eq!(first.header("ratelimit-policy"), Some("\"key-requests-60s\";q=3;w=60"));
    let left = first.header("ratelimit").unwrap();
    assert!(left.starts_with("\"key-requests-60s\";r=2;t="), "{left}");
    // What fails is counted too.
    assert_eq!(send(&server, request(ONE, "GET", "/prompts?limit=0", None)).await.status, 400);
    let queued = send(&server, generation(ONE)).await;
    assert_eq!(queued.status, 202);
    let left = queued.header("ratelimit").unwrap();
    assert!(left.contains("\"account-generations-3600s\";r=0;t="), "{left}");

    let refused = send(&server, list(ONE)).await;
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!(refused.status == 429 && (1..=60).contains(&seconds), "{refused:?}");
    let text =
        format!("this key may send 3 requests in 60 seconds; try again in {seconds} seconds");
    assert_eq!(refused.json()["error"], text);

    assert_eq!(send(&server, generation(OTHER)).await.status, 429, "it is the account's limit");
    assert_eq!(send(&server, list("nobody")).await.header("ratelimit"), None);
    let refused = r#"promptarium_http_refused_requests_total{reason="rate_limit"}"#;
    assert_metrics(&mut server, &[(refused, "2")]).await;
}

#[tokio::test]
async fn a_picture_in_a_form_is_counted_when_its_first_bytes_arrive_and_the_fields_are_kept() {
    let server = start("--rate-limit=account:uploads=1/60").await;
    let link = server.ready["sign_in_url"].as_str().unwrap();
    let code = link.split_once('#').unwrap().1;
    let cookie = cookie_of(&send(&server, sign_in_request(code, "")).await);
    let part = "--X\r\ncontent-disposition: form-data; name=";
    let form = format!(
        "POST /prompts/new HTTP/1.1\r\nhost: test\r\ncontent-length: 9000000\r\n{OWN}{cookie}\
         content-type: multipart/form-data; boundary=X\r\n\r\n\
         {part}\"title\"\r\n\r\nHarbour\r\n{part}\"file\"; filename=\"a\"\r\n\r\n"
    );
    let mut first = Connection::to(&server).await;
    first.send(form.clone() + &"x".repeat(70_000)).await;
    sleep(Duration::from_millis(200)).await;
    let refused = send(&server, form + &"x".repeat(70_000)).await;
    assert!(refused.status == 429 && refused.body.contains("value=\"Harbour\""), "{refused:?}");
}

#[tokio::test]
async fn a_body_without_room_is_refused_before_it_is_read() {
    // An account has a quarter: three of the largest bodies.
    let mut server = start("--memory-budget=48").await;
    let response = send(&server, request(ONE, "GET", "/prompts", None)).await;
    let names = ["ratelimit", "ratelimit-policy", "retry-after"];
    assert_eq!(names.map(|name| response.header(name)), [None; 3], "there is no rate limit");
    let largest = head(ONE, "POST", "/prompts", "content-length: 4194304\r\n");
    let mut waiting = Vec::new();
    for _ in 0..3 {
        let mut connection = Connection::to(&server).await;
        connection.send(&largest).await;
        waiting.push(connection);
    }
    sleep(Duration::from_millis(200)).await;

    for (length, body) in [
        ("content-length: 1", ""),
        ("content-length: 4194304", ""),
        ("transfer-encoding: chunked", "2\r\n{}\r\n0\r\n\r\n"),
    ] {
        let further = head(OTHER, "POST", "/prompts", &format!("{length}\r\n"));
        let refused = send(&server, further + body).await;
        assert_eq!((refused.status, refused.header("retry-after")), (429, Some("2")), "{length}");
    }
    assert_eq!(send(&server, request(OTHER, "GET", "/prompts", None)).await.status, 200);
    let series = [
        (r#"promptarium_http_refused_requests_total{reason="account_memory"}"#, "3"),
        ("promptarium_http_body_memory_bytes", "12582912"),
        ("promptarium_http_body_memory_limit_bytes", "50331648"),
        (r#"promptarium_quota_used{quota="memory"}"#, "12582912"),
        (r#"promptarium_quota_limit{quota="public_memory"}"#, "12582912"),
        (r#"promptarium_quota_refused_total{quota="memory"}"#, "3"),
    ];
    assert_metrics(&mut server, &series).await;

    drop(waiting);
    sleep(Duration::from_millis(200)).await;
    assert_eq!(send(&server, request(OTHER, "POST", "/prompts", Some(PROMPT))).await.status, 201);
}
