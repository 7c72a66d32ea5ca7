//! The program from outside: ready line, log, signals and exit codes.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::timeout;

use crate::support::TIMEOUT;
use crate::support::client::{Connection, call, get, head, request};
use crate::support::program::{Running, program};

const PROMPT: &str = r#"{"title":"Harbour","prompt":"A harbour at dawn"}"#;

#[tokio::test]
async fn the_json_ready_line_has_base_url_key_and_store() {
    let server = Running::start(&["serve"], &[]).await;
    let keys: Vec<_> = server.ready.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["api_key", "base_url", "dashboard_url", "pid", "sign_in_url", "store"]);
    assert_eq!(server.ready["pid"], server.process_id());
    assert!(server.base_url().ends_with("/api/v1"));
    let root = server.base_url().strip_suffix("api/v1").unwrap();
    assert_eq!(server.ready["dashboard_url"], root);
    assert_eq!(server.ready["store"], "memory");
    assert_eq!(call(&server, "POST", "/prompts", Some(PROMPT)).await.status, 201);
}

#[tokio::test]
async fn without_json_the_ready_line_is_text() {
    let mut child = program(&["--listen", "127.0.0.1:0"], &[]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut text = Vec::new();
    while text.len() < 7 {
        let line = timeout(TIMEOUT, lines.next_line()).await.expect("a line in time");
        text.push(line.unwrap().expect("a line"));
    }
    assert_eq!(
        text[0],
        "Promptarium is ready. Ctrl-C stops it, and so does `kill PID`."
            .replace("PID", &child.id().unwrap().to_string())
    );
    assert!(
        text[2].ends_with("everything is lost at the stop; --database-url keeps it"),
        "{text:?}"
    );
    assert!(text[4].contains("/sign-in#"), "{text:?}");
    assert!(text[6].contains("curl -H \"Authorization: Bearer promptarium_live_p1"), "{text:?}");
}

#[tokio::test]
async fn after_a_signal_a_request_in_flight_is_completed() {
    for signal in ["TERM", "INT"] {
        let server = Running::start(&[], &[]).await;
        let mut idle = Connection::to(&server).await;
        let mut busy = Connection::to(&server).await;
        let length = format!("content-length: {}\r\n", PROMPT.len());
        busy.send(head(server.api_key(), "POST", "/prompts", &length)).await;
        busy.send(&PROMPT[..10]).await;
        tokio::time::sleep(Duration::from_millis(200)).await;

        server.signal(signal).await;
        assert!(idle.ends().await, "an idle connection is closed at once");
        assert_eq!(busy.ask(&PROMPT[10..]).await.status, 201, "{signal}");
        let ended = server.end().await;
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
}

#[tokio::test]
async fn a_second_signal_exits_with_130() {
    let server = Running::start(&[], &[]).await;
    let mut busy = Connection::to(&server).await;
    busy.send(head(server.api_key(), "POST", "/prompts", "content-length: 9\r\n")).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.signal("TERM").await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.signal("TERM").await;
    assert_eq!(server.end().await.code, Some(130));
}

#[tokio::test]
async fn a_request_is_cut_off_after_the_drain_timeout() {
    let server = Running::start(&["--drain-timeout", "1"], &[]).await;
    let mut busy = Connection::to(&server).await;
    busy.send(head(server.api_key(), "POST", "/prompts", "content-length: 9\r\n")).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.signal("TERM").await;
    assert!(busy.ends().await);
    assert_eq!(server.end().await.code, Some(1));
}

/// What nobody reads fills the pipe after a few hundred lines.
#[tokio::test]
async fn nobody_waits_for_a_reader_of_the_log_that_has_stalled() {
    let server = Running::start(&[], &[]).await;
    let mut connection = Connection::to(&server).await;
    let header = format!("x-request-id: {}\r\n", "x".repeat(128));
    for _ in 0..3000 {
        let sent = head(server.api_key(), "GET", "/prompts/1", &header);
        assert_eq!(connection.ask(sent).await.status, 404);
    }
    drop(connection);
    server.signal("TERM").await;
    let began = std::time::Instant::now();
    assert_eq!(server.code_unread().await, Some(0));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_stop_says_what_it_waits_for() {
    let mut server = Running::start(&["--drain-delay", "1"], &[]).await;
    let _idle = Connection::to(&server).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.signal("INT").await;
    server.event("stopping; another signal ends the program at once").await;
    let event = server.event("serving for the drain delay, while /readyz answers 503").await;
    assert_eq!(event["seconds"], 1);
    assert_eq!(server.end().await.code, Some(0));
}

#[tokio::test]
async fn a_listener_for_other_machines_without_a_public_url_is_warned_about() {
    let listen = ["--listen=0.0.0.0:0"];
    let variables = [("PROMPTARIUM_DRAIN_DELAY", "0")].map(|(name, value)| (name, value.as_ref()));
    for (more, warned) in [(&[][..], true), (&["--public-url=https://example.com"], false)] {
        let command = program(&[&listen[..], &["--json"], more].concat(), &variables);
        let server = Running::of(command).await;
        let base = server.base_url().strip_suffix("api/v1").unwrap().to_owned();
        let log = server.log_at_end().await;
        assert_eq!(log.contains("set --public-url to the address that clients"), warned, "{log}");
        assert_eq!(log.contains(&format!("\"address\":\"{base}\"")), warned, "{log}");
    }
}

#[tokio::test]
async fn readyz_is_503_during_the_drain_delay() {
    let server = Running::start(&["--drain-delay", "2"], &[]).await;
    assert_eq!(get(&server, "/readyz").await.status, 200);
    server.signal("TERM").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let stopping = get(&server, "/readyz").await;
    assert_eq!(stopping.status, 503);
    assert!(stopping.json()["data"].is_null());
    assert_eq!(get(&server, "/healthz").await.status, 200);
    assert_eq!(server.end().await.code, Some(0));
}

#[tokio::test]
async fn the_command_health_tells_whether_the_server_is_ready() {
    let server = Running::start(&["--drain-delay", "2"], &[]).await;
    let address = server.base_url().replace("http://", "").replace("/api/v1", "");
    let health = async || {
        let output = program(&["health", "--listen", &address], &[]).output().await.unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(health().await, (Some(0), String::new()));
    server.signal("TERM").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let (code, problem) = health().await;
    assert_eq!(code, Some(1));
    assert!(problem.contains("--listen: the server is not ready (status 503)"), "{problem}");
    assert_eq!(server.end().await.code, Some(0));
    let (code, problem) = health().await;
    assert_eq!(code, Some(1));
    assert!(problem.contains("--listen: no server answers at 127.0.0.1:"), "{problem}");
}

#[tokio::test]
async fn the_log_has_one_line_per_request_and_no_secret() {
    let seed = "promptarium_live_a1_s3cret=alice";
    let server = Running::start(&["--seed-key", seed], &[]).await;
    let mut connection = Connection::to(&server).await;
    for (path, id) in [("/prompts/7?a=q3uery", "one"), ("/nothing", "two")] {
        let header = format!("x-request-id: {id}\r\n");
        connection.ask(head("promptarium_live_a1_s3cret", "GET", path, &header)).await;
    }
    drop(connection);
    server.signal("TERM").await;
    let log = server.end().await.stderr;
    assert!(!log.contains("s3cret") && !log.contains("q3uery"), "{log}");
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let requests = lines.iter().filter(|line| line["message"] == "answered");
    let fields = ["request_id", "method", "route", "status"];
    let requests: Vec<_> = requests.map(|line| fields.map(|name| line[name].clone())).collect();
    let row = |id: &str, route: &str| [json!(id), json!("GET"), json!(route), json!(404)];
    assert_eq!(requests, [row("one", "/prompts/{promptId}"), row("two", "unknown")]);
}

#[tokio::test]
async fn a_connection_above_the_limit_waits_for_another_to_close() {
    let flags = ["--max-connections=1", "--max-connections-per-address=0"];
    let server = Running::start(&flags, &[]).await;
    let list_prompts = request(server.api_key(), "GET", "/prompts", None);
    let mut first = Connection::to(&server).await;
    assert_eq!(first.ask(&list_prompts).await.status, 200);

    let mut second = Connection::to(&server).await;
    second.send(&list_prompts).await;
    let response = timeout(Duration::from_millis(300), second.response()).await;
    assert!(response.is_err(), "{response:?}");
    drop(first);
    assert_eq!(second.response().await.unwrap().status, 200);
}
