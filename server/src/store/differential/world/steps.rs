//! Taking a step: one call of the store, its answer put into names.

use std::sync::Arc;

use futures::TryStreamExt;

use super::picks::words;
use super::{Outcome, World, account_name};
use crate::store::differential::op::Op;
use crate::store::{Moved, NewKey, NewVault, PromptQuery, Scopes, StoreError, VaultPatch};

impl World<'_> {
    pub(super) async fn step(&mut self, op: &Op) -> Result<Outcome, StoreError> {
        match op {
            Op::SeedKey { .. } | Op::FindKey { .. } => self.key_step(op).await,
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
                    found.account = self.accounts.name(found.account);
                }
                Ok(Outcome::Key(found))
            }
            _ => unreachable!("not a step on keys: {op:?}"),
        }
    }

    async fn prompt_step(&mut self, op: &Op) -> Result<Outcome, StoreError> {
        let store = self.store;
        let prompt = match op {
            Op::CreatePrompt(by, draft) => {
                store.create_prompt(self.caller(*by), self.new_prompt(*by, draft)).await?
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
                store.delete_prompt(self.caller(*by), self.prompt(*by, *prompt)).await?;
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
                store.create_vault(self.caller(by), new).await?
            }
            Op::Vault(by, vault) => store.vault(self.caller(by), self.vault(by, vault)).await?,
            Op::UpdateVault { by, vault, name, description, visibility } => {
                let (name, vault) = (name.map(Arc::from), self.vault(by, vault));
                let description = description.map(|description| description.map(words));
                let patch = VaultPatch { name, description, visibility };
                store.update_vault(self.caller(by), vault, patch).await?
            }
            Op::DeleteVault(by, vault) => {
                store.delete_vault(self.caller(by), self.vault(by, vault)).await?;
                return Ok(Outcome::Done);
            }
            Op::Fork(by, vault) => store.fork_vault(self.caller(by), self.vault(by, vault)).await?,
            _ => unreachable!("not a step on vaults: {op:?}"),
        };
        Ok(Outcome::Vault(self.vault_named(vault)))
    }

    async fn contents_step(&mut self, op: &Op) -> Result<Outcome, StoreError> {
        let store = self.store;
        match op {
            Op::Contents(by, vault) => {
                let contents = store.contents(self.caller(*by), self.vault(*by, *vault)).await?;
                Ok(Outcome::Contents(self.contents_named(contents.try_collect().await?)))
            }
            Op::AddPrompts { by, vault, prompts } => {
                let prompts: Vec<_> = prompts.iter().map(|id| self.prompt(*by, *id)).collect();
                let vault = self.vault(*by, *vault);
                Ok(Outcome::Added(store.add_prompts(self.caller(*by), vault, &prompts).await?))
            }
            Op::RemoveMembership { by, at } => {
                let (vault, membership) = self.membership(*by, *at);
                store.remove_membership(self.caller(*by), vault, membership).await?;
                Ok(Outcome::Done)
            }
            Op::MoveMembership { by, at, target } => {
                let (vault, membership) = self.membership(*by, *at);
                let (caller, target) = (self.caller(*by), self.vault(*by, *target));
                let moved = store.move_membership(caller, vault, membership, target).await?;
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
