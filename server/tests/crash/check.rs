//! Compares an account with its expected state after the service has recovered.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::client::{Account, Upload};
use crate::state::State;
use crate::support::program::Server;

const PAUSE: Duration = Duration::from_millis(100);

/// Adds what is wrong to the faults of the account, and continues with the listed state. By the
/// deadline every job must have ended.
pub(crate) async fn check(servers: &[Server], deadline: Instant, account: &mut Account) {
    let ended = wait_for_jobs(&servers[0], deadline, account).await;
    let mut listed = Vec::new();
    for server in servers {
        listed.push(State::list(server, &account.key, &mut account.faults).await);
    }
    if listed.windows(2).any(|two| two[0] != two[1]) {
        account.fault("replicas list different contents");
    }
    let listed = listed.swap_remove(0);
    compare(account, &listed);
    for name in ended {
        let job = &account.jobs[&name];
        let prompt = job.prompt.and_then(|id| listed.0.get(&(0, id)));
        if prompt.is_none_or(|prompt| job.body["prompt"] != prompt[1]) {
            account.fault(format!("{name} has completed with another prompt: {prompt:?}"));
        }
    }
    // An upload that was not acknowledged is complete or missing.
    for upload in std::mem::take(&mut account.uploads) {
        let file = servers[0].get(&upload.path).await;
        if file.status == 200 && file.bytes == upload.bytes {
            account.uploads.push(Upload { acknowledged: true, ..upload });
        } else if upload.acknowledged || file.status != 404 {
            let (path, size) = (&upload.path, file.bytes.len());
            account.fault(format!("upload {path}: {} with {size} bytes", file.status));
        }
    }
    account.state = listed;
}

/// The acknowledged writes have happened, and one of unknown outcome wholly or not at
/// all. The outputs of jobs are part of the state, so each job has completed once.
fn compare(account: &mut Account, listed: &State) {
    let before = account.state.differences(listed);
    let Some(write) = account.unknown.take() else {
        return before.iter().for_each(|difference| account.fault(difference));
    };
    let new = account.placeholder();
    account.state.apply(&write, new);
    let after = account.state.differences(listed);
    if !before.is_empty() && !after.is_empty() {
        account.fault(format!("not before {write:?}: {before:#?}, not after: {after:#?}"));
    }
}

/// Waits until all jobs have ended, and returns those with an output. Only a job that
/// was not acknowledged may be missing or have failed.
async fn wait_for_jobs(server: &Server, deadline: Instant, account: &mut Account) -> Vec<String> {
    let mut ended = Vec::new();
    let open = account.jobs.iter().filter(|(_, job)| job.prompt.is_none());
    let open: Vec<_> = open.map(|(name, _)| name.clone()).collect();
    for name in open {
        let path = format!("/generations/{}/status", name.replace(' ', "%20"));
        let status = loop {
            let response = server.call(&account.key, "GET", &path, Value::Null).await;
            let status = response.data();
            let has_ended = status["status"] == "completed" || status["status"] == "failed";
            if has_ended || response.status == 404 || Instant::now() > deadline {
                break status;
            }
            sleep(PAUSE).await;
        };
        let job = account.jobs.get_mut(&name).unwrap();
        job.prompt = status["promptId"].as_i64();
        if job.prompt.is_some() {
            ended.push(name);
        } else if job.request_id.is_some() {
            account.fault(format!("{name} was acknowledged and is {status}"));
        } else {
            account.jobs.remove(&name);
        }
    }
    ended
}
