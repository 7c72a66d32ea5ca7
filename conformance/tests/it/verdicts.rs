//! The same verdicts, however a run is carried out and wherever the target is.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use hyper::{Method, StatusCode};

use crate::prelude::*;

fn outcomes(report: &Report) -> BTreeMap<&'static str, Outcome> {
    report.records.iter().map(|record| (record.id, record.outcome)).collect()
}

/// Two faults that several scenarios see: 200 for a vault that was made, and 200
/// for a prompt that is not there.
fn faulty(method: &Method, path: &str, status: StatusCode) -> StatusCode {
    match (method.as_str(), status.as_u16()) {
        ("POST", 201) if path.ends_with("/vaults") => StatusCode::OK,
        ("GET", 404) if path.contains("/prompts/") => StatusCode::OK,
        _ => status,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_after_the_other_or_many_at_once_a_faulty_target_gets_the_same_verdicts() {
    let changes = Changes { status: faulty, ..Changes::NONE };
    let (server, base_url, _front) = server_behind(changes).await;
    let mut seen = Vec::new();
    for (jobs, seed) in [(1, 1), (8, 2), (64, 3)] {
        let filters = ["vaults.", "answers.", "ids.absent.", "ids.deleted.", "existing-data."];
        let mut run = Run::new(target(&base_url, RunOptions::default()), chosen(&filters));
        (run.jobs, run.report.seed) = (NonZeroUsize::new(jobs).unwrap(), seed);
        seen.push(outcomes(&finish(run).await));
    }
    let failed = seen[0].values().filter(|outcome| **outcome == Outcome::Failed).count();
    assert!((5..100).contains(&failed), "{failed} failed");
    for other in &seen[1..] {
        let differing: Vec<_> = seen[0].iter().filter(|(id, one)| other[*id] != **one).collect();
        assert!(differing.is_empty(), "{differing:?} one after the other, but not at once");
    }
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_prefix_of_the_path_all_is_as_it_is_without() {
    const PREFIX: &str = "/some/prefix";
    let socket = Socket::bind().await.unwrap();
    let public = format!("{}{PREFIX}", socket.url().unwrap());
    let builder = builder().public_url(public.parse::<url::Url>().unwrap());
    let server = builder.start().await.unwrap();
    let changes = Changes { path: |path| path.strip_prefix(PREFIX), ..Changes::NONE };
    let _front = socket.forward_to(&[server.local_addr()], changes);
    // Those that look at addresses, which the path is a part of.
    let filters = ["envelope.", "errors.", "generations.", "keys.", "uploads."];
    let target = target(server.base_url(), patient());
    let report = finish(Run::new(target, chosen(&filters))).await;
    let red: Vec<_> = report.records.iter().filter(|one| one.outcome != Outcome::Passed).collect();
    assert!(red.is_empty(), "{} are not green: {red:#?}", red.len());
    server.shutdown().await;
}

#[tokio::test]
async fn every_wait_is_scaled_by_the_time_scale() {
    let of_scale = |time_scale| {
        target("http://127.0.0.1:1/api/v1", RunOptions { time_scale, ..RunOptions::default() })
    };
    let (scaled, plain) = (of_scale(2.5), of_scale(RunOptions::default().time_scale));
    assert_eq!(scaled.timeout(), plain.timeout().mul_f64(2.5));
    assert_eq!(scaled.scaled(Run::DEADLINE), Run::DEADLINE.mul_f64(2.5));
}
