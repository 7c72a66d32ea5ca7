//! Taking a step: one call of the store, its answer put into names.

use std::sync::Arc;

use futures::TryStreamExt;

use super::picks::words;
use super::{Outcome, World, account_name};
use crate::domain::{NewKey, NewVault, PromptQuery, Scopes, VaultPatch, VaultRecord};
use crate::store::differential::op::{Op, Who};
use crate::store::{Moved, StoreError};

impl World<'_> {
    pub(super) async fn step(&mut self, op: &Op) -> Result<Outcome, StoreError> {
        match op {
            Op::SeedKey { .. } | Op::FindKey { .. } | Op::ConfirmKey(..) => self.key_step(op).await,
            Op::CreatePrompt(..)
            | Op::Prompt(..)
            | Op::ListPrompts { .. }
            | Op::UpdatePrompt(..)
            | Op::DeletePrompt(..)
            | Op::SavePrompt { .. } => self.prompt_step(op).await,
            Op::CreateVault { .. }
            | Op::Vault(..)
            | Op::UpdateVault { .. }
            | Op::DeleteVault(..)
            | Op::Fork(..) => self.vault_step(op).await,
            Op::Job(op) => self.job_step(op).await,
            _ => self.contents_step(op).await,
        }
    }

    async fn key_step(&mut self, op: &Op) -> Result<Outcome, StoreError> {
        match *op {
            Op::SeedKey { account, public_id, digest, write, revoked } => {
                let public_id = format!("key-{public_id}").into();
                let scopes = Scopes { prompts_write: write };
                let key = NewKey { public_id, digest: [digest; 32], scopes, revoked };
                self.store.seed_key(&account_name(account.into()), key).await?;
                Ok(Outcome::Done)
            }
            Op::FindKey { public_id } => {
                let mut found = self.store.find_key(&format!("key-{public_id}")).await?;
                if let Some(found) = &mut found {
                    found.id = self.keys.name(found.id);
                    found.account = self.accounts.name(found.account);
                }
                Ok(Outcome::Key(found))
            }
            Op::ConfirmKey(by) => {
                self.store.confirm_key(self.caller(by)).await?;
                Ok(Outcome::Done)
            }
            _ => unreachable!("not a step on keys: {op:?}"),
        }
    }

    async fn prompt_step(&mut self, op: &Op) -> Result<Outcome, StoreError> {
        let store = self.store;
        let prompt = match op {
            Op::CreatePrompt(by, draft) => {
                let new = self.new_prompt(*by, draft);
                let made = store.create_prompt(self.caller(*by), new).await?;
                self.prompts.note_own(*by, made.id);
                made
            }
            Op::Prompt(by, prompt) => {
                store.prompt(self.caller(*by), self.prompt(*by, *prompt)).await?
            }
            Op::ListPrompts { by, vault, kind, limit, after } => {
                let vault = vault.map(|vault| self.vault(*by, vault));
                let after = after.map(|after| self.prompt(*by, after));
                let query = PromptQuery { vault, kind: *kind, after, limit: *limit };
                let page = store.list_prompts(self.caller(*by), query).await?;
                let prompts = page.prompts.iter().map(|prompt| self.prompt_named(prompt)).collect();
                return Ok(Outcome::Page { prompts, more: page.more });
            }
            Op::UpdatePrompt(by, prompt, change) => {
                let (id, patch) = (self.prompt(*by, *prompt), self.prompt_patch(*by, change));
                store.update_prompt(self.caller(*by), id, patch).await?
            }
            Op::DeletePrompt(by, prompt) => {
                let id = self.prompt(*by, *prompt);
                store.delete_prompt(self.caller(*by), id).await?;
                self.prompts.forget(*by, id);
                return Ok(Outcome::Done);
            }
            Op::SavePrompt { by, prompt, vault } => {
                let (prompt, vault) = (self.prompt(*by, *prompt), self.vault(*by, *vault));
                store.save_prompt(self.caller(*by), prompt, vault).await?
            }
            _ => unreachable!("not a step on prompts: {op:?}"),
        };
        Ok(Outcome::Prompt(self.prompt_named(&prompt)))
    }

    async fn vault_step(&mut self, op: &Op) -> Result<Outcome, StoreError> {
        let store = self.store;
        let vault = match *op {
            Op::CreateVault { by, name, description, visibility } => {
                let description = description.map(words);
                let new = NewVault { name: name.into(), description, visibility };
                self.noted(by, store.create_vault(self.caller(by), new).await?)
            }
            Op::Vault(by, vault) => store.vault(self.caller(by), self.vault(by, vault)).await?,
            Op::UpdateVault { by, vault, name, description, visibility } => {
                let (name, vault) = (name.map(Arc::from), self.vault(by, vault));
                let description = description.map(|description| description.map(words));
                let patch = VaultPatch { name, description, visibility };
                store.update_vault(self.caller(by), vault, patch).await?
            }
            Op::DeleteVault(by, vault) => {
                let id = self.vault(by, vault);
                store.delete_vault(self.caller(by), id).await?;
                self.vaults.forget(by, id);
                return Ok(Outcome::Done);
            }
            Op::Fork(by, vault) => {
                let copy = store.fork_vault(self.caller(by), self.vault(by, vault)).await?;
                self.noted(by, copy)
            }
            _ => unreachable!("not a step on vaults: {op:?}"),
        };
        Ok(Outcome::Vault(self.vault_named(vault)))
    }

    fn noted(&mut self, by: Who, vault: VaultRecord) -> VaultRecord {
        self.vaults.note_own(by, vault.id);
        vault
    }

    async fn contents_step(&mut self, op: &Op) -> Result<Outcome, StoreError> {
        let store = self.store;
        match op {
            Op::Contents(by, vault) => {
                let vault = self.vault(*by, *vault);
                let contents = store.contents(self.caller(*by), vault).await?;
                let contents: Vec<_> = contents.try_collect().await?;
                for listed in &contents {
                    if self.places.insert(listed.membership, vault).is_none() {
                        self.memberships.note_own(*by, listed.membership);
                    }
                }
                Ok(Outcome::Contents(self.contents_named(contents)))
            }
            Op::AddPrompts { by, vault, prompts } => {
                let prompts: Vec<_> = prompts.iter().map(|id| self.prompt(*by, *id)).collect();
                let vault = self.vault(*by, *vault);
                Ok(Outcome::Added(store.add_prompts(self.caller(*by), vault, &prompts).await?))
            }
            Op::RemoveMembership { by, at } => {
                let (vault, membership) = self.membership(*by, *at);
                store.remove_membership(self.caller(*by), vault, membership).await?;
                self.memberships.forget(*by, membership);
                Ok(Outcome::Done)
            }
            Op::MoveMembership { by, at, target } => {
                let (vault, membership) = self.membership(*by, *at);
                let (caller, target) = (self.caller(*by), self.vault(*by, *target));
                let moved = store.move_membership(caller, vault, membership, target).await?;
                self.memberships.forget(*by, membership);
                self.memberships.note_own(*by, moved.membership);
                self.places.insert(moved.membership, target);
                let prompt = self.prompts.name(moved.prompt);
                let membership = self.memberships.name(moved.membership);
                Ok(Outcome::Moved(Moved { prompt, membership }))
            }
            Op::SetPinned { by, at, pinned } => {
                let (vault, membership) = self.membership(*by, *at);
                store.set_pinned(self.caller(*by), vault, membership, *pinned).await?;
                Ok(Outcome::Done)
            }
            _ => unreachable!("not a step on contents: {op:?}"),
        }
    }
}
