//! Exit codes of the program, and one clear line for each.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::prelude::*;
use crate::program::run;

const NOWHERE: &str = "http://127.0.0.1:1/api/v1";
const API_KEY: (&str, &str) = ("PROMPTARIUM_API_KEY", KEY);

/// Arguments behind `run`, variables, and a part of the line.
type Row<'r> = (&'r [&'r str], &'r [(&'r str, &'r str)], &'r str);

/// A variable and its key, scenarios and flags, exit code, and what is printed.
type KeyRow<'r> = (&'r [(&'r str, &'r str)], &'r [&'r str], i32, &'r str);

#[tokio::test]
async fn a_run_that_is_wrongly_configured_does_not_begin() {
    let refusing = r#"{"data":null,"error":"no","details":{}}"#;
    let stub = Stub::always(Answer::Json(401, refusing.into())).await;
    let at = |url| ["--base-url", url];
    let nowhere = |more: [&'static str; 2]| [&at(NOWHERE)[..], &more].concat();
    let twice = [API_KEY, ("PROMPTARIUM_OTHER_API_KEY", KEY)];
    let file = "json=/no/such/folder/report.json";
    let rows: [Row<'_>; 12] = [
        (&[], &[API_KEY], "PROMPTARIUM_BASE_URL"),
        (&at(NOWHERE), &[], "PROMPTARIUM_API_KEY"),
        (&at(NOWHERE), &[("PROMPTARIUM_API_KEY", "")], "PROMPTARIUM_API_KEY"),
        (&at(NOWHERE), &[("PROMPTARIUM_API_KEY", "a key")], "no API key"),
        (&at("nonsense"), &[API_KEY], "base URL"),
        (&at("ftp://host/api/v1"), &[API_KEY], "base URL"),
        (&at("http://me:pw@host/api/v1"), &[API_KEY], "base URL"),
        (&at("http://host/v2"), &[API_KEY], "base URL"),
        (&at(NOWHERE), &twice, "the same key"),
        (&nowhere(["--filter", "no-such"]), &[API_KEY], "no-such"),
        (&nowhere(["--report", file]), &[API_KEY], "/no/such/folder/report.json"),
        (&at(&stub.base_url), &[API_KEY], "refuses the key"),
    ];
    for (arguments, variables, part) in rows {
        program(&[&["run"], arguments].concat(), variables).await.refused(2, part);
    }
}

#[tokio::test]
async fn what_the_command_line_cannot_mean_is_a_usage_error() {
    for line in [
        "run --time-scale 0",
        "run --time-scale NaN",
        "run --seed x",
        "run --timeout 0",
        "sweep --older-than 1",
        "sweep --older-than 5s",
        "sweep --run everything",
        "run --report xml=file",
        "run --report file",
        "run --jobs 0",
        "run --api-key x",
        "run --http 3",
        "",
    ] {
        let arguments: Vec<_> = line.split_whitespace().collect();
        assert_eq!(program(&arguments, &[]).await.code, Some(2), "{line}");
    }
}

#[tokio::test]
async fn a_target_that_is_not_there_is_told_apart_and_leaves_a_report() {
    let report = JsonReport::new("unreachable");
    run(NOWHERE, KEY, &report.with(&[])).await.refused(3, "cannot be reached");
    assert_eq!(report.read()["verdict"], "unfinished");
    assert!(report.read()["problem"].as_str().unwrap().contains("cannot be reached"));
}

#[tokio::test]
async fn a_failing_target_gives_one_and_a_report_in_every_format() {
    let stub = Stub::always(Answer::nothing(200)).await;
    let json = JsonReport::new("failing");
    let folder = json.file.parent().unwrap();
    let other = folder.join("report.txt");
    std::fs::write(&json.file, "an older report").unwrap();
    let to = format!("text={}", other.display());
    let arguments = ["--filter", "vaults.", "--seed", "7", "--timeout", "2", "--verbose"];
    let arguments = [&json.with(&arguments)[..], &["--report", &to]].concat();
    let ran = run(&stub.base_url, KEY, &arguments).await.ended(1, &[]);
    assert_eq!(ran.out, text(other));
    let report = json.read();
    let head = ["verdict", "seed", "target"].map(|name| report[name].clone());
    assert_eq!(json!(head), json!(["failed", 7, stub.base_url]));
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
    let all = promptarium_conformance::scenarios::all().count();
    let rules = promptarium_conformance::rules::all().count();
    assert_eq!(program(&["list"], &[]).await.out.lines().count(), all);
    let in_json = program(&["list", "--json"], &[]).await.json();
    assert_eq!(in_json.as_array().unwrap().len(), all);
    program(&["coverage"], &[]).await.ended(0, &[&format!("{rules} rules: ")]);
}

#[tokio::test]
async fn keys_and_what_did_not_run_decide_about_the_verdict() {
    let (base_url, key) = ("PROMPTARIUM_BASE_URL", "PROMPTARIUM_API_KEY");
    const READS: &str = "PROMPTARIUM_READ_ONLY_API_KEY";
    const OTHERS: &str = "PROMPTARIUM_OTHER_API_KEY";
    const GONE: &str = "PROMPTARIUM_REVOKED_API_KEY";
    const WRITER: &str = "promptarium_live_second_h7Kq2mVx9PzL4wTd";
    let server = builder().seed_key(format!("{WRITER}=alice:prompts:write"));
    let server = server.start().await.unwrap();
    let (runs, needs_a_key) = ("vaults.create.answer", "isolation.list.vaults");
    let [scope, revoked] = ["access.no-scope.create-vault", "access.revoked.list-prompts"];
    let rows: [KeyRow<'_>; 11] = [
        (&[], &[runs, "--strict"], 0, "verdict: passed"),
        (&[], &[runs, needs_a_key], 0, "verdict: partial"),
        (&[], &[runs, needs_a_key, "--strict"], 4, "verdict: partial"),
        (&[], &[needs_a_key], 4, "verdict: partial"),
        // A key that is not what its variable says is named before anything runs.
        (&[(OTHERS, READ_ONLY)], &[], 2, "of the same account"),
        (&[(OTHERS, REVOKED)], &[], 2, "is refused"),
        (&[(READS, OTHER)], &[], 2, "of another account"),
        (&[(key, REVOKED)], &[], 2, "refuses the key"),
        // Declared keys that are not refused are failures of the target.
        (&[(READS, WRITER)], &[scope], 1, "FAILED access.no-scope.create-vault"),
        (&[(GONE, WRITER)], &[revoked], 1, "FAILED access.revoked.list-prompts"),
        // A read-only key that may not read skips what needs it.
        (&[(READS, REVOKED)], &[scope, "access.unknown.list-prompts"], 0, "1 skipped: no key"),
    ];
    for (keys, arguments, code, part) in rows {
        let own = [(base_url, server.base_url()), (key, MAIN)];
        let ran = program(&[&["run"], arguments].concat(), &[&own, keys].concat()).await;
        if code == 2 {
            let (variable, key) = keys[0];
            assert!(ran.err.contains(variable) && !ran.err.contains(key), "{}", ran.err);
            ran.refused(2, part);
        } else {
            ran.ended(code, &[part]);
        }
    }
    let vaults = Account::new(server.base_url(), MAIN).vaults().await;
    assert!(vaults.iter().all(|vault| vault["isSystem"] == true), "{vaults:?}");
    server.shutdown().await;
}

fn interrupt(process: u32) {
    let sent = Command::new("kill").args(["-INT", &process.to_string()]).status();
    assert!(sent.unwrap().success());
}

#[cfg(unix)]
#[tokio::test]
async fn an_interrupted_run_ends_in_order_and_leaves_its_report() {
    let stub = Stub::start(|line| match line {
        "GET /vaults" => Answer::no_vaults(),
        _ => Answer::Hang,
    });
    let (stub, json) = (stub.await, JsonReport::new("interrupted"));
    let arguments = ["run", "--base-url", &stub.base_url, "--timeout", "1", "--filter", "vaults."];
    let mut command = command(&json.with(&arguments), &[API_KEY]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while stub.seen().len() < 12 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(json.read()["verdict"], "unfinished", "a run that is killed now leaves this");
    interrupt(run.id());
    let ended = tokio::task::spawn_blocking(move || run.wait().unwrap()).await.unwrap();
    assert_eq!(ended.code(), Some(130));
    let report = json.read();
    assert!(report["problem"].as_str().unwrap().contains("stopped"), "{report}");
    assert!(report["totals"]["skipped"].as_u64().unwrap() > 0);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_leaves_at_once_and_says_how_to_sweep() {
    let stub = Stub::start(|line| match line {
        "GET /vaults" => Answer::no_vaults(),
        line if line.starts_with("GET") => Answer::nothing(404),
        _ => Answer::Hang,
    });
    let stub = stub.await;
    let arguments = ["run", "--base-url", &stub.base_url, "--filter", "vaults.create."];
    let mut command = command(&arguments, &[API_KEY]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while !stub.seen().iter().any(|line| line.starts_with("POST /vaults")) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let begun = Instant::now();
    // The first is heard before the second is sent.
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines();
    interrupt(run.id());
    assert!(lines.any(|line| line.unwrap().contains("stopping")));
    // Two at once are one wish, as `timeout` of coreutils sends them.
    interrupt(run.id());
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert!(run.try_wait().unwrap().is_none());
    interrupt(run.id());
    assert!(lines.any(|line| line.unwrap().contains(" --run ptc-")));
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(20), "an answer may take 30 s");
}
