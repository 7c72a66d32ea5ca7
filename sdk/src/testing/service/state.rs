//! What the service stores, and what requests do to it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::Rudeness;
use crate::testing::{ASSETS_URL, Answer, BASE_URL};
use crate::{Timestamp, limits};

/// The folder of generated images below [`ASSETS_URL`].
pub(super) const GENERATED: &str = "generated";

const POLLS_UNTIL_COMPLETED: u32 = 3;

/// The id of General, which is the first record.
const GENERAL: i64 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Prompt,
    Vault,
}

#[derive(Debug)]
pub(super) struct State {
    /// Ids are of one sequence for everything, so their order is that of time.
    last_id: i64,
    started: (Timestamp, Instant),
    /// Without the fields that follow from memberships.
    records: BTreeMap<(Kind, i64), Value>,
    members: Vec<Member>,
    jobs: Vec<Job>,
    pub(super) habits: HashSet<Rudeness>,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    id: i64,
    vault: i64,
    prompt: i64,
    /// When it was pinned, in the sequence of ids.
    pinned: Option<i64>,
}

#[derive(Debug)]
struct Job {
    body: Value,
    polls: u32,
    output: Option<i64>,
}

/// The ids of prompts in the body of a request.
pub(super) fn prompt_ids(body: &Value) -> impl Iterator<Item = i64> {
    body["promptIds"].as_array().into_iter().flatten().filter_map(Value::as_i64)
}

/// Prompts and vaults.
impl State {
    pub(super) fn new() -> Self {
        let mut state = Self {
            last_id: 0,
            started: (Timestamp::now(), Instant::now()),
            records: BTreeMap::new(),
            members: Vec::new(),
            jobs: Vec::new(),
            habits: HashSet::new(),
        };
        state.add(Kind::Vault, &json!({ "name": "General", "isSystem": true }));
        state
    }

    pub(super) fn all(&self, kind: Kind) -> Vec<Value> {
        let ids = self.records.keys().filter(|(found, _)| *found == kind);
        ids.map(|(_, id)| self.read(kind, *id)).collect()
    }

    pub(super) fn exists(&self, kind: Kind, id: i64) -> bool {
        self.records.contains_key(&(kind, id))
    }

    pub(super) fn read(&self, kind: Kind, id: i64) -> Value {
        let mut record = self.records.get(&(kind, id)).cloned().unwrap_or_default();
        let members = || self.members.iter();
        if kind == Kind::Prompt {
            let vaults = members().filter(|member| member.prompt == id);
            record["vaultIds"] = vaults.map(|member| member.vault).collect();
        } else {
            record["promptCount"] = members().filter(|member| member.vault == id).count().into();
        }
        record
    }

    pub(super) fn add(&mut self, kind: Kind, fields: &Value) -> Value {
        let id = self.next_id();
        let mut record = match kind {
            Kind::Prompt => json!({
                "promptType": "text", "platform": null, "status": "active", "images": [],
            }),
            Kind::Vault => json!({
                "description": null, "slug": format!("vault-{id}"), "visibility": "private",
                "accessType": null, "isLocked": false, "coverImageUrl": null, "isSystem": false,
            }),
        };
        (record["id"], record["createdAt"]) = (id.into(), self.now());
        self.records.insert((kind, id), record);
        self.merge(kind, id, fields)
    }

    pub(super) fn merge(&mut self, kind: Kind, id: i64, fields: &Value) -> Value {
        let (now, trims) = (self.now(), self.habits.contains(&Rudeness::ChangesTexts));
        if let Some(record) = self.records.get_mut(&(kind, id)) {
            record["updatedAt"] = now;
            for (name, value) in fields.as_object().into_iter().flatten() {
                record[name] = match value.as_str() {
                    Some(text) if trims => text.trim().replace("\r\n", "\n").into(),
                    _ => value.clone(),
                };
            }
        }
        if let Some(vault) = fields["vaultId"].as_i64() {
            self.join(vault, id);
        }
        self.read(kind, id)
    }

    pub(super) fn delete(&mut self, kind: Kind, id: i64) -> Value {
        self.records.remove(&(kind, id));
        let of_record = |m: &Member| if kind == Kind::Prompt { m.prompt } else { m.vault };
        self.members.retain(|member| of_record(member) != id);
        json!({ "id": id, "deleted": true })
    }

    pub(super) fn fork(&mut self, id: i64) -> Value {
        let vault = self.read(Kind::Vault, id);
        let fields = json!({ "name": vault["name"], "description": vault["description"] });
        let fork = self.add(Kind::Vault, &fields)["id"].as_i64().unwrap_or(0);
        for mut prompt in self.members(id) {
            prompt["vaultId"] = fork.into();
            prompt.as_object_mut().and_then(|fields| fields.remove("id"));
            self.add(Kind::Prompt, &prompt);
        }
        self.read(Kind::Vault, fork)
    }

    fn next_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    fn now(&self) -> Value {
        let (start, started) = self.started;
        let is_behind = self.habits.contains(&Rudeness::ClockBehind);
        let behind = Duration::from_secs(if is_behind { 600 } else { 0 });
        let now = start.checked_add(started.elapsed()).and_then(|now| now.checked_sub(behind));
        now.unwrap_or(start).to_string().into()
    }
}

/// Memberships.
impl State {
    /// Adds a prompt to a vault, unless it is in it. Returns the membership.
    fn join(&mut self, vault: i64, prompt: i64) -> i64 {
        let mut members = self.members.iter();
        if let Some(found) = members.find(|m| (m.vault, m.prompt) == (vault, prompt)) {
            return found.id;
        }
        let id = self.next_id();
        self.members.push(Member { id, vault, prompt, pinned: None });
        id
    }

    pub(super) fn is_member(&self, vault: i64, id: i64) -> bool {
        self.members.iter().any(|member| (member.vault, member.id) == (vault, id))
    }

    /// Pinned prompts first, then the newest members.
    pub(super) fn members(&self, vault: i64) -> Vec<Value> {
        let members = self.members.iter().filter(|member| member.vault == vault);
        let mut members: Vec<_> = members.collect();
        members.sort_by_key(|m| (m.pinned.is_none(), m.pinned, Reverse(m.id)));
        let prompts = members.into_iter().map(|member| {
            let mut prompt = self.read(Kind::Prompt, member.prompt);
            prompt["vaultPromptId"] = member.id.into();
            prompt["isPinned"] = member.pinned.is_some().into();
            prompt
        });
        prompts.collect()
    }

    pub(super) fn add_members(&mut self, vault: i64, body: &Value) -> Value {
        let before = self.members.len();
        for id in prompt_ids(body) {
            self.join(vault, id);
        }
        let (added, record) = (self.members.len() - before, self.read(Kind::Vault, vault));
        json!({ "added": added, "vaultId": vault, "promptCount": record["promptCount"] })
    }

    pub(super) fn remove_member(&mut self, id: i64) -> Value {
        self.members.retain(|member| member.id != id);
        json!({ "vaultPromptId": id, "removed": true })
    }

    pub(super) fn move_member(&mut self, id: i64, target: i64) -> Value {
        let index = self.members.iter().position(|member| member.id == id);
        let moved = index.map(|index| self.members.remove(index));
        let new_id = moved.map(|member| self.join(target, member.prompt));
        json!({
            "promptId": moved.map(|member| member.prompt), "vaultPromptId": new_id,
            "sourceVaultId": moved.map(|member| member.vault), "targetVaultId": target,
        })
    }

    pub(super) fn pin_member(&mut self, id: i64, pinned: bool) -> Value {
        let now = self.next_id();
        for member in self.members.iter_mut().filter(|member| member.id == id) {
            member.pinned = pinned.then(|| member.pinned.unwrap_or(now));
        }
        json!({ "vaultPromptId": id, "isPinned": pinned })
    }
}

/// Generations.
impl State {
    pub(super) fn generations(&self) -> Vec<Value> {
        self.jobs.iter().map(|job| job.body.clone()).collect()
    }

    pub(super) fn queue_job(&mut self, mut body: Value) -> Value {
        let number = self.jobs.len() + 1;
        if body["clientJobId"].is_null() {
            body["clientJobId"] = format!("job-{number}").into();
        }
        let id = body["clientJobId"].as_str().unwrap_or_default().to_owned();
        self.jobs.push(Job { body, polls: 0, output: None });
        json!({
            "success": true, "clientJobId": id, "providerRequestId": format!("request-{number}"),
            "statusUrl": format!("{BASE_URL}/generations/{id}/status"),
        })
    }

    pub(super) fn poll_job(&mut self, encoded: &str) -> Answer {
        let id = percent_encoding::percent_decode_str(encoded).decode_utf8_lossy();
        let Some(index) = self.jobs.iter().rposition(|job| job.body["clientJobId"] == *id) else {
            if self.habits.contains(&Rudeness::KnowsEveryJob) {
                return Answer::data(&json!({ "status": "not_found" }));
            }
            return Answer::error(404, "there is no such generation");
        };
        self.jobs[index].polls += 1;
        let state = match self.jobs[index].polls {
            1 => "queued",
            2 if self.habits.contains(&Rudeness::LosesJobs) => {
                return Answer::error(404, "there is no such generation");
            }
            2..POLLS_UNTIL_COMPLETED => "in_progress",
            _ if self.habits.contains(&Rudeness::CancelsJobs) => "canceled",
            _ => "completed",
        };
        let output = (state == "completed").then(|| self.complete_job(index));
        Answer::data(&json!({ "clientJobId": id, "status": state, "promptId": output }))
    }

    /// Completes all jobs, and returns the ids of the prompts with their output.
    pub(super) fn complete_jobs(&mut self) -> BTreeSet<i64> {
        let is_canceled = self.habits.contains(&Rudeness::CancelsJobs);
        let jobs = if is_canceled { 0 } else { self.jobs.len() };
        (0..jobs).map(|index| self.complete_job(index)).collect()
    }

    fn complete_job(&mut self, index: usize) -> i64 {
        let Job { body, output, .. } = &self.jobs[index];
        if let Some(output) = *output {
            return output;
        }
        let text = body["prompt"].as_str().unwrap_or_default();
        let title: String = text.chars().take(*limits::PROMPT_TITLE_CHARS.end()).collect();
        let vault = body["vaultId"].as_i64().filter(|id| self.exists(Kind::Vault, *id));
        let images = (1..=body["batchCount"].as_u64().unwrap_or(1)).map(|number| {
            let url = format!("{ASSETS_URL}/{GENERATED}/{index}-{number}.png");
            json!({ "url": url, "width": 1, "height": 1, "createdAt": self.now() })
        });
        let fields = json!({
            "title": title, "prompt": text, "images": images.collect::<Value>(),
            "promptType": body["generationType"].as_str().unwrap_or("image"),
            "vaultId": vault.unwrap_or(GENERAL),
        });
        let output = self.add(Kind::Prompt, &fields)["id"].as_i64().unwrap_or(0);
        self.jobs[index].output = Some(output);
        output
    }
}
