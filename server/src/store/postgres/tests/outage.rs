//! The database stops, fails over, and comes back. Crash tests have one that is killed under load.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_postgres::NoTls;

use super::cluster::Cluster;
use crate::clock::Clock;
use crate::store::postgres::send::{By, Params};
use crate::store::postgres::statement::Statement;
use crate::store::postgres::{DatabaseUrl, Migration, PostgresStore};
use crate::store::{Store as _, StoreError};

/// How soon a statement must have failed.
const SOON: Duration = Duration::from_secs(5);

const WRITE: Statement = Statement::non_idempotent(
    "test.write",
    "INSERT INTO setting (name, value) VALUES ($1::text, '') RETURNING name",
);
const READ: Statement =
    Statement::read_only("test.read", "SELECT name FROM setting WHERE name LIKE $1::text || '-%'");

async fn open(cluster: &Cluster) -> PostgresStore {
    let url = DatabaseUrl::parse(cluster.url()).unwrap();
    PostgresStore::open(&url, Migration::Auto, Clock::System).await.unwrap()
}

/// Every way in which a statement is sent, at once.
async fn statements(store: &PostgresStore) -> [Result<(), StoreError>; 3] {
    let db = &store.db;
    let name = rand::random::<u64>().to_string();
    let params: Params<'_> = &[&name];
    let write = [(&WRITE, params)];
    let (check, read, write) = tokio::join!(
        store.check(),
        db.rows(By::Server, &[(&READ, &[&"x"])]),
        db.rows(By::Server, &write),
    );
    [check, read.map(drop), write.map(drop)]
}

async fn all_unavailable_soon(store: &PostgresStore, when: &str) {
    let began = Instant::now();
    for outcome in statements(store).await {
        assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{when}: {outcome:?}");
    }
    assert!(began.elapsed() < SOON, "{when}: {:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_fails_soon_while_its_database_is_stopped_and_recovers_by_itself() {
    let cluster = Cluster::start(&[]);
    let store = open(&cluster).await;
    for how in ["fast", "immediate"] {
        for outcome in statements(&store).await {
            outcome.unwrap();
        }
        cluster.stop(how);
        all_unavailable_soon(&store, how).await;
        all_unavailable_soon(&store, how).await;
        cluster.start_again();
        for outcome in statements(&store).await {
            outcome.unwrap();
        }
    }
    // A restart that is over soon fails nothing.
    cluster.stop("fast");
    let restart = async {
        sleep(Duration::from_millis(300)).await;
        let starting = move || {
            cluster.start_again();
            cluster
        };
        tokio::task::spawn_blocking(starting).await.unwrap()
    };
    let (outcomes, _cluster) = tokio::join!(statements(&store), restart);
    for outcome in outcomes {
        outcome.unwrap();
    }
}

/// An address with the hosts of both clusters, which have the same password.
fn both(first: &Cluster, second: &Cluster) -> DatabaseUrl {
    let first = first.url().strip_suffix("/postgres").unwrap();
    let (_, second) = second.url().split_once('@').unwrap();
    DatabaseUrl::parse(&format!("{first},{second}")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_go_on_within_half_a_second_of_the_promotion_of_a_standby() {
    let primary = Cluster::start(&[]);
    let standby = primary.standby();
    let url = both(&primary, &standby);
    let store = PostgresStore::open(&url, Migration::Auto, Clock::System).await.unwrap();
    store.db.rows(By::Server, &[(&WRITE, &[&"before"])]).await.unwrap();
    let (client, connection) = tokio_postgres::connect(standby.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    // The schema has arrived.
    while client.execute("SELECT FROM setting WHERE name = 'before'", &[]).await.unwrap_or(0) == 0 {
        tokio::task::yield_now().await;
    }
    primary.stop("immediate");
    let writing = tokio::spawn(async move {
        while store.db.rows(By::Server, &[(&WRITE, &[&"after"])]).await.is_err() {}
        Instant::now()
    });
    client.execute("SELECT pg_promote()", &[]).await.unwrap();
    let promoted = Instant::now();
    let written = writing.await.unwrap();
    let waited = written.saturating_duration_since(promoted);
    assert!(waited < Duration::from_millis(500), "{waited:?}");
    let found = client.execute("SELECT FROM setting WHERE name = 'after'", &[]).await.unwrap();
    assert_eq!(found, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_deposed_is_left_for_the_one_that_takes_writes() {
    let (first, second) =
        (Cluster::start(&["cluster_name=first"]), Cluster::start(&["cluster_name=second"]));
    let (who, _) = first.url().split_once('@').unwrap();
    let password = who.rsplit_once(':').unwrap().1;
    let other = open(&second).await;
    let set = format!("ALTER ROLE postgres PASSWORD '{password}'");
    other.db.exclusive().await.unwrap().batch_execute(&set).await.unwrap();
    let url = both(&first, &second);
    let store = PostgresStore::open(&url, Migration::Auto, Clock::System).await.unwrap();
    store.db.rows(By::Server, &[(&WRITE, &[&"before"])]).await.unwrap();

    let client = store.db.exclusive().await.unwrap();
    let depose = "ALTER SYSTEM SET default_transaction_read_only = on";
    client.batch_execute(depose).await.unwrap();
    client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    let read_only = async || -> String {
        client.query_one("SHOW transaction_read_only", &[]).await.unwrap().get(0)
    };
    while read_only().await == "off" {
        tokio::task::yield_now().await;
    }
    store.db.rows(By::Server, &[(&WRITE, &[&"after-1"])]).await.unwrap();
    let found = other.db.rows(By::Server, &[(&READ, &[&"after"])]).await.unwrap();
    assert_eq!(found.len(), 1, "the write went to the server that takes writes");
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_want_more_connections_than_there_are_make_do_with_what_they_have() {
    let few = ["max_connections=6", "superuser_reserved_connections=0", "max_wal_senders=0"];
    let cluster = Cluster::start(&few);
    let stores = [open(&cluster).await, open(&cluster).await, open(&cluster).await];
    for store in &stores {
        store.check().await.unwrap();
    }
    let mut running = JoinSet::new();
    for (number, store) in stores.into_iter().enumerate() {
        for task in 0..6 {
            let store = store.clone();
            running.spawn(async move {
                for step in 0..10 {
                    let name = format!("{number}-{task}-{step}");
                    store.db.rows(By::Server, &[(&WRITE, &[&name])]).await.unwrap();
                }
            });
        }
    }
    running.join_all().await;
}
