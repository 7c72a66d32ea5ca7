//! Prompts.

use std::sync::Arc;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId};

use super::MemoryStore;
use super::account::{later, set};
use crate::domain::{
    Caller, NewPrompt, PromptInputs, PromptKind, PromptPage, PromptPatch, PromptQuery,
    PromptRecord, SharedPrompt,
};
use crate::store::{PromptStore, Result, StoreError};

#[async_trait]
impl PromptStore for MemoryStore {
    async fn create_prompt(&self, caller: &Caller, new: NewPrompt) -> Result<SharedPrompt> {
        self.write(caller.account, |account, shared| account.create_prompt(new, shared))
    }

    async fn prompt(&self, caller: &Caller, id: PromptId) -> Result<SharedPrompt> {
        self.read(caller.account, |account| account.prompt(id))
    }

    async fn list_prompts(&self, caller: &Caller, query: PromptQuery) -> Result<PromptPage> {
        let PromptQuery { vault, kind, after, limit } = query;
        self.read(caller.account, |account| {
            if let Some(vault) = vault {
                account.check_vault(vault)?;
            }
            let ids = account.index.page(vault, kind, after).take(limit.saturating_add(1));
            let mut prompts: Vec<_> =
                ids.filter_map(|id| account.prompts.get(&id).cloned()).collect();
            let more = prompts.len() > limit;
            prompts.truncate(limit);
            Ok(PromptPage { prompts, more })
        })
    }

    async fn update_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        patch: PromptPatch,
    ) -> Result<SharedPrompt> {
        self.write(caller.account, |account, shared| {
            let prompt = account.prompts.get_mut(&id).ok_or(StoreError::NotFound)?;
            if let Some(vault) = patch.vault
                && !account.vaults.contains_key(&vault)
            {
                return Err(StoreError::UnknownVault);
            }
            let has_model = patch.inputs.model_id.is_some() || prompt.inputs.model_id.is_some();
            if !has_model && patch.kind.is_some_and(PromptKind::needs_model) {
                return Err(StoreError::ModelRequired);
            }
            if patch.is_empty() {
                return Ok(Arc::clone(prompt));
            }
            let vault = patch.vault;
            let record = Arc::make_mut(prompt);
            if let Some(kind) = patch.kind {
                let places = record.vault_ids.iter().copied().map(Some).chain([None]);
                for place in places {
                    account.index.remove(place, record.kind, id);
                    account.index.insert(place, kind, id);
                }
                record.kind = kind;
            }
            apply(patch, record);
            record.updated_at = later(shared.now(), record.updated_at);
            if let Some(vault) = vault {
                account.add_member(vault, id, shared);
            }
            account.prompt(id)
        })
    }

    async fn delete_prompt(&self, caller: &Caller, id: PromptId) -> Result<()> {
        self.write(caller.account, |account, _| {
            let prompt = account.prompt(id)?;
            for vault in &prompt.vault_ids {
                account.remove_member(*vault, id);
            }
            account.index.remove(None, prompt.kind, id);
            account.prompts.remove(&id);
            Ok(())
        })
    }

    async fn save_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt> {
        self.write(caller.account, |account, shared| {
            account.prompt(id)?;
            account.check_vault(vault)?;
            account.add_member(vault, id, shared);
            account.prompt(id)
        })
    }
}

/// Sets the fields that are in no index.
fn apply(patch: PromptPatch, prompt: &mut PromptRecord) {
    set(&mut prompt.title, patch.title);
    set(&mut prompt.text, patch.text);
    set(&mut prompt.platform, patch.platform);
    let PromptInputs { model_id, aspect_ratio, image_url, reference_media_urls } = patch.inputs;
    let inputs = &mut prompt.inputs;
    set(&mut inputs.model_id, model_id.map(Some));
    set(&mut inputs.aspect_ratio, aspect_ratio.map(Some));
    set(&mut inputs.image_url, image_url.map(Some));
    set(&mut inputs.reference_media_urls, reference_media_urls.map(Some));
}
