//! What must hold between any two steps, checked by scanning everything.

use std::collections::{BTreeMap, BTreeSet};

use promptarium::PromptId;

use super::account::Account;
use super::by_kind::ByKind;
use super::vault::{Place, Vault};
use super::{MemoryStore, lock};
use crate::domain::{JobState, PromptKind};

impl MemoryStore {
    /// Panics unless every account is sound and belongs to a seeded name, and
    /// exactly the vaults that exist are known to have an owner.
    pub(super) fn check_invariants(&self) {
        let accounts = lock::read(&self.accounts);
        let named: BTreeSet<_> = lock::read(&self.keys).accounts().collect();
        assert_eq!(named, accounts.keys().copied().collect());
        let (mut vaults, mut entries) = (0, BTreeMap::new());
        for (id, account) in &*accounts {
            let account = lock::read(account);
            assert_eq!(*id, account.id);
            account.check_invariants();
            for vault in account.vaults.keys() {
                assert_eq!(self.commons.owner(*vault), Some(*id));
                vaults += 1;
            }
            let jobs = account.jobs.values();
            entries.extend(jobs.filter_map(|job| Some((job.entry?, job.record.key.clone()))));
        }
        assert_eq!(self.commons.owned_vaults(), vaults);
        assert_eq!(self.commons.schedule.all(), entries);
    }

    /// The same for one account, while others may be changing.
    pub(super) fn check_account(&self, id: crate::domain::AccountId) {
        self.read(id, |account| {
            account.check_invariants();
            Ok(())
        })
        .expect("the account exists");
    }
}

impl Account {
    /// Panics unless all that is known twice is known alike.
    pub(super) fn check_invariants(&self) {
        assert_eq!(self.vaults.values().filter(|vault| vault.record.system).count(), 1);
        self.check_kinds(&self.by_kind, self.prompts.keys().copied());

        let slugs: BTreeSet<_> = self.vaults.values().map(|vault| &*vault.record.slug).collect();
        assert_eq!(slugs.len(), self.vaults.len(), "a slug is there twice");
        assert_eq!(slugs, self.slugs.taken());

        let mut vaults_of: BTreeMap<PromptId, Vec<_>> = BTreeMap::new();
        for (id, vault) in &self.vaults {
            assert_eq!(*id, vault.id());
            self.check_vault_indexes(vault);
            for prompt in vault.by_prompt.keys() {
                vaults_of.entry(*prompt).or_default().push(*id);
            }
        }
        for (id, prompt) in &self.prompts {
            assert_eq!(*id, prompt.id);
            assert_eq!(prompt.vault_ids, vaults_of.remove(id).unwrap_or_default());
            assert!(prompt.updated_at >= prompt.created_at);
            assert!(!prompt.kind.needs_model() || prompt.inputs.model_id.is_some());
        }
        assert!(vaults_of.is_empty(), "a vault holds a prompt that is not there");
        for (name, job) in &self.jobs {
            assert_eq!((name, self.id), (&job.record.key.client_job_id, job.record.key.account));
            let ended = matches!(job.record.state, JobState::Completed(..) | JobState::Failed(..));
            assert_eq!(
                job.entry.is_none(),
                ended,
                "a job has an entry in the schedule until it has ended"
            );
            assert!(!(ended && job.fence.is_some()), "an ended job has no lease");
            assert!(job.record.updated_at >= job.record.created_at);
        }
    }

    fn check_vault_indexes(&self, vault: &Vault) {
        let members = vault.members.iter();
        let by_prompt: BTreeMap<_, _> = members.map(|(id, member)| (member.prompt, *id)).collect();
        assert_eq!(by_prompt.len(), vault.members.len(), "a prompt is in a vault twice");
        assert_eq!(by_prompt, vault.by_prompt);

        let members = vault.members.iter();
        let places = members.map(|(id, member)| (Place::new(*id, member.pin), member.prompt));
        assert_eq!(places.collect::<BTreeMap<_, _>>(), vault.places);
        let pins: Vec<_> = vault.members.values().filter_map(|member| member.pin).collect();
        assert_eq!(pins.iter().collect::<BTreeSet<_>>().len(), pins.len());

        assert_eq!(vault.record.prompt_count, vault.members.len() as u64);
        self.check_kinds(&vault.by_kind, vault.by_prompt.keys().copied());
    }

    fn check_kinds(&self, by_kind: &ByKind, prompts: impl Iterator<Item = PromptId>) {
        let mut expected: BTreeMap<PromptKind, BTreeSet<PromptId>> = BTreeMap::new();
        for id in prompts {
            expected.entry(self.prompts[&id].kind).or_default().insert(id);
        }
        for kind in [PromptKind::Image, PromptKind::Text, PromptKind::Video] {
            assert_eq!(*by_kind.of(kind), expected.remove(&kind).unwrap_or_default());
        }
    }
}
