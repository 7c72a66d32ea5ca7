//! The contents of one account: as expected after the acknowledged writes, and as the
//! API lists it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::program::{PUBLIC_URL, Server};

/// Negative where no response gave the id.
pub(crate) type Id = i64;

/// In the effects of a write: the id of what it creates.
pub(crate) const NEW: Id = -1;

/// The vault and the prompt of a membership; one of them is 0 in the key of a vault or a prompt.
pub(crate) type Key = (Id, Id);

/// Title, text and number of images of each prompt; name, visibility and `isSystem` of each vault; of
/// each membership whether it is pinned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State(pub(crate) BTreeMap<Key, Value>);

/// A request that changes an account, and what is then at these keys, `None` if it is gone: all
/// happens or nothing.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) request: String,
    pub(crate) effects: Vec<(Key, Option<Value>)>,
}

impl State {
    /// Applies the effects of a write that created `new`.
    pub(crate) fn apply(&mut self, write: &Write, new: Id) {
        let id = |id: Id| if id == NEW { new } else { id };
        for ((vault, prompt), value) in &write.effects {
            let (vault, prompt) = (id(*vault), id(*prompt));
            match value {
                Some(value) => drop(self.0.insert((vault, prompt), value.clone())),
                // The memberships of a vault or prompt go with it.
                None => self.0.retain(|key, _| {
                    (vault != 0 && key.0 != vault) || (prompt != 0 && key.1 != prompt)
                }),
            }
        }
    }

    pub(crate) fn vaults(&self) -> impl Iterator<Item = (Id, &Value)> {
        self.0.iter().filter(|(key, _)| key.1 == 0).map(|(key, vault)| (key.0, vault))
    }

    /// The memberships of a vault by prompt; of vault 0 all prompts of the account.
    pub(crate) fn prompts(&self, vault: Id) -> impl Iterator<Item = (Id, &Value)> {
        let range = self.0.range((vault, Id::MIN)..=(vault, Id::MAX));
        range.filter(|(key, _)| key.1 != 0).map(|(key, value)| (key.1, value))
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
        let prompts = self.prompts(0).map(|(_, prompt)| format!("prompt {prompt}"));
        let vaults = self.vaults().map(|(id, vault)| {
            let member = |(id, pinned)| format!("{:?} {pinned}", self.0.get(&(0, id)));
            let mut members: Vec<_> = self.prompts(id).map(member).collect();
            members.sort_unstable();
            format!("vault {vault} with {members:?}")
        });
        prompts.chain(vaults)
    }

    /// Lists the account at one replica, which must be available, and reads the images of prompts.
    /// Contradictions between the resources are added to `faults`.
    pub(crate) async fn list(server: &Server, key: &str, faults: &mut Vec<String>) -> Self {
        let get = async |path: &str| {
            let response = server.call(key, "GET", path, Value::Null).await;
            assert_eq!(response.status, 200, "GET {path}: {}", response.summary());
            response.json()
        };
        let mut state = Self::default();
        for vault in array(&get("/vaults").await["data"]) {
            let id = id_of(vault);
            state.0.insert((id, 0), json!([vault["name"], vault["visibility"], vault["isSystem"]]));
            let contents = get(&format!("/vaults/{id}/prompts")).await;
            let members = array(&contents["data"]);
            state.0.extend(members.iter().map(|one| ((id, id_of(one)), one["isPinned"].clone())));
            if vault["promptCount"] != members.len() || state.prompts(id).count() != members.len() {
                faults.push(format!("the prompts of a vault are {contents}: {vault}"));
            }
        }
        let mut cursor = String::new();
        loop {
            let page = get(&format!("/prompts?limit=100{cursor}")).await;
            for prompt in array(&page["data"]) {
                let (id, images) = (id_of(prompt), array(&prompt["images"]));
                let holders = state.0.keys().filter(|(vault, of)| *vault != 0 && *of == id);
                let holders: BTreeSet<_> = holders.map(|key| key.0).collect();
                let vaults = array(&prompt["vaultIds"]).iter().filter_map(Value::as_i64);
                if vaults.collect::<BTreeSet<_>>() != holders {
                    faults.push(format!("a prompt is in the vaults {holders:?}: {prompt}"));
                }
                for url in images.iter().filter_map(|image| image["url"].as_str()) {
                    let file = server.get(url.strip_prefix(PUBLIC_URL).unwrap_or_default()).await;
                    if file.status != 200 || file.bytes.is_empty() {
                        faults.push(format!("image {url}: {}", file.status));
                    }
                }
                let shown = json!([prompt["title"], prompt["prompt"], images.len()]);
                if state.0.insert((0, id), shown).is_some() {
                    faults.push(format!("a prompt is listed twice: {prompt}"));
                }
            }
            let Some(next) = page["pagination"]["nextCursor"].as_str() else { return state };
            cursor = format!("&cursor={next}");
        }
    }
}

pub(crate) fn id_of(data: &Value) -> Id {
    data["id"].as_i64().unwrap_or_else(|| panic!("no id: {data}"))
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no array: {value}"))
}
