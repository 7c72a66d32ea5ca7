//! Prompts, and what searches read of them.

use std::sync::Arc;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::MemoryStore;
use super::account::set;
use super::data::{StoredPrompt, later};
use crate::domain::{
    Caller, NewPrompt, PromptInputs, PromptKind, PromptPage, PromptPatch, PromptQuery, SharedPrompt,
};
use crate::limits::{PROMPT_IMAGES_MAX, SEARCH_CHUNK};
use crate::store::{Place, PromptStore, PromptTexts, Result, SearchStore, StoreError, TextChunk};

#[async_trait]
impl PromptStore for MemoryStore {
    async fn create_prompt(&self, caller: &Caller, new: NewPrompt) -> Result<SharedPrompt> {
        self.write(caller, |own| {
            let id = own.create_prompt(new)?;
            own.prompt(id)
        })
        .await
    }

    async fn prompt(&self, caller: &Caller, id: PromptId) -> Result<SharedPrompt> {
        self.read(caller, |own| own.prompt(id)).await
    }

    async fn prompt_inputs(&self, caller: &Caller, id: PromptId) -> Result<PromptInputs> {
        self.read(caller, |own| own.stored(id).map(|prompt| prompt.inputs.clone())).await
    }

    async fn list_prompts(&self, caller: &Caller, query: PromptQuery) -> Result<PromptPage> {
        let PromptQuery { vault, kind, after, limit } = query;
        self.read(caller, |own| {
            let listed = own.listed(vault, kind, after)?.take(limit.saturating_add(1));
            let mut prompts: Vec<_> = listed.cloned().collect();
            let more = prompts.len() > limit;
            prompts.truncate(limit);
            Ok(PromptPage { prompts, more })
        })
        .await
    }

    async fn update_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        patch: PromptPatch,
    ) -> Result<SharedPrompt> {
        self.write(caller, |own| {
            let StoredPrompt { shown, mut inputs } = own.stored(id)?.clone();
            own.check_vault(patch.vault)?;
            let has_model = patch.inputs.model_id.is_some() || inputs.model_id.is_some();
            if !has_model && patch.kind.is_some_and(PromptKind::needs_model) {
                return Err(StoreError::ModelRequired);
            }
            if patch.image.is_some() && shown.images.len() >= PROMPT_IMAGES_MAX {
                return Err(StoreError::TooManyImages);
            }
            if patch == PromptPatch::default() {
                return Ok(shown);
            }
            let mut record = Arc::unwrap_or_clone(shown);
            set(&mut record.title, patch.title);
            set(&mut record.text, patch.text);
            set(&mut record.kind, patch.kind);
            set(&mut record.platform, patch.platform);
            if patch.image.is_some() {
                record.images = record.images.iter().cloned().chain(patch.image).collect();
            }
            record.updated_at = later(own.data.now(), record.updated_at);
            let new = patch.inputs;
            set(&mut inputs.model_id, new.model_id.map(Some));
            set(&mut inputs.aspect_ratio, new.aspect_ratio.map(Some));
            set(&mut inputs.image_url, new.image_url.map(Some));
            set(&mut inputs.reference_media_urls, new.reference_media_urls.map(Some));
            let shown = Arc::new(record);
            own.data.prompts.insert((own.id, id), StoredPrompt { shown, inputs });
            if let Some(vault) = patch.vault {
                own.add_member(vault, id);
            }
            own.prompt(id)
        })
        .await
    }

    async fn delete_prompt(&self, caller: &Caller, id: PromptId) -> Result<()> {
        self.write(caller, |own| {
            for vault in own.prompt(id)?.vault_ids.iter().copied() {
                own.remove_prompt(vault, id)?;
            }
            own.data.prompts.remove(&(own.id, id));
            Ok(())
        })
        .await
    }

    async fn save_prompt(
        &self,
        caller: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt> {
        self.write(caller, |own| {
            own.stored(id)?;
            own.check_vault(Some(vault))?;
            own.add_member(vault, id);
            own.prompt(id)
        })
        .await
    }
}

#[async_trait]
impl SearchStore for MemoryStore {
    async fn prompt_texts(
        &self,
        caller: &Caller,
        place: Place,
        kind: Option<PromptKind>,
        after: Option<PromptId>,
    ) -> Result<TextChunk> {
        let vault = if let Place::Vault(id) = place { Some(id) } else { None };
        self.read(caller, |own| {
            let read: Vec<_> = own.listed(vault, kind, after)?.take(SEARCH_CHUNK).collect();
            let next = read.last().filter(|_| read.len() == SEARCH_CHUNK).map(|prompt| prompt.id);
            let is_in_place =
                |prompt: &&&SharedPrompt| place != Place::NoVault || prompt.vault_ids.is_empty();
            let texts = read.iter().filter(is_in_place).map(|prompt| PromptTexts {
                id: prompt.id,
                title: prompt.title.clone(),
                text: prompt.text.clone(),
                platform: prompt.platform.clone(),
            });
            Ok(TextChunk { texts: texts.collect(), read: read.len(), next })
        })
        .await
    }

    async fn count_prompts(
        &self,
        caller: &Caller,
        kind: Option<PromptKind>,
        most: usize,
    ) -> Result<usize> {
        self.read(caller, |own| Ok(own.listed(None, kind, None)?.take(most).count())).await
    }

    async fn memberships_of(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Vec<VaultPromptId>> {
        self.read(caller, |own| {
            let found = own.members(vault).filter(|(_, member)| prompts.contains(&member.prompt));
            Ok(found.map(|(membership, _)| membership).collect())
        })
        .await
    }
}
