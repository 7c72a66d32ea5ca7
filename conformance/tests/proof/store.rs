//! Faults in what a server remembers: a good store with single steps changed.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use promptarium::{PromptId, VaultId, VaultPromptId};
use promptarium_server::store::{
    AccountData, AccountId, AccountStore, Added, ApiKeyRecord, Caller, Claim, Contents, JobKey,
    JobQueue, JobRecord, JobStore, KeyId, KeyRecord, KeyStore, Lease, ListedPrompt,
    MembershipStore, Moved, NamedKey, NewJob, NewKey, NewPrompt, NewVault, PromptImage,
    PromptInputs, PromptKind, PromptPage, PromptPatch, PromptQuery, PromptSearch, PromptStore,
    ProviderTicket, Release, Reserved, SearchStore, SessionRecord, SessionStore, SharedPrompt,
    Store, StoreError, Turn, VaultPatch, VaultRecord, VaultStore,
};

use crate::fault::Intercept;

pub(crate) type Result<T = ()> = std::result::Result<T, StoreError>;

/// A store that does some steps in its own way.
struct WithFault<T> {
    inner: Arc<dyn Store>,
    fault: T,
}

/// A server whose store has this fault. Requests of other routes never meet it.
pub(crate) fn in_store(routes: &'static str, fault: impl FaultyStore) -> Intercept {
    Intercept::Store(routes, Box::new(|inner| Arc::new(WithFault { inner, fault })))
}

/// The good store as one caller uses it.
#[derive(Clone, Copy)]
pub(crate) struct Good<'a> {
    pub(crate) inner: &'a dyn Store,
    pub(crate) caller: &'a Caller,
}

impl<'a> Good<'a> {
    /// The same store for another caller.
    pub(crate) fn of(self, caller: &'a Caller) -> Self {
        Self { caller, ..self }
    }

    /// What a vault holds.
    pub(crate) async fn held(&self, vault: VaultId) -> Vec<ListedPrompt> {
        let Ok(contents) = self.contents(vault).await else { return Vec::new() };
        contents.filter_map(|entry| async { entry.ok() }).collect().await
    }

    /// The entry of a prompt in a vault.
    pub(crate) async fn entry(&self, vault: VaultId, prompt: PromptId) -> Option<ListedPrompt> {
        self.held(vault).await.into_iter().find(|entry| entry.prompt.id == prompt)
    }

    /// Takes a prompt out of some of its vaults.
    pub(crate) async fn take_out(
        &self,
        prompt: PromptId,
        from: impl Fn(VaultId) -> bool,
    ) -> Result {
        for vault in self.prompt(prompt).await?.vault_ids.iter().filter(|vault| from(**vault)) {
            if let Some(entry) = self.entry(*vault, prompt).await {
                self.remove_membership(*vault, entry.membership).await?;
            }
        }
        Ok(())
    }
}

/// The trait of all steps, each as the good store does it, and a store of them. The steps
/// of a `caller` know whose they are; those of the `store` do not.
macro_rules! steps {
    ($($store:ident {
        $(caller.$step:ident($($arg:ident: $type:ty),*) -> $given:ty;)*
        $(store.$name:ident($($with:ident: $of:ty),*) -> $result:ty;)*
    })*) => {
        /// What differs from a good store; all else is as it is there.
        #[async_trait]
        pub(crate) trait FaultyStore: Send + Sync + 'static {
            $(
                $(
                    async fn $step(&self, good: Good<'_>, $($arg: $type),*) -> $given {
                        good.$step($($arg),*).await
                    }
                )*
                $(
                    async fn $name(&self, inner: &dyn Store, $($with: $of),*) -> $result {
                        inner.$name($($with),*).await
                    }
                )*
            )*
        }

        impl Good<'_> {
            $($(
                pub(crate) async fn $step(&self, $($arg: $type),*) -> $given {
                    self.inner.$step(self.caller, $($arg),*).await
                }
            )*)*
        }

        $(
            #[async_trait]
            impl<T: FaultyStore> $store for WithFault<T> {
                $(
                    async fn $step(&self, caller: &Caller, $($arg: $type),*) -> $given {
                        self.fault.$step(Good { inner: &*self.inner, caller }, $($arg),*).await
                    }
                )*
                $(
                    async fn $name(&self, $($with: $of),*) -> $result {
                        self.fault.$name(&*self.inner, $($with),*).await
                    }
                )*
            }
        )*
    };
}

#[async_trait]
impl<T: FaultyStore> Store for WithFault<T> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    async fn check(&self) -> Result {
        self.inner.check().await
    }
}

steps! {
    KeyStore {
        caller.confirm_key() -> Result;
        caller.create_api_key(new: NamedKey) -> Result<ApiKeyRecord>;
        caller.api_keys() -> Result<Vec<ApiKeyRecord>>;
        caller.revoke_api_key(public_id: &str) -> Result<ApiKeyRecord>;
        store.seed_key(account: &str, key: NewKey) -> Result;
        store.find_key(public_id: &str, digest: &[u8; 32]) -> Result<Option<KeyRecord>>;
        store.record_use(key: &KeyRecord) -> Result;
    }
    SessionStore {
        caller.sessions() -> Result<Vec<SessionRecord>>;
        caller.end_session(id: KeyId) -> Result;
        store.create_sign_in_code(account: &str, digest: [u8; 32]) -> Result;
        store.sign_in(code: [u8; 32], session: [u8; 32], browser: Option<&str>) -> Result<Option<SessionRecord>>;
        store.find_session(digest: [u8; 32]) -> Result<Option<SessionRecord>>;
    }
    PromptStore {
        caller.create_prompt(new: NewPrompt) -> Result<SharedPrompt>;
        caller.prompt_inputs(id: PromptId) -> Result<PromptInputs>;
        caller.prompt(id: PromptId) -> Result<SharedPrompt>;
        caller.list_prompts(query: PromptQuery) -> Result<PromptPage>;
        caller.update_prompt(id: PromptId, patch: PromptPatch) -> Result<SharedPrompt>;
        caller.delete_prompt(id: PromptId) -> Result;
        caller.save_prompt(id: PromptId, vault: VaultId) -> Result<SharedPrompt>;
    }
    SearchStore {
        caller.search_prompts(search: PromptSearch) -> Result<PromptPage>;
        caller.count_prompts(kind: Option<PromptKind>, most: usize) -> Result<usize>;
        caller.memberships_of(vault: VaultId, prompts: &[PromptId]) -> Result<Vec<VaultPromptId>>;
    }
    VaultStore {
        caller.vaults() -> Result<Vec<VaultRecord>>;
        caller.newest_vaults(limit: usize) -> Result<Vec<VaultRecord>>;
        caller.create_vault(new: NewVault) -> Result<VaultRecord>;
        caller.vault(id: VaultId) -> Result<VaultRecord>;
        caller.update_vault(id: VaultId, patch: VaultPatch) -> Result<VaultRecord>;
        caller.delete_vault(id: VaultId) -> Result;
        caller.fork_vault(id: VaultId) -> Result<VaultRecord>;
    }
    MembershipStore {
        caller.contents(vault: VaultId) -> Result<Contents>;
        caller.add_prompts(vault: VaultId, prompts: &[PromptId]) -> Result<Added>;
        caller.remove_membership(vault: VaultId, id: VaultPromptId) -> Result;
        caller.move_membership(vault: VaultId, id: VaultPromptId, target: VaultId) -> Result<Moved>;
        caller.set_pinned(vault: VaultId, id: VaultPromptId, pinned: bool) -> Result;
    }
    AccountStore {
        caller.rename_account(name: &str) -> Result;
        caller.delete_account() -> Result;
        caller.import(data: AccountData) -> Result;
        caller.add_image(prompt: PromptId, image: PromptImage) -> Result;
        store.shared_vault(account: &str, slug: &str) -> Result<(AccountId, VaultRecord)>;
        store.vault_page(account: AccountId, vault: VaultId, offset: usize, limit: usize) -> Result<Vec<ListedPrompt>>;
    }
    JobStore {
        caller.reserve_job(new: NewJob) -> Result<Reserved>;
        caller.job(client_job_id: &str) -> Result<JobRecord>;
        caller.jobs(before: Option<&str>, limit: usize) -> Result<Vec<JobRecord>>;
        store.job_submitted(job: &JobKey, ticket: ProviderTicket) -> Result<JobRecord>;
        store.discard_job(job: &JobKey) -> Result;
        store.job_lost(job: &JobKey, reason: &str) -> Result<JobRecord>;
        store.job_by_key(job: &JobKey) -> Result<JobRecord>;
    }
    JobQueue {
        store.claim_job(lease: Duration, turn: &Turn) -> Result<Option<Claim>>;
        store.fail_late_submissions(limit: Duration, reason: &str) -> Result<Vec<JobKey>>;
        store.delete_ended_jobs(age: Duration) -> Result<usize>;
        store.renew_lease(lease: &Lease, lasting: Duration) -> Result;
        store.note_job(lease: &Lease, provider_state: Option<&str>, waits_for: &str) -> Result;
        store.release_job(lease: &Lease, pause: Duration, outcome: Release) -> Result;
        store.complete_job(lease: &Lease, images: Vec<PromptImage>) -> Result<PromptId>;
        store.fail_job(lease: &Lease, reason: &str) -> Result;
        store.job_due(at_most: Duration, except: &[AccountId]) -> ();
    }
}
