//! What must hold between any two calls, checked by reading everything; and what tests do
//! that no method does.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use promptarium::{PromptId, VaultId};

use super::account::{Account, PromptIndex, Vault};
use super::{MemoryStore, read, write};
use crate::domain::{Caller, JobState};

impl MemoryStore {
    /// Panics if the data is inconsistent.
    pub(in crate::store) fn check_invariants(&self) {
        let accounts = read(&self.accounts);
        let named: BTreeSet<_> = read(&self.keys).accounts.values().copied().collect();
        assert_eq!(named, accounts.keys().copied().collect(), "an account without a name");
        let (mut owners, mut entries) = (HashMap::new(), BTreeMap::new());
        for (id, account) in &*accounts {
            let account = read(account);
            assert_eq!(*id, account.id);
            account.check_invariants();
            owners.extend(account.vaults.keys().map(|vault| (*vault, *id)));
            let jobs = account.jobs.values();
            entries.extend(jobs.filter_map(|job| Some((job.entry?, job.record.key.clone()))));
        }
        assert_eq!(*read(&self.shared.owners), owners);
        assert_eq!(self.shared.schedule.all(), entries);
    }

    pub(in crate::store) fn account_count(&self) -> usize {
        read(&self.accounts).len()
    }

    /// Sets the cover of a vault, for which there is no method.
    pub(in crate::store) fn set_cover(&self, by: &Caller, vault: VaultId, url: &str) {
        let account = self.account(by.account).unwrap();
        let vaults = &mut write(&account).vaults;
        vaults.get_mut(&vault).unwrap().record.cover_image_url = Some(url.into());
    }
}

impl Account {
    fn check_invariants(&self) {
        assert_eq!(self.vaults.values().filter(|vault| vault.record.system).count(), 1);
        let slugs: BTreeSet<_> =
            self.vaults.values().map(|vault| vault.record.slug.clone()).collect();
        assert_eq!(slugs.len(), self.vaults.len(), "two vaults have one slug");
        assert_eq!(slugs, self.slugs);

        let mut index = PromptIndex::default();
        let mut vaults_of: BTreeMap<PromptId, Vec<_>> = BTreeMap::new();
        for (id, vault) in &self.vaults {
            assert_eq!(*id, vault.id());
            vault.check_invariants();
            for prompt in vault.by_prompt.keys() {
                index.insert(Some(*id), self.prompts[prompt].kind, *prompt);
                vaults_of.entry(*prompt).or_default().push(*id);
            }
        }
        for (id, prompt) in &self.prompts {
            assert_eq!(*id, prompt.id);
            index.insert(None, prompt.kind, *id);
            assert_eq!(prompt.vault_ids, vaults_of.remove(id).unwrap_or_default());
            assert!(prompt.updated_at >= prompt.created_at);
            assert!(!prompt.kind.needs_model() || prompt.inputs.model_id.is_some());
        }
        assert_eq!(index, self.index);
        assert!(vaults_of.is_empty(), "a membership of a prompt that does not exist");
        for (name, job) in &self.jobs {
            assert_eq!((name, self.id), (&job.record.key.client_job_id, job.record.key.account));
            let ended = matches!(job.record.state, JobState::Completed(..) | JobState::Failed(..));
            assert_eq!(job.entry.is_none(), ended, "only a job that has not ended is scheduled");
            assert!(!(ended && job.fence.is_some()), "a job that has ended has a lease");
            assert!(job.record.updated_at >= job.record.created_at);
        }
    }
}

impl Vault {
    fn check_invariants(&self) {
        let members = self.members.iter();
        let by_prompt: HashMap<_, _> = members.map(|(id, member)| (member.prompt, *id)).collect();
        assert_eq!(by_prompt.len(), self.members.len(), "a prompt is in a vault twice");
        assert_eq!(by_prompt, self.by_prompt);
        let members = self.members.iter();
        let order = members.map(|(id, member)| ((member.pin, *id), member.prompt));
        assert_eq!(order.collect::<BTreeMap<_, _>>(), self.order);
        let pins: Vec<_> = self.members.values().filter_map(|member| member.pin).collect();
        assert_eq!(pins.iter().collect::<BTreeSet<_>>().len(), pins.len());
        assert_eq!(self.record.prompt_count, self.members.len() as u64);
    }
}
