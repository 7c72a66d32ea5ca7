//! Runs operations on one store. Results become text with normalized ids.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use futures::TryStreamExt;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::ids::Ids;
use super::ops::{ACCOUNTS, Action, Op, Values};
use crate::domain::{
    Caller, KeyRecord, ListedPrompt, Membership, NewPrompt, PromptPatch, PromptQuery, VaultRecord,
    slug,
};
use crate::search::{PromptSearch, SearchBound, Words, search_prompts};
use crate::store::contract_tests::caller;
use crate::store::{Place, Result, Store};

/// A store and what the test knows of it.
pub(crate) struct Runner<'s> {
    pub(super) store: &'s dyn Store,
    pub(crate) callers: Vec<Caller>,
    pub(super) ids: Ids,
    /// The vault in which each membership was last seen.
    vault_of: HashMap<VaultPromptId, VaultId>,
    pub(super) jobs: super::jobs::Jobs,
    pub(super) sessions: super::sessions::Sessions,
}

pub(super) type Known = (
    Vec<Caller>,
    Ids,
    HashMap<VaultPromptId, VaultId>,
    super::jobs::Jobs,
    super::sessions::Sessions,
);

impl<'s> Runner<'s> {
    /// Seeds an empty store with the accounts.
    pub(crate) async fn new(store: &'s dyn Store) -> Self {
        let mut callers = Vec::new();
        for account in 0..ACCOUNTS {
            callers.push(caller(store, &format!("account-{account}")).await);
        }
        let (ids, vault_of, jobs, sessions) = Default::default();
        let mut runner = Self { store, callers, ids, vault_of, jobs, sessions };
        runner.snapshot(10, 0).await;
        runner
    }

    /// What it knows of its store, which may be closed and opened again.
    pub(super) fn known(self) -> Known {
        (self.callers, self.ids, self.vault_of, self.jobs, self.sessions)
    }

    pub(super) fn knowing(store: &'s dyn Store, known: Known) -> Self {
        let (callers, ids, vault_of, jobs, sessions) = known;
        Self { store, callers, ids, vault_of, jobs, sessions }
    }

    /// Runs one operation and renders its result.
    pub(crate) async fn apply(&mut self, op: &Op) -> String {
        let values = &mut Values::new(op.seed);
        use Action::*;
        let result = match op.action {
            Wait | WaitLong => Ok(String::new()),
            SeedKey | FindKey | ConfirmKey | RenameAccount => self.on_keys(op.action, values).await,
            CreateSignInCode | SignIn | FindSession | EndSession | CreateApiKey | RevokeApiKey => {
                self.on_sessions(op.action, values).await
            }
            CreatePrompt | Prompt | ListPrompts | UpdatePrompt | DeletePrompt | SavePrompt
            | SearchPrompts | CountPrompts | MembershipsOf => {
                self.on_prompts(op.action, values).await
            }
            CreateVault | Vault | UpdateVault | DeleteVault | ForkVault | NewestVaults
            | SharedVault | VaultPage | Import => self.on_vaults(op.action, values).await,
            Contents | AddPrompts | RemoveMembership | MoveMembership | SetPinned => {
                self.on_memberships(op.action, values).await
            }
            _ => self.on_jobs(op.action, values).await,
        };
        let owner = (result.is_ok() && op.action != SharedVault).then_some(values.account);
        let text = result.unwrap_or_else(|error| format!("Err({error:?})"));
        self.ids.normalize(&text, owner)
    }

    async fn on_keys(&mut self, action: Action, values: &mut Values) -> Result<String> {
        let (store, caller) = (self.store, &self.callers[values.account]);
        let public_id = format!("key-{}", values.below(6));
        Ok(match action {
            Action::SeedKey => {
                let key = values.new_key(&public_id, 50);
                // One account more than there are, so that a seed may create one.
                let name = format!("account-{}", values.below(ACCOUNTS + 1));
                show(store.seed_key(&name, key).await?)
            }
            Action::FindKey => {
                let found = store.find_key(&public_id, &[7; 32]).await?;
                show(found.map(without_last_use))
            }
            Action::RenameAccount => {
                let name = format!("account-{}", values.below(ACCOUNTS + 2));
                show(store.rename_account(caller, &name).await?)
            }
            _ => show(store.confirm_key(caller).await?),
        })
    }

    async fn on_prompts(&mut self, action: Action, values: &mut Values) -> Result<String> {
        let (store, caller) = (self.store, &self.callers[values.account]);
        let id: PromptId = self.ids.pick("Prompt", values);
        let vault: VaultId = self.ids.pick("Vault", values);
        let maybe_vault = values.chance(50).then_some(vault);
        let (kind, limit) = (values.maybe(Values::kind), 1 + values.below(4));
        Ok(match action {
            Action::CreatePrompt => {
                let new = NewPrompt { vault: maybe_vault, ..values.new_prompt() };
                show(store.create_prompt(caller, new).await?)
            }
            Action::Prompt => show(store.prompt(caller, id).await?),
            Action::ListPrompts => {
                let after = values.chance(50).then_some(id);
                let query = PromptQuery { vault: maybe_vault, kind, after, limit };
                show(store.list_prompts(caller, query).await?)
            }
            Action::SearchPrompts => {
                let words = ["", "text", "te 1", "text 5", "9 text", "x"][values.below(6)];
                let place = [Place::Anywhere, Place::NoVault, Place::Vault(vault)][values.below(3)];
                let (words, after) = (Words::parse(words), values.chance(30).then_some(id));
                let words = words.map(Arc::new);
                let search = PromptSearch { words, place, kind, after, limit };
                let found = search_prompts(store, caller, &search, SearchBound::default()).await?;
                show((found, store.prompt_texts(caller, place, kind, after).await?))
            }
            Action::CountPrompts => show(store.count_prompts(caller, kind, limit).await?),
            Action::MembershipsOf => {
                let other = self.ids.pick("Prompt", values);
                let found = store.memberships_of(caller, vault, &[id, other]).await?;
                self.vault_of.extend(found.iter().map(|id| (*id, vault)));
                show(found)
            }
            Action::UpdatePrompt => {
                let mut patch = values.patch();
                patch.vault = maybe_vault.filter(|_| patch != PromptPatch::default());
                show(store.update_prompt(caller, id, patch).await?)
            }
            Action::SavePrompt => show(store.save_prompt(caller, id, vault).await?),
            _ => {
                store.delete_prompt(caller, id).await?;
                self.ids.remove_owned(values.account, "Prompt", id);
                show(())
            }
        })
    }

    async fn on_vaults(&mut self, action: Action, values: &mut Values) -> Result<String> {
        let (store, caller) = (self.store, &self.callers[values.account]);
        let id: VaultId = self.ids.pick("Vault", values);
        Ok(match action {
            Action::CreateVault => show(store.create_vault(caller, values.new_vault()).await?),
            Action::Vault => show(store.vault(caller, id).await?),
            Action::UpdateVault => {
                show(store.update_vault(caller, id, values.vault_patch()).await?)
            }
            Action::ForkVault => show(store.fork_vault(caller, id).await?),
            Action::NewestVaults => {
                let newest = store.newest_vaults(caller, values.below(4)).await?;
                assert!(newest.is_sorted_by(|a, b| a.id > b.id), "not the latest ids first");
                show(newest)
            }
            Action::SharedVault => {
                let name = format!("account-{}", values.below(ACCOUNTS));
                show(store.shared_vault(&name, &slug::base(&values.name())).await?)
            }
            Action::VaultPage => {
                let contents = self.contents(caller, id).await?;
                let (offset, limit) = (values.below(4), values.below(4));
                let page = store.vault_page(caller.account, id, offset, limit).await?;
                let part = contents.into_iter().skip(offset).take(limit).collect::<Vec<_>>();
                assert_eq!(page, part, "{offset} {limit}");
                show(page)
            }
            Action::Import => show(store.import(caller, values.account_data()).await?),
            _ => {
                store.delete_vault(caller, id).await?;
                self.ids.remove_owned(values.account, "Vault", id);
                show(())
            }
        })
    }

    async fn on_memberships(&mut self, action: Action, values: &mut Values) -> Result<String> {
        let (store, caller) = (self.store, &self.callers[values.account]);
        let other: VaultId = self.ids.pick("Vault", values);
        let id: VaultPromptId = self.ids.pick("VaultPrompt", values);
        let home = self.vault_of.get(&id).copied().unwrap_or(VaultId::new(i64::MAX));
        let at = Membership { vault: if values.chance(10) { other } else { home }, id };
        Ok(match action {
            Action::Contents => {
                let contents = self.contents(caller, other).await?;
                self.vault_of.extend(contents.iter().map(|listed| (listed.membership, other)));
                show(contents)
            }
            Action::AddPrompts => {
                let count = 1 + values.below(4);
                let prompts: Vec<_> = (0..count).map(|_| self.ids.pick("Prompt", values)).collect();
                show(store.add_prompts(caller, other, &prompts).await?)
            }
            Action::RemoveMembership => {
                store.remove_membership(caller, at).await?;
                self.ids.remove_owned(values.account, "VaultPrompt", id);
                show(())
            }
            Action::MoveMembership => {
                let moved = store.move_membership(caller, at, other).await?;
                self.ids.remove_owned(values.account, "VaultPrompt", id);
                self.vault_of.insert(moved.membership, other);
                show(moved)
            }
            _ => show(store.set_pinned(caller, at, values.chance(70)).await?),
        })
    }

    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Vec<ListedPrompt>> {
        self.store.contents(caller, vault).await?.entries.try_collect().await
    }

    /// Reads everything, in pages of this size, and checks the order of the ids, which
    /// normalized ids do not show.
    pub(crate) async fn snapshot(&mut self, page_size: usize, jobs: usize) -> String {
        self.ids.clear_owned();
        let mut text = String::new();
        for account in 0..ACCOUNTS {
            let part = self.account_snapshot(account, page_size).await.expect("reads succeed");
            text += &self.ids.normalize(&part, Some(account));
        }
        let jobs = self.jobs_snapshot(jobs).await.expect("reads succeed");
        text + &self.ids.normalize(&jobs, None)
    }

    async fn account_snapshot(&mut self, account: usize, limit: usize) -> Result<String> {
        let (store, caller) = (self.store, self.callers[account].clone());
        let keys = store.api_keys(&caller).await?.into_iter().map(without_last_use);
        let mut text = show((store.sessions(&caller).await?, keys.collect::<Vec<_>>()));
        let vaults = store.vaults(&caller).await?;
        let is_before =
            |a: &VaultRecord, b: &VaultRecord| (a.created_at, a.id) > (b.created_at, b.id);
        assert!(vaults.is_sorted_by(is_before), "vaults are not newest first");
        for vault in vaults {
            let contents = self.contents(&caller, vault.id).await?;
            self.vault_of.extend(contents.iter().map(|listed| (listed.membership, vault.id)));
            text += &show((vault, contents));
        }
        let mut query = PromptQuery { vault: None, kind: None, after: None, limit };
        loop {
            let page = store.list_prompts(&caller, query).await?;
            for prompt in page.prompts {
                assert!(query.after.is_none_or(|after| prompt.id < after), "not newest first");
                query.after = Some(prompt.id);
                let inputs = store.prompt_inputs(&caller, prompt.id).await?;
                text += &show((prompt, inputs));
            }
            if !page.more {
                return Ok(text);
            }
        }
    }
}

/// A database is told of the last use while the next operation runs already.
pub(super) fn without_last_use(key: KeyRecord) -> KeyRecord {
    KeyRecord { last_used_at: None, ..key }
}

pub(super) fn show(value: impl Debug) -> String {
    format!("{value:#?}\n")
}
