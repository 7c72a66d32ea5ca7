//! Tests of the contract of the store traits, without what responses show: the conformance
//! scenarios prove that on all stores. Each test is one function that runs on all stores:
//! [`contract_tests`] makes tests of it.

mod accounts;
mod admin;
mod concurrency;
mod ended;
pub(super) mod jobs;
mod keys;
mod races;
mod searches;

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt;
use jiff::{SignedDuration, Timestamp};
use promptarium::{PromptId, VaultId};

use super::memory::MemoryStore;
use super::postgres::scratch::ScratchDatabase;
use super::postgres::{DatabaseUrl, Migration, PostgresStore};
use super::{Store, StoreError};
use crate::clock::{Clock, ManualClock};
use crate::domain::{
    Caller, ListedPrompt, NewKey, NewPrompt, NewVault, PromptInputs, PromptKind, PromptQuery,
    Scopes, SharedPrompt, VaultRecord, VaultVisibility,
};

/// Makes of each function a test in memory, in a folder and on PostgreSQL.
macro_rules! contract_tests {
    ($($name:ident)*) => {
        $(mod $name {
            use crate::store::contract_tests::{StoreUnderTest, run};

            #[tokio::test(flavor = "multi_thread")]
            async fn in_memory() {
                run(StoreUnderTest::memory(), super::$name).await;
            }

            #[cfg(feature = "folder")]
            #[tokio::test(flavor = "multi_thread")]
            async fn in_a_folder() {
                run(StoreUnderTest::folder(), super::$name).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn on_postgres() {
                run(StoreUnderTest::postgres().await, super::$name).await;
            }
        })*
    };
}
use contract_tests;

async fn run(db: StoreUnderTest, test: impl AsyncFnOnce(Arc<StoreUnderTest>)) {
    let db = Arc::new(db);
    test(Arc::clone(&db)).await;
    db.check().await;
}

/// Asserts that a result is this error.
macro_rules! assert_error {
    ($result:expr, $error:pat) => {{
        let result = $result;
        assert!(matches!(result, Err($error)), "{result:?}");
    }};
}
use assert_error;

/// How many vaults an account may have in the store under test.
pub(crate) const VAULTS_MAX: usize = 200;

/// A store with a manual clock.
pub(crate) struct StoreUnderTest {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: ManualClock,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    Memory(Arc<MemoryStore>),
    #[cfg(feature = "folder")]
    Folder(Arc<MemoryStore>, tempfile::TempDir),
    Postgres(Box<PostgresStore>, ScratchDatabase),
}

impl StoreUnderTest {
    pub(crate) fn memory() -> Self {
        let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
        let store = MemoryStore::new(Clock::Manual(clock.clone())).with_vaults_max(VAULTS_MAX);
        let store = Arc::new(store);
        Self { store: store.clone(), clock, kind: Kind::Memory(store) }
    }

    #[cfg(feature = "folder")]
    pub(crate) fn folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
        let store = Arc::new(super::folder::tests::open(folder.path(), &clock));
        Self { store: store.clone(), clock, kind: Kind::Folder(store, folder) }
    }

    pub(crate) fn is_folder(&self) -> bool {
        !matches!(self.kind, Kind::Memory(_) | Kind::Postgres(..))
    }

    /// Closes a store in a folder and opens it again.
    #[cfg(feature = "folder")]
    pub(crate) fn reopened(self) -> Self {
        let Self { store, clock, kind } = self;
        let Kind::Folder(memory, folder) = kind else { panic!("the store is not in a folder") };
        drop(store);
        drop(Arc::into_inner(memory).expect("nobody else has the store"));
        let store = Arc::new(super::folder::tests::open(folder.path(), &clock));
        Self { store: store.clone(), clock, kind: Kind::Folder(store, folder) }
    }

    pub(crate) async fn postgres() -> Self {
        let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
        let database = ScratchDatabase::create().await.unwrap();
        let url = DatabaseUrl::parse(&database.url()).unwrap();
        let manual = Clock::Manual(clock.clone());
        let store = PostgresStore::open(&url, Migration::Auto, manual).await.unwrap();
        let store = store.with_vaults_max(VAULTS_MAX);
        Self {
            store: Arc::new(store.clone()),
            clock,
            kind: Kind::Postgres(Box::new(store), database),
        }
    }

    /// A connection of its own to the database.
    pub(super) async fn sql(&self) -> tokio_postgres::Client {
        let Kind::Postgres(_, database) = &self.kind else { panic!("the store is not PostgreSQL") };
        database.client().await
    }

    /// Panics if an invariant of the data is broken.
    pub(super) async fn check(&self) {
        match &self.kind {
            Kind::Memory(store) => store.check_invariants(),
            #[cfg(feature = "folder")]
            Kind::Folder(store, folder) => {
                store.check_invariants();
                super::folder::tests::check_file(store, folder.path());
            }
            Kind::Postgres(store, _) => {
                assert_eq!(store.broken_invariants().await, Vec::<String>::new());
            }
        }
    }

    /// The caller of a new key of an account, which is created if it does not exist.
    pub(crate) async fn caller(&self, account: &str) -> Caller {
        caller(&*self.store, account).await
    }

    pub(crate) async fn general(&self, caller: &Caller) -> VaultRecord {
        self.store.vaults(caller).await.unwrap().pop().unwrap()
    }

    /// A new vault with these prompts, the last one on top.
    async fn vault(
        &self,
        caller: &Caller,
        visibility: VaultVisibility,
        prompts: &[PromptId],
    ) -> VaultId {
        let new = NewVault { visibility, ..named("Sky") };
        let id = self.store.create_vault(caller, new).await.unwrap().id;
        self.store.add_prompts(caller, id, prompts).await.unwrap();
        id
    }

    pub(super) async fn private(&self, caller: &Caller, prompts: &[PromptId]) -> VaultId {
        self.vault(caller, VaultVisibility::Private, prompts).await
    }

    pub(super) async fn public(&self, caller: &Caller, prompts: &[PromptId]) -> VaultId {
        self.vault(caller, VaultVisibility::Public, prompts).await
    }

    pub(super) async fn prompt(&self, caller: &Caller, vault: Option<VaultId>) -> SharedPrompt {
        self.store.create_prompt(caller, new_prompt(PromptKind::Text, vault)).await.unwrap()
    }

    async fn prompts<const N: usize>(&self, caller: &Caller) -> [PromptId; N] {
        let mut ids = [PromptId::new(0); N];
        for id in &mut ids {
            *id = self.prompt(caller, None).await.id;
        }
        ids
    }

    pub(crate) async fn contents(&self, caller: &Caller, vault: VaultId) -> Vec<ListedPrompt> {
        self.store.contents(caller, vault).await.unwrap().entries.try_collect().await.unwrap()
    }

    /// The prompts of a vault in display order; checks the vault's count.
    async fn shown(&self, caller: &Caller, vault: VaultId) -> Vec<PromptId> {
        let contents = self.contents(caller, vault).await;
        let count = self.store.vault(caller, vault).await.unwrap().prompt_count;
        assert_eq!(count, contents.len() as u64);
        contents.iter().map(|listed| listed.prompt.id).collect()
    }

    /// All prompts of a query, page by page.
    async fn pages(&self, caller: &Caller, mut query: PromptQuery) -> Vec<PromptId> {
        let mut ids = Vec::new();
        loop {
            let page = self.store.list_prompts(caller, query).await.unwrap();
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

/// The caller of a key of an account, which is created if it does not exist.
pub(super) async fn caller(store: &dyn Store, account: &str) -> Caller {
    let public_id = format!("key-of-{account}");
    store.seed_key(account, key(&public_id)).await.unwrap();
    store.find_key(&public_id, &[7; 32]).await.unwrap().unwrap().caller()
}

const ALL_PROMPTS: PromptQuery = PromptQuery { vault: None, kind: None, after: None, limit: 3 };

pub(super) fn key(public_id: &str) -> NewKey {
    let (public_id, name, scopes) = (public_id.into(), Some("laptop".into()), Scopes::ALL);
    NewKey { public_id, name, digest: [7; 32], scopes, revoked: false }
}

/// This long after the start of the clock.
fn at(time: Duration) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::try_from(time).unwrap()
}

pub(super) fn named(name: &str) -> NewVault {
    NewVault { name: name.into(), description: None, visibility: VaultVisibility::Private }
}

pub(super) fn new_prompt(kind: PromptKind, vault: Option<VaultId>) -> NewPrompt {
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
        images: [].into(),
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
