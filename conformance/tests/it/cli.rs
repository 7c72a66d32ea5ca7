//! The program as a shell sees it: exit codes and one clear line for each.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use promptarium_server::EmbeddedServer;
use serde_json::Value;

use crate::deployed::{self, Account};
use crate::keys::{MAIN, OTHER, READ_ONLY, REVOKED};
use crate::stub::{Answer, KEY, Stub};

/// The program with these arguments and only these variables.
pub(crate) async fn program(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_promptarium-conformance"));
    command.args(arguments).env_clear().envs(variables.iter().copied());
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
pub(crate) fn assert_refused(output: &Output, code: i32, part: &str) {
    let line = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{line}");
    assert!(line.contains(part), "{line}");
    assert_eq!(line.lines().count(), 1, "one line, not:\n{line}");
    assert!(!line.contains(KEY), "{line}");
    assert_eq!(stdout(output), "");
}

/// An empty folder of this test's own.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance-cli").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

const NOWHERE: &str = "http://127.0.0.1:1/api/v1";

async fn refusing() -> Stub {
    Stub::start(|_| Answer::Json(401, r#"{"data":null,"error":"no","details":{}}"#.into())).await
}

#[tokio::test]
async fn a_run_that_is_wrongly_configured_does_not_begin() {
    let key = [("PROMPTARIUM_API_KEY", KEY)];
    let run = async |arguments: &[&str], variables: &[(&str, &str)], part: &str| {
        let output = program(&[&["run"], arguments].concat(), variables).await;
        assert_refused(&output, 2, part);
    };
    run(&[], &key, "PROMPTARIUM_BASE_URL").await;
    run(&["--base-url", NOWHERE], &[], "PROMPTARIUM_API_KEY").await;
    run(&["--base-url", NOWHERE], &[("PROMPTARIUM_API_KEY", "")], "PROMPTARIUM_API_KEY").await;
    run(&["--base-url", NOWHERE], &[("PROMPTARIUM_API_KEY", "a key")], "no API key").await;
    for url in ["nonsense", "ftp://host/api/v1", "http://me:pw@host/api/v1", "http://host/v2"] {
        run(&["--base-url", url], &key, "base URL").await;
    }
    let twice = [key[0], ("PROMPTARIUM_OTHER_API_KEY", KEY)];
    run(&["--base-url", NOWHERE], &twice, "the same key").await;
    run(&["--base-url", NOWHERE, "--filter", "no-such"], &key, "no-such").await;
    let report = ["--base-url", NOWHERE, "--report", "json=/no/such/folder/report.json"];
    run(&report, &key, "/no/such/folder/report.json").await;
    let stub = refusing().await;
    run(&["--base-url", &stub.base_url], &key, "refuses the key").await;
}

#[tokio::test]
async fn what_the_command_line_cannot_mean_is_a_usage_error() {
    let wrong: [&[&str]; 14] = [
        &["run", "--time-scale", "0"],
        &["run", "--time-scale", "fast"],
        &["run", "--profile", "read-only"],
        &["run", "--seed", "x"],
        &["run", "--timeout", "0"],
        &["sweep", "--older-than", "1"],
        &["sweep", "--older-than", "5s"],
        &["sweep", "--run", "everything"],
        &["run", "--report", "xml=file"],
        &["run", "--report", "file"],
        &["run", "--profile", "strict"],
        &["run", "--jobs", "0"],
        &["run", "--api-key", "x"],
        &[],
    ];
    for arguments in wrong {
        let output = program(arguments, &[]).await;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

#[tokio::test]
async fn a_target_that_is_not_there_is_told_apart_and_leaves_a_report() {
    let file = folder("unreachable").join("report.json");
    let report = format!("json={}", file.display());
    let arguments = ["run", "--base-url", NOWHERE, "--report", &report];
    let output = program(&arguments, &[("PROMPTARIUM_API_KEY", KEY)]).await;
    assert_refused(&output, 3, "cannot be reached");
    let report: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(report["verdict"], "unfinished");
    assert!(report["problem"].as_str().unwrap().contains("cannot be reached"));
}

#[tokio::test]
async fn a_failing_target_gives_one_and_a_report_in_every_format() {
    let stub = Stub::start(|_| Answer::Json(200, "{}".into())).await;
    let folder = folder("failing");
    let file = |name: &str| folder.join(name).display().to_string();
    let (json, text) = (file("report.json"), file("report.txt"));
    std::fs::write(&json, "an older report").unwrap();
    let (in_json, in_text) = (format!("json={json}"), format!("text={text}"));
    let variables = [("PROMPTARIUM_API_KEY", KEY), ("PROMPTARIUM_BASE_URL", &stub.base_url)];
    let arguments = ["run", "--filter", "vaults.", "--seed", "7", "--timeout", "2", "--verbose"];
    let arguments = [&arguments[..], &["--report", &in_json, "--report", &in_text]].concat();
    let output = program(&arguments, &variables).await;
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(stdout(&output), std::fs::read_to_string(text).unwrap());
    let report: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert_eq!(report["verdict"], "failed");
    assert_eq!((&report["seed"], &report["profiles"]), (&7.into(), &serde_json::json!(["core"])));
    assert_eq!(report["target"], stub.base_url);
    let records = report["records"].as_array().unwrap();
    assert_eq!(report["totals"]["scenarios"], records.len());
    for record in records {
        assert!(record["id"].as_str().unwrap().starts_with("vaults."));
        assert!(!record["rules"][0]["text"].as_str().unwrap().is_empty());
    }
    let files = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(files, 2, "nothing is left beside the reports");
}

#[tokio::test]
async fn the_lists_need_no_target() {
    let listed = program(&["list"], &[]).await;
    let in_json = program(&["list", "--json"], &[]).await;
    let in_json: Value = serde_json::from_slice(&in_json.stdout).unwrap();
    let all = promptarium_conformance::scenarios::all().count();
    assert_eq!(stdout(&listed).lines().count(), all);
    assert_eq!(in_json.as_array().unwrap().len(), all);
    let covered = program(&["coverage"], &[]).await;
    let rules = promptarium_conformance::rules::all().count();
    assert!(stdout(&covered).contains(&format!("{rules} rules: ")));
}

#[tokio::test]
async fn what_did_not_run_is_no_pass() {
    let server = EmbeddedServer::start().await.unwrap();
    let run = async |arguments: &[&str], code: i32, verdict: &str| {
        let variables = [
            ("PROMPTARIUM_API_KEY", server.api_key()),
            ("PROMPTARIUM_BASE_URL", server.base_url()),
        ];
        let output = program(&[&["run"], arguments].concat(), &variables).await;
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        let text = stdout(&output);
        assert!(text.contains(&format!("verdict: {verdict}")), "{text}");
    };
    let (runs, needs_a_key) = ("vaults.create.answer", "isolation.list.vaults");
    run(&["--filter", runs, "--strict"], 0, "passed").await;
    run(&["--filter", runs, "--filter", needs_a_key], 0, "partial").await;
    run(&["--filter", runs, "--filter", needs_a_key, "--strict"], 4, "partial").await;
    run(&["--filter", needs_a_key], 4, "partial").await;
    server.shutdown().await;
}

#[cfg(unix)]
#[tokio::test]
async fn an_interrupted_run_ends_in_order_and_leaves_its_report() {
    let stub = Stub::start(|request| match request.line.as_str() {
        "GET /vaults" => Answer::Json(200, r#"{"data":[],"error":null}"#.into()),
        _ => Answer::Hang,
    });
    let stub = stub.await;
    let file = folder("interrupted").join("report.json");
    let report = format!("json={}", file.display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_promptarium-conformance"));
    command.args(["run", "--base-url", &stub.base_url, "--timeout", "1", "--report", &report]);
    command.args(["--filter", "vaults."]);
    command.env_clear().env("PROMPTARIUM_API_KEY", KEY).stdout(Stdio::null());
    let mut run = command.stderr(Stdio::null()).spawn().unwrap();
    while stub.seen().len() < 12 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let so_far: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(so_far["verdict"], "unfinished", "a run that is killed now leaves this");
    let interrupted = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    let ended = tokio::task::spawn_blocking(move || run.wait().unwrap()).await.unwrap();
    assert_eq!(ended.code(), Some(130));
    let report: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert!(report["problem"].as_str().unwrap().contains("stopped"), "{report}");
    assert!(report["totals"]["skipped"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn a_key_that_is_not_what_its_variable_says_is_named_before_anything_runs() {
    let server = deployed::server().await;
    let wrong = [
        ("PROMPTARIUM_OTHER_API_KEY", READ_ONLY, "of the same account"),
        ("PROMPTARIUM_OTHER_API_KEY", REVOKED, "is refused"),
        ("PROMPTARIUM_READ_ONLY_API_KEY", OTHER, "of another account"),
        ("PROMPTARIUM_API_KEY", REVOKED, "refuses the key"),
    ];
    for (variable, key, part) in wrong {
        let mut variables = vec![("PROMPTARIUM_BASE_URL", server.base_url())];
        if variable != "PROMPTARIUM_API_KEY" {
            variables.push(("PROMPTARIUM_API_KEY", MAIN));
        }
        variables.push((variable, key));
        let output = program(&["run"], &variables).await;
        assert_refused(&output, 2, part);
        assert!(stderr(&output).contains(variable) && !stderr(&output).contains(key));
    }
    let vaults = Account::new(server.base_url(), MAIN).vaults().await;
    assert!(vaults.iter().all(|vault| vault["isSystem"] == true), "{vaults:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn declared_keys_that_are_not_refused_are_failures_of_the_target() {
    let writer = "promptarium_live_second_h7Kq2mVx9PzL4wTd";
    let server = EmbeddedServer::builder()
        .seed_key(format!("{MAIN}=alice:prompts:write"))
        .seed_key(format!("{writer}=alice:prompts:write"));
    let server = server.start().await.unwrap();
    for (variable, scenario) in [
        ("PROMPTARIUM_READ_ONLY_API_KEY", "access.no-scope.create-vault"),
        ("PROMPTARIUM_REVOKED_API_KEY", "access.revoked.list-prompts"),
    ] {
        let variables = [
            ("PROMPTARIUM_BASE_URL", server.base_url()),
            ("PROMPTARIUM_API_KEY", MAIN),
            (variable, writer),
        ];
        let output = program(&["run", "--filter", scenario], &variables).await;
        assert_eq!(output.status.code(), Some(1), "{variable}: {}", stderr(&output));
        assert!(stdout(&output).contains(&format!("FAILED {scenario}")), "{}", stdout(&output));
    }
    let vaults = Account::new(server.base_url(), MAIN).vaults().await;
    assert!(vaults.iter().all(|vault| vault["isSystem"] == true), "{vaults:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_read_only_key_that_may_not_read_skips_what_needs_it_and_says_why() {
    let server = deployed::server().await;
    let variables = [
        ("PROMPTARIUM_BASE_URL", server.base_url()),
        ("PROMPTARIUM_API_KEY", MAIN),
        ("PROMPTARIUM_READ_ONLY_API_KEY", REVOKED),
    ];
    let filters = [
        "run",
        "--filter",
        "access.no-scope.create-vault",
        "--filter",
        "access.unknown.list-prompts",
    ];
    let output = program(&filters, &variables).await;
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("1 skipped: no key"), "{text}");
    assert!(text.contains("verdict: partial"), "{text}");
    server.shutdown().await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_leaves_at_once_and_says_how_to_sweep() {
    let stub = Stub::start(|request| match request.line.as_str() {
        "GET /vaults" => Answer::Json(200, r#"{"data":[],"error":null}"#.into()),
        line if line.starts_with("GET") => Answer::Json(404, "{}".into()),
        _ => Answer::Hang,
    });
    let stub = stub.await;
    let mut command = Command::new(env!("CARGO_BIN_EXE_promptarium-conformance"));
    command.args(["run", "--base-url", &stub.base_url, "--filter", "vaults.create."]);
    command.env_clear().env("PROMPTARIUM_API_KEY", KEY).stdout(Stdio::null());
    let mut run = command.stderr(Stdio::piped()).spawn().unwrap();
    while !stub.seen().iter().any(|line| line.starts_with("POST /vaults")) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (id, begun) = (run.id().to_string(), std::time::Instant::now());
    let interrupt = || Command::new("kill").args(["-INT", &id]).status().unwrap();
    // The first is heard before the second is sent.
    let mut lines = std::io::BufReader::new(run.stderr.take().unwrap()).lines();
    assert!(interrupt().success());
    assert!(lines.any(|line| line.unwrap().contains("stopping")));
    assert!(interrupt().success());
    assert!(lines.any(|line| line.unwrap().contains("sweep --run ptc-")));
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(20), "an answer may take 30 s");
}
