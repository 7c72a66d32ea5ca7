//! Compares an account with its expected state after the service has recovered.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::client::{Account, Upload};
use crate::state::{Image, State};
use crate::support::http::Request;
use crate::support::program::{PUBLIC_URL, Server};

const PAUSE: Duration = Duration::from_millis(100);

pub(crate) struct Check<'a> {
    pub(crate) servers: &'a [Server],
    /// By then every job must have ended.
    pub(crate) deadline: Instant,
}

impl Check<'_> {
    /// Adds what is wrong to the faults of the account, and continues with the listed state.
    pub(crate) async fn run(&self, account: &mut Account) {
        let ended = self.wait_for_jobs(account).await;
        let mut listed = Vec::new();
        for server in self.servers {
            listed.push(State::list(server, &account.key, &mut account.faults).await);
        }
        if listed.windows(2).any(|two| two[0] != two[1]) {
            account.fault("replicas list different contents");
        }
        let listed = listed.swap_remove(0);
        self.compare(account, &listed);
        for name in ended {
            let job = &account.jobs[&name];
            let prompt = job.prompt.and_then(|id| listed.prompts.get(&id));
            if prompt.is_none_or(|prompt| job.body["prompt"] != *prompt.text) {
                account.fault(format!("{name} has completed with another prompt: {prompt:?}"));
            }
        }
        self.check_files(account, &listed).await;
        account.state = listed;
    }

    /// The acknowledged writes have happened, and one of unknown outcome wholly or not at
    /// all. The outputs of jobs are part of the state, so each job has completed once.
    fn compare(&self, account: &mut Account, listed: &State) {
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
    async fn wait_for_jobs(&self, account: &mut Account) -> Vec<String> {
        let mut ended = Vec::new();
        let open = account.jobs.iter().filter(|(_, job)| job.prompt.is_none());
        let open: Vec<_> = open.map(|(name, _)| name.clone()).collect();
        for name in open {
            let status = self.end_of(&account.key, &name).await;
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

    async fn end_of(&self, key: &str, name: &str) -> Value {
        let request = Request::get(format!("/generations/{}/status", name.replace(' ', "%20")));
        loop {
            let response = self.servers[0].call(key, &request).await;
            let status = response.data();
            let ended = ["completed", "failed"].map(Value::from).contains(&status["status"]);
            if ended || response.status == 404 || Instant::now() > self.deadline {
                return status;
            }
            sleep(PAUSE).await;
        }
    }

    /// Checks the images of prompts, and all uploads. An upload that was not acknowledged
    /// is complete or missing.
    async fn check_files(&self, account: &mut Account, listed: &State) {
        let get = async |url: &str| {
            self.servers[0].get(url.strip_prefix(PUBLIC_URL).unwrap_or_default()).await
        };
        for Image { url } in listed.prompts.values().flat_map(|prompt| &prompt.images) {
            let file = get(url).await;
            if file.status != 200 || file.bytes.is_empty() {
                account.fault(format!("image {url}: {}", file.status));
            }
        }
        for upload in std::mem::take(&mut account.uploads) {
            let file = get(&upload.url).await;
            let complete = file.status == 200 && file.bytes == upload.bytes;
            if !complete && (upload.acknowledged || file.status != 404) {
                let (url, size) = (&upload.url, file.bytes.len());
                account.fault(format!("upload {url}: {} with {size} bytes", file.status));
            }
            if complete {
                account.uploads.push(Upload { acknowledged: true, ..upload });
            }
        }
    }
}
