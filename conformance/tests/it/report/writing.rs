//! When reports are written, and what becomes of a run whose reports cannot be.

use std::sync::atomic::{AtomicUsize, Ordering};

use promptarium_conformance::report::{Output, Outputs};

use super::kinds;
use crate::prelude::*;

fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("report.{name}"))
}

fn outputs(folder: &Path) -> Vec<Output> {
    let output = |name: &str| format!("{name}={}", file(folder, name).display()).parse().unwrap();
    Format::ALL.map(|(name, _)| output(name)).into()
}

fn all_have(folder: &Path, part: &str) -> bool {
    Format::ALL.iter().all(|(name, _)| text(file(folder, name)).contains(part))
}

/// Until it holds, or for ten seconds.
async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(10), "{what} did not come");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The report up to and including the first records of it.
fn first(report: &Report, records: usize) -> Report {
    Report { records: report.records[..records].to_vec(), ..report.clone() }
}

#[tokio::test]
async fn every_format_is_written_while_the_run_goes_on() {
    let report = kinds::report().await;
    let folder = folder("reports-go-on");
    let outputs = Outputs::begin(outputs(&folder), &kinds::run().await.1.report).unwrap();
    for (name, _) in Format::ALL {
        assert!(!text(file(&folder, name)).contains(report.records[0].id), "{name}");
    }
    let in_all = |part: &'static str| || all_have(&folder, part);
    let records = &report.records;
    let tell = |counts: std::ops::RangeInclusive<usize>| {
        counts.for_each(|count| outputs.add(&records[count - 1], &first(&report, count)));
    };
    tell(1..=2);
    eventually("the first failure", in_all("plain.fails.badly")).await;
    // These come while the files are at rest, and nothing follows them.
    tell(3..=records.len());
    eventually("a later record", in_all("known.is.over")).await;
    outputs.end(&report).unwrap();
    for (name, format) in Format::ALL {
        assert_eq!(text(file(&folder, name)), format.render(&report), "{name}");
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), Format::ALL.len());
}

/// The cost of writing must not grow with the square of what is written.
#[tokio::test]
async fn a_thousand_records_are_written_a_few_times_and_not_a_thousand() {
    let mut report = kinds::report().await;
    let failed = report.records.iter().find(|one| one.id == "plain.fails.badly").unwrap().clone();
    report.records = vec![failed; 1000];
    let folder = folder("reports-thousand");
    let outputs = Outputs::begin(outputs(&folder), &kinds::run().await.1.report).unwrap();
    let begun = Instant::now();
    for record in &report.records {
        outputs.add(record, &report);
    }
    let told = begun.elapsed();
    let begun = Instant::now();
    outputs.end(&report).unwrap();
    let ended = begun.elapsed();
    // One writing at most was under way, and one is the last.
    assert!(told < ended.max(Duration::from_secs(2)), "telling: {told:?}, ending: {ended:?}");
}

#[tokio::test]
async fn two_reports_do_not_go_to_one_file() {
    let folder = folder("reports-twice");
    let path = folder.join("report");
    let spellings = [path.clone(), folder.join(".").join("report"), folder.join("link")];
    std::os::unix::fs::symlink(&path, folder.join("link")).unwrap();
    for (n, spelling) in spellings.iter().enumerate() {
        // A link leads somewhere only once there is something.
        if n == 2 {
            std::fs::write(&path, "").unwrap();
        }
        let reports = [format!("json={}", path.display()), format!("html={}", spelling.display())];
        let arguments = ["--report", &reports[0], "--report", &reports[1]];
        let ran = program::run("http://127.0.0.1:1/api/v1", KEY, &arguments).await;
        ran.refused(2, "two reports go to");
    }
}

#[tokio::test]
async fn a_full_disk_is_told_in_one_line_and_loses_no_other_report() {
    let stub = Stub::always(Answer::no_vaults()).await;
    let folder = folder("reports-full");
    let json = file(&folder, "json");
    let reports = [format!("json={}", json.display()), "html=/dev/full".to_owned()];
    let arguments = ["--filter", "vaults.create.answer", "--timeout", "2"];
    let more = ["--report", &reports[1], "--report", &reports[0]];
    let ran = program::run(&stub.base_url, KEY, &[&arguments[..], &more].concat()).await;
    let told = ran.ended(2, &["verdict: failed"]).err;
    let lines: Vec<_> = told.lines().filter(|line| line.contains("cannot write")).collect();
    assert!(lines.len() == 1 && lines[0].contains("/dev/full: "), "{told}");
    assert!(text(json).contains("\"verdict\": \"failed\""));
}

#[tokio::test]
async fn a_run_that_is_killed_leaves_what_it_had_found_in_every_format() {
    // Every other scenario fails at once, the others keep the run from its end.
    let seen = AtomicUsize::new(0);
    let stub = Stub::start(move |line| match line {
        "GET /vaults" => Answer::no_vaults(),
        // What the run asks before it begins.
        line if line.starts_with("GET /prompts") => Answer::nothing(404),
        "POST /vaults" if seen.fetch_add(1, Ordering::Relaxed) % 2 == 1 => Answer::nothing(201),
        _ => Answer::Hang,
    });
    let stub = stub.await;
    let folder = folder("reports-killed");
    let arguments = ["run", "--base-url", &stub.base_url, "--filter", "vaults.", "--jobs", "64"];
    let mut command = command(&arguments, &[("PROMPTARIUM_API_KEY", KEY)]);
    for (name, _) in Format::ALL {
        command.arg("--report").arg(format!("{name}={}", file(&folder, name).display()));
    }
    let mut run = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let text_of = |name: &str| std::fs::read_to_string(file(&folder, name)).unwrap_or_default();
    let json = || serde_json::from_str::<serde_json::Value>(&text_of("json")).unwrap_or_default();
    let failed = || {
        let records = json()["records"].as_array().cloned().unwrap_or_default();
        let found = records.into_iter().find(|record| record["outcome"] == "failed");
        found.map(|record| record["id"].as_str().unwrap().to_owned())
    };
    eventually("a failure", || failed().is_some()).await;
    let id = failed().unwrap();
    eventually("it in all", || all_have(&folder, &id)).await;
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(json()["verdict"], "unfinished");
    assert!(all_have(&folder, &id));
    roxmltree::Document::parse(&text_of("junit")).unwrap();
    assert!(text_of("html").ends_with("</html>\n"));
}
