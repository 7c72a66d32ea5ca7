//! `/metrics`, as Prometheus sees it.

use promptarium_server::test_support::ScratchDatabase;

use crate::support::client::{Connection, head};
use crate::support::program::Running;

#[tokio::test]
async fn requests_are_counted_by_route_and_class_of_status() {
    let mut server = Running::start(&["--admin-listen", "127.0.0.1:0"], &[]).await;
    let mut connection = Connection::open(server.base_url()).await;
    for path in ["/prompts/1", "/prompts/2", "/prompts", "/nothing"] {
        connection.send(head(server.api_key(), "GET", path, "")).await;
        connection.response().await.unwrap();
    }

    connection.send("GET /metrics HTTP/1.1\r\nhost: test\r\n\r\n").await;
    assert_eq!(connection.response().await.unwrap().status, 404, "the main listener shows none");
    let event = server.event("serving metrics").await;
    let mut admin = Connection::open(event["address"].as_str().unwrap()).await;
    admin.send("GET /metrics HTTP/1.1\r\nhost: test\r\n\r\n").await;
    let page = admin.response().await.unwrap();
    assert_eq!(
        page.header("content-type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    let has = |name: &str, labels: &[&str], value: &str| {
        let found = page.body.lines().any(|line| {
            line.starts_with(name)
                && labels.iter().all(|label| line.contains(label))
                && line.ends_with(value)
        });
        assert!(found, "{name} {labels:?} {value} in:\n{}", page.body);
    };
    let requests = "promptarium_http_requests_total{";
    has(requests, &[r#"route="/prompts/{promptId}""#, r#"method="GET""#, r#"status="4xx""#], " 2");
    has(requests, &[r#"operation="listPrompts""#, r#"status="2xx""#], " 1");
    has(requests, &[r#"route="unknown""#, r#"status="4xx""#], " 2");
    let durations = "promptarium_http_request_duration_seconds";
    has(durations, &["_count{", r#"operation="getPrompt""#], " 2");
    has(durations, &["_bucket{", r#"operation="getPrompt""#, r#"le="+Inf""#], " 2");

    for (request, status) in [("GET /", 404), ("POST /metrics", 405), ("GET /healthz", 404)] {
        admin.send(format!("{request} HTTP/1.1\r\nhost: test\r\n\r\n")).await;
        assert_eq!(admin.response().await.unwrap().status, status, "{request}");
    }
}

#[tokio::test]
async fn connections_and_the_use_of_the_database_are_shown() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = database.url();
    let flags = ["--admin-listen=127.0.0.1:0", "--blob-store=memory:", "--database-url", &url];
    let limit = ["--max-connections-per-address=2"];
    let mut server = Running::start(&[&flags[..], &limit].concat(), &[]).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut connection = Connection::open(server.base_url()).await;
        connection.send(head(server.api_key(), "GET", "/prompts", "")).await;
        assert_eq!(connection.response().await.unwrap().status, 200);
        held.push(connection);
    }
    assert!(Connection::open(server.base_url()).await.ends().await, "a third is closed");

    let event = server.event("serving metrics").await;
    let mut admin = Connection::open(event["address"].as_str().unwrap()).await;
    admin.send("GET /metrics HTTP/1.1\r\nhost: test\r\n\r\n").await;
    let page = admin.response().await.unwrap().body;
    for line in [
        "promptarium_http_connections 2",
        "promptarium_http_connections_refused_total 1",
        r#"promptarium_database_connections{state="max"} 11"#,
        r#"promptarium_database_connections{state="busy"} "#,
        r#"promptarium_database_waiting{for="connection"} 0"#,
        r#"promptarium_database_waiting{for="long_write"} 0"#,
        "promptarium_database_pipelined_statements ",
        "promptarium_generations_workers 64",
        "promptarium_generations_workers_busy 0",
        "promptarium_generations_unrecorded 0",
        "promptarium_generations_large_outputs 0",
        "promptarium_generations_large_outputs_waiting 0",
        "promptarium_generations_claim_delay_seconds_count 0",
    ] {
        assert!(page.lines().any(|found| found.starts_with(line)), "{line} in:\n{page}");
    }
}
