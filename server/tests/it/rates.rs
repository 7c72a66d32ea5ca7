//! Rate limits, the memory of bodies, and what metrics show of both.

use std::time::Duration;

use tokio::time::sleep;

use crate::support::PROMPT;
use crate::support::client::{Connection, Response, head, request};
use crate::support::program::Running;

const ONE: &str = "promptarium_live_a1_s3cret";
const OTHER: &str = "promptarium_live_a2_s3cret";
const KEYS: [&str; 4] = [
    "--seed-key",
    "promptarium_live_a1_s3cret=alice",
    "--seed-key",
    "promptarium_live_a2_s3cret=alice",
];
const METRICS: [&str; 2] = ["--admin-listen", "127.0.0.1:0"];

async fn send(server: &Running, request: String) -> Response {
    Connection::to(server).await.ask(request).await
}

/// The values of these series in `/metrics`.
async fn metrics(server: &mut Running, series: &[&str]) -> Vec<String> {
    let page = server.admin().await.get("/metrics").await.body;
    let value = |name: &&str| {
        let mut lines = page.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        lines.next().unwrap_or_else(|| panic!("{name} in {page}")).to_owned()
    };
    series.iter().map(value).collect()
}

#[tokio::test]
async fn a_request_beyond_a_rate_limit_is_429_and_says_when_to_try_again() {
    let limits = ["--rate-limit", "key:requests=3/60", "--rate-limit=account:generations=1/3600"];
    let mut server = Running::start(&[&KEYS[..], &METRICS, &limits].concat()).await;
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
    assert_eq!(refused.status, 429);
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    let text =
        format!("this key may send 3 requests in 60 seconds; try again in {seconds} seconds");
    assert_eq!(refused.json()["error"], text);

    let refused = send(&server, generation(OTHER)).await;
    assert_eq!(refused.status, 429, "an account's limit holds for all its keys");
    let left = refused.header("ratelimit").unwrap();
    assert!(left.starts_with("\"key-requests-60s\";r=3;"), "a refusal counts nowhere: {left}");
    assert_eq!(send(&server, list(OTHER)).await.status, 200);
    assert_eq!(send(&server, list("nobody")).await.header("ratelimit"), None);

    let series = r#"promptarium_http_refused_requests_total{reason="rate_limit"}"#;
    assert_eq!(metrics(&mut server, &[series]).await, ["2"]);
}

#[tokio::test]
async fn a_body_without_room_is_refused_before_it_is_read() {
    // An account has a quarter: three of the largest bodies.
    let budget = ["--memory-budget", "48"];
    let mut server = Running::start(&[&KEYS[..], &METRICS, &budget].concat()).await;
    let largest = head(ONE, "POST", "/prompts", "content-length: 4194304\r\n");
    let mut waiting = Vec::new();
    for _ in 0..3 {
        let mut connection = Connection::open(server.base_url()).await;
        connection.send(&largest).await;
        waiting.push(connection);
    }
    sleep(Duration::from_millis(200)).await;

    for further in ["content-length: 1\r\n", "content-length: 4194304\r\n"] {
        let refused = send(&server, head(OTHER, "POST", "/prompts", further)).await;
        assert_eq!(refused.status, 429, "{further}");
        assert_eq!(refused.header("retry-after"), Some("2"));
    }
    assert_eq!(send(&server, request(OTHER, "GET", "/prompts", None)).await.status, 200);
    let chunked = head(OTHER, "POST", "/prompts", "transfer-encoding: chunked\r\n");
    assert_eq!(send(&server, chunked + "2\r\n{}\r\n0\r\n\r\n").await.status, 429);

    let series = [
        r#"promptarium_http_refused_requests_total{reason="account_memory"}"#,
        "promptarium_http_body_memory_bytes",
        "promptarium_http_body_memory_limit_bytes",
        r#"promptarium_quota_used{quota="memory"}"#,
        r#"promptarium_quota_limit{quota="public_memory"}"#,
        r#"promptarium_quota_refused_total{quota="memory"}"#,
    ];
    let expected = ["3", "12582912.0", "50331648.0", "12582912.0", "12582912.0", "3.0"];
    assert_eq!(metrics(&mut server, &series).await, expected);

    drop(waiting);
    sleep(Duration::from_millis(200)).await;
    assert_eq!(send(&server, request(OTHER, "POST", "/prompts", Some(PROMPT))).await.status, 201);
}
