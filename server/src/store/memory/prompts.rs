//! Prompts.

use std::sync::Arc;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId};

use super::MemoryStore;
use super::account::{StoredPrompt, later, set};
use crate::domain::{
    Caller, NewPrompt, PromptInputs, PromptKind, PromptPage, PromptPatch, PromptQuery,
    PromptRecord, SharedPrompt,
};
use crate::store::{PromptStore, Result, StoreError};

#[async_trait]
impl PromptStore for MemoryStore {
    async fn create_prompt(&self, caller: &Caller, new: NewPrompt) -> Result<SharedPrompt> {
        self.write(caller, |account, shared| {
            account.create_prompt(new, Arc::default(), shared.now(), shared)
        })
    }

    async fn prompt(&self, caller: &Caller, id: PromptId) -> Result<SharedPrompt> {
        self.read(caller, |account| account.prompt(id))
    }

    async fn prompt_inputs(&self, caller: &Caller, id: PromptId) -> Result<PromptInputs> {
        self.read(caller, |account| account.stored(id).map(|prompt| prompt.inputs.clone()))
    }

    async fn list_prompts(&self, caller: &Caller, query: PromptQuery) -> Result<PromptPage> {
        let PromptQuery { vault, kind, after, limit } = query;
        self.read(caller, |account| {
            let ids = account.page(vault, kind, after)?.take(limit.saturating_add(1));
            let mut prompts: Vec<_> = ids.filter_map(|id| account.prompt(id).ok()).collect();
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
        self.write(caller, |account, shared| {
            let StoredPrompt { shown: before, mut inputs } = account.stored(id)?.clone();
            account.check_vault(patch.vault)?;
            let has_model = patch.inputs.model_id.is_some() || inputs.model_id.is_some();
            if !has_model && patch.kind.is_some_and(PromptKind::needs_model) {
                return Err(StoreError::ModelRequired);
            }
            if patch.is_empty() {
                return Ok(before);
            }
            if let Some(kind) = patch.kind {
                for vault in before.vault_ids.iter().copied().map(Some).chain([None]) {
                    account.by_kind.remove(&(vault, before.kind, id));
                    account.by_kind.insert((vault, kind, id));
                }
            }
            let vault = patch.vault;
            let mut record = Arc::unwrap_or_clone(before);
            apply(patch, &mut record, &mut inputs);
            record.updated_at = later(shared.now(), record.updated_at);
            account.prompts.insert(id, StoredPrompt { shown: Arc::new(record), inputs });
            if let Some(vault) = vault {
                account.add_member(vault, id, shared);
            }
            account.prompt(id)
        })
    }

    async fn delete_prompt(&self, caller: &Caller, id: PromptId) -> Result<()> {
        self.write(caller, |account, _| {
            let prompt = account.prompt(id)?;
            for vault in &prompt.vault_ids {
                account.remove_member(*vault, id);
            }
            account.by_kind.remove(&(None, prompt.kind, id));
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
        self.write(caller, |account, shared| {
            account.prompt(id)?;
            account.check_vault(Some(vault))?;
            account.add_member(vault, id, shared);
            account.prompt(id)
        })
    }
}

fn apply(patch: PromptPatch, prompt: &mut PromptRecord, inputs: &mut PromptInputs) {
    set(&mut prompt.title, patch.title);
    set(&mut prompt.text, patch.text);
    set(&mut prompt.kind, patch.kind);
    set(&mut prompt.platform, patch.platform);
    let PromptInputs { model_id, aspect_ratio, image_url, reference_media_urls } = patch.inputs;
    set(&mut inputs.model_id, model_id.map(Some));
    set(&mut inputs.aspect_ratio, aspect_ratio.map(Some));
    set(&mut inputs.image_url, image_url.map(Some));
    set(&mut inputs.reference_media_urls, reference_media_urls.map(Some));
}
