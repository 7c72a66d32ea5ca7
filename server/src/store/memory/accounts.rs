//! Accounts as a whole, uploaded pictures, and vaults that anybody may read.

use std::sync::Arc;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId};

use super::account::{Account, later};
use super::{MemoryStore, Shared, next, read, write};
use crate::domain::{
    AccountData, AccountId, Caller, ImageRef, ListedPrompt, NewPrompt, NewVault, PromptData,
    PromptImage, VaultData, VaultRecord, VaultVisibility,
};
use crate::limits::{MEMORY_FORK_PROMPTS_MAX, PROMPT_IMAGES_MAX};
use crate::store::{AccountStore, Result, StoreError};

#[async_trait]
impl AccountStore for MemoryStore {
    async fn rename_account(&self, caller: &Caller, name: &str) -> Result<()> {
        let mut keys = write(&self.keys);
        keys.check(caller)?;
        match keys.accounts.get(name) {
            Some(id) if *id == caller.account => return Ok(()),
            Some(_) => return Err(StoreError::AccountTaken),
            None => {}
        }
        keys.accounts.retain(|_, id| *id != caller.account);
        keys.accounts.insert(name.into(), caller.account);
        let sessions = keys.sessions.values_mut();
        for session in sessions.filter(|session| session.account == caller.account) {
            session.account_name = name.into();
        }
        for code in keys.codes.values_mut().filter(|code| code.account == caller.account) {
            code.account_name = name.into();
        }
        Ok(())
    }

    async fn delete_account(&self, caller: &Caller) -> Result<()> {
        let _turn = self.long_step(caller.account).await?;
        let mut keys = write(&self.keys);
        keys.check(caller)?;
        let id = caller.account;
        keys.accounts.retain(|_, account| *account != id);
        keys.codes.retain(|_, code| code.account != id);
        let keys = &mut *keys;
        let own = keys.by_public_id.extract_if(|_, key| key.record.account == id);
        for (_, key) in own {
            keys.live.remove(&key.record.id);
        }
        for (_, session) in keys.sessions.extract_if(|_, session| session.account == id) {
            keys.live.remove(&session.id);
        }
        write(&self.accounts).remove(&id);
        write(&self.shared.owners).retain(|_, owner| *owner != id);
        let mut jobs = self.shared.jobs();
        jobs.by_key.retain(|key, _| key.account != id);
        jobs.queue.retain(|(_, _, key)| key.account != id);
        Ok(())
    }

    async fn import(&self, caller: &Caller, data: AccountData) -> Result<()> {
        let _turn = self.long_step(caller.account).await?;
        self.write(caller, |account, shared| {
            let new = data.vaults.iter().filter(|vault| !vault.system).count();
            if account.vaults.len() + new > shared.vaults_max {
                return Err(StoreError::TooManyVaults);
            }
            if account.prompts.len() + data.prompts.len() > MEMORY_FORK_PROMPTS_MAX {
                return Err(StoreError::TooManyPrompts);
            }
            let prompts =
                data.prompts.into_iter().map(|prompt| add_prompt(account, prompt, shared));
            let prompts = prompts.collect::<Result<Vec<_>>>()?;
            for vault in data.vaults {
                add_vault(account, vault, &prompts, shared)?;
            }
            Ok(())
        })
    }

    async fn set_cover(
        &self,
        caller: &Caller,
        vault: VaultId,
        cover: Option<ImageRef>,
    ) -> Result<()> {
        self.write(caller, |account, shared| {
            let record = &mut account.vault_mut(vault)?.record;
            record.cover_image = cover;
            record.updated_at = later(shared.now(), record.updated_at);
            Ok(())
        })
    }

    async fn add_image(&self, caller: &Caller, prompt: PromptId, image: PromptImage) -> Result<()> {
        self.write(caller, |account, shared| {
            let stored = account.prompts.get_mut(&prompt).ok_or(StoreError::NotFound)?;
            let shown = Arc::make_mut(&mut stored.shown);
            if shown.images.len() >= PROMPT_IMAGES_MAX {
                return Err(StoreError::TooManyImages);
            }
            shown.images = shown.images.iter().cloned().chain([image]).collect();
            shown.updated_at = later(shared.now(), shown.updated_at);
            Ok(())
        })
    }

    async fn shared_vault(&self, account: &str, slug: &str) -> Result<(AccountId, VaultRecord)> {
        let id = read(&self.keys).accounts.get(account).copied().ok_or(StoreError::NotFound)?;
        let account = self.account(id)?;
        let account = read(&*account);
        let found = account.vaults.values().find(|vault| {
            *vault.record.slug == *slug && vault.record.visibility != VaultVisibility::Private
        });
        found.map(|vault| (id, vault.record.clone())).ok_or(StoreError::NotFound)
    }

    async fn vault_page(
        &self,
        account: AccountId,
        vault: VaultId,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<ListedPrompt>> {
        let account = self.account(account)?;
        let listed = super::vaults::listed(&read(&*account), vault)?;
        Ok(listed.into_iter().skip(offset).take(limit).collect())
    }
}

fn add_prompt(account: &mut Account, data: PromptData, shared: &Shared) -> Result<PromptId> {
    let PromptData { title, text, kind, platform, inputs, images, created_at, updated_at } = data;
    let new = NewPrompt { title, text, kind, platform, inputs, vault: None };
    let id = account.create_prompt(new, images.into(), created_at, shared)?.id;
    let stored = account.prompts.get_mut(&id).ok_or(StoreError::NotFound)?;
    Arc::make_mut(&mut stored.shown).updated_at = updated_at;
    Ok(id)
}

fn add_vault(
    account: &mut Account,
    data: VaultData,
    prompts: &[PromptId],
    shared: &Shared,
) -> Result<()> {
    let id = if data.system {
        account.general()?
    } else {
        let VaultData { name, description, visibility, .. } = data;
        let record =
            &mut account.insert_vault(NewVault { name, description, visibility }, shared).record;
        record.cover_image = data.cover_image;
        (record.created_at, record.updated_at) = (data.created_at, data.updated_at);
        record.id
    };
    // The last one to be added, and the last one to be pinned, are shown first.
    for member in data.members.iter().rev() {
        let prompt = *prompts.get(member.prompt).ok_or(StoreError::NotFound)?;
        let membership = account.add_member(id, prompt, shared);
        if let Some(membership) = membership.filter(|_| member.pinned)
            && let Some(added) = account.vault_mut(id)?.members.get_mut(&membership)
        {
            added.pin = Some(next(&shared.others));
        }
    }
    Ok(())
}
