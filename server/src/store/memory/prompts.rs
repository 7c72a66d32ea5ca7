//! The steps on prompts.

use std::sync::Arc;

use promptarium::{PromptId, VaultId};

use super::account::{Account, later};
use super::by_kind::following;
use super::commons::Commons;
use crate::domain::{
    NewPrompt, PromptInputs, PromptKind, PromptPage, PromptPatch, PromptQuery, PromptRecord,
    SharedPrompt,
};
use crate::store::StoreError;

impl Account {
    pub(super) fn create_prompt(
        &mut self,
        new: NewPrompt,
        commons: &Commons,
    ) -> Result<SharedPrompt, StoreError> {
        if let Some(vault) = new.vault {
            self.check_vault(vault)?;
        }
        let (id, now) = (commons.next_prompt(), commons.now());
        self.insert_prompt(PromptRecord {
            id,
            title: new.title,
            text: new.text,
            kind: new.kind,
            platform: new.platform,
            inputs: new.inputs,
            images: Arc::default(),
            vault_ids: Vec::new(),
            created_at: now,
            updated_at: now,
        });
        if let Some(vault) = new.vault {
            self.join(vault, id, commons);
        }
        self.prompt(id)
    }

    pub(super) fn prompt(&self, id: PromptId) -> Result<SharedPrompt, StoreError> {
        self.prompts.get(&id).cloned().ok_or(StoreError::NotFound)
    }

    pub(super) fn list_prompts(&self, query: PromptQuery) -> Result<PromptPage, StoreError> {
        let listing = self.listing(query)?;
        let mut prompts: Vec<_> = listing.take(query.limit.saturating_add(1)).cloned().collect();
        let more = prompts.len() > query.limit;
        prompts.truncate(query.limit);
        Ok(PromptPage { prompts, more })
    }

    /// All that a query is about, whatever its limit, from the one index in
    /// which it stands together.
    fn listing(
        &self,
        PromptQuery { vault, kind, after, .. }: PromptQuery,
    ) -> Result<Box<dyn Iterator<Item = &SharedPrompt> + '_>, StoreError> {
        let vault = match vault {
            Some(id) => Some(self.vaults.get(&id).ok_or(StoreError::UnknownVault)?),
            None => None,
        };
        let prompt = |id| self.prompts.get(&id);
        Ok(match (vault, kind) {
            (None, None) => Box::new(self.prompts.range(following(after)).rev().map(|(_, p)| p)),
            (None, Some(kind)) => Box::new(self.by_kind.listing(kind, after).filter_map(prompt)),
            (Some(vault), None) => Box::new(vault.listing(after).filter_map(prompt)),
            (Some(vault), Some(kind)) => {
                Box::new(vault.by_kind.listing(kind, after).filter_map(prompt))
            }
        })
    }

    pub(super) fn update_prompt(
        &mut self,
        id: PromptId,
        patch: PromptPatch,
        commons: &Commons,
    ) -> Result<SharedPrompt, StoreError> {
        let prompt = self.prompts.get(&id).ok_or(StoreError::NotFound)?;
        if let Some(vault) = patch.vault {
            self.check_vault(vault)?;
        }
        let model = patch.inputs.model_id.as_ref().or(prompt.inputs.model_id.as_ref());
        if model.is_none() && patch.kind.is_some_and(PromptKind::needs_model) {
            return Err(StoreError::ModelRequired);
        }
        if patch.is_empty() {
            return Ok(prompt.clone());
        }
        if let Some(kind) = patch.kind {
            self.change_kind(id, kind);
        }
        if let Some(vault) = patch.vault {
            self.join(vault, id, commons);
        }
        let prompt = self.prompts.get_mut(&id).ok_or(StoreError::NotFound)?;
        let record = Arc::make_mut(prompt);
        apply(patch, record);
        record.updated_at = later(commons.now(), record.updated_at);
        Ok(prompt.clone())
    }

    pub(super) fn delete_prompt(&mut self, id: PromptId) -> Result<(), StoreError> {
        let prompt = self.prompts.remove(&id).ok_or(StoreError::NotFound)?;
        self.by_kind.remove(prompt.kind, id);
        for vault in &prompt.vault_ids {
            if let Some(vault) = self.vaults.get_mut(vault) {
                vault.remove(id, prompt.kind);
            }
        }
        Ok(())
    }

    pub(super) fn save_prompt(
        &mut self,
        id: PromptId,
        vault: VaultId,
        commons: &Commons,
    ) -> Result<SharedPrompt, StoreError> {
        self.prompt(id)?;
        self.check_vault(vault)?;
        self.join(vault, id, commons);
        self.prompt(id)
    }

    /// Moves a prompt to another type in every index it is in.
    fn change_kind(&mut self, id: PromptId, to: PromptKind) {
        let Some(prompt) = self.prompts.get_mut(&id) else {
            return;
        };
        let from = prompt.kind;
        self.by_kind.change(id, from, to);
        for vault in &prompt.vault_ids {
            if let Some(vault) = self.vaults.get_mut(vault) {
                vault.by_kind.change(id, from, to);
            }
        }
        Arc::make_mut(prompt).kind = to;
    }
}

/// Writes the fields that no index knows of.
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

/// Writes a value if there is one to write.
pub(super) fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
