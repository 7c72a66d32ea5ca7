//! What a run leaves behind is found again, and nothing else is.

use std::collections::BTreeSet;
use std::future::pending;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use promptarium_conformance::RunId;
use promptarium_conformance::report::Outcome;
use promptarium_conformance::{Profile, Run, RunOptions, sweep};
use serde_json::Value;

use crate::deployed::{Account, chosen, server, target, with_session};
use crate::keys::{MAIN, OTHER};
use crate::program::{self, program};

fn texts(thing: &Value) -> String {
    let texts = ["title", "name", "prompt"].map(|text| thing[text].as_str().unwrap_or_default());
    let mut text = texts.join(" | ");
    text.truncate(text.char_indices().nth(160).map_or(text.len(), |(at, _)| at));
    text
}

/// Everything that is in both accounts, but for system vaults.
async fn all(base_url: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for key in [MAIN, OTHER] {
        let account = Account::new(base_url, key);
        for vault in account.vaults().await {
            if vault["isSystem"] != true {
                found.insert(format!("vault {}: {}", vault["id"], texts(&vault)));
            }
        }
        for prompt in account.prompts().await {
            found.insert(format!("prompt {}: {}", prompt["id"], texts(&prompt)));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_run_keeps_is_swept_and_nothing_else() {
    let server = server().await;
    let base_url = server.base_url();
    for key in [MAIN, OTHER] {
        let account = Account::new(base_url, key);
        account
            .prompt("mine", &format!("I read {}-1 2 in a title", RunId::new(Timestamp::now())))
            .await;
        account.vault("ptc-abcdefghijkmnp-1 2").await;
    }
    let before = all(base_url).await;
    // Every scenario at once, beside other tests: jobs take longer than a target may need.
    let options = RunOptions { keep: true, time_scale: 4.0, ..RunOptions::default() };
    let keeping = with_session(&server, options).await;
    let selection = chosen(&Profile::ALL, &[]);
    let run = Run::new(keeping, selection);
    let mark = run.run_id().clone();
    let report = run.run(pending(), |_, _| {}).await;
    let red: Vec<_> = report.records.iter().filter(|one| one.outcome != Outcome::Passed).collect();
    assert!(red.is_empty(), "{red:#?}");
    assert_eq!(report.totals.left_behind, 0, "what is kept on purpose is not left behind");
    let kept = all(base_url).await.len();
    assert!(kept > before.len() + 500, "only {kept} things were kept");
    let target = target(base_url, RunOptions::default());
    // Jobs may still be at work, and save what comes of them.
    for _ in 0..10 {
        for left in sweep::find(&target).await.unwrap() {
            assert_eq!(left.run, mark);
            assert_eq!(left.remove(&target).await, Vec::<String>::new());
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let after = all(base_url).await;
    let stays: Vec<_> = after.difference(&before).collect();
    assert!(stays.is_empty(), "{} things stay: {stays:#?}", stays.len());
    assert!(before.is_subset(&after), "something of somebody else's is gone");
    server.shutdown().await;
}

#[tokio::test]
async fn a_run_that_made_something_a_moment_ago_is_young() {
    let server = server().await;
    let account = Account::new(server.base_url(), MAIN);
    let begun = Timestamp::now() - SignedDuration::from_hours(5);
    let (old, new) = (RunId::new(begun), RunId::new(Timestamp::now()));
    account.vault(&format!("vault {old}-1 0")).await;
    account.prompt(&format!("prompt {new}-1 0"), "text").await;
    let found = sweep::find(&target(server.base_url(), RunOptions::default())).await.unwrap();
    let runs: Vec<_> = found.iter().map(|left| (left.run.clone(), left.count())).collect();
    assert_eq!(runs, [(old, 1), (new, 1)]);
    let now = Timestamp::now();
    let later = now + SignedDuration::from_hours(2);
    for left in &found {
        assert!(
            left.age(now) < Duration::from_secs(60),
            "a run at work since {}",
            left.run.begun()
        );
        assert!(left.age(later) > Duration::from_secs(7000));
    }
    server.shutdown().await;
}

#[tokio::test]
async fn what_a_run_keeps_is_shown_and_swept_by_its_run_id() {
    let server = server().await;
    let variables = [("PROMPTARIUM_BASE_URL", server.base_url()), ("PROMPTARIUM_API_KEY", MAIN)];
    let ran =
        program::run(server.base_url(), MAIN, &["--keep", "--filter", "vaults.object."]).await;
    let shown = ran.ended(0, &["sweep --run ptc-"]).err;
    let run_id = shown.lines().last().unwrap().rsplit(' ').next().unwrap();
    let account = Account::new(server.base_url(), MAIN);
    let kept = account.vaults().await.len();
    assert!(kept > 3, "{kept} vaults");
    let sweep = async |arguments: &[&str]| {
        program(&[&["sweep"], arguments].concat(), &variables).await.ended(0, &[]).out
    };
    assert!(sweep(&[]).await.starts_with("left alone: "));
    assert!(sweep(&["--run", run_id, "--dry-run"]).await.starts_with("would delete: "));
    assert_eq!(account.vaults().await.len(), kept);
    assert!(sweep(&["--run", run_id]).await.starts_with("deleted: "));
    assert!(account.vaults().await.iter().all(|vault| vault["isSystem"] == true));
    assert_eq!(sweep(&[]).await, "nothing to delete\n");
    server.shutdown().await;
}
