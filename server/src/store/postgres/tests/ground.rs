//! What tests of rooms put into a database and read out of it without the rooms
//! they are not about.

use promptarium::{PromptId, VaultId, VaultPromptId};
use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

use crate::domain::{Caller, NewVault, VaultVisibility};
use crate::store::Store;
use crate::store::postgres::PostgresStore;
use crate::store::postgres::scratch::ScratchDatabase;

/// A store, and its database as it is behind the store's back.
pub(in crate::store::postgres) struct Ground {
    pub(in crate::store::postgres) store: PostgresStore,
    pub(in crate::store::postgres) sql: Client,
    _database: ScratchDatabase,
}

/// A membership as it stands in its vault.
pub(in crate::store::postgres) type Place = (VaultPromptId, PromptId, bool);

impl Ground {
    pub(in crate::store::postgres) async fn new() -> Self {
        let (store, database) = super::store().await;
        let (sql, connection) =
            tokio_postgres::connect(&database.url(), tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        Self { store, sql, _database: database }
    }

    /// The holder of the key of a new account.
    pub(in crate::store::postgres) async fn caller(&self, account: &str) -> Caller {
        super::caller(&self.store, account).await
    }

    /// New prompts, that many.
    pub(in crate::store::postgres) async fn prompts(
        &self,
        by: &Caller,
        number: i64,
    ) -> Vec<PromptId> {
        let made = "INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at)
            SELECT $1, 'text', 'Title ' || n, 'Text ' || n, now(), now()
            FROM generate_series(1, $2::bigint) AS n ORDER BY n RETURNING id";
        let rows = self.sql.query(made, &[&by.account.0, &number]).await.unwrap();
        rows.iter().map(|row| PromptId::new(row.get(0))).collect()
    }

    /// A new vault with these prompts.
    pub(in crate::store::postgres) async fn vault(
        &self,
        by: &Caller,
        visibility: VaultVisibility,
        prompts: &[PromptId],
    ) -> VaultId {
        let new = NewVault { name: "Sky".into(), description: None, visibility };
        let id = self.store.create_vault(by, new).await.unwrap().id;
        self.store.add_prompts(by, id, prompts).await.unwrap();
        id
    }

    /// What a vault holds, as it is shown.
    pub(in crate::store::postgres) async fn places(&self, vault: VaultId) -> Vec<Place> {
        let shown = "SELECT id, prompt_id, pin IS NOT NULL FROM membership WHERE vault_id = $1
            ORDER BY pin DESC NULLS LAST, id DESC";
        let rows = self.sql.query(shown, &[&vault.get()]).await.unwrap();
        let place = |row: &tokio_postgres::Row| {
            (VaultPromptId::new(row.get(0)), PromptId::new(row.get(1)), row.get(2))
        };
        rows.iter().map(place).collect()
    }

    /// The one number that a query gives.
    pub(in crate::store::postgres) async fn number(
        &self,
        query: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> i64 {
        self.sql.query_one(query, params).await.unwrap().get(0)
    }

    /// Makes a key worthless.
    pub(in crate::store::postgres) async fn revoke(&self, by: &Caller) {
        let revoked = "UPDATE api_key SET revoked_at = now() WHERE id = $1";
        assert_eq!(self.sql.execute(revoked, &[&by.key.0]).await.unwrap(), 1);
    }
}

/// Numbers that look random and are the same in every run.
pub(in crate::store::postgres) struct Dice(pub(in crate::store::postgres) u64);

impl Dice {
    pub(in crate::store::postgres) fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    /// One of several.
    pub(in crate::store::postgres) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())]
    }
}
