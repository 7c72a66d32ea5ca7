//! One step at a time, held against the store in memory: it gives the same ids.

use std::fmt::Debug;
use std::time::Duration;

use jiff::Timestamp;
use promptarium::{PromptId, VaultId};

use super::world::{self, counts, query};
use crate::clock::{Clock, ManualClock};
use crate::domain::{
    Caller, NewKey, NewVault, PromptImage, PromptInputs, PromptKind, PromptPatch, Scopes,
    VaultVisibility,
};
use crate::store::memory::MemoryStore;
use crate::store::postgres::scratch::ScratchDatabase;
use crate::store::postgres::tests::store;
use crate::store::postgres::{DatabaseUrl, Migration, PostgresStore};
use crate::store::{Store, StoreError};

const NOBODYS: VaultId = VaultId::new(999);

/// Both stores with one account, its General vault and another, and one clock.
struct Pair {
    postgres: PostgresStore,
    memory: MemoryStore,
    clock: ManualClock,
    /// The same in both.
    caller: Caller,
    general: VaultId,
    vault: VaultId,
    _database: ScratchDatabase,
}

impl Pair {
    async fn new() -> Self {
        let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
        let database = ScratchDatabase::create().await.unwrap();
        let url = DatabaseUrl::parse(&database.url()).unwrap();
        let manual = Clock::Manual(clock.clone());
        let postgres = PostgresStore::open(&url, Migration::Auto, manual.clone()).await.unwrap();
        let (caller, general) = world::account(&postgres).await;
        let vault = world::vault(&postgres, &caller).await;

        let memory = MemoryStore::new(manual);
        let (digest, scopes) = ([7; 32], Scopes::ALL);
        let key = NewKey { public_id: "a".into(), digest, scopes, revoked: false };
        memory.seed_key("a", key).await.unwrap();
        let visibility = VaultVisibility::Private;
        let new = NewVault { name: "Sky".into(), description: None, visibility };
        let found = memory.find_key("a").await.unwrap().unwrap();
        assert_eq!(found.account, caller.account);
        assert_eq!(memory.create_vault(&caller, new).await.unwrap().id, vault);
        Self { postgres, memory, clock, caller, general, vault, _database: database }
    }

    /// The two answers to one step are the same, errors too.
    async fn same<T: Debug>(
        &self,
        step: impl AsyncFn(&dyn Store, &Caller) -> Result<T, StoreError>,
    ) {
        self.clock.advance(Duration::from_millis(7));
        let expected = step(&self.memory, &self.caller).await;
        let found = step(&self.postgres, &self.caller).await;
        assert_eq!(format!("{found:#?}"), format!("{expected:#?}"));
    }

    async fn create(&self, kind: PromptKind, vault: Option<VaultId>) {
        self.same(async |store, by| store.create_prompt(by, world::new(kind, vault)).await).await;
    }

    async fn update(&self, id: i64, patch: &PromptPatch) {
        let id = PromptId::new(id);
        self.same(async |store, by| store.update_prompt(by, id, patch.clone()).await).await;
        self.get(id.get()).await;
    }

    async fn get(&self, id: i64) {
        self.same(async |store, by| store.prompt(by, PromptId::new(id)).await).await;
    }

    async fn save(&self, id: i64, vault: VaultId) {
        self.same(async |store, by| store.save_prompt(by, PromptId::new(id), vault).await).await;
    }
}

#[tokio::test]
async fn prompts_are_made_as_in_memory() {
    let pair = Pair::new().await;
    for kind in [PromptKind::Text, PromptKind::Image, PromptKind::Video] {
        pair.create(kind, None).await;
        pair.create(kind, Some(pair.vault)).await;
        pair.create(kind, Some(NOBODYS)).await;
    }
    for id in 1..=7 {
        pair.get(id).await;
    }
    assert_eq!(counts(&pair.postgres, pair.vault).await, (3, 3));
    assert_eq!(world::number(&pair.postgres, "SELECT count(*) FROM prompt").await, 6);
}

/// Every field alone, the platform in all its states, and everything at once.
fn patches(general: VaultId, vault: VaultId) -> [PromptPatch; 14] {
    let media: [Box<str>; 2] = ["https://example.com/1".into(), "https://example.com/2".into()];
    let all = PromptInputs {
        model_id: Some("local/other".into()),
        aspect_ratio: Some("1:1".into()),
        image_url: Some("https://example.com/c.png".into()),
        reference_media_urls: Some(media.into()),
    };
    let ratio = PromptInputs { aspect_ratio: Some("9:16".into()), ..PromptInputs::default() };
    let plain = PromptPatch::default;
    [
        plain(),
        PromptPatch { kind: Some(PromptKind::Image), ..plain() },
        PromptPatch { kind: Some(PromptKind::Text), ..plain() },
        PromptPatch { title: Some("Other".into()), ..plain() },
        PromptPatch { text: Some("Other".into()), ..plain() },
        PromptPatch { platform: Some(None), ..plain() },
        PromptPatch { platform: Some(None), ..plain() },
        PromptPatch { platform: Some(Some("else".into())), ..plain() },
        PromptPatch { inputs: ratio, ..plain() },
        PromptPatch { kind: Some(PromptKind::Video), inputs: all.clone(), ..plain() },
        PromptPatch { kind: Some(PromptKind::Image), ..plain() },
        PromptPatch { vault: Some(general), ..plain() },
        PromptPatch { vault: Some(general), ..plain() },
        PromptPatch {
            title: Some("All".into()),
            text: Some("All".into()),
            kind: Some(PromptKind::Text),
            platform: Some(Some("all".into())),
            inputs: all,
            vault: Some(vault),
        },
    ]
}

#[tokio::test]
async fn prompts_are_changed_as_in_memory() {
    let pair = Pair::new().await;
    pair.create(PromptKind::Text, Some(pair.vault)).await;
    for patch in patches(pair.general, pair.vault) {
        pair.update(1, &patch).await;
    }
    assert_eq!(counts(&pair.postgres, pair.general).await, (1, 1));
}

#[tokio::test]
async fn errors_of_a_change_come_in_the_order_they_have_in_memory() {
    let pair = Pair::new().await;
    pair.create(PromptKind::Text, None).await;
    for id in [1, 2] {
        for vault in [Some(NOBODYS), None, Some(pair.vault)] {
            for kind in [Some(PromptKind::Image), None, Some(PromptKind::Text)] {
                pair.update(id, &PromptPatch { kind, vault, ..PromptPatch::default() }).await;
            }
        }
    }
    pair.save(2, NOBODYS).await;
    pair.save(2, pair.vault).await;
    pair.save(1, NOBODYS).await;
}

#[tokio::test]
async fn prompts_are_saved_and_deleted_as_in_memory() {
    let pair = Pair::new().await;
    pair.create(PromptKind::Image, Some(pair.vault)).await;
    pair.create(PromptKind::Text, None).await;
    for id in [1, 2, 1] {
        pair.save(id, pair.general).await;
        pair.get(id).await;
    }
    assert_eq!(counts(&pair.postgres, pair.general).await, (2, 2));
    for id in [1, 1, 3] {
        let id = PromptId::new(id);
        pair.same(async |store, by| store.delete_prompt(by, id).await).await;
        pair.get(id.get()).await;
    }
    assert_eq!(counts(&pair.postgres, pair.general).await, (1, 1));
    assert_eq!(counts(&pair.postgres, pair.vault).await, (0, 0));
}

#[tokio::test]
async fn a_change_of_type_reaches_every_membership() {
    let pair = Pair::new().await;
    pair.create(PromptKind::Image, Some(pair.vault)).await;
    pair.save(1, pair.general).await;
    let kind = Some(PromptKind::Video);
    pair.update(1, &PromptPatch { kind, ..PromptPatch::default() }).await;
    let statement = "SELECT count(*) FROM membership WHERE kind = 'video'";
    assert_eq!(world::number(&pair.postgres, statement).await, 2);
}

#[tokio::test]
async fn a_change_is_later_than_the_one_before_on_a_clock_that_stands() {
    let pair = Pair::new().await;
    pair.create(PromptKind::Text, None).await;
    let patch = PromptPatch { title: Some("x".into()), ..PromptPatch::default() };
    let id = PromptId::new(1);
    let mut before = pair.postgres.prompt(&pair.caller, id).await.unwrap().updated_at;
    for _ in 0..3 {
        let update = pair.postgres.update_prompt(&pair.caller, id, patch.clone());
        let after = update.await.unwrap().updated_at;
        assert!(after > before, "{after} is not later than {before}");
        before = after;
    }
}

#[tokio::test]
async fn another_accounts_things_do_not_exist() {
    let (store, _database) = store().await;
    let (owner, general) = world::account(&store).await;
    let (other, mine) = world::account(&store).await;
    let id = store.create_prompt(&owner, world::new(PromptKind::Text, None)).await.unwrap().id;
    let patch = PromptPatch { title: Some("x".into()), ..PromptPatch::default() };
    let not_found = [
        store.prompt(&other, id).await.err(),
        store.update_prompt(&other, id, patch).await.err(),
        store.update_prompt(&other, id, PromptPatch::default()).await.err(),
        store.save_prompt(&other, id, mine).await.err(),
        store.delete_prompt(&other, id).await.err(),
    ];
    for (step, error) in not_found.into_iter().enumerate() {
        assert!(matches!(error, Some(StoreError::NotFound)), "step {step}: {error:?}");
    }
    let own = store.create_prompt(&other, world::new(PromptKind::Text, None)).await.unwrap().id;
    let into = PromptPatch { vault: Some(general), ..PromptPatch::default() };
    let unknown = [
        store.create_prompt(&other, world::new(PromptKind::Text, Some(general))).await.err(),
        store.update_prompt(&other, own, into).await.err(),
        store.save_prompt(&other, own, general).await.err(),
    ];
    for (step, error) in unknown.into_iter().enumerate() {
        assert!(matches!(error, Some(StoreError::UnknownVault)), "step {step}: {error:?}");
    }
    assert_eq!(counts(&store, general).await, (0, 0));
}

#[tokio::test]
async fn a_revoked_key_does_nothing() {
    let (store, _database) = store().await;
    let (by, vault) = world::account(&store).await;
    let id = store.create_prompt(&by, world::new(PromptKind::Text, None)).await.unwrap().id;
    world::revoke(&store, &by).await;
    let patch = PromptPatch { title: Some("x".into()), ..PromptPatch::default() };
    let outcomes = [
        store.create_prompt(&by, world::new(PromptKind::Text, None)).await.err(),
        store.create_prompt(&by, world::new(PromptKind::Text, Some(vault))).await.err(),
        store.prompt(&by, id).await.err(),
        store.update_prompt(&by, id, patch).await.err(),
        store.update_prompt(&by, id, PromptPatch::default()).await.err(),
        store.save_prompt(&by, id, vault).await.err(),
        store.delete_prompt(&by, id).await.err(),
    ];
    for (step, error) in outcomes.into_iter().enumerate() {
        assert!(matches!(error, Some(StoreError::KeyRevoked)), "step {step}: {error:?}");
    }
    let kept = "SELECT count(*) FROM prompt WHERE title = 'A title'";
    assert_eq!(world::number(&store, kept).await, 1);
    assert_eq!(counts(&store, vault).await, (0, 0));
}

#[tokio::test]
async fn pictures_are_read_in_their_order() {
    let (store, _database) = store().await;
    let (by, _) = world::account(&store).await;
    let id = store.create_prompt(&by, world::new(PromptKind::Image, None)).await.unwrap().id;
    let json = r#"[{"url": "https://example.com/1", "width": 3, "height": 4, "createdAt": 5},
        {"url": "https://example.com/2", "width": 6, "height": 7, "createdAt": 8000001}]"#;
    let statement = "UPDATE prompt SET images = $2::text::jsonb WHERE id = $1";
    query(&store, statement, &[&id.get(), &json]).await;
    let image = |url: &str, width, height, microsecond| PromptImage {
        url: url.into(),
        width,
        height,
        created_at: Timestamp::from_microsecond(microsecond).unwrap(),
    };
    let prompt = store.prompt(&by, id).await.unwrap();
    let expected =
        [image("https://example.com/1", 3, 4, 5), image("https://example.com/2", 6, 7, 8_000_001)];
    assert_eq!(*prompt.images, expected);
}

#[tokio::test]
async fn a_connection_that_once_joined_many_still_finds_one_vault_by_its_key() {
    let (store, _database) = store().await;
    let (by, general) = world::account(&store).await;
    let vaults = "INSERT INTO vault (account_id, name, slug, visibility, created_at, updated_at)
         SELECT $1, 'V', 'v-' || n, 'private', now(), now() FROM generate_series(1, 2000) n";
    query(&store, vaults, &[&by.account.0]).await;
    let prompts = "INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at)
         SELECT $1, 'text', 'T', 'B', now(), now() FROM generate_series(1, 20000)";
    query(&store, prompts, &[&by.account.0]).await;
    query(&store, "ANALYZE", &[]).await;

    let mut client = store.db.exclusive().await.unwrap();
    let transaction = client.transaction().await.unwrap();
    let join = "INSERT INTO membership (account_id, vault_id, prompt_id, kind)
         SELECT account_id, $1, id, kind FROM prompt ORDER BY id LIMIT $2";
    transaction.execute(join, &[&general.get(), &20_000_i64]).await.unwrap();
    let scans = "SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'vault'";
    let before: i64 = transaction.query_one(scans, &[]).await.unwrap().get(0);
    transaction.execute(join, &[&(general.get() + 1), &1_i64]).await.unwrap();
    let after: i64 = transaction.query_one(scans, &[]).await.unwrap().get(0);
    assert_eq!(after - before, 0, "all vaults were read to count one prompt");
    transaction.rollback().await.unwrap();
    assert_eq!(counts(&store, general).await, (0, 0));
}
