//! What a run leaves behind is found again, and nothing else is.

use jiff::{SignedDuration, Timestamp};
use promptarium_conformance::sweep;

use crate::prelude::*;

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
        assert!(left.age(now) < Duration::from_secs(60), "at work since {}", left.run.begun());
        assert!(left.age(later) > Duration::from_secs(7000));
    }
    server.shutdown().await;
}

#[tokio::test]
async fn what_a_run_keeps_is_shown_and_swept_by_its_run_id() {
    let server = server().await;
    let variables = [("PROMPTARIUM_BASE_URL", server.base_url()), ("PROMPTARIUM_API_KEY", MAIN)];
    let kept = ["--keep", "--filter", "vaults.object."];
    let shown = program::run(server.base_url(), MAIN, &kept).await.ended(0, &[" --run ptc-"]).err;
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
