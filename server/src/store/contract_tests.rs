//! Tests of the contract of the store traits. Each is one function that runs on both
//! stores: [`contract_tests`] makes two tests of it.

mod concurrency;
mod keys;
mod memberships;
mod prompts;
mod vaults;

use std::sync::Arc;

use futures::TryStreamExt;
use jiff::Timestamp;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::memory::MemoryStore;
use super::postgres::scratch::ScratchDatabase;
use super::postgres::{DatabaseUrl, Migration, PostgresStore};
use super::{Store, StoreError};
use crate::clock::{Clock, ManualClock};
use crate::domain::{
    Caller, ListedPrompt, NewKey, NewPrompt, NewVault, PromptInputs, PromptKind, PromptQuery,
    Scopes, SharedPrompt, VaultPatch, VaultRecord, VaultVisibility,
};

/// Makes of each function a test on memory and one on PostgreSQL.
macro_rules! contract_tests {
    ($($name:ident)*) => {
        mod memory {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $name() {
                    let on = std::sync::Arc::new(super::super::StoreUnderTest::memory());
                    super::$name(std::sync::Arc::clone(&on)).await;
                    on.check().await;
                }
            )*
        }

        mod postgres {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $name() {
                    let on = std::sync::Arc::new(super::super::StoreUnderTest::postgres().await);
                    super::$name(std::sync::Arc::clone(&on)).await;
                    on.check().await;
                }
            )*
        }
    };
}
use contract_tests;

/// Asserts that a result is this error.
macro_rules! assert_error {
    ($result:expr, $error:pat) => {{
        let result = $result;
        assert!(matches!(result, Err($error)), "{result:?}");
    }};
}
use assert_error;

/// An id that no store assigns.
const NO_VAULT: VaultId = VaultId::new(i64::MAX);

/// A store with a manual clock.
pub(super) struct StoreUnderTest {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: ManualClock,
    kind: Kind,
}

enum Kind {
    Memory(Arc<MemoryStore>),
    Postgres(PostgresStore, ScratchDatabase),
}

impl StoreUnderTest {
    pub(super) fn memory() -> Self {
        let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
        let store = Arc::new(MemoryStore::new(Clock::Manual(clock.clone())));
        Self { store: store.clone(), clock, kind: Kind::Memory(store) }
    }

    pub(super) async fn postgres() -> Self {
        let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
        let database = ScratchDatabase::create().await.unwrap();
        let url = DatabaseUrl::parse(&database.url()).unwrap();
        let manual = Clock::Manual(clock.clone());
        let store = PostgresStore::open(&url, Migration::Auto, manual).await.unwrap();
        Self { store: Arc::new(store.clone()), clock, kind: Kind::Postgres(store, database) }
    }

    /// A connection of its own to the database.
    pub(super) async fn sql(&self) -> tokio_postgres::Client {
        let Kind::Postgres(_, database) = &self.kind else { panic!("the store is in memory") };
        let url = database.url();
        let connecting = tokio_postgres::connect(&url, tokio_postgres::NoTls);
        let (client, connection) = connecting.await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Panics if an invariant of the data is broken.
    pub(super) async fn check(&self) {
        match &self.kind {
            Kind::Memory(store) => store.check_invariants(),
            Kind::Postgres(store, _) => {
                assert_eq!(store.broken_invariants().await, Vec::<String>::new());
            }
        }
    }

    /// Sets the cover of a vault, for which there is no method.
    async fn set_cover(&self, by: &Caller, vault: VaultId, url: &str) {
        match &self.kind {
            Kind::Memory(store) => store.set_cover(by, vault, url),
            Kind::Postgres(..) => {
                let update = "UPDATE vault SET cover_image_url = $1 WHERE id = $2";
                self.sql().await.execute(update, &[&url, &vault.get()]).await.unwrap();
            }
        }
    }

    /// How many accounts there are.
    async fn accounts(&self) -> usize {
        match &self.kind {
            Kind::Memory(store) => store.account_count(),
            Kind::Postgres(store, _) => store.accounts().await.unwrap().len(),
        }
    }

    fn now(&self) -> Timestamp {
        Clock::Manual(self.clock.clone()).now()
    }

    /// The caller of a new key of an account, which is created if it does not exist.
    pub(super) async fn caller(&self, account: &str) -> Caller {
        let public_id = format!("key-of-{account}");
        self.store.seed_key(account, key(&public_id)).await.unwrap();
        self.store.find_key(&public_id).await.unwrap().unwrap().caller()
    }

    async fn general(&self, by: &Caller) -> VaultRecord {
        self.store.vaults(by).await.unwrap().pop().unwrap()
    }

    /// A new vault with these prompts, the last one on top.
    async fn vault(
        &self,
        by: &Caller,
        visibility: VaultVisibility,
        prompts: &[PromptId],
    ) -> VaultId {
        let new = NewVault { visibility, ..named("Sky") };
        let id = self.store.create_vault(by, new).await.unwrap().id;
        self.store.add_prompts(by, id, prompts).await.unwrap();
        id
    }

    async fn private(&self, by: &Caller, prompts: &[PromptId]) -> VaultId {
        self.vault(by, VaultVisibility::Private, prompts).await
    }

    async fn public(&self, by: &Caller, prompts: &[PromptId]) -> VaultId {
        self.vault(by, VaultVisibility::Public, prompts).await
    }

    async fn prompt(&self, by: &Caller, vault: Option<VaultId>) -> SharedPrompt {
        self.store.create_prompt(by, new_prompt(PromptKind::Text, vault)).await.unwrap()
    }

    async fn prompts<const N: usize>(&self, by: &Caller) -> [PromptId; N] {
        let mut ids = [PromptId::new(0); N];
        for id in &mut ids {
            *id = self.prompt(by, None).await.id;
        }
        ids
    }

    async fn contents(&self, by: &Caller, vault: VaultId) -> Vec<ListedPrompt> {
        self.store.contents(by, vault).await.unwrap().try_collect().await.unwrap()
    }

    /// The prompts of a vault in display order; checks the vault's count.
    async fn shown(&self, by: &Caller, vault: VaultId) -> Vec<PromptId> {
        let contents = self.contents(by, vault).await;
        let count = self.store.vault(by, vault).await.unwrap().prompt_count;
        assert_eq!(count, contents.len() as u64);
        contents.iter().map(|listed| listed.prompt.id).collect()
    }

    async fn membership(&self, by: &Caller, vault: VaultId, prompt: PromptId) -> VaultPromptId {
        let contents = self.contents(by, vault).await;
        contents.iter().find(|listed| listed.prompt.id == prompt).unwrap().membership
    }

    /// All prompts of a query, page by page.
    async fn pages(&self, by: &Caller, mut query: PromptQuery) -> Vec<PromptId> {
        let mut ids = Vec::new();
        loop {
            let page = self.store.list_prompts(by, query).await.unwrap();
            assert!(page.prompts.len() == query.limit || !page.more, "a short page has no next");
            ids.extend(page.prompts.iter().map(|prompt| prompt.id));
            assert!(ids.is_sorted_by(|a, b| a > b), "twice or out of order");
            query.after = ids.last().copied();
            if !page.more {
                return ids;
            }
        }
    }
}

const ALL_PROMPTS: PromptQuery = PromptQuery { vault: None, kind: None, after: None, limit: 3 };

fn key(public_id: &str) -> NewKey {
    NewKey { public_id: public_id.into(), digest: [7; 32], scopes: Scopes::ALL, revoked: false }
}

fn named(name: &str) -> NewVault {
    NewVault { name: name.into(), description: None, visibility: VaultVisibility::Private }
}

fn renamed(name: &str) -> VaultPatch {
    VaultPatch { name: Some(name.into()), ..VaultPatch::default() }
}

fn new_prompt(kind: PromptKind, vault: Option<VaultId>) -> NewPrompt {
    NewPrompt {
        title: "A title".into(),
        text: "A text".into(),
        kind,
        platform: Some("a platform".into()),
        inputs: PromptInputs {
            model_id: kind.needs_model().then(|| "local/plasma".into()),
            aspect_ratio: Some("16:9".into()),
            image_url: Some("https://example.com/a.png".into()),
            reference_media_urls: Some(["https://example.com/b.png".into()].into()),
        },
        vault,
    }
}

/// Whether the addressed resource existed; any other error is a failure.
fn found<T: std::fmt::Debug>(result: Result<T, StoreError>) -> Option<T> {
    use StoreError::{NotFound, UnknownPrompts, UnknownTargetVault, UnknownVault};
    match result {
        Ok(value) => Some(value),
        Err(NotFound | UnknownVault | UnknownTargetVault | UnknownPrompts(_)) => None,
        Err(error) => panic!("{error:?}"),
    }
}
