//! The contents of one account: as expected after the acknowledged writes, and as the
//! API lists it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::support::http::Request;
use crate::support::program::Server;

pub(crate) type Id = i64;

/// In the effects of a write: the id of what it creates.
pub(crate) const NEW: Id = 0;

/// Prompts and vaults by id. A negative id stands for one that no response gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) prompts: BTreeMap<Id, Prompt>,
    pub(crate) vaults: BTreeMap<Id, Vault>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) title: String,
    #[serde(rename = "prompt")]
    pub(crate) text: String,
    pub(crate) images: Vec<Image>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) url: String,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Vault {
    pub(crate) name: String,
    pub(crate) visibility: String,
    pub(crate) is_system: bool,
    /// By prompt: whether it is pinned.
    #[serde(skip)]
    pub(crate) members: BTreeMap<Id, bool>,
}

/// An entry of the contents of a vault.
#[derive(Deserialize)]
pub(crate) struct Member {
    #[serde(rename = "vaultPromptId")]
    pub(crate) id: Id,
    #[serde(rename = "id")]
    pub(crate) prompt: Id,
    #[serde(rename = "isPinned")]
    pub(crate) pinned: bool,
}

/// A request that changes an account, and its effects: all happen or none.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) request: Request,
    pub(crate) effects: Vec<Effect>,
}

/// What a prompt, a vault or a membership is afterwards; `None` if it is gone.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    Prompt(Id, Option<Prompt>),
    /// Name and visibility.
    Vault(Id, Option<(String, String)>),
    /// Vault and prompt, and whether it is pinned.
    Member(Id, Id, Option<bool>),
}

impl State {
    /// Applies the effects of a write that created `new`.
    pub(crate) fn apply(&mut self, write: &Write, new: Id) {
        let resolve = |id: Id| if id == NEW { new } else { id };
        for effect in write.effects.iter().cloned() {
            match effect {
                Effect::Prompt(id, Some(prompt)) => drop(self.prompts.insert(resolve(id), prompt)),
                Effect::Prompt(id, None) => {
                    self.prompts.remove(&id);
                    self.vaults
                        .values_mut()
                        .for_each(|vault| vault.members.retain(|p, _| *p != id));
                }
                Effect::Vault(id, Some((name, visibility))) => {
                    let vault = self.vaults.entry(resolve(id)).or_default();
                    (vault.name, vault.visibility) = (name, visibility);
                }
                Effect::Vault(id, None) => drop(self.vaults.remove(&id)),
                Effect::Member(vault, prompt, pinned) => {
                    let vault = self.vaults.get_mut(&resolve(vault)).unwrap();
                    vault.members.remove(&resolve(prompt));
                    vault.members.extend(pinned.map(|pinned| (resolve(prompt), pinned)));
                }
            }
        }
    }

    /// Compares contents without ids, as some are not known.
    pub(crate) fn differences(&self, listed: &Self) -> Vec<String> {
        let mut counts = BTreeMap::new();
        for (state, one) in [(self, 1), (listed, -1)] {
            state.facts().for_each(|fact| *counts.entry(fact).or_insert(0) += one);
        }
        let differences = counts.into_iter().filter(|(_, count)| *count != 0);
        differences.map(|(fact, count)| format!("{count:+} {fact}")).collect()
    }

    fn facts(&self) -> impl Iterator<Item = String> {
        let prompts = self.prompts.values().map(|Prompt { title, text, images }| {
            format!("prompt {title:?} {text:?} with {} images", images.len())
        });
        let vaults = self.vaults.values().map(|vault| {
            let title = |id| self.prompts.get(id).map(|prompt| prompt.title.as_str());
            let members = vault.members.iter().map(|(id, pinned)| (title(id), pinned));
            let mut members: Vec<_> = members.collect();
            members.sort_unstable();
            format!("{} vault {:?} with {members:?}", vault.visibility, vault.name)
        });
        prompts.chain(vaults)
    }

    /// Lists the account at one replica, which must be available. Contradictions between
    /// the resources are added to `faults`.
    pub(crate) async fn list(server: &Server, key: &str, faults: &mut Vec<String>) -> Self {
        let get = async |path: &str| {
            let response = server.call(key, &Request::get(path)).await;
            assert_eq!(response.status, 200, "GET {path}: {}", response.summary());
            response.json()
        };
        let (mut state, mut prompts, mut cursor) = (Self::default(), Vec::new(), String::new());
        loop {
            let page = get(&format!("/prompts?limit=100{cursor}")).await;
            prompts.extend(parse::<Vec<Value>>(&page["data"]));
            let Some(next) = page["pagination"]["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        for data in parse::<Vec<Value>>(&get("/vaults").await["data"]) {
            let (id, mut vault): (Id, Vault) = (parse(&data["id"]), parse(&data));
            let contents = get(&format!("/vaults/{id}/prompts")).await;
            let members: Vec<Member> = parse(&contents["data"]);
            vault.members = members.iter().map(|member| (member.prompt, member.pinned)).collect();
            if data["promptCount"] != members.len() || vault.members.len() != members.len() {
                faults.push(format!("the prompts of a vault are {:?}: {data}", vault.members));
            }
            state.vaults.insert(id, vault);
        }
        for data in prompts {
            let id = parse(&data["id"]);
            let holders = state.vaults.iter().filter(|(_, vault)| vault.members.contains_key(&id));
            let holders: BTreeSet<_> = holders.map(|(vault, _)| *vault).collect();
            if parse::<BTreeSet<Id>>(&data["vaultIds"]) != holders {
                faults.push(format!("a prompt is in the vaults {holders:?}: {data}"));
            }
            if state.prompts.insert(id, parse(&data)).is_some() {
                faults.push(format!("a prompt is listed twice: {data}"));
            }
        }
        state
    }
}

pub(crate) fn parse<T: DeserializeOwned>(value: &Value) -> T {
    T::deserialize(value).unwrap_or_else(|error| panic!("{error}: {value}"))
}
