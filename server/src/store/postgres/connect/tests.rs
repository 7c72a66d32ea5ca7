//! Getting into servers that are there.

use std::time::Instant;

use tokio::net::TcpListener;
use tokio_postgres::Client;

use super::{ConnectError, Connector, DatabaseUrl, NoConnection};
use crate::clock::Clock;
use crate::store::postgres::tests::cluster::Cluster;
use crate::store::postgres::{Migration, PostgresStore};

mod tls;

async fn connect(url: &str) -> Result<Client, NoConnection> {
    let connector = Connector::new(&DatabaseUrl::parse(url).unwrap()).unwrap();
    connector.connect().await.map(|(client, _)| client)
}

/// What the operator reads.
async fn refused(url: &str) -> String {
    let url = DatabaseUrl::parse(url).unwrap();
    let error = PostgresStore::open(&url, Migration::Auto, Clock::System).await.unwrap_err();
    assert!(matches!(error, ConnectError::Unreachable(_)), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("no connection to the database: ") && !text.contains('\n'), "{text}");
    text
}

/// An address where nothing listens.
async fn nobody() -> String {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string()
}

/// `postgres://postgres:…` and `127.0.0.1:port/postgres`.
fn halves(cluster: &Cluster) -> (&str, &str) {
    cluster.url().split_once('@').unwrap()
}

async fn asked(client: &Client, sql: &str) -> String {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn each_refusal_is_one_clear_line() {
    let cluster = Cluster::start(&[]);
    let (who, place) = halves(&cluster);
    let gone = nobody().await;
    for (url, part) in [
        (format!("{who}@{gone}/postgres"), format!("{gone}: Connection refused")),
        (format!("{who}x@{place}"), "password authentication failed for user \"postgres\"".into()),
        (format!("postgres://postgres@{place}"), "password missing".into()),
        (format!("{who}@{place}s"), "database \"postgress\" does not exist".into()),
        (format!("{who}@{place}?sslmode=require"), "server does not support TLS".into()),
        (format!("{who}@nowhere.invalid/d"), "nowhere.invalid:5432: failed to lookup".into()),
    ] {
        let told = refused(&url).await;
        assert!(told.contains(&part), "{part:?} is not in {told:?}");
        let password = who.rsplit_once(':').unwrap().1;
        assert!(!told.contains(password), "{told}");
    }
}

#[tokio::test]
async fn a_server_that_is_down_is_passed_over() {
    let cluster = Cluster::start(&[]);
    let (who, place) = halves(&cluster);
    let gone = nobody().await;
    let client = connect(&format!("{who}@{gone},{place}")).await.unwrap();
    assert_eq!(asked(&client, "SELECT 'here'").await, "here");
    let told = refused(&format!("{who}@{gone},{gone}/postgres")).await;
    assert_eq!(told.matches("Connection refused").count(), 2, "{told}");
}

#[tokio::test]
async fn a_server_that_is_silent_costs_its_time_once() {
    let cluster = Cluster::start(&[]);
    let (who, place) = halves(&cluster);
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mute = silent.local_addr().unwrap();
    let url = format!("{who}@{mute},{place}?connect_timeout=1");
    let connector = Connector::new(&DatabaseUrl::parse(&url).unwrap()).unwrap();
    let first = Instant::now();
    connector.connect().await.unwrap();
    assert!(first.elapsed().as_millis() >= 1000, "the first server was not tried");
    let second = Instant::now();
    connector.connect().await.unwrap();
    assert!(second.elapsed().as_millis() < 900, "the silent server was tried again");
    let told = refused(&format!("{who}@{mute}/postgres?connect_timeout=1")).await;
    assert!(told.contains("was silent for 1 s"), "{told}");
}

#[tokio::test]
async fn a_server_that_takes_no_writes_is_passed_over_unless_any_will_do() {
    let standby = Cluster::start(&["default_transaction_read_only=on", "cluster_name=standby"]);
    let primary = Cluster::start(&["cluster_name=primary"]);
    let ((who, one), (_, two)) = (halves(&standby), halves(&primary));
    // One password for both.
    let password = who.rsplit_once(':').unwrap().1;
    let set = format!("ALTER ROLE postgres PASSWORD '{password}'");
    connect(primary.url()).await.unwrap().batch_execute(&set).await.unwrap();
    let one = one.strip_suffix("/postgres").unwrap();
    let url = format!("{who}@{one},{two}");
    let name = "SHOW cluster_name";
    assert_eq!(asked(&connect(&url).await.unwrap(), name).await, "primary");
    let any = format!("{url}?target_session_attrs=any");
    assert_eq!(asked(&connect(&any).await.unwrap(), name).await, "standby");
    let told = refused(standby.url()).await;
    assert!(told.contains("database does not allow writes"), "{told}");
}
