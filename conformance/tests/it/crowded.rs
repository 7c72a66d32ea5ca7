//! A deployment that others use: thousands of their things are there before a
//! run begins, they go on while it runs, and nothing of theirs is touched.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use promptarium_conformance::report::{Outcome, Report};
use promptarium_conformance::{Profile, Run, RunOptions};
use serde_json::{Value, json};

use crate::deployed::{Account, chosen, server, with_session};
use crate::keys::{MAIN, OTHER};

const PROMPTS: usize = 2_000;
const VAULTS: usize = 100;
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
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
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
    // Patient: both share the processor with other tests, and speed is not what is tested.
    let patient = RunOptions { time_scale: 5.0, ..RunOptions::default() };
    let targets = [with_session(&server, patient).await, with_session(&server, patient).await];
    let runs = targets
        .map(|target| Run::new(target, chosen(&Profile::ALL, &[])).run(pending(), |_, _| {}));
    let reports: [Report; 2] = futures::future::join_all(runs).await.try_into().unwrap();
    ended.store(true, Ordering::Relaxed);
    for other in others {
        assert!(other.await.unwrap() > 20, "nobody came and went");
    }
    assert_ne!(reports[0].run_id, reports[1].run_id);
    for record in reports.iter().flat_map(|report| &report.records) {
        assert_eq!((record.outcome, &record.left_behind), (Outcome::Passed, &None), "{record:#?}");
    }
    for (n, account) in accounts.iter().enumerate() {
        let after = Inventory::of(account, &jobs[n]).await;
        assert_same("vaults", &before[n].vaults, &after.vaults);
        assert_same("prompts", &before[n].prompts, &after.prompts);
        assert_same("contents", &before[n].contents, &after.contents);
        assert_same("jobs", &before[n].jobs, &after.jobs);
    }
    server.shutdown().await;
}
