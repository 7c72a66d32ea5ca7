//! A deployment that others use: thousands of their things are there before a
//! run begins, they go on while it runs, and nothing of theirs is touched, by sweeping neither.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use jiff::Timestamp;
use promptarium_conformance::report::{Outcome, Report};
use promptarium_conformance::{Run, RunId, RunOptions, sweep};
use serde_json::{Value, json};

use crate::deployed::{Account, chosen, server, target};
use crate::keys::{MAIN, OTHER};

const PROMPTS: usize = 1_500;
const VAULTS: usize = 75;
const MEMBERS: usize = 20;
const JOBS: usize = 40;
const AT_ONCE: usize = 32;

/// What is in an account, as it answers for it.
struct Inventory {
    vaults: Vec<Value>,
    prompts: Vec<Value>,
    contents: Vec<(u16, Value)>,
    jobs: Vec<(u16, Value)>,
}

impl Inventory {
    async fn of(account: &Account, jobs: &[String]) -> Self {
        let mut vaults = account.vaults().await;
        for system in vaults.iter_mut().filter(|vault| vault["isSystem"] == true) {
            // What is generated for no vault comes by here.
            system["updatedAt"].take();
        }
        let of_vaults = vaults.iter().map(|vault| format!("/vaults/{}/prompts", vault["id"]));
        let of_jobs = jobs.iter().map(|id| format!("/generations/{id}/status"));
        let (contents, jobs) = (all(account, of_vaults).await, all(account, of_jobs).await);
        Self { prompts: account.prompts().await, vaults, contents, jobs }
    }
}

async fn all(account: &Account, paths: impl Iterator<Item = String>) -> Vec<(u16, Value)> {
    let answers = stream::iter(paths).map(|path| async move { account.get(&path).await });
    // Each answer has an id of its own besides.
    answers.buffered(AT_ONCE).map(|(status, body)| (status, body["data"].clone())).collect().await
}

/// Fills an account; the ids of its jobs, all of them ended.
async fn fill(account: &Account) -> Vec<String> {
    let prompts = stream::iter(0..PROMPTS).map(|n| async move {
        account
            .prompt(&format!("Somebody's {n}"), "A ptc- that is no mark, ptc-aaaaaaaaaaaaaa-1 0")
            .await
    });
    let prompts: Vec<_> = prompts.buffer_unordered(AT_ONCE).collect().await;
    let vaults = stream::iter(0..VAULTS).map(|n| {
        let members = prompts[n * MEMBERS..][..MEMBERS].to_vec();
        async move {
            let vault = account.vault(&format!("Somebody's {n}")).await;
            let path = format!("/vaults/{vault}/prompts");
            account.post(&path, json!({ "promptIds": members })).await;
        }
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

/// Shows the first difference only, for the lists are long.
#[track_caller]
fn assert_same<T: PartialEq + std::fmt::Debug>(what: &str, before: &[T], after: &[T]) {
    for (before, after) in before.iter().zip(after) {
        assert_eq!(before, after, "{what}");
    }
    assert_eq!(before.len(), after.len(), "{what}");
}

/// Makes, changes and deletes until told to end; how often it did.
async fn come_and_go(account: Account, ended: Arc<AtomicBool>) -> usize {
    let mut rounds = 0;
    while !ended.load(Ordering::Relaxed) {
        let vault = account.vault("Somebody's").await;
        let prompt = account.prompt("Somebody's", "Their lighthouse").await;
        let path = format!("/vaults/{vault}/prompts");
        account.post(&path, json!({ "promptIds": [prompt] })).await;
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
    let before =
        [Inventory::of(&accounts[0], &jobs[0]).await, Inventory::of(&accounts[1], &jobs[1]).await];
    assert!(before.iter().all(|one| one.prompts.len() >= PROMPTS && one.vaults.len() > VAULTS));
    let ended = Arc::<AtomicBool>::default();
    let others =
        accounts.clone().map(|account| tokio::spawn(come_and_go(account, Arc::clone(&ended))));
    let looking = look(accounts[0].clone(), before[0].prompts.clone(), Arc::clone(&ended));
    let looking = tokio::spawn(looking);
    // Patient: both share the processor with other tests, and speed is not what is tested.
    let patient = RunOptions { time_scale: 5.0, ..RunOptions::default() };
    let keeping = RunOptions { keep: true, ..patient };
    let targets = [target(server.base_url(), patient), target(server.base_url(), keeping)];
    // What is kept makes every list of vaults longer, so that run is of the chapters only.
    let chapters = ["prompts.", "vaults.", "contents.", "generations.", "uploads.", "keys."];
    let [all, some] = targets;
    let runs = [Run::new(all, chosen(&[])), Run::new(some, chosen(&chapters))];
    let kept = runs[1].run_id().clone();
    let runs = runs.map(|run| run.run(pending(), |_, _| {}));
    let reports: [Report; 2] = futures::future::join_all(runs).await.try_into().unwrap();
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
        let after = Inventory::of(account, &jobs[n]).await;
        assert_same("vaults", &before[n].vaults, &after.vaults);
        assert_same("prompts", &before[n].prompts, &after.prompts);
        assert_same("contents", &before[n].contents, &after.contents);
        assert_same("jobs", &before[n].jobs, &after.jobs);
    }
    server.shutdown().await;
}
