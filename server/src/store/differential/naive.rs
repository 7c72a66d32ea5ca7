//! A store that is plainly right: flat lists, and every answer found by going
//! through all of them.
//!
//! It keeps nothing twice. A prompt's vaults, a vault's count and the order of
//! everything are worked out anew each time, from the contract of [`Store`]
//! alone.

mod jobs;
mod state;

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use futures::StreamExt;
use jiff::{SignedDuration, Timestamp};
use promptarium::{PromptId, VaultId, VaultPromptId};

use self::state::State;
use crate::clock::Clock;
use crate::domain::{
    AccountId, Caller, KeyId, KeyRecord, ListedPrompt, NewKey, NewPrompt, NewVault, PromptPage,
    PromptPatch, PromptQuery, PromptRecord, SharedPrompt, VaultPatch, VaultRecord, VaultVisibility,
};
use crate::store::StoreError::{self, NotFound, UnknownTargetVault, UnknownVault};
use crate::store::{Added, Contents, Moved, Store};

/// The naive store.
pub(crate) struct Naive {
    clock: Clock,
    state: Mutex<State>,
}

impl Naive {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no step panicked")
    }

    fn after(&self, before: Timestamp) -> Timestamp {
        self.clock.now().max(before + SignedDuration::from_micros(1))
    }
}

#[async_trait]
impl Store for Naive {
    fn name(&self) -> &'static str {
        "naive"
    }

    async fn seed_key(&self, name: &str, key: NewKey) -> Result<(), StoreError> {
        let state = &mut *self.state();
        let position = state.accounts.iter().position(|known| known == name);
        let id = |position: usize| AccountId(i64::try_from(position).expect("few accounts") + 1);
        if let Some(known) = state.keys.iter().find(|known| known.key.public_id == key.public_id) {
            let same = position.map(id) == Some(known.account) && known.key == key;
            return if same { Ok(()) } else { Err(StoreError::KeyTaken) };
        }
        let account = id(position.unwrap_or(state.accounts.len()));
        if position.is_none() {
            state.accounts.push(name.to_owned());
            let visibility = VaultVisibility::Private;
            let general = NewVault { name: "General".into(), description: None, visibility };
            state.new_vault(account, general, self.clock.now()).system = true;
        }
        let id = KeyId(i64::try_from(state.keys.len()).expect("few keys"));
        state.keys.push(KeyRecord { id, account, key });
        Ok(())
    }

    async fn find_key(&self, public_id: &str) -> Result<Option<KeyRecord>, StoreError> {
        Ok(self.state().keys.iter().find(|known| *known.key.public_id == *public_id).cloned())
    }

    async fn confirm_key(&self, _: &Caller) -> Result<(), StoreError> {
        Ok(())
    }

    async fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn create_prompt(&self, by: &Caller, new: NewPrompt) -> Result<SharedPrompt, StoreError> {
        let (mut state, now) = (self.state(), self.clock.now());
        if let Some(vault) = new.vault {
            state.vault(by, vault).map_err(|_| UnknownVault)?;
        }
        let id = PromptId::new(state.count(0));
        let record = PromptRecord {
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
        };
        state.prompts.push((by.account, record));
        if let Some(vault) = new.vault {
            state.add(vault, id);
        }
        state.show(by, id)
    }

    async fn prompt(&self, by: &Caller, id: PromptId) -> Result<SharedPrompt, StoreError> {
        self.state().show(by, id)
    }

    async fn list_prompts(
        &self,
        by: &Caller,
        query: PromptQuery,
    ) -> Result<PromptPage, StoreError> {
        let mut state = self.state();
        if let Some(vault) = query.vault {
            state.vault(by, vault).map_err(|_| UnknownVault)?;
        }
        let own = state.prompts.iter().filter(|(owner, _)| *owner == by.account);
        let mut found: Vec<_> = own
            .map(|(_, prompt)| prompt)
            .filter(|prompt| query.vault.is_none_or(|vault| state.holds(vault, prompt.id)))
            .filter(|prompt| query.kind.is_none_or(|kind| prompt.kind == kind))
            .filter(|prompt| query.after.is_none_or(|after| prompt.id < after))
            .map(|prompt| state.shown(prompt))
            .collect();
        found.sort_by_key(|prompt| Reverse(prompt.id));
        let more = found.len() > query.limit;
        found.truncate(query.limit);
        Ok(PromptPage { prompts: found, more })
    }

    async fn update_prompt(
        &self,
        by: &Caller,
        id: PromptId,
        patch: PromptPatch,
    ) -> Result<SharedPrompt, StoreError> {
        let mut state = self.state();
        let before = state.prompt(by, id)?.clone();
        if let Some(vault) = patch.vault {
            state.vault(by, vault).map_err(|_| UnknownVault)?;
        }
        let mut changed = before.clone();
        let given = patch.inputs;
        let mut fields = 0;
        macro_rules! take {
            ($($from:expr => $to:expr;)*) => { $(if let Some(value) = $from { $to = value; fields += 1; })* };
        }
        take! {
            patch.title => changed.title;
            patch.text => changed.text;
            patch.kind => changed.kind;
            patch.platform => changed.platform;
            given.model_id.map(Some) => changed.inputs.model_id;
            given.aspect_ratio.map(Some) => changed.inputs.aspect_ratio;
            given.image_url.map(Some) => changed.inputs.image_url;
            given.reference_media_urls.map(Some) => changed.inputs.reference_media_urls;
        }
        if patch.kind.is_some() && changed.kind.needs_model() && changed.inputs.model_id.is_none() {
            return Err(StoreError::ModelRequired);
        }
        if let Some(vault) = patch.vault {
            state.add(vault, id);
            fields += 1;
        }
        if fields > 0 {
            changed.updated_at = self.after(before.updated_at);
        }
        *state.prompt(by, id)? = changed;
        state.show(by, id)
    }

    async fn delete_prompt(&self, by: &Caller, id: PromptId) -> Result<(), StoreError> {
        let mut state = self.state();
        state.prompt(by, id)?;
        state.prompts.retain(|(_, prompt)| prompt.id != id);
        state.members.retain(|member| member.prompt != id);
        Ok(())
    }

    async fn save_prompt(
        &self,
        by: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt, StoreError> {
        let mut state = self.state();
        state.prompt(by, id)?;
        state.vault(by, vault).map_err(|_| UnknownVault)?;
        state.add(vault, id);
        state.show(by, id)
    }

    async fn vaults(&self, by: &Caller) -> Result<Vec<VaultRecord>, StoreError> {
        let state = self.state();
        let own = state.vaults.iter().filter(|(owner, _)| *owner == by.account);
        let mut vaults: Vec<_> = own.map(|(_, vault)| state.counted(vault)).collect();
        vaults.sort_by_key(|vault| Reverse(vault.id));
        Ok(vaults)
    }

    async fn create_vault(&self, by: &Caller, new: NewVault) -> Result<VaultRecord, StoreError> {
        Ok(self.state().new_vault(by.account, new, self.clock.now()).clone())
    }

    async fn vault(&self, by: &Caller, id: VaultId) -> Result<VaultRecord, StoreError> {
        let mut state = self.state();
        let vault = state.vault(by, id)?.clone();
        Ok(state.counted(&vault))
    }

    async fn update_vault(
        &self,
        by: &Caller,
        id: VaultId,
        patch: VaultPatch,
    ) -> Result<VaultRecord, StoreError> {
        let mut state = self.state();
        let before = state.vault(by, id)?.clone();
        let mut changed = before.clone();
        if let Some(name) = patch.name.clone().filter(|name| *name != before.name) {
            if before.system {
                return Err(StoreError::SystemVaultRename);
            }
            changed.slug = state.free_slug(by.account, &name, Some(id));
            changed.name = name;
        }
        changed.description = patch.description.clone().unwrap_or(before.description);
        changed.visibility = patch.visibility.unwrap_or(before.visibility);
        let named = [patch.name.is_some(), patch.description.is_some(), patch.visibility.is_some()];
        if named.contains(&true) {
            changed.updated_at = self.after(before.updated_at);
        }
        *state.vault(by, id)? = changed.clone();
        Ok(state.counted(&changed))
    }

    async fn delete_vault(&self, by: &Caller, id: VaultId) -> Result<(), StoreError> {
        let mut state = self.state();
        if state.vault(by, id)?.system {
            return Err(StoreError::SystemVaultDelete);
        }
        state.vaults.retain(|(_, vault)| vault.id != id);
        state.members.retain(|member| member.vault != id);
        Ok(())
    }

    async fn fork_vault(&self, by: &Caller, id: VaultId) -> Result<VaultRecord, StoreError> {
        let (mut state, now) = (self.state(), self.clock.now());
        let found = state.vaults.iter().find(|(_, vault)| vault.id == id);
        let (owner, source) = found.cloned().ok_or(NotFound)?;
        if source.visibility == VaultVisibility::Private {
            let own = owner == by.account;
            return Err(if own { StoreError::ForkOfPrivateVault } else { NotFound });
        }
        let VaultRecord { name, description, .. } = source;
        let new = NewVault { name, description, visibility: VaultVisibility::Private };
        let copy = state.new_vault(by.account, new, now);
        copy.cover_image_url = source.cover_image_url;
        let copy = copy.clone();
        let mut members = state.members.clone();
        members.retain(|member| member.vault == id);
        members.sort_by_key(|member| member.id);
        for member in members {
            let mut all = state.prompts.iter();
            let original = all.find(|(_, prompt)| prompt.id == member.prompt).cloned();
            let (_, original) = original.expect("a member is a prompt");
            let id = PromptId::new(state.count(0));
            let prompt = PromptRecord { id, created_at: now, updated_at: now, ..original };
            state.prompts.push((by.account, prompt));
            state.add(copy.id, id);
        }
        Ok(state.counted(&copy))
    }

    async fn contents(&self, by: &Caller, vault: VaultId) -> Result<Contents, StoreError> {
        let mut state = self.state();
        state.vault(by, vault)?;
        let mut members = state.members.clone();
        members.retain(|member| member.vault == vault);
        members.sort_by_key(|member| Reverse((member.pin, member.id)));
        let mut listed = Vec::new();
        for member in members {
            let (prompt, pinned) = (state.show(by, member.prompt)?, member.pin > 0);
            listed.push(Ok(ListedPrompt { prompt, membership: member.id, pinned }));
        }
        Ok(futures::stream::iter(listed).boxed())
    }

    async fn add_prompts(
        &self,
        by: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Added, StoreError> {
        let mut state = self.state();
        state.vault(by, vault)?;
        let mut unknown = Vec::new();
        for id in prompts {
            if state.prompt(by, *id).is_err() && !unknown.contains(id) {
                unknown.push(*id);
            }
        }
        if !unknown.is_empty() {
            return Err(StoreError::UnknownPrompts(unknown));
        }
        let added = prompts.iter().filter(|id| state.add(vault, **id)).count();
        let vault = state.vault(by, vault)?.clone();
        Ok(Added { added, prompt_count: state.counted(&vault).prompt_count })
    }

    async fn remove_membership(
        &self,
        by: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
    ) -> Result<(), StoreError> {
        let mut state = self.state();
        state.member(by, vault, membership)?;
        state.members.retain(|member| member.id != membership);
        Ok(())
    }

    async fn move_membership(
        &self,
        by: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        target: VaultId,
    ) -> Result<Moved, StoreError> {
        let mut state = self.state();
        let prompt = state.member(by, vault, membership)?.prompt;
        state.vault(by, target).map_err(|_| UnknownTargetVault)?;
        state.members.retain(|member| {
            member.id != membership && (member.vault != target || member.prompt != prompt)
        });
        state.add(target, prompt);
        let membership = VaultPromptId::new(state.counts[2]);
        Ok(Moved { prompt, membership })
    }

    async fn set_pinned(
        &self,
        by: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        pinned: bool,
    ) -> Result<(), StoreError> {
        let mut state = self.state();
        let next = state.count(3);
        let member = state.member(by, vault, membership)?;
        member.pin = match (pinned, member.pin) {
            (true, 0) => next,
            (true, pin) => pin,
            (false, _) => 0,
        };
        Ok(())
    }
}
