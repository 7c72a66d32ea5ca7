//! Accounts as a whole, vaults that anybody may read, and what the operator does.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use jiff::Timestamp;
use promptarium::{PromptId, VaultId};

use super::MemoryStore;
use super::account::AccountView;
use super::data::Data;
use crate::domain::{
    AccountData, AccountId, Caller, KeyEntry, KeyId, KeyRecord, ListedPrompt, Membership, NewKey,
    SharedPrompt, VaultRecord, VaultVisibility,
};
use crate::store::{AccountStore, AdminStore, Replace, Result, StoreError};

#[async_trait]
impl AccountStore for MemoryStore {
    async fn rename_account(&self, caller: &Caller, name: &str) -> Result<()> {
        let id = caller.account;
        self.write(caller, |AccountView { data, .. }| {
            if data.account_named(name).is_some_and(|other| other != id) {
                return Err(StoreError::AccountTaken);
            }
            data.accounts.get_mut(&id).ok_or(StoreError::NotFound)?.name = name.into();
            let sessions = data.sessions.iter().filter(|(_, one)| one.record.account == id);
            for id in sessions.map(|(id, _)| *id).collect::<Vec<_>>() {
                if let Some(session) = data.sessions.get_mut(&id) {
                    session.record.account_name = name.into();
                }
            }
            Ok(())
        })
        .await
    }

    async fn delete_account(&self, caller: &Caller) -> Result<()> {
        let _turn = self.long_step(caller).await?;
        let own = caller.account;
        self.write(caller, |AccountView { data, .. }| {
            data.accounts.remove(&own);
            data.prompts.remove_where(|(account, _), _| *account == own);
            data.vaults.remove_where(|(account, _), _| *account == own);
            data.members.remove_where(|(account, ..), _| *account == own);
            data.jobs.remove_where(|(account, _), _| *account == own);
            data.job_queue.remove_where(|key, ()| key.account == own);
            data.job_list.remove_where(|(account, _), _| *account == own);
            let keys = &data.keys;
            let is_own = |id: &KeyId| keys.get(id).is_some_and(|key| key.account == own);
            data.public_ids.remove_where(|_, id| is_own(id));
            data.keys.remove_where(|_, key| key.account == own);
            data.sessions.remove_where(|_, session| session.record.account == own);
            data.codes.remove_where(|_, code| code.account == own);
            data.extension.iter_mut().for_each(|more| more.delete_account(own));
            Ok(())
        })
        .await
    }

    async fn import(&self, caller: &Caller, new: AccountData) -> Result<()> {
        let _turn = self.long_step(caller).await?;
        self.write(caller, |own| {
            let vaults = new.vaults.iter().filter(|(vault, _)| !vault.system).count();
            own.check_room(vaults, new.prompts.len())?;
            let mut ids = HashMap::with_capacity(new.prompts.len());
            for (prompt, inputs) in new.prompts {
                ids.insert(prompt.id, own.insert_prompt(prompt, inputs));
            }
            for (record, members) in new.vaults {
                let vault = match record.system {
                    true => own.general()?,
                    false => own.insert_vault(record).id,
                };
                // The last one to be added, and the last one to be pinned, are shown first.
                for (prompt, pinned) in members.into_iter().rev() {
                    let prompt = *ids.get(&prompt).ok_or(StoreError::NotFound)?;
                    if let Some(id) = own.add_member(vault, prompt) {
                        own.set_pinned(Membership { vault, id }, pinned)?;
                    }
                }
            }
            Ok(())
        })
        .await
    }

    async fn shared_vault(&self, account: &str, slug: &str) -> Result<(AccountId, VaultRecord)> {
        self.look(|data| {
            let owner = data.of(data.account_named(account).ok_or(StoreError::NotFound)?);
            let is_private = |vault: &VaultRecord| vault.visibility == VaultVisibility::Private;
            let found = owner.vaults().find(|vault| *vault.slug == *slug && !is_private(vault));
            found.map(|vault| (owner.id, vault.clone())).ok_or(StoreError::NotFound)
        })
        .await
    }

    async fn shared_prompt(
        &self,
        account: AccountId,
        vault: VaultId,
        prompt: PromptId,
    ) -> Result<SharedPrompt> {
        self.look(|data| {
            let found = Some(data.of(account).prompt(prompt)?);
            found.filter(|found| found.vault_ids.contains(&vault)).ok_or(StoreError::NotFound)
        })
        .await
    }

    async fn vault_page(
        &self,
        account: AccountId,
        vault: VaultId,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<ListedPrompt>> {
        let all = self.look(|data| data.of(account).contents(vault)).await?;
        Ok(all.into_iter().skip(offset).take(limit).collect())
    }
}

impl Data {
    fn entry(&self, key: &KeyRecord) -> Option<KeyEntry> {
        let account = self.accounts.get(&key.account)?.name.to_string();
        Some(KeyEntry { account, key: key.clone() })
    }
}

#[async_trait]
impl AdminStore for MemoryStore {
    async fn create_account(&self, name: &str) -> Result<bool> {
        self.step(|data| {
            let is_new = data.account_named(name).is_none();
            if is_new {
                data.create_account(name);
            }
            Ok(is_new)
        })
        .await
    }

    async fn accounts(&self) -> Result<Vec<(String, Timestamp)>> {
        self.look(|data| {
            let accounts = data.accounts.values();
            Ok(accounts.map(|account| (account.name.to_string(), account.created_at)).collect())
        })
        .await
    }

    async fn keys(&self, account: Option<&str>) -> Result<Vec<KeyEntry>> {
        self.look(|data| {
            let find = |name| data.account_named(name).ok_or(StoreError::NotFound);
            let account = account.map(find).transpose()?;
            let keys = data.keys.values().filter(|key| account.is_none_or(|id| key.account == id));
            let mut keys: Vec<_> = keys.collect();
            keys.sort_by_key(|key| (key.account, key.id));
            Ok(keys.into_iter().filter_map(|key| data.entry(key)).collect())
        })
        .await
    }

    async fn create_key(&self, account: &str, key: &NewKey) -> Result<bool> {
        self.step(|data| match data.account_named(account) {
            Some(account) => data.insert_key(account, key.clone()).map(|_| true),
            None => Ok(false),
        })
        .await
    }

    async fn revoke_key(&self, public_id: &str) -> Result<Option<KeyEntry>> {
        self.step(|data| Ok(data.revoke(public_id, None).and_then(|key| data.entry(&key)))).await
    }

    async fn seed_first_key(&self, account: &str, key: &NewKey) -> Result<bool> {
        self.step(|data| {
            if data.accounts.values().next().is_some() {
                return Ok(false);
            }
            let account = data.create_account(account);
            data.insert_key(account, key.clone()).map(|_| true)
        })
        .await
    }

    async fn settings(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let all = |data: &Data| {
            data.settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        self.look(|data| Ok(all(data))).await
    }

    async fn set(&self, name: &str, value: &[u8], replace: Replace<'_>) -> Result<Vec<u8>> {
        self.step(|data| {
            let name = name.to_owned();
            match data.settings.get(&name) {
                Some(value) if ![Replace::Any, Replace::Only(value)].contains(&replace) => {
                    return Ok(value.clone());
                }
                _ => data.settings.insert(name, value.to_vec()),
            }
            Ok(value.to_vec())
        })
        .await
    }
}
