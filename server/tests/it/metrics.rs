//! `/metrics`, as Prometheus sees it.

use std::collections::BTreeSet;
use std::fs::{read_dir, read_to_string};

use promptarium_server::test_support::ScratchDatabase;

use crate::support::client::{Connection, call, get};
use crate::support::program::Running;
use crate::support::receiver::{Answer, Receiver};
use crate::support::{TIMEOUT, wait_until};

#[track_caller]
fn assert_lines(page: &str, lines: &[&str]) {
    for line in lines {
        assert!(page.lines().any(|found| found.starts_with(line)), "{line} in:\n{page}");
    }
}

#[tokio::test]
async fn requests_and_generations_are_counted() {
    let mut server = Running::start("--admin-listen 127.0.0.1:0").await;
    let mut admin = server.admin().await;
    let before = admin.get("/metrics").await.body;
    let series = before.lines().filter(|line| !line.starts_with('#')).count();
    assert!(series < 100, "unused routes have no series: {before}");
    for path in ["/prompts/1", "/prompts/2", "/prompts", "/nothing"] {
        call(&server, "GET", path, None).await;
    }
    for (model, status) in [("local/plasma", 202), ("local/fail", 202), ("nothing", 502)] {
        let body = format!(r#"{{"modelId":"{model}","prompt":"a","clientJobId":"{model}"}}"#);
        let response = call(&server, "POST", "/generations", Some(&body)).await;
        assert_eq!(response.status, status, "{model}");
    }
    for (job, end) in [("plasma", "completed"), ("fail", "failed")] {
        let path = format!("/generations/local%2F{job}/status");
        let has_ended = async || call(&server, "GET", &path, None).await.data()["status"] == end;
        wait_until(TIMEOUT, has_ended).await.expect("an end");
    }
    assert_eq!(get(&server, "/metrics").await.status, 404, "the main listener shows none");
    let page = admin.get("/metrics").await;
    assert_eq!(page.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
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
    let lines = [
        "promptarium_files_available 1",
        r#"promptarium_generations_submitted_total{outcome="accepted"} 2"#,
        r#"promptarium_generations_submitted_total{outcome="refused"} 1"#,
        r#"promptarium_generations_submitted_total{outcome="unknown"} 0"#,
        r#"promptarium_generations_processed_total{outcome="completed"} 1"#,
        r#"promptarium_generations_processed_total{outcome="failed"} 1"#,
        r#"promptarium_generations_processed_total{outcome="retried"} 0"#,
        concat!(r#"promptarium_build_info{version=""#, env!("CARGO_PKG_VERSION"), r#""} 1"#),
    ];
    assert_lines(&page.body, &lines);
    for (request, status) in [("GET /", 404), ("POST /metrics", 405), ("GET /healthz", 404)] {
        let response = admin.ask(format!("{request} HTTP/1.1\r\nhost: test\r\n\r\n")).await;
        assert_eq!(response.status, status, "{request}");
    }
}

#[tokio::test]
async fn attempts_to_deliver_events_are_counted() {
    let receiver = Receiver::start(|at| Answer::Status(if at == 0 { 500 } else { 200 }));
    let arguments = "--admin-listen 127.0.0.1:0 --allow-private-webhooks --webhook-delays 0,0";
    let mut server = Running::start(arguments).await;
    let mut admin = server.admin().await;
    let webhook = format!(r#"{{"url":"{}"}}"#, receiver.url("/"));
    assert_eq!(call(&server, "POST", "/webhooks", Some(&webhook)).await.status, 201);
    let job = r#"{"modelId":"local/plasma","prompt":"a","clientJobId":"a"}"#;
    assert_eq!(call(&server, "POST", "/generations", Some(job)).await.status, 202);
    receiver.wait_for(2).await;
    let (mut page, line) = (String::new(), r#"deliveries_total{outcome="delivered"} 1"#);
    while !page.contains(line) {
        page = admin.get("/metrics").await.body;
    }
    let lines = ["delivered", "retried"]
        .map(|outcome| format!(r#"promptarium_webhook_deliveries_total{{outcome="{outcome}"}} 1"#));
    assert_lines(&page, &[&lines[0], &lines[1]]);
    assert_lines(&page, &[r#"promptarium_webhook_deliveries_total{outcome="failed"} 0"#]);
}

#[tokio::test]
async fn connections_and_the_database_are_shown_and_every_series_of_the_documentation_exists() {
    let database = ScratchDatabase::create().await.unwrap();
    // By default an address may have half of the connections.
    let flags = "--admin-listen=127.0.0.1:0 --max-connections=4";
    let mut server = Running::on(&database.url(), flags).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut connection = Connection::to(&server).await;
        // The series of a route begin with its first request.
        let listed = connection.api(server.api_key(), "GET", "/vaults", None).await;
        assert_eq!(listed.status, 200);
        held.push(connection);
    }
    assert!(Connection::to(&server).await.ends().await, "a third is closed");

    let page = server.admin().await.get("/metrics").await.body;
    let lines = [
        "promptarium_http_connections 2",
        "promptarium_http_connections_refused_total 1",
        r#"promptarium_database_connections{state="max"} 12"#,
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
    ];
    assert_lines(&page, &lines);

    let names = |kind: &str| -> BTreeSet<String> {
        let lines = page.lines().filter_map(|line| line.strip_prefix(kind));
        lines.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    };
    assert_eq!(names("# HELP "), names("# TYPE "), "linters want a meaning for each");
    let mut known = names("# TYPE ");
    for line in
        page.lines().filter(|line| line.starts_with("# TYPE ") && line.ends_with("histogram"))
    {
        let name = line.split(' ').nth(2).unwrap();
        known.extend(["_bucket", "_sum", "_count"].map(|end| format!("{name}{end}")));
    }
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        assert!(known.contains(line.split(['{', ' ']).next().unwrap()), "{line}");
    }
    assert!(!page.contains("# EOF"), "{page}");

    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");
    let monitoring = read_dir(format!("{docs}/monitoring")).unwrap();
    let mut files: Vec<_> = monitoring.map(|entry| entry.unwrap().path()).collect();
    files.push(format!("{docs}/monitor.md").into());
    let mut used = 0;
    for file in files {
        let text = read_to_string(&file).unwrap();
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            let areas = ["promptarium_http_", "promptarium_generations_", "promptarium_database_"];
            let areas = areas.iter().chain(&["promptarium_build_"]);
            if areas.clone().any(|area| word.starts_with(*area)) {
                assert!(known.contains(word), "{}: {word}", file.display());
                used += 1;
            }
        }
    }
    assert!(used > 60, "{used}");
}
