//! An account as the service shows it, and how that differs from what it must be.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use http::Method;
use serde_json::Value;

use super::{Prompt, World};
use crate::http::{Got, Http};

/// Everything that can be seen of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Actual {
    pub(crate) prompts: BTreeMap<i64, ActualPrompt>,
    pub(crate) vaults: BTreeMap<i64, ActualVault>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActualPrompt {
    pub(crate) prompt: Prompt,
    pub(crate) vaults: BTreeSet<i64>,
    /// The addresses of its pictures.
    pub(crate) images: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActualVault {
    pub(crate) name: String,
    pub(crate) visibility: String,
    pub(crate) system: bool,
    pub(crate) count: usize,
    /// As they are listed.
    pub(crate) members: Vec<ActualMember>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActualMember {
    pub(crate) id: i64,
    pub(crate) prompt: i64,
    pub(crate) pinned: bool,
}

impl Actual {
    /// Reads all of it from a server that must answer.
    pub(crate) async fn read(http: &Http, address: &str, key: &str) -> Self {
        let get = async |path: &str| match http.call(address, key, Method::GET, path, None).await {
            Got::Answer(answer) if answer.status == 200 => answer.json(),
            got => panic!("GET {path} of a server that is well: {got:?}"),
        };
        let mut prompts = BTreeMap::new();
        let mut path = "/prompts?limit=100".to_owned();
        loop {
            let page = get(&path).await;
            for prompt in list(&page["data"]) {
                let before = prompts.insert(number(&prompt["id"]), actual_prompt(prompt));
                assert!(before.is_none(), "a prompt is listed twice: {prompt}");
            }
            let Some(cursor) = page["pagination"]["nextCursor"].as_str() else { break };
            path = format!("/prompts?limit=100&cursor={cursor}");
        }
        let mut vaults = BTreeMap::new();
        for vault in list(&get("/vaults").await["data"]) {
            let id = number(&vault["id"]);
            let contents = get(&format!("/vaults/{id}/prompts")).await;
            let members = members(&contents["data"]);
            vaults.insert(id, actual_vault(vault, members));
        }
        Self { prompts, vaults }
    }

    pub(crate) fn member(&self, vault: i64, prompt: i64) -> Option<&ActualMember> {
        self.vaults.get(&vault)?.members.iter().find(|member| member.prompt == prompt)
    }

    /// Everything in which it is not what it must be.
    pub(crate) fn differences(&self, world: &World) -> Vec<String> {
        let mut found = Vec::new();
        let ids: BTreeSet<_> = self.prompts.keys().chain(world.prompts.keys()).collect();
        for id in ids {
            let got = self.prompts.get(id).map(|one| (&one.prompt, one.vaults.clone()));
            let expected = world.prompts.get(id).map(|prompt| (prompt, world.holders(*id)));
            compare(&format!("prompt {id}"), &got, &expected, &mut found);
        }
        let ids: BTreeSet<_> = self.vaults.keys().chain(world.vaults.keys()).collect();
        for id in ids {
            let got = self.vaults.get(id).map(|vault| {
                let listed = vault.members.iter().map(|one| (one.prompt, one.pinned)).collect();
                (&vault.name, &vault.visibility, vault.count, listed)
            });
            let expected = world.vaults.get(id).map(|vault| {
                let listed = vault.listed().into_iter().map(|one| (one.prompt, one.is_pinned()));
                let listed: Vec<_> = listed.collect();
                (&vault.name, &vault.visibility, listed.len(), listed)
            });
            compare(&format!("vault {id}"), &got, &expected, &mut found);
        }
        found.extend(self.changed_members(world));
        found
    }

    /// A membership keeps its id as long as it lasts.
    fn changed_members(&self, world: &World) -> Vec<String> {
        let mut found = Vec::new();
        for (vault, prompt, id) in world.vaults.iter().flat_map(|(id, vault)| {
            vault.members.iter().filter_map(|one| Some((*id, one.prompt, one.id?)))
        }) {
            if let Some(member) = self.member(vault, prompt).filter(|member| member.id != id) {
                let got = member.id;
                found.push(format!("prompt {prompt} in vault {vault}: membership {got}, not {id}"));
            }
        }
        found
    }

    /// What is known now of memberships.
    pub(crate) fn tell(&self, world: &mut World) {
        for (id, vault) in &mut world.vaults {
            for member in &mut vault.members {
                member.id = self.member(*id, member.prompt).map(|one| one.id);
            }
        }
    }
}

fn compare<T: PartialEq + Debug>(what: &str, got: &T, expected: &T, found: &mut Vec<String>) {
    if got != expected {
        found.push(format!("{what} is {got:?}, not {expected:?}"));
    }
}

fn actual_prompt(prompt: &Value) -> ActualPrompt {
    ActualPrompt {
        prompt: Prompt { title: text(&prompt["title"]), text: text(&prompt["prompt"]) },
        vaults: list(&prompt["vaultIds"]).iter().map(number).collect(),
        images: list(&prompt["images"]).iter().map(|image| text(&image["url"])).collect(),
    }
}

fn actual_vault(vault: &Value, members: Vec<ActualMember>) -> ActualVault {
    ActualVault {
        name: text(&vault["name"]),
        visibility: text(&vault["visibility"]),
        system: vault["isSystem"] == true,
        count: usize::try_from(number(&vault["promptCount"])).unwrap(),
        members,
    }
}

/// What a vault's contents are, as they are listed.
pub(crate) fn members(contents: &Value) -> Vec<ActualMember> {
    let member = |one: &Value| ActualMember {
        id: number(&one["vaultPromptId"]),
        prompt: number(&one["id"]),
        pinned: one["isPinned"] == true,
    };
    list(contents).iter().map(member).collect()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
