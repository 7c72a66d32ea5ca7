//! Runs operations on one store. Results become text with normalized ids.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use futures::TryStreamExt;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::ops::{ACCOUNTS, Action, Ids, Op, Values};
use crate::domain::{
    AccountId, Caller, KeyId, KeyRecord, ListedPrompt, NewKey, Place, PromptQuery, PromptRecord,
    PromptSearch, Scopes, VaultRecord, slug,
};
use crate::store::contract_tests::jobs::image;
use crate::store::contract_tests::key;
use crate::store::{Moved, Result, Store, StoreError};

/// A store and what the test knows of it.
pub(crate) struct Runner<'s> {
    pub(super) store: &'s dyn Store,
    pub(super) callers: Vec<Caller>,
    pub(super) keys: Ids<KeyId>,
    pub(super) accounts: Ids<AccountId>,
    pub(super) prompts: Ids<PromptId>,
    pub(super) vaults: Ids<VaultId>,
    memberships: Ids<VaultPromptId>,
    /// The vault in which each membership was last seen.
    vault_of: HashMap<VaultPromptId, VaultId>,
    pub(super) jobs: super::jobs::Jobs,
    pub(super) sessions: super::sessions::Sessions,
}

impl<'s> Runner<'s> {
    /// Seeds an empty store with the accounts.
    pub(crate) async fn new(store: &'s dyn Store) -> Self {
        let mut callers = Vec::new();
        for account in 0..ACCOUNTS {
            let public_id = format!("key-of-{account}");
            store.seed_key(&format!("account-{account}"), key(&public_id)).await.unwrap();
            callers.push(store.find_key(&public_id, &[7; 32]).await.unwrap().unwrap().caller());
        }
        let mut runner = Self {
            store,
            callers,
            keys: Ids::new(KeyId),
            accounts: Ids::new(AccountId),
            prompts: Ids::new(PromptId::new),
            vaults: Ids::new(VaultId::new),
            memberships: Ids::new(VaultPromptId::new),
            vault_of: HashMap::new(),
            jobs: super::jobs::Jobs::default(),
            sessions: super::sessions::Sessions::default(),
        };
        runner.snapshot(10, 0).await;
        runner
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
            | SearchPrompts | CountPrompts | MembershipsOf | AddImage => {
                self.on_prompts(op.action, values).await
            }
            CreateVault | Vault | UpdateVault | DeleteVault | ForkVault => {
                self.on_vaults(op.action, values).await
            }
            NewestVaults | SharedVault | VaultPage | Import => {
                self.beside_the_api(op.action, values).await
            }
            Contents | AddPrompts | RemoveMembership | MoveMembership | SetPinned => {
                self.on_memberships(op.action, values).await
            }
            _ => self.on_jobs(op.action, values).await,
        };
        match result {
            Ok(text) => text,
            Err(StoreError::UnknownPrompts(ids)) => {
                let ids: Vec<_> = ids.into_iter().map(|id| self.prompts.normalize(id)).collect();
                format!("Err(UnknownPrompts({ids:?}))")
            }
            Err(error) => format!("Err({error:?})"),
        }
    }

    async fn on_keys(&mut self, action: Action, values: &mut Values) -> Result<String> {
        let public_id = format!("key-{}", values.below(6));
        match action {
            Action::SeedKey => {
                let (digest, write, revoked) =
                    ([values.byte() % 2; 32], values.chance(50), values.chance(50));
                let scopes = Scopes { prompts_write: write };
                let key = NewKey { public_id: public_id.into(), digest, scopes, revoked };
                // One account more than there are, so that a seed may create one.
                let name = format!("account-{}", values.below(ACCOUNTS + 1));
                self.store.seed_key(&name, key).await.map(show)
            }
            Action::FindKey => {
                let found = self.store.find_key(&public_id, &[7; 32]).await?;
                Ok(show(found.map(|found| KeyRecord {
                    id: self.keys.normalize(found.id),
                    account: self.accounts.normalize(found.account),
                    ..found
                })))
            }
            Action::RenameAccount => {
                let name = format!("account-{}", values.below(ACCOUNTS + 2));
                self.store.rename_account(&self.callers[values.account], &name).await.map(show)
            }
            _ => self.store.confirm_key(&self.callers[values.account]).await.map(show),
        }
    }

    async fn on_prompts(&mut self, action: Action, values: &mut Values) -> Result<String> {
        let (store, caller) = (self.store, &self.callers[values.account]);
        let id = self.prompts.pick(values);
        let vault = self.vaults.pick(values);
        let maybe_vault = values.chance(50).then_some(vault);
        let prompt = match action {
            Action::CreatePrompt => {
                let mut new = values.new_prompt();
                new.vault = maybe_vault;
                store.create_prompt(caller, new).await?
            }
            Action::Prompt => store.prompt(caller, id).await?,
            Action::ListPrompts => {
                let (kind, limit) = (values.maybe(Values::kind), 1 + values.below(4));
                let after = values.chance(50).then_some(id);
                let query = PromptQuery { vault: maybe_vault, kind, after, limit };
                let page = store.list_prompts(caller, query).await?;
                let prompts: Vec<_> =
                    page.prompts.iter().map(|prompt| self.normalize_prompt(prompt)).collect();
                return Ok(show((prompts, page.more)));
            }
            Action::SearchPrompts => {
                let words = ["", "text", "te 1", "text 5", "9 text", "x"][values.below(6)];
                let place = [Place::Anywhere, Place::NoVault, Place::Vault(vault)][values.below(3)];
                let (kind, limit) = (values.maybe(Values::kind), 1 + values.below(4));
                let after = values.chance(30).then_some(id);
                let words = PromptSearch::words(words);
                let search = PromptSearch { words, place, kind, after, limit };
                let page = store.search_prompts(caller, search).await?;
                let prompts: Vec<_> =
                    page.prompts.iter().map(|prompt| self.normalize_prompt(prompt)).collect();
                return Ok(show((prompts, page.more)));
            }
            Action::CountPrompts => {
                let kind = values.maybe(Values::kind);
                return store.count_prompts(caller, kind, 1 + values.below(4)).await.map(show);
            }
            Action::MembershipsOf => {
                let other = self.prompts.pick(values);
                let found = store.memberships_of(caller, vault, &[id, other]).await?;
                let mut shown = Vec::new();
                for id in found {
                    self.vault_of.insert(id, vault);
                    shown.push(self.memberships.normalize(id));
                }
                return Ok(show(shown));
            }
            Action::UpdatePrompt => {
                let mut patch = values.patch();
                patch.vault = if patch.is_empty() { None } else { maybe_vault };
                store.update_prompt(caller, id, patch).await?
            }
            Action::SavePrompt => store.save_prompt(caller, id, vault).await?,
            Action::AddImage => {
                let image = values.images().pop().unwrap_or_else(image);
                return store.add_image(caller, id, image).await.map(show);
            }
            _ => {
                store.delete_prompt(caller, id).await?;
                self.prompts.remove_owned(values.account, id);
                return Ok(show(()));
            }
        };
        self.prompts.add_owned(values.account, prompt.id);
        Ok(show(self.normalize_prompt(&prompt)))
    }

    async fn on_vaults(&mut self, action: Action, values: &mut Values) -> Result<String> {
        let (store, caller) = (self.store, &self.callers[values.account]);
        let id = self.vaults.pick(values);
        let vault = match action {
            Action::CreateVault => store.create_vault(caller, values.new_vault()).await?,
            Action::Vault => store.vault(caller, id).await?,
            Action::UpdateVault => store.update_vault(caller, id, values.vault_patch()).await?,
            Action::ForkVault => store.fork_vault(caller, id).await?,
            _ => {
                store.delete_vault(caller, id).await?;
                self.vaults.remove_owned(values.account, id);
                return Ok(show(()));
            }
        };
        self.vaults.add_owned(values.account, vault.id);
        Ok(show(self.normalize_vault(vault)))
    }

    async fn beside_the_api(&mut self, action: Action, values: &mut Values) -> Result<String> {
        let (store, caller) = (self.store, &self.callers[values.account]);
        let id = self.vaults.pick(values);
        match action {
            Action::NewestVaults => {
                let newest = store.newest_vaults(caller, values.below(4)).await?;
                assert!(newest.is_sorted_by(|a, b| a.id > b.id), "not the latest ids first");
                let newest = newest.into_iter().map(|vault| self.normalize_vault(vault));
                Ok(show(newest.collect::<Vec<_>>()))
            }
            Action::SharedVault => {
                let name = format!("account-{}", values.below(ACCOUNTS));
                let (owner, vault) = store.shared_vault(&name, &slug::base(&values.name())).await?;
                Ok(show((self.accounts.normalize(owner), self.normalize_vault(vault))))
            }
            Action::VaultPage => {
                let contents = store.contents(caller, id).await?.try_collect::<Vec<_>>().await?;
                let (offset, limit) = (values.below(4), values.below(4));
                let page = store.vault_page(caller.account, id, offset, limit).await?;
                let part = contents.into_iter().skip(offset).take(limit).collect::<Vec<_>>();
                assert_eq!(page, part, "{offset} {limit}");
                Ok(show(self.normalize_contents(values.account, id, page)))
            }
            _ => store.import(caller, values.account_data()).await.map(show),
        }
    }

    async fn on_memberships(&mut self, action: Action, values: &mut Values) -> Result<String> {
        let (store, caller) = (self.store, &self.callers[values.account]);
        let other = self.vaults.pick(values);
        let membership = self.memberships.pick(values);
        let home = self.vault_of.get(&membership).copied().unwrap_or(self.vaults.unknown());
        let vault = if values.chance(10) { other } else { home };
        match action {
            Action::Contents => {
                let contents = store.contents(caller, other).await?.try_collect().await?;
                Ok(show(self.normalize_contents(values.account, other, contents)))
            }
            Action::AddPrompts => {
                let count = 1 + values.below(4);
                let prompts: Vec<_> = (0..count).map(|_| self.prompts.pick(values)).collect();
                store.add_prompts(caller, other, &prompts).await.map(show)
            }
            Action::RemoveMembership => {
                store.remove_membership(caller, vault, membership).await?;
                self.memberships.remove_owned(values.account, membership);
                Ok(show(()))
            }
            Action::MoveMembership => {
                let moved = store.move_membership(caller, vault, membership, other).await?;
                self.memberships.remove_owned(values.account, membership);
                self.memberships.add_owned(values.account, moved.membership);
                self.vault_of.insert(moved.membership, other);
                let prompt = self.prompts.normalize(moved.prompt);
                let membership = self.memberships.normalize(moved.membership);
                Ok(show(Moved { prompt, membership }))
            }
            _ => store.set_pinned(caller, vault, membership, values.chance(70)).await.map(show),
        }
    }

    /// Reads everything, in pages of this size, and checks the order of the ids, which
    /// normalized ids do not show.
    pub(super) async fn snapshot(&mut self, page_size: usize, jobs: usize) -> String {
        self.prompts.clear_owned();
        self.vaults.clear_owned();
        self.memberships.clear_owned();
        let mut text = String::new();
        for account in 0..ACCOUNTS {
            text += &self.account_snapshot(account, page_size).await.expect("reads succeed");
        }
        text + &self.jobs_snapshot(jobs).await.expect("reads succeed")
    }

    async fn account_snapshot(&mut self, account: usize, limit: usize) -> Result<String> {
        let (store, caller) = (self.store, self.callers[account].clone());
        let mut text = self.sessions_snapshot(&caller).await?;
        let vaults = store.vaults(&caller).await?;
        let is_before =
            |a: &VaultRecord, b: &VaultRecord| (a.created_at, a.id) > (b.created_at, b.id);
        assert!(vaults.is_sorted_by(is_before), "vaults are not newest first");
        for vault in vaults {
            let id = vault.id;
            self.vaults.add_owned(account, id);
            let contents = store.contents(&caller, id).await?.try_collect().await?;
            let contents = self.normalize_contents(account, id, contents);
            text += &show((self.normalize_vault(vault), contents));
        }
        let mut query = PromptQuery { vault: None, kind: None, after: None, limit };
        loop {
            let page = store.list_prompts(&caller, query).await?;
            for prompt in &page.prompts {
                assert!(query.after.is_none_or(|after| prompt.id < after), "not newest first");
                query.after = Some(prompt.id);
                self.prompts.add_owned(account, prompt.id);
                let inputs = store.prompt_inputs(&caller, prompt.id).await?;
                text += &show((self.normalize_prompt(prompt), inputs));
            }
            if !page.more {
                return Ok(text);
            }
        }
    }

    fn normalize_prompt(&mut self, prompt: &PromptRecord) -> PromptRecord {
        let ids = &prompt.vault_ids;
        assert!(ids.is_sorted_by(|a, b| a < b), "vault ids are not ascending");
        let vault_ids = ids.iter().map(|id| self.vaults.normalize(*id)).collect();
        PromptRecord { id: self.prompts.normalize(prompt.id), vault_ids, ..prompt.clone() }
    }

    fn normalize_vault(&mut self, vault: VaultRecord) -> VaultRecord {
        VaultRecord { id: self.vaults.normalize(vault.id), ..vault }
    }

    fn normalize_contents(
        &mut self,
        account: usize,
        vault: VaultId,
        contents: Vec<ListedPrompt>,
    ) -> Vec<ListedPrompt> {
        let normalize = |listed: ListedPrompt| {
            self.memberships.add_owned(account, listed.membership);
            self.vault_of.insert(listed.membership, vault);
            ListedPrompt {
                prompt: Arc::new(self.normalize_prompt(&listed.prompt)),
                membership: self.memberships.normalize(listed.membership),
                pinned: listed.pinned,
            }
        };
        contents.into_iter().map(normalize).collect()
    }
}

pub(super) fn show(value: impl Debug) -> String {
    format!("{value:#?}\n")
}
