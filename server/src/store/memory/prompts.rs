//! Prompts, and what searches read of them.

use std::sync::Arc;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::MemoryStore;
use super::account::set;
use super::rows::{StoredPrompt, later};
use crate::domain::{
    Caller, NewPrompt, PromptInputs, PromptKind, PromptPage, PromptPatch, PromptQuery, SharedPrompt,
};
use crate::limits::{PROMPT_IMAGES_MAX, SEARCH_CHUNK};
use crate::store::{Place, PromptStore, PromptTexts, Result, SearchStore, StoreError, TextChunk};

#[async_trait]
impl PromptStore for MemoryStore {
    async fn create_prompt(&self, caller: &Caller, new: NewPrompt) -> Result<SharedPrompt> {
        let own = caller.account;
        self.write(caller, |data| {
            let id = data.create_prompt(own, new)?;
            data.prompt(own, id)
        })
        .await
    }

    async fn prompt(&self, caller: &Caller, id: PromptId) -> Result<SharedPrompt> {
        self.read(caller, |data| data.prompt(caller.account, id)).await
    }

    async fn prompt_inputs(&self, caller: &Caller, id: PromptId) -> Result<PromptInputs> {
        let own = caller.account;
        self.read(caller, |data| data.stored(own, id).map(|prompt| prompt.inputs.clone())).await
    }

    async fn list_prompts(&self, caller: &Caller, query: PromptQuery) -> Result<PromptPage> {
        let PromptQuery { vault, kind, after, limit } = query;
        let own = caller.account;
        self.read(caller, |data| {
            let listed = data.listed(own, vault, kind, after)?.take(limit.saturating_add(1));
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
        let own = caller.account;
        self.write(caller, |data| {
            let StoredPrompt { shown, mut inputs } = data.stored(own, id)?.clone();
            data.check_vault(own, patch.vault)?;
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
            record.updated_at = later(data.now(), record.updated_at);
            let new = patch.inputs;
            set(&mut inputs.model_id, new.model_id.map(Some));
            set(&mut inputs.aspect_ratio, new.aspect_ratio.map(Some));
            set(&mut inputs.image_url, new.image_url.map(Some));
            set(&mut inputs.reference_media_urls, new.reference_media_urls.map(Some));
            data.prompts.insert((own, id), StoredPrompt { shown: Arc::new(record), inputs });
            if let Some(vault) = patch.vault {
                data.add_member(own, vault, id);
            }
            data.prompt(own, id)
        })
        .await
    }

    async fn delete_prompt(&self, caller: &Caller, id: PromptId) -> Result<()> {
        let own = caller.account;
        self.write(caller, |data| {
            for vault in data.prompt(own, id)?.vault_ids.iter().copied() {
                data.remove_prompt(own, vault, id)?;
            }
            data.prompts.remove(&(own, id));
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
        let own = caller.account;
        self.write(caller, |data| {
            data.stored(own, id)?;
            data.check_vault(own, Some(vault))?;
            data.add_member(own, vault, id);
            data.prompt(own, id)
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
        let own = caller.account;
        self.read(caller, |data| {
            let read: Vec<_> = data.listed(own, vault, kind, after)?.take(SEARCH_CHUNK).collect();
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
        let own = caller.account;
        self.read(caller, |data| Ok(data.listed(own, None, kind, None)?.take(most).count())).await
    }

    async fn memberships_of(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Vec<VaultPromptId>> {
        let own = caller.account;
        self.read(caller, |data| {
            let members = data.members_of(own, vault);
            let found = members.filter(|(_, member)| prompts.contains(&member.prompt));
            Ok(found.map(|(membership, _)| membership).collect())
        })
        .await
    }
}
