//! Accounts as a whole, uploaded pictures, and vaults that anybody may read.

use async_trait::async_trait;
use promptarium::{PromptId, VaultId};

use super::account::later;
use super::vaults::listed;
use super::{Data, MemoryStore, next};
use crate::domain::{
    AccountData, AccountId, Caller, ListedPrompt, PromptImage, VaultRecord, VaultVisibility,
};
use crate::limits::{MEMORY_FORK_PROMPTS_MAX, PROMPT_IMAGES_MAX};
use crate::store::{AccountStore, Result, StoreError};

#[async_trait]
impl AccountStore for MemoryStore {
    async fn rename_account(&self, caller: &Caller, name: &str) -> Result<()> {
        let mut data = self.data.write();
        data.check(caller)?;
        if data.account_named(name).is_some_and(|other| other.id != caller.account) {
            return Err(StoreError::AccountTaken);
        }
        self.change(&mut data, caller.account)?.0.name = name.into();
        let sessions = data.sessions.values_mut();
        for session in sessions.filter(|session| session.record.account == caller.account) {
            session.record.account_name = name.into();
        }
        Ok(())
    }

    async fn delete_account(&self, caller: &Caller) -> Result<()> {
        let _permit = self.long_step(caller.account).await?;
        let (mut data, id) = (self.data.write(), caller.account);
        data.check(caller)?;
        data.accounts.remove(&id);
        data.keys.retain(|_, key| key.record.account != id);
        data.sessions.retain(|_, session| session.record.account != id);
        data.codes.retain(|_, code| code.account != id);
        let Data { by_public_id, keys, .. } = &mut *data;
        by_public_id.retain(|_, id| keys.contains_key(id));
        Ok(())
    }

    async fn import(&self, caller: &Caller, data: AccountData) -> Result<()> {
        let _permit = self.long_step(caller.account).await?;
        self.write(caller, |account, change| {
            let new = data.vaults.iter().filter(|vault| !vault.system).count();
            account.check_vault_count(new, change)?;
            if account.prompts.len() + data.prompts.len() > MEMORY_FORK_PROMPTS_MAX {
                return Err(StoreError::TooManyPrompts);
            }
            let mut prompts = Vec::with_capacity(data.prompts.len());
            for prompt in data.prompts {
                let id = account.create_prompt(prompt.new, prompt.images.into(), change)?;
                let record = account.prompt_mut(id)?;
                (record.created_at, record.updated_at) = (prompt.created_at, prompt.updated_at);
                prompts.push(id);
            }
            for vault in data.vaults {
                let id = if vault.system {
                    account.general()?
                } else {
                    let record = &mut account.insert_vault(vault.new, change).record;
                    record.cover_image = vault.cover_image;
                    (record.created_at, record.updated_at) = (vault.created_at, vault.updated_at);
                    record.id
                };
                // The last one to be added, and the last one to be pinned, are shown first.
                for (place, pinned) in vault.members.into_iter().rev() {
                    let prompt = *prompts.get(place).ok_or(StoreError::NotFound)?;
                    let added = account.add_member(id, prompt, change);
                    if let Some(membership) = added.filter(|_| pinned)
                        && let Some(member) = account.vault_mut(id)?.members.get_mut(&membership)
                    {
                        member.pin = Some(next(&mut change.ids.others));
                    }
                }
            }
            Ok(())
        })
    }

    async fn add_image(&self, caller: &Caller, prompt: PromptId, image: PromptImage) -> Result<()> {
        self.write(caller, |account, change| {
            let record = account.prompt_mut(prompt)?;
            if record.images.len() >= PROMPT_IMAGES_MAX {
                return Err(StoreError::TooManyImages);
            }
            record.images = record.images.iter().cloned().chain([image]).collect();
            record.updated_at = later(change.now, record.updated_at);
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
