//! What a client asks for, as a request, and how it is seen afterwards whether it
//! was carried out.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};

use super::{Actual, Prompt, Vault, World};

/// Something that changes an account. Memberships are named by their ids, which
/// the client has seen.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    CreatePrompt {
        prompt: Prompt,
        vault: Option<i64>,
    },
    UpdatePrompt {
        id: i64,
        prompt: Prompt,
        vault: Option<i64>,
    },
    DeletePrompt {
        id: i64,
    },
    CreateVault {
        name: String,
        visibility: String,
    },
    UpdateVault {
        id: i64,
        name: String,
        visibility: String,
    },
    DeleteVault {
        id: i64,
    },
    Add {
        vault: i64,
        prompts: Vec<i64>,
    },
    Remove {
        vault: i64,
        prompt: i64,
        member: i64,
    },
    Move {
        source: i64,
        prompt: i64,
        member: i64,
        target: i64,
    },
    Pin {
        vault: i64,
        prompt: i64,
        member: i64,
        pinned: bool,
    },
    /// `copies` is what it copies, in the order of the contents; `made` the new
    /// vault, if it was acknowledged. Its contents have been seen by nobody.
    Fork {
        source: i64,
        name: String,
        copies: Vec<Prompt>,
        made: Option<i64>,
    },
}

/// What a change is about.
#[derive(Default)]
pub(crate) struct Touched {
    pub(crate) prompts: BTreeSet<i64>,
    pub(crate) vaults: BTreeSet<i64>,
}

impl Change {
    /// Its request, and the status of its success.
    pub(crate) fn request(&self) -> (Method, String, Option<Value>, u16) {
        let (method, path, body, status) = match self {
            Self::CreatePrompt { prompt, vault } => {
                (Method::POST, "/prompts".to_owned(), Some(body_of(prompt, *vault)), 201)
            }
            Self::UpdatePrompt { id, prompt, vault } => {
                (Method::PATCH, format!("/prompts/{id}"), Some(body_of(prompt, *vault)), 200)
            }
            Self::DeletePrompt { id } => (Method::DELETE, format!("/prompts/{id}"), None, 200),
            Self::CreateVault { name, visibility } => {
                let body = json!({ "name": name, "visibility": visibility });
                (Method::POST, "/vaults".to_owned(), Some(body), 201)
            }
            Self::UpdateVault { id, name, visibility } => {
                let body = json!({ "name": name, "visibility": visibility });
                (Method::PATCH, format!("/vaults/{id}"), Some(body), 200)
            }
            Self::DeleteVault { id } => (Method::DELETE, format!("/vaults/{id}"), None, 200),
            Self::Add { vault, prompts } => {
                let body = json!({ "promptIds": prompts });
                (Method::POST, format!("/vaults/{vault}/prompts"), Some(body), 201)
            }
            Self::Remove { vault, member, .. } => {
                (Method::DELETE, format!("/vaults/{vault}/prompts/{member}"), None, 200)
            }
            Self::Move { source, member, target, .. } => {
                let body = json!({ "targetVaultId": target });
                (Method::POST, format!("/vaults/{source}/prompts/{member}/move"), Some(body), 200)
            }
            Self::Pin { vault, member, pinned, .. } => {
                let method = if *pinned { Method::POST } else { Method::DELETE };
                (method, format!("/vaults/{vault}/prompts/{member}/pin"), None, 200)
            }
            Self::Fork { source, .. } => {
                (Method::POST, format!("/vaults/{source}/fork"), None, 201)
            }
        };
        (method, path, body, status)
    }

    /// What must be left alone while it is in doubt: whatever would be another
    /// thing afterwards, and whatever the change reads.
    pub(crate) fn touches(&self, world: &World) -> Touched {
        let mut touched = Touched::default();
        let (prompts, vaults) = (&mut touched.prompts, &mut touched.vaults);
        match self {
            Self::CreatePrompt { vault, .. } => vaults.extend(vault),
            Self::UpdatePrompt { id, vault, .. } => {
                prompts.insert(*id);
                vaults.extend(vault);
            }
            Self::DeletePrompt { id } => {
                prompts.insert(*id);
                vaults.extend(world.holders(*id));
            }
            Self::CreateVault { .. } => {}
            Self::UpdateVault { id, .. } => {
                vaults.insert(*id);
            }
            Self::DeleteVault { id } => {
                vaults.insert(*id);
            }
            Self::Add { vault, prompts: added } => {
                prompts.extend(added);
                vaults.insert(*vault);
            }
            Self::Remove { vault, prompt, .. } | Self::Pin { vault, prompt, .. } => {
                prompts.insert(*prompt);
                vaults.insert(*vault);
            }
            Self::Move { source, prompt, target, .. } => {
                prompts.insert(*prompt);
                vaults.extend([source, target]);
            }
            // An acknowledged fork has copied what was there then.
            Self::Fork { made: Some(_), .. } => {}
            Self::Fork { source, made: None, .. } => {
                prompts.extend(world.vaults[source].members.iter().map(|member| member.prompt));
                vaults.insert(*source);
            }
        }
        touched
    }

    /// Makes `world` what it must be, going by one trace that a change leaves if it
    /// was carried out. Whether it left all others, comparing everything shows.
    pub(crate) fn settle(&self, world: &mut World, actual: &Actual) {
        let made = match self {
            Self::CreatePrompt { prompt, .. } => {
                let found = actual.prompts.iter().find(|(_, one)| one.prompt == *prompt);
                found.map(|(id, _)| *id)
            }
            Self::CreateVault { name, .. } => {
                let found = actual.vaults.iter().find(|(_, vault)| vault.name == *name);
                found.map(|(id, _)| *id)
            }
            Self::Fork { name, copies, made, .. } => {
                let unknown = |id: &&i64| !world.vaults.contains_key(id);
                let named = |id: &i64| actual.vaults[id].name == *name;
                let found = actual.vaults.keys().filter(unknown).copied().find(named);
                if let Some(id) = made.or(found) {
                    settle_fork(world, actual, id, name, copies);
                }
                return;
            }
            _ => None,
        };
        if made.is_some() || self.left_its_trace(actual) {
            world.apply(self, made);
        }
    }

    fn left_its_trace(&self, actual: &Actual) -> bool {
        let holds = |vault, prompt| actual.member(vault, prompt).is_some();
        match self {
            Self::CreatePrompt { .. } | Self::CreateVault { .. } | Self::Fork { .. } => false,
            Self::UpdatePrompt { id, prompt, .. } => {
                actual.prompts.get(id).is_some_and(|one| one.prompt == *prompt)
            }
            Self::DeletePrompt { id } => !actual.prompts.contains_key(id),
            Self::UpdateVault { id, name, .. } => {
                actual.vaults.get(id).is_some_and(|vault| vault.name == *name)
            }
            Self::DeleteVault { id } => !actual.vaults.contains_key(id),
            // The last one, lest it be one of those that were there before.
            Self::Add { vault, prompts } => {
                prompts.last().is_some_and(|prompt| holds(*vault, *prompt))
            }
            Self::Remove { vault, prompt, .. } => !holds(*vault, *prompt),
            Self::Move { source, prompt, member, .. } => {
                actual.member(*source, *prompt).is_none_or(|one| one.id != *member)
            }
            Self::Pin { vault, prompt, pinned, .. } => {
                actual.member(*vault, *prompt).is_some_and(|one| one.pinned == *pinned)
            }
        }
    }
}

/// The copies are the prompts in the fork that nobody has seen; what they must be
/// is known, and comparing shows the rest.
fn settle_fork(world: &mut World, actual: &Actual, id: i64, name: &str, copies: &[Prompt]) {
    let (name, visibility) = (name.to_owned(), "private".to_owned());
    world.vaults.insert(id, Vault { name, visibility, system: false, members: Vec::new() });
    let Some(vault) = actual.vaults.get(&id) else { return };
    let fresh = vault.members.iter().filter(|member| !world.prompts.contains_key(&member.prompt));
    let mut fresh = fresh.map(|member| member.prompt).collect::<Vec<_>>().into_iter();
    let pairs: Vec<_> = copies.iter().map(|copy| (fresh.next(), copy)).collect();
    for (at, (seen, copy)) in pairs.into_iter().enumerate().rev() {
        // One that is missing is given an id that nothing has.
        let prompt = seen.unwrap_or(-1 - i64::try_from(at).unwrap());
        world.prompts.insert(prompt, copy.clone());
        world.put(prompt, id, None);
    }
}

fn body_of(prompt: &Prompt, vault: Option<i64>) -> Value {
    let mut body = json!({ "title": prompt.title, "prompt": prompt.text });
    if let Some(vault) = vault {
        body["vaultId"] = vault.into();
    }
    body
}
