//! Random writes on an account.

use rand::RngExt;
use rand::seq::{IndexedRandom, IteratorRandom};
use serde_json::{Value, json};

use super::{Account, Client};
use crate::state::{Id, Key, NEW, Write, id_of};

/// Bounds the time that comparing takes.
const PROMPTS_MAX: usize = 80;
const VAULTS_MAX: usize = 7;
const FORKED_MAX: usize = 12;

impl Client {
    /// `None` if the account has nothing that the chosen kind of write could change.
    pub(super) async fn choose_write(&mut self, account: &mut Account) -> Option<Write> {
        let full = account.state.prompts(0).count() > PROMPTS_MAX;
        let vaults = account.state.vaults().count();
        Some(match self.rng.random_range(0..86) {
            0..18 if !full => self.save_prompt(account, NEW),
            18..32 => {
                let id = self.choose_prompt(account)?;
                self.save_prompt(account, id)
            }
            0..18 | 32..36 => {
                let id = self.choose_prompt(account)?;
                account.request("DELETE", &format!("/prompts/{id}"), Value::Null, [((0, id), None)])
            }
            36..38 if vaults < VAULTS_MAX => self.save_vault(account, NEW),
            38..40 => {
                let id = self.choose_vault(account, |_, vault| vault[2] == false)?;
                self.save_vault(account, id)
            }
            40..42 if vaults > 4 => {
                let id = self.choose_vault(account, |_, vault| vault[2] == false)?;
                account.request("DELETE", &format!("/vaults/{id}"), Value::Null, [((id, 0), None)])
            }
            42..44 if !full => self.fork(account)?,
            44..52 => {
                let vault = self.choose_vault(account, |_, _| true)?;
                let first = self.choose_prompt(account)?;
                let others =
                    (0..self.rng.random_range(0..4)).filter_map(|_| self.choose_prompt(account));
                let prompts: Vec<_> = others.chain([first]).collect();
                let effects = prompts.iter().map(|id| added(account, vault, *id));
                let path = format!("/vaults/{vault}/prompts");
                account.request("POST", &path, json!({ "promptIds": prompts }), effects)
            }
            52.. => self.change_member(account).await?,
            _ => return None,
        })
    }

    /// Creates a prompt or changes one, and sometimes adds it to a vault.
    fn save_prompt(&mut self, account: &mut Account, id: Id) -> Write {
        let title = account.name("prompt");
        let text = format!("Text of {title}");
        let images = account.state.0.get(&(0, id)).map_or(json!(0), |prompt| prompt[2].clone());
        let mut body = json!({ "title": title, "prompt": text });
        let mut effects = vec![((0, id), Some(json!([title, text, images])))];
        if self.rng.random_bool(0.5)
            && let Some(vault) = self.choose_vault(account, |_, _| true)
        {
            body["vaultId"] = vault.into();
            effects.push(added(account, vault, id));
        }
        save(account, "/prompts", id, body, effects)
    }

    fn save_vault(&mut self, account: &mut Account, id: Id) -> Write {
        let name = account.name("vault");
        let visibility = *["private", "unlisted", "public"].choose(&mut self.rng).unwrap();
        let body = json!({ "name": name, "visibility": visibility });
        save(account, "/vaults", id, body, vec![((id, 0), Some(json!([name, visibility, false])))])
    }

    fn fork(&mut self, account: &mut Account) -> Option<Write> {
        let source = self.choose_vault(account, |id, vault| {
            let members = account.state.prompts(id).count();
            vault[1] != "private" && (1..=FORKED_MAX).contains(&members)
        })?;
        let state = account.state.clone();
        let name = &state.0[&(source, 0)][0];
        let mut effects = vec![((NEW, 0), Some(json!([name, "private", false])))];
        for (prompt, _) in state.prompts(source) {
            let copy = account.placeholder();
            effects.push(((0, copy), state.0.get(&(0, prompt)).cloned()));
            effects.push(((NEW, copy), Some(json!(false))));
        }
        Some(account.request("POST", &format!("/vaults/{source}/fork"), Value::Null, effects))
    }

    /// Pins, unpins, moves or removes a member.
    async fn change_member(&mut self, account: &mut Account) -> Option<Write> {
        let (vault, member) = self.read_member(account).await?;
        let prompt = id_of(&member);
        let path = format!("/vaults/{vault}/prompts/{}", member["vaultPromptId"]);
        let (method, at, body, pinned, target) = match self.rng.random_range(0..5) {
            0 => ("POST", "/pin", Value::Null, Some(json!(true)), None),
            1 => ("DELETE", "/pin", Value::Null, Some(json!(false)), None),
            2 => ("DELETE", "", Value::Null, None, None),
            _ => {
                let target = self.choose_vault(account, |_, _| true)?;
                let body = json!({ "targetVaultId": target });
                // The new membership is not pinned.
                ("POST", "/move", body, None, Some(((target, prompt), Some(json!(false)))))
            }
        };
        let effects = std::iter::once(((vault, prompt), pinned)).chain(target);
        Some(account.request(method, &format!("{path}{at}"), body, effects))
    }

    /// A prompt whose id is known.
    pub(super) fn choose_prompt(&mut self, account: &Account) -> Option<Id> {
        let ids = account.state.prompts(0).map(|(id, _)| id);
        ids.filter(|id| *id > 0).choose(&mut self.rng)
    }

    /// A vault whose id and members are known, but not the one for outputs.
    pub(super) fn choose_vault(
        &mut self,
        account: &Account,
        fits: impl Fn(Id, &Value) -> bool,
    ) -> Option<Id> {
        let vaults = account.state.vaults().filter(|(id, vault)| {
            let known = account.state.prompts(*id).all(|(prompt, _)| prompt > 0);
            *id > 0 && *id != account.jobs_vault && known && fits(*id, vault)
        });
        vaults.map(|(id, _)| id).choose(&mut self.rng)
    }
}

/// A prompt that is in the vault already stays pinned there.
fn added(account: &Account, vault: Id, prompt: Id) -> (Key, Option<Value>) {
    let pinned = account.state.0.get(&(vault, prompt)).cloned();
    ((vault, prompt), pinned.or(Some(json!(false))))
}

/// Creates something below a path, or changes it.
fn save(
    account: &Account,
    path: &str,
    id: Id,
    body: Value,
    effects: Vec<(Key, Option<Value>)>,
) -> Write {
    match id {
        NEW => account.request("POST", path, body, effects),
        id => account.request("PATCH", &format!("{path}/{id}"), body, effects),
    }
}
