//! Random writes on an account.

use rand::RngExt;
use rand::seq::IndexedRandom;
use serde_json::{Value, json};

use super::{Account, Client};
use crate::state::{Effect, Id, NEW, Prompt, Vault, Write};
use crate::support::http::Request;

/// Bounds the time that comparing takes.
const PROMPTS_MAX: usize = 80;
const VAULTS_MAX: usize = 7;
const FORKED_MAX: usize = 12;

impl Client {
    /// `None` if the account has nothing that the chosen kind of write could change.
    pub(super) async fn choose_write(&mut self, account: &mut Account) -> Option<Write> {
        let full = account.state.prompts.len() > PROMPTS_MAX;
        let vaults = account.state.vaults.len();
        Some(match self.rng.random_range(0..86) {
            0..18 if !full => self.save_prompt(account, NEW),
            18..32 => {
                let id = self.choose_prompt(account)?;
                self.save_prompt(account, id)
            }
            0..18 | 32..36 => {
                let id = self.choose_prompt(account)?;
                delete(format!("/prompts/{id}"), Effect::Prompt(id, None))
            }
            36..38 if vaults < VAULTS_MAX => self.save_vault(account, NEW),
            38..40 => {
                let id = self.choose_vault(account, |vault| !vault.is_system)?;
                self.save_vault(account, id)
            }
            40..42 if vaults > 4 => {
                let id = self.choose_vault(account, |vault| !vault.is_system)?;
                delete(format!("/vaults/{id}"), Effect::Vault(id, None))
            }
            42..44 if !full => self.fork(account)?,
            44..52 => self.add(account)?,
            52.. => self.change_member(account).await?,
            _ => return None,
        })
    }

    /// Creates a prompt or changes one, and sometimes adds it to a vault.
    fn save_prompt(&mut self, account: &mut Account, id: Id) -> Write {
        let title = account.name("prompt");
        let text = format!("Text of {title}");
        let images = account.state.prompts.get(&id).map(|prompt| prompt.images.clone());
        let mut body = json!({ "title": title, "prompt": text });
        let prompt = Prompt { title, text, images: images.unwrap_or_default() };
        let mut effects = vec![Effect::Prompt(id, Some(prompt))];
        if self.rng.random_bool(0.5)
            && let Some(vault) = self.choose_vault(account, |_| true)
        {
            body["vaultId"] = vault.into();
            effects.push(added(account, vault, id));
        }
        save("/prompts", id, body, effects)
    }

    fn save_vault(&mut self, account: &mut Account, id: Id) -> Write {
        let name = account.name("vault");
        let visibility = *["private", "unlisted", "public"].choose(&mut self.rng).unwrap();
        let body = json!({ "name": name, "visibility": visibility });
        save("/vaults", id, body, vec![Effect::Vault(id, Some((name, visibility.to_owned())))])
    }

    fn fork(&mut self, account: &mut Account) -> Option<Write> {
        let source = self.choose_vault(account, |vault| {
            vault.visibility != "private" && (1..=FORKED_MAX).contains(&vault.members.len())
        })?;
        let Vault { name, members, .. } = account.state.vaults[&source].clone();
        let mut effects = vec![Effect::Vault(NEW, Some((name, "private".to_owned())))];
        for prompt in members.keys() {
            let (copy, prompt) = (account.placeholder(), account.state.prompts[prompt].clone());
            effects.push(Effect::Prompt(copy, Some(prompt)));
            effects.push(Effect::Member(NEW, copy, Some(false)));
        }
        Some(post(format!("/vaults/{source}/fork"), Value::Null, effects))
    }

    fn add(&mut self, account: &Account) -> Option<Write> {
        let vault = self.choose_vault(account, |_| true)?;
        let first = self.choose_prompt(account)?;
        let others = (0..self.rng.random_range(0..4)).filter_map(|_| self.choose_prompt(account));
        let prompts: Vec<_> = others.chain([first]).collect();
        let effects = prompts.iter().map(|id| added(account, vault, *id)).collect();
        Some(post(format!("/vaults/{vault}/prompts"), json!({ "promptIds": prompts }), effects))
    }

    /// Pins, unpins, moves or removes a member.
    async fn change_member(&mut self, account: &mut Account) -> Option<Write> {
        let (vault, member) = self.read_member(account).await?;
        let (prompt, path) = (member.prompt, format!("/vaults/{vault}/prompts/{}", member.id));
        let pin = |pinned| Effect::Member(vault, prompt, pinned);
        Some(match self.rng.random_range(0..5) {
            0 => post(path + "/pin", Value::Null, vec![pin(Some(true))]),
            1 => delete(path + "/pin", pin(Some(false))),
            2 => delete(path, pin(None)),
            _ => {
                let target = self.choose_vault(account, |_| true)?;
                // The new membership is not pinned.
                let effects = vec![pin(None), Effect::Member(target, prompt, Some(false))];
                post(path + "/move", json!({ "targetVaultId": target }), effects)
            }
        })
    }

    /// A prompt whose id is known.
    pub(super) fn choose_prompt(&mut self, account: &Account) -> Option<Id> {
        let ids: Vec<_> = account.state.prompts.keys().filter(|id| **id > NEW).collect();
        ids.choose(&mut self.rng).map(|id| **id)
    }

    /// A vault whose id and members are known, but not the one for outputs.
    pub(super) fn choose_vault(
        &mut self,
        account: &Account,
        fits: impl Fn(&Vault) -> bool,
    ) -> Option<Id> {
        let known = |vault: &Vault| vault.members.keys().all(|prompt| *prompt > NEW);
        let vaults = account.state.vaults.iter().filter(|(id, vault)| {
            **id > NEW && **id != account.jobs_vault && known(vault) && fits(vault)
        });
        let ids: Vec<_> = vaults.map(|(id, _)| *id).collect();
        ids.choose(&mut self.rng).copied()
    }
}

/// A prompt that is in the vault already stays pinned there.
fn added(account: &Account, vault: Id, prompt: Id) -> Effect {
    let pinned = account.state.vaults[&vault].members.get(&prompt).copied();
    Effect::Member(vault, prompt, pinned.or(Some(false)))
}

pub(super) fn post(path: impl Into<String>, body: Value, effects: Vec<Effect>) -> Write {
    Write { request: Request::post(path, body), effects }
}

fn delete(path: String, effect: Effect) -> Write {
    Write { request: Request::new("DELETE", path, Value::Null), effects: vec![effect] }
}

/// Creates something new, or changes what has an id.
fn save(path: &str, id: Id, body: Value, effects: Vec<Effect>) -> Write {
    match id {
        NEW => post(path, body, effects),
        id => Write { request: Request::new("PATCH", format!("{path}/{id}"), body), effects },
    }
}
