//! The steps on vaults themselves.

use std::collections::btree_map::Entry;

use promptarium::VaultId;

use super::account::{Account, later, leave};
use super::commons::Commons;
use super::prompts::set;
use super::vault::Vault;
use crate::domain::{NewVault, VaultPatch, VaultRecord, VaultVisibility};
use crate::store::StoreError;

/// What the vault is called that every account has.
const GENERAL: &str = "General";

impl Account {
    pub(super) fn add_general_vault(&mut self, commons: &Commons) {
        let visibility = VaultVisibility::Private;
        let new = NewVault { name: GENERAL.into(), description: None, visibility };
        self.insert_vault(new, commons).record.system = true;
    }

    /// Makes an ordinary, empty vault.
    pub(super) fn insert_vault(&mut self, new: NewVault, commons: &Commons) -> &mut Vault {
        let (id, now) = (commons.enrol_vault(self.id), commons.now());
        let record = VaultRecord {
            id,
            slug: self.slugs.take(&new.name).into(),
            name: new.name,
            description: new.description,
            visibility: new.visibility,
            cover_image_url: None,
            system: false,
            prompt_count: 0,
            created_at: now,
            updated_at: now,
        };
        self.vaults.entry(id).or_insert(Vault::new(record))
    }

    pub(super) fn list_vaults(&self) -> Vec<VaultRecord> {
        self.vaults.values().rev().map(|vault| vault.record.clone()).collect()
    }

    pub(super) fn create_vault(&mut self, new: NewVault, commons: &Commons) -> VaultRecord {
        self.insert_vault(new, commons).record.clone()
    }

    pub(super) fn vault(&self, id: VaultId) -> Result<VaultRecord, StoreError> {
        let vault = self.vaults.get(&id).ok_or(StoreError::NotFound)?;
        Ok(vault.record.clone())
    }

    pub(super) fn update_vault(
        &mut self,
        id: VaultId,
        patch: VaultPatch,
        commons: &Commons,
    ) -> Result<VaultRecord, StoreError> {
        let vault = self.vaults.get_mut(&id).ok_or(StoreError::NotFound)?;
        let record = &mut vault.record;
        let new_name = patch.name.as_ref().filter(|name| **name != record.name);
        if new_name.is_some() && record.system {
            return Err(StoreError::SystemVaultRename);
        }
        if patch.is_empty() {
            return Ok(record.clone());
        }
        if let Some(name) = new_name {
            // Its old slug is free for its new name.
            self.slugs.release(&record.slug);
            record.slug = self.slugs.take(name).into();
        }
        set(&mut record.name, patch.name);
        set(&mut record.description, patch.description);
        set(&mut record.visibility, patch.visibility);
        record.updated_at = later(commons.now(), record.updated_at);
        Ok(record.clone())
    }

    pub(super) fn delete_vault(
        &mut self,
        id: VaultId,
        commons: &Commons,
    ) -> Result<(), StoreError> {
        let Entry::Occupied(vault) = self.vaults.entry(id) else {
            return Err(StoreError::NotFound);
        };
        if vault.get().record.system {
            return Err(StoreError::SystemVaultDelete);
        }
        let vault = vault.remove();
        commons.strike_vault(id);
        self.slugs.release(&vault.record.slug);
        for prompt in vault.by_prompt.keys() {
            if let Some(prompt) = self.prompts.get_mut(prompt) {
                leave(prompt, id);
            }
        }
        Ok(())
    }
}
