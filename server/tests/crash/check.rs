//! Whether an account is what it must be once everything has come to rest.

use std::collections::BTreeMap;

use http::Method;
use tokio::time::{Instant, sleep};

use crate::account::{Account, Actual, Job};
use crate::http::{Answer, Http};
use crate::server::PUBLIC_URL;

/// How often an ended job is asked for.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(100);

/// What the service shows, asked at every replica in turn.
pub(crate) struct Check<'a> {
    pub(crate) http: &'a Http,
    pub(crate) addresses: &'a [String],
    /// When every job must have ended.
    pub(crate) deadline: Instant,
}

/// How a job came out.
enum End {
    /// The prompt with its outputs.
    Completed(i64),
    Failed(String),
    /// There is no such job.
    None,
}

impl Check<'_> {
    /// Compares everything and settles all doubts. What is wrong is added to the
    /// account's list.
    pub(crate) async fn settle(&self, account: &mut Account) {
        let ended = self.ended_jobs(account).await;
        let mut shown = Vec::new();
        for address in self.addresses {
            shown.push(Actual::read(self.http, address, &account.key).await);
        }
        if shown.windows(2).any(|two| two[0] != two[1]) {
            account.wrong("replicas show different things");
        }
        let actual = shown.swap_remove(0);
        self.learn_outputs(account, &ended, &actual).await;
        let doubts = std::mem::take(&mut account.doubts);
        for doubt in &doubts {
            doubt.settle(&mut account.world, &actual);
        }
        for difference in actual.differences(&account.world) {
            account.wrong(difference);
        }
        actual.tell(&mut account.world);
        self.check_uploads(account).await;
    }

    /// The jobs that have come to an end since the last time, by their prompts.
    async fn ended_jobs(&self, account: &mut Account) -> BTreeMap<i64, String> {
        let mut ended = BTreeMap::new();
        let open = account.jobs.iter().filter(|(_, job)| job.prompt.is_none());
        let open: Vec<_> = open.map(|(name, _)| name.clone()).collect();
        for name in open {
            let accepted = account.jobs[&name].accepted.is_some();
            match self.end_of(&account.key, &name).await {
                Ok(End::Completed(prompt)) => {
                    let before = ended.insert(prompt, name.clone());
                    account.jobs.get_mut(&name).unwrap().prompt = Some(prompt);
                    if let Some(other) = before {
                        account.wrong(format!("{name} and {other} have one prompt, {prompt}"));
                    }
                    continue;
                }
                // Nobody was promised anything.
                Ok(End::None | End::Failed(_)) if !accepted => {}
                Ok(End::None) => account.wrong(format!("{name} was accepted and is gone")),
                Ok(End::Failed(why)) => account.wrong(format!("{name} failed: {why}")),
                Err(status) => account.wrong(format!("{name} does not end; it is {status}")),
            }
            account.jobs.remove(&name);
        }
        ended
    }

    async fn end_of(&self, key: &str, name: &str) -> Result<End, String> {
        let name = name.replace(' ', "%20");
        loop {
            let answer = self.get(key, &format!("/generations/{name}/status")).await;
            let data = answer.data();
            match (answer.status, data["status"].as_str()) {
                (404, _) => return Ok(End::None),
                (200, Some("completed")) => {
                    return Ok(End::Completed(data["promptId"].as_i64().unwrap()));
                }
                (200, Some("failed")) => return Ok(End::Failed(data["error"].to_string())),
                _ if Instant::now() > self.deadline => return Err(answer.shown()),
                _ => sleep(PAUSE).await,
            }
        }
    }

    /// Takes the prompts of ended jobs into the world, each with its pictures.
    async fn learn_outputs(
        &self,
        account: &mut Account,
        ended: &BTreeMap<i64, String>,
        actual: &Actual,
    ) {
        let contents = actual.vaults[&account.jobs_vault].members.iter().rev();
        let fresh: Vec<_> = contents.filter(|one| ended.contains_key(&one.prompt)).collect();
        for member in &fresh {
            let prompt = actual.prompts[&member.prompt].prompt.clone();
            account.world.prompts.insert(member.prompt, prompt);
            account.world.put(member.prompt, account.jobs_vault, Some(member.id));
        }
        for (prompt, name) in ended {
            if !fresh.iter().any(|member| member.prompt == *prompt) {
                account.wrong(format!("{name} completed, and its prompt is not in its vault"));
                continue;
            }
            let images = &actual.prompts[prompt].images;
            let fault =
                self.fault_of(&account.jobs[name], images, &actual.prompts[prompt].prompt.text);
            if let Some(fault) = fault.await {
                account.wrong(format!("{name}: {fault}"));
            }
        }
    }

    async fn fault_of(&self, job: &Job, images: &[String], text: &str) -> Option<String> {
        if job.body["prompt"] != *text {
            return Some(format!("its prompt is {text:?}"));
        }
        if job.body["batchCount"] != images.len() {
            return Some(format!("its prompt has {} pictures", images.len()));
        }
        for url in images {
            let path = url.strip_prefix(PUBLIC_URL).unwrap_or_default();
            let answer = self.file(path).await;
            if answer.status != 200 || answer.bytes.is_empty() {
                return Some(format!("its picture {path} is {}", answer.status));
            }
        }
        None
    }

    /// All of them, also those of earlier rounds.
    async fn check_uploads(&self, account: &mut Account) {
        let mut kept = Vec::new();
        for upload in std::mem::take(&mut account.uploads) {
            let answer = self.file(&upload.path).await;
            let whole = answer.status == 200 && answer.bytes == upload.bytes;
            let absent = answer.status == 404;
            if !whole && (upload.acknowledged || !absent) {
                let bytes = answer.bytes.len();
                let what = format!("an upload of {} bytes", upload.bytes.len());
                account.wrong(format!("{what} is {} with {bytes} bytes", answer.status));
            }
            if whole {
                kept.push(crate::account::Upload { acknowledged: true, ..upload });
            }
        }
        account.uploads = kept;
    }

    async fn file(&self, path: &str) -> Answer {
        let url = format!("http://{}{path}", self.addresses[0]);
        self.http.get(&url).await.answer()
    }

    async fn get(&self, key: &str, path: &str) -> Answer {
        self.http.call(&self.addresses[0], key, Method::GET, path, None).await.answer()
    }
}
