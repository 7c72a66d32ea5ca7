//! Faults in what a server remembers: a good store with single steps changed.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId, VaultPromptId};
use promptarium_server::store::{
    AccountId, ApiKeyRecord, Caller, Claim, JobKey, JobRecord, KeyId, KeyRecord, Lease, NamedKey,
    NewJob, NewKey, NewPrompt, NewVault, PromptImage, PromptInputs, PromptPage, PromptPatch,
    PromptQuery, ProviderTicket, Release, Reserved, SessionRecord, SharedPrompt, Turn, VaultPatch,
    VaultRecord,
};
use promptarium_server::store::{
    Added, Contents, JobQueue, JobStore, KeyStore, MembershipStore, Moved, PromptStore,
    SessionStore, Store, StoreError, VaultStore,
};

/// A store that does some steps in its own way.
struct WithFault<T> {
    inner: Arc<dyn Store>,
    fault: T,
}

/// The store with this fault in it.
pub(crate) fn with_fault(inner: Arc<dyn Store>, fault: impl FaultyStore) -> Arc<dyn Store> {
    Arc::new(WithFault { inner, fault })
}

/// The trait of all steps, each as the good store does it, and a store of them.
macro_rules! steps {
    ($($store:ident { $($name:ident($($arg:ident: $type:ty),*) -> $given:ty;)* })*) => {
        /// What differs from a good store; all else is as it is there.
        #[async_trait]
        pub(crate) trait FaultyStore: Send + Sync + 'static {
            $($(
                async fn $name(&self, inner: &dyn Store, $($arg: $type),*) -> $given {
                    inner.$name($($arg),*).await
                }
            )*)*
        }

        $(
            #[async_trait]
            impl<T: FaultyStore> $store for WithFault<T> {
                $(
                    async fn $name(&self, $($arg: $type),*) -> $given {
                        self.fault.$name(&*self.inner, $($arg),*).await
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

    async fn check(&self) -> Result<(), StoreError> {
        self.inner.check().await
    }
}

steps! {
    KeyStore {
        seed_key(account: &str, key: NewKey) -> Result<(), StoreError>;
        find_key(public_id: &str, digest: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError>;
        record_use(key: &KeyRecord) -> Result<(), StoreError>;
        confirm_key(caller: &Caller) -> Result<(), StoreError>;
    }
    SessionStore {
        create_sign_in_code(account: &str, digest: [u8; 32]) -> Result<(), StoreError>;
        sign_in(code: [u8; 32], session: [u8; 32]) -> Result<Option<SessionRecord>, StoreError>;
        find_session(digest: [u8; 32]) -> Result<Option<SessionRecord>, StoreError>;
        sessions(caller: &Caller) -> Result<Vec<SessionRecord>, StoreError>;
        end_session(caller: &Caller, id: KeyId) -> Result<(), StoreError>;
        create_api_key(caller: &Caller, new: NamedKey) -> Result<ApiKeyRecord, StoreError>;
        api_keys(caller: &Caller) -> Result<Vec<ApiKeyRecord>, StoreError>;
        revoke_api_key(caller: &Caller, public_id: &str) -> Result<ApiKeyRecord, StoreError>;
    }
    PromptStore {
        create_prompt(caller: &Caller, new: NewPrompt) -> Result<SharedPrompt, StoreError>;
        prompt_inputs(caller: &Caller, id: PromptId) -> Result<PromptInputs, StoreError>;
        prompt(caller: &Caller, id: PromptId) -> Result<SharedPrompt, StoreError>;
        list_prompts(caller: &Caller, query: PromptQuery) -> Result<PromptPage, StoreError>;
        update_prompt(caller: &Caller, id: PromptId, patch: PromptPatch)
            -> Result<SharedPrompt, StoreError>;
        delete_prompt(caller: &Caller, id: PromptId) -> Result<(), StoreError>;
        save_prompt(caller: &Caller, id: PromptId, vault: VaultId)
            -> Result<SharedPrompt, StoreError>;
    }
    VaultStore {
        vaults(caller: &Caller) -> Result<Vec<VaultRecord>, StoreError>;
        create_vault(caller: &Caller, new: NewVault) -> Result<VaultRecord, StoreError>;
        vault(caller: &Caller, id: VaultId) -> Result<VaultRecord, StoreError>;
        update_vault(caller: &Caller, id: VaultId, patch: VaultPatch)
            -> Result<VaultRecord, StoreError>;
        delete_vault(caller: &Caller, id: VaultId) -> Result<(), StoreError>;
        fork_vault(caller: &Caller, id: VaultId) -> Result<VaultRecord, StoreError>;
    }
    MembershipStore {
        contents(caller: &Caller, vault: VaultId) -> Result<Contents, StoreError>;
        add_prompts(caller: &Caller, vault: VaultId, prompts: &[PromptId])
            -> Result<Added, StoreError>;
        remove_membership(caller: &Caller, vault: VaultId, membership: VaultPromptId)
            -> Result<(), StoreError>;
        move_membership(
            caller: &Caller, vault: VaultId, membership: VaultPromptId, target: VaultId
        ) -> Result<Moved, StoreError>;
        set_pinned(
            caller: &Caller, vault: VaultId, membership: VaultPromptId, pinned: bool
        ) -> Result<(), StoreError>;
    }
    JobStore {
        reserve_job(caller: &Caller, new: NewJob) -> Result<Reserved, StoreError>;
        job_submitted(job: &JobKey, ticket: ProviderTicket) -> Result<JobRecord, StoreError>;
        discard_job(job: &JobKey) -> Result<(), StoreError>;
        job_lost(job: &JobKey, reason: &str) -> Result<JobRecord, StoreError>;
        job(caller: &Caller, client_job_id: &str) -> Result<JobRecord, StoreError>;
        jobs(caller: &Caller, before: Option<&str>, limit: usize)
            -> Result<Vec<JobRecord>, StoreError>;
        job_by_key(job: &JobKey) -> Result<JobRecord, StoreError>;
    }
    JobQueue {
        claim_job(lease: Duration, turn: &Turn) -> Result<Option<Claim>, StoreError>;
        fail_late_submissions(limit: Duration, reason: &str) -> Result<Vec<JobKey>, StoreError>;
        delete_ended_jobs(age: Duration) -> Result<usize, StoreError>;
        renew_lease(lease: &Lease, lasting: Duration) -> Result<(), StoreError>;
        release_job(lease: &Lease, pause: Duration, outcome: Release) -> Result<(), StoreError>;
        complete_job(lease: &Lease, images: Vec<PromptImage>) -> Result<PromptId, StoreError>;
        fail_job(lease: &Lease, reason: &str) -> Result<(), StoreError>;
        job_due(at_most: Duration, except: &[AccountId]) -> ();
    }
}
