//! The program from outside: ready line, log, signals and exit codes.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

use crate::support::PROMPT;
use crate::support::client::{Connection, call, get, get_request, head};
use crate::support::program::{Running, output, program, refusal};

const SETTLED: Duration = Duration::from_millis(200);

#[tokio::test]
async fn the_ready_line_is_json_and_the_log_has_one_line_per_request_and_no_secret() {
    let server = Running::start("serve").await;
    let key = server.api_key().to_owned();
    let keys: Vec<_> = server.ready.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["api_key", "base_url", "dashboard_url", "pid", "sign_in_url", "store"]);
    assert_eq!(server.ready["pid"], server.process_id());
    assert_eq!(server.ready["dashboard_url"], format!("{}/", server.root()));
    assert_eq!(server.ready["store"], "memory");
    let mut connection = Connection::to(&server).await;
    for (path, id) in [("/prompts/7?a=q3uery", "one"), ("/nothing", "two")] {
        connection.ask(head(&key, "GET", path, &format!("x-request-id: {id}\r\n"))).await;
    }
    assert_eq!(call(&server, "POST", "/prompts", Some(PROMPT)).await.status, 201);
    drop(connection);
    let log = server.stop().await.stderr;
    let secret = key.rsplit('_').next().unwrap();
    assert!(!log.contains(secret) && !log.contains("q3uery"), "{log}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let requests = lines.iter().filter(|line| line["message"] == "answered");
    let fields = ["request_id", "method", "route", "status"];
    let requests: Vec<_> = requests.map(|line| fields.map(|name| line[name].clone())).collect();
    let row = |id: &str, route: &str| [json!(id), json!("GET"), json!(route), json!(404)];
    // Lines of several threads are written together, in any order.
    for row in [row("one", "/prompts/{promptId}"), row("two", "unknown")] {
        assert!(requests.contains(&row), "{requests:?}");
    }
    assert_eq!(requests.len(), 3);
}

#[tokio::test]
async fn after_a_signal_a_request_in_flight_is_completed() {
    let all = ["TERM", "INT", "QUIT", "HUP"].map(async |signal| {
        let server = Running::start("").await;
        let mut idle = Connection::to(&server).await;
        let mut busy = Connection::to(&server).await;
        let length = format!("content-length: {}\r\n", PROMPT.len());
        busy.send(head(server.api_key(), "POST", "/prompts", &length)).await;
        busy.send(&PROMPT[..10]).await;
        sleep(SETTLED).await;

        server.signal(signal).await;
        assert!(idle.ends().await, "an idle connection is closed at once");
        assert_eq!(busy.ask(&PROMPT[10..]).await.status, 201, "{signal}");
        let ended = server.end().await;
        assert_eq!((ended.code, &*ended.stdout), (Some(0), ""), "{}", ended.stderr);
    });
    join_all(all).await;
}

#[tokio::test]
async fn a_request_is_cut_off_after_the_drain_timeout() {
    let server = Running::start("--drain-timeout 1").await;
    let mut busy = Connection::to(&server).await;
    busy.send(head(server.api_key(), "POST", "/prompts", "content-length: 9\r\n")).await;
    sleep(SETTLED).await;
    server.signal("TERM").await;
    assert!(busy.ends().await);
    assert_eq!(server.end().await.code, Some(1));
}

/// What nobody reads fills the pipe after a few hundred lines.
#[tokio::test]
async fn nobody_waits_for_a_reader_of_the_log_that_has_stalled() {
    let mut server = Running::start("").await;
    let mut connection = Connection::to(&server).await;
    let header = format!("x-request-id: {}\r\n", "x".repeat(128));
    for _ in 0..1000 {
        let sent = head(server.api_key(), "GET", "/prompts/1", &header);
        assert_eq!(connection.ask(sent).await.status, 404);
    }
    drop(connection);
    server.signal("TERM").await;
    let ended = timeout(Duration::from_secs(10), server.child.wait()).await;
    assert_eq!(ended.expect("an end in time").unwrap().code(), Some(0));
}

#[tokio::test]
async fn during_the_drain_delay_it_is_not_ready_and_a_second_signal_but_sighup_exits_with_130() {
    let mut server = Running::start("--drain-delay 60").await;
    let health = format!("health --listen {}", server.root().strip_prefix("http://").unwrap());
    let health = async || output(program(&health)).await;
    assert_eq!(get(&server, "/readyz").await.status, 200);
    let healthy = health().await;
    assert_eq!((healthy.code, &*healthy.stderr), (Some(0), ""));
    let _idle = Connection::to(&server).await;
    sleep(SETTLED).await;

    server.signal("INT").await;
    server.event("stopping; another signal ends the program at once").await;
    let event = server.event("serving for the drain delay, while /readyz answers 503").await;
    assert_eq!(event["seconds"], 60);
    // A closed terminal sends it twice, and systemd may send it after SIGTERM.
    server.signal("HUP").await;
    let stopping = get(&server, "/readyz").await;
    assert_eq!((stopping.status, stopping.data()), (503, Value::Null));
    assert_eq!(get(&server, "/healthz").await.status, 200);
    let unready = health().await;
    assert_eq!(unready.code, Some(1));
    let text = "--listen: the server is not ready (status 503)";
    assert!(unready.stderr.contains(text), "{unready:?}");

    server.signal("TERM").await;
    assert_eq!(server.end().await.code, Some(130));
    let away = health().await;
    assert_eq!(away.code, Some(1));
    assert!(away.stderr.contains("--listen: no server answers at 127.0.0.1:"), "{away:?}");
}

#[tokio::test]
async fn a_listener_for_other_machines_without_a_public_url_is_warned_about() {
    for (more, warned) in [("", true), ("--public-url=https://example.com", false)] {
        let listen = format!("--listen=0.0.0.0:0 --json --data=memory: --drain-delay=0 {more}");
        let server = Running::of(program(&listen)).await;
        let address = format!("\"address\":\"{}/\"", server.root());
        let log = server.stop().await.stderr;
        for part in ["set --public-url to the address that clients", &address] {
            assert_eq!(log.contains(part), warned, "{log}");
        }
    }
}

#[tokio::test]
async fn the_log_line_and_the_response_name_the_trace_of_a_request() {
    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    let mut server = Running::start("").await;
    let mut connection = Connection::to(&server).await;
    let right = format!("traceparent: 00-{TRACE}-00f067aa0ba902b7-01\r\n");
    for header in [&*right, ""] {
        let sent = format!("GET /healthz HTTP/1.1\r\nhost: test\r\n{header}\r\n");
        let response = connection.ask(sent).await;
        let event = server.event("answered").await;
        let span = event["span_id"].as_str().map(|span| format!("00-{TRACE}-{span}-01"));
        assert_eq!((response.status, response.header("traceresponse")), (200, span.as_deref()));
        assert_eq!(event["trace_id"].as_str(), (header == right).then_some(TRACE), "{header}");
        assert_eq!(span.is_some(), header == right, "{header}");
    }
}

/// Also where a killed server has left its file.
#[tokio::test]
async fn a_unix_socket_has_a_mode_and_belongs_to_one_server_until_its_end() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("p.sock");
    let listen = format!("--listen unix:{}", path.display());
    let start = async || {
        Running::of(program(&format!("{listen} --listen-mode 600 --json --data=memory:"))).await
    };
    let killed = start().await;
    killed.signal("KILL").await;
    killed.end().await;
    assert!(path.exists());

    let server = start().await;
    assert_eq!(server.ready["socket"], path.to_str().unwrap());
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let mut stream = UnixStream::connect(&path).await.unwrap();
    let request = get_request("/healthz").replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    assert_eq!(output(program(&format!("health {listen}"))).await.code, Some(0));
    let text = refusal(program(&listen), 2).await;
    assert!(text.contains("is already in use"), "{text}");
    assert_eq!(server.stop().await.code, Some(0));
    assert!(!path.exists());
}
