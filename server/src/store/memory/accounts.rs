//! Accounts as a whole, and vaults that anybody may read.

use std::collections::HashMap;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId};

use super::vaults::listed;
use super::{Data, MemoryStore};
use crate::domain::{
    AccountData, AccountId, Caller, ListedPrompt, Membership, SharedPrompt, VaultRecord,
    VaultVisibility,
};
use crate::store::{AccountStore, Result, StoreError};

#[async_trait]
impl AccountStore for MemoryStore {
    async fn rename_account(&self, caller: &Caller, name: &str) -> Result<()> {
        let mut data = self.locked(caller)?;
        if data.account_named(name).is_some_and(|other| other.id != caller.account) {
            return Err(StoreError::AccountTaken);
        }
        data.account_mut(caller.account)?.name = name.into();
        let sessions = data.sessions.values_mut();
        for session in sessions.filter(|session| session.record.account == caller.account) {
            session.record.account_name = name.into();
        }
        Ok(())
    }

    async fn delete_account(&self, caller: &Caller) -> Result<()> {
        let _turn = self.long_step(caller).await?;
        let (mut data, id) = (self.locked(caller)?, caller.account);
        data.accounts.remove(&id);
        data.keys.retain(|_, key| key.account != id);
        let Data { by_public_id, keys, .. } = &mut *data;
        by_public_id.retain(|_, id| keys.contains_key(id));
        data.sessions.retain(|_, session| session.record.account != id);
        data.codes.retain(|_, code| code.account != id);
        Ok(())
    }

    async fn import(&self, caller: &Caller, data: AccountData) -> Result<()> {
        let _turn = self.long_step(caller).await?;
        self.write(caller, |account| {
            let new = data.vaults.iter().filter(|(vault, _)| !vault.system).count();
            account.check_room(new, data.prompts.len())?;
            let mut ids = HashMap::with_capacity(data.prompts.len());
            for (prompt, inputs) in data.prompts {
                ids.insert(prompt.id, account.insert_prompt(prompt, inputs));
            }
            for (record, members) in data.vaults {
                let vault = match record.system {
                    true => account.general()?,
                    false => account.insert_vault(record).record.id,
                };
                // The last one to be added, and the last one to be pinned, are shown first.
                for (prompt, pinned) in members.into_iter().rev() {
                    let prompt = *ids.get(&prompt).ok_or(StoreError::NotFound)?;
                    if let Some(id) = account.add_member(vault, prompt) {
                        account.set_pinned(Membership { vault, id }, pinned)?;
                    }
                }
            }
            Ok(())
        })
    }

    async fn shared_vault(&self, account: &str, slug: &str) -> Result<(AccountId, VaultRecord)> {
        let data = self.data.read();
        let account = data.account_named(account).ok_or(StoreError::NotFound)?;
        let found = account.vaults.values().find(|vault| {
            *vault.record.slug == *slug && vault.record.visibility != VaultVisibility::Private
        });
        found.map(|vault| (account.id, vault.shown())).ok_or(StoreError::NotFound)
    }

    async fn shared_prompt(
        &self,
        account: AccountId,
        vault: VaultId,
        prompt: PromptId,
    ) -> Result<SharedPrompt> {
        let data = self.data.read();
        let account = data.accounts.get(&account).ok_or(StoreError::NotFound)?;
        let found = account.prompts.get(&prompt).map(|stored| &stored.shown);
        let found = found.filter(|prompt| prompt.vault_ids.contains(&vault));
        found.cloned().ok_or(StoreError::NotFound)
    }

    async fn vault_page(
        &self,
        account: AccountId,
        vault: VaultId,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<ListedPrompt>> {
        let data = self.data.read();
        let account = data.accounts.get(&account).ok_or(StoreError::NotFound)?;
        Ok(listed(account, vault)?.into_iter().skip(offset).take(limit).collect())
    }
}
