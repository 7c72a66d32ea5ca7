//! Generations: the facts of every store, and those of this one.

mod crowd;
mod end;
mod notify;
mod plan;
mod work;

use std::time::Duration;

use jiff::Timestamp;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row};

use super::caller;
use crate::clock::{Clock, ManualClock};
use crate::domain::Caller;
use crate::store::Store;
use crate::store::jobs::contract_tests::{StoreUnderTest, job_contract_tests};
use crate::store::postgres::scratch::ScratchDatabase;
use crate::store::postgres::{DatabaseUrl, Migration, PostgresStore};

/// A database with a store in it, and a connection to look behind the store.
struct InPostgres {
    store: PostgresStore,
    clock: Option<ManualClock>,
    behind: Client,
    database: ScratchDatabase,
}

/// With time that stands until it is moved.
async fn in_postgres() -> InPostgres {
    let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
    InPostgres::new(Some(clock)).await
}

/// With the database's own time.
async fn in_real_time() -> InPostgres {
    InPostgres::new(None).await
}

impl InPostgres {
    async fn new(clock: Option<ManualClock>) -> Self {
        let database = ScratchDatabase::create().await.unwrap();
        let store = opened(&database, clock.clone()).await;
        let behind = connected(&database).await;
        Self { store, clock, behind, database }
    }

    /// Another store on the same database, as another server has it.
    async fn another_store(&self) -> PostgresStore {
        opened(&self.database, self.clock.clone()).await
    }

    /// Done without the store.
    async fn sql(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Vec<Row> {
        self.behind.query(sql, params).await.unwrap()
    }

    async fn number(&self, sql: &str) -> i64 {
        self.sql(sql, &[]).await[0].get(0)
    }
}

async fn opened(database: &ScratchDatabase, clock: Option<ManualClock>) -> PostgresStore {
    let url = DatabaseUrl::parse(&database.url()).unwrap();
    let clock = clock.map_or(Clock::System, Clock::Manual);
    PostgresStore::open(&url, Migration::Auto, clock).await.unwrap()
}

async fn connected(database: &ScratchDatabase) -> Client {
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

impl StoreUnderTest for InPostgres {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn pass(&self, time: Duration) {
        self.clock.as_ref().expect("its time cannot be moved").advance(time);
    }

    async fn caller(&self, account: &str) -> Caller {
        caller(&self.store, account).await
    }

    /// Constraints keep what they can; this is the rest.
    async fn check(&self) {
        let wrong = self.number(
            "SELECT count(*) FROM vault v WHERE prompt_count <> (SELECT count(*) \
             FROM membership m WHERE (m.account_id, m.vault_id) = (v.account_id, v.id))",
        );
        assert_eq!(wrong.await, 0, "a vault counts wrong");
        let wrong = self.number(
            "SELECT count(*) FROM job WHERE state = 'completed' AND NOT EXISTS (SELECT \
             FROM membership m WHERE m.account_id = job.account_id AND m.vault_id = job.vault_id \
                 AND m.prompt_id = job.prompt_id)",
        );
        assert_eq!(wrong.await, 0, "a job's output is not where the job says");
        let wrong = self.number(
            "SELECT count(*) FROM prompt p WHERE NOT EXISTS (SELECT FROM job j \
             WHERE j.account_id = p.account_id AND j.prompt_id = p.id)",
        );
        assert_eq!(wrong.await, 0, "there is a prompt that is no job's output");
    }
}

job_contract_tests!(in_postgres);
