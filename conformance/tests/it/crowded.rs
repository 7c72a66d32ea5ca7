//! A deployment that others use: thousands of their things are there before a
//! run begins, they go on while it runs, and nothing of theirs is touched, by sweeping neither.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::{StreamExt as _, stream};
use jiff::Timestamp;
use promptarium_conformance::sweep;

use crate::prelude::*;

const PROMPTS: usize = 1_500;
const VAULTS: usize = 75;
const MEMBERS: usize = 20;
const JOBS: usize = 40;
const AT_ONCE: usize = 32;

/// What is in an account, as it answers for it, with a name for each part.
async fn inventory(account: &Account, jobs: &[String]) -> Vec<(String, Value)> {
    let mut vaults = account.vaults().await;
    for system in vaults.iter_mut().filter(|vault| vault["isSystem"] == true) {
        // What is generated for no vault comes by here.
        system["updatedAt"].take();
    }
    let contents = vaults.iter().map(|vault| format!("/vaults/{}/prompts", vault["id"]));
    let statuses = jobs.iter().map(|id| format!("/generations/{id}/status"));
    let answers = stream::iter(contents.chain(statuses)).map(|path| async move {
        let (status, body) = account.get(&path).await;
        // Each answer has an id of its own besides.
        (format!("{path}: {status}"), body["data"].clone())
    });
    let answers: Vec<_> = answers.buffered(AT_ONCE).collect().await;
    let prompts = account.prompts().await.into_iter().map(|prompt| ("a prompt".to_owned(), prompt));
    let vaults = vaults.into_iter().map(|vault| ("a vault".to_owned(), vault));
    vaults.chain(prompts).chain(answers).collect()
}

/// Fills an account; the ids of its jobs, all of them ended.
async fn fill(account: &Account) -> Vec<String> {
    let prompts = stream::iter(0..PROMPTS).map(|n| async move {
        let text = "A ptc- that is no mark, ptc-aaaaaaaaaaaaaa-1 0";
        account.prompt(&format!("Somebody's {n}"), text).await
    });
    let prompts: Vec<_> = prompts.buffer_unordered(AT_ONCE).collect().await;
    let vaults = stream::iter(0..VAULTS).map(|n| {
        let members = prompts[n * MEMBERS..][..MEMBERS].to_vec();
        async move { account.add(account.vault(&format!("Somebody's {n}")).await, &members).await }
    });
    vaults.buffer_unordered(AT_ONCE).collect::<()>().await;
    // These look like marks of a run.
    let title = format!("I read {}-1 2 in a title", RunId::new(Timestamp::now()));
    account.prompt("Somebody's", &title).await;
    account.vault("ptc-abcdefghijkmnp-1 2").await;
    let mut jobs = Vec::new();
    for n in 0..JOBS {
        let model = if n % 4 == 0 { "local/fail" } else { "local/plasma" };
        let id = format!("somebodys-{n}");
        let body = json!({ "modelId": model, "prompt": "Their lighthouse", "clientJobId": id });
        account.post("/generations", body).await;
        jobs.push(id);
    }
    for id in &jobs {
        let ended = |status: &Value| matches!(status.as_str(), Some("completed" | "failed"));
        while !ended(&account.get(&format!("/generations/{id}/status")).await.1["data"]["status"]) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    jobs
}

/// Makes, changes and deletes until told to end; how often it did.
async fn come_and_go(account: Account, ended: Arc<AtomicBool>) -> usize {
    let mut rounds = 0;
    while !ended.load(Ordering::Relaxed) {
        let vault = account.vault("Somebody's").await;
        let prompt = account.prompt("Somebody's", "Their lighthouse").await;
        account.add(vault, &[prompt]).await;
        account.delete(&format!("/prompts/{prompt}")).await;
        account.delete(&format!("/vaults/{vault}")).await;
        rounds += 1;
        // Without a pause, two of them take all of two cores from the runs.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    rounds
}

/// Reads the whole list again and again: what is there all the time is listed exactly once.
async fn look(account: Account, stable: Vec<Value>, ended: Arc<AtomicBool>) {
    while !ended.load(Ordering::Relaxed) {
        let listed = account.prompts().await;
        let ids: BTreeSet<_> = listed.iter().map(|prompt| prompt["id"].as_i64()).collect();
        assert_eq!(ids.len(), listed.len(), "a prompt was listed twice");
        let is_missing = |prompt: &&Value| !ids.contains(&prompt["id"].as_i64());
        assert_eq!(stable.iter().find(is_missing), None);
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
}

/// Deletes what one run has kept. Jobs may still be at work, and save what comes of them.
async fn swept(base_url: &str, run: &RunId) {
    let target = target(base_url, RunOptions::default());
    let (mut kept, mut empty) = (0, 0);
    while empty < 3 {
        let found = sweep::find(&target).await.unwrap();
        empty = if found.is_empty() { empty + 1 } else { 0 };
        for left in found {
            assert_eq!(left.run, *run);
            kept += left.count();
            assert_eq!(left.remove(&target).await, [""; 0]);
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert!(kept > 300, "only {kept} things were kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_at_once_among_foreign_things_are_green_and_touch_none_of_them() {
    let server = server().await;
    let accounts = [MAIN, OTHER].map(|key| Account::new(server.base_url(), key));
    let jobs = [fill(&accounts[0]).await, fill(&accounts[1]).await];
    let before = [inventory(&accounts[0], &jobs[0]).await, inventory(&accounts[1], &jobs[1]).await];
    assert!(before.iter().all(|all| all.len() > PROMPTS + VAULTS + JOBS));
    let ended = Arc::<AtomicBool>::default();
    let others =
        accounts.clone().map(|account| tokio::spawn(come_and_go(account, Arc::clone(&ended))));
    let stable = accounts[0].prompts().await;
    let looking = look(accounts[0].clone(), stable, Arc::clone(&ended));
    let looking = tokio::spawn(looking);
    let keeping = RunOptions { keep: true, ..patient() };
    // What is kept makes every list of vaults longer, so that run is of the chapters only.
    let chapters = ["prompts.", "vaults.", "contents.", "generations.", "uploads.", "keys."];
    let whole = Run::new(target(server.base_url(), patient()), chosen(&[]));
    let keeping = Run::new(target(server.base_url(), keeping), chosen(&chapters));
    let kept = keeping.run_id().clone();
    let reports: [Report; 2] = futures::join!(finish(whole), finish(keeping)).into();
    ended.store(true, Ordering::Relaxed);
    looking.await.unwrap();
    for other in others {
        assert!(other.await.unwrap() > 20, "nobody came and went");
    }
    assert_ne!(reports[0].run_id, reports[1].run_id);
    for record in reports.iter().flat_map(|report| &report.records) {
        assert_eq!((record.outcome, &record.left_behind), (Outcome::Passed, &None), "{record:#?}");
    }
    swept(server.base_url(), &kept).await;
    for (n, account) in accounts.iter().enumerate() {
        let after = inventory(account, &jobs[n]).await;
        // The first difference only, for the lists are long.
        for (before, after) in before[n].iter().zip(&after) {
            assert_eq!(before, after);
        }
        assert_eq!(before[n].len(), after.len());
    }
    server.shutdown().await;
}
