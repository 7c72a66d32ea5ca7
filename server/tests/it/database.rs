//! Servers of one database: what they share, and what all of them refuse at once. Scenarios of the
//! conformance suite run on replicas, too.

use std::time::{Duration, Instant};

use futures::future::join_all;
use promptarium_server::store::AdminStore as _;
use promptarium_server::test_support::{DatabaseUrl, Migration, PostgresStore, ScratchDatabase};
use promptarium_server::{Clock, EmbeddedServer};
use tokio::io::{AsyncBufReadExt as _, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use url::Url;

use crate::support::client::{Connection, call};
use crate::support::program::{Running, program, refusal, signal};
use crate::support::{PROMPT, SLOT, TIMEOUT, free_address, sql, wait_until};

const SEED: &str = "promptarium_live_a1_s3cret=alice";

async fn store(database: &ScratchDatabase) -> PostgresStore {
    let url = DatabaseUrl::parse(&database.url()).unwrap();
    PostgresStore::open(&url, Migration::Auto, Clock::System).await.unwrap()
}

#[tokio::test]
async fn of_servers_that_start_at_once_and_later_ones_the_first_creates_a_key() {
    let database = ScratchDatabase::create().await.unwrap();
    let start = async |_| Running::on(&database.url(), "").await;
    let mut all = join_all((0..3).map(start)).await;
    all.push(start(3).await);
    let (first, others): (Vec<_>, _) =
        all.iter().partition(|server| server.ready["api_key"].is_string());
    let [first] = first[..] else { panic!("more than one key, or none") };
    assert_eq!(first.ready["store"], "postgres");
    assert!(first.ready["sign_in_url"].is_string());
    for other in others {
        assert!(other.ready["sign_in_url"].is_null(), "a link is for the one who made the account");
        let mut connection = Connection::open(other.base_url()).await;
        assert_eq!(connection.api(first.api_key(), "GET", "/vaults", None).await.status, 200);
    }
}

/// A tenant who revokes a key that is seeded must not keep the service from starting.
#[tokio::test]
async fn a_seed_key_that_was_revoked_or_is_taken_is_a_warning() {
    let database = ScratchDatabase::create().await.unwrap();
    let start = async |seed| Running::on(&database.url(), &format!("--seed-key {seed}")).await;
    let message = "a seed key was not created: it is revoked, or another key has its public id. \
                   Remove it from --seed-key, and create another one with `key create`";
    assert!(start(SEED).await.ready["sign_in_url"].is_string(), "the account is new");
    store(&database).await.revoke_key("a1").await.unwrap().unwrap();
    for seed in [SEED, "promptarium_live_a1_other=alice"] {
        let mut server = start(seed).await;
        assert!(server.ready["sign_in_url"].is_null(), "{}", server.ready);
        let event = server.event(message).await;
        assert_eq!((&event["level"], &event["public_id"]), (&"WARN".into(), &"a1".into()));
        assert!(!server.stop().await.stderr.contains("s3cret"));
    }
}

/// Also if another server holds the lock of the migrations for long.
#[tokio::test]
async fn a_start_that_waits_for_migrations_ends_at_a_signal_and_accepts_no_connection() {
    const WAITING: &str = "FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let database = ScratchDatabase::empty().await.unwrap();
    let other = sql(&database.url()).await;
    other.batch_execute("SELECT pg_advisory_lock(x'0070726f6d707473'::bigint)").await.unwrap();
    let count = format!("SELECT count(*) {WAITING}");
    let waiting = async || other.query_one(&count, &[]).await.unwrap().get::<_, i64>(0);
    let (address, url) = (free_address(), database.url());
    let flags = format!("--blob-store=memory: --listen {address} --database-url {url}");
    for name in ["TERM", "INT"] {
        let mut child = program(&flags).spawn().unwrap();
        wait_until(TIMEOUT, async || waiting().await > 0).await.expect("a start that waits");
        assert!(tokio::net::TcpStream::connect(&address).await.is_err(), "nobody would answer");
        let began = Instant::now();
        signal(name, &[child.id().unwrap().to_string()]).await;
        let ended = tokio::time::timeout(TIMEOUT, child.wait()).await.expect("an end in time");
        assert_eq!(ended.unwrap().code(), Some(0), "{name}");
        assert!(began.elapsed() < Duration::from_secs(3), "{name}: {:?}", began.elapsed());
        // The next server must be the one that waits.
        let cancel = format!("SELECT count(pg_terminate_backend(pid)) {WAITING}");
        while waiting().await > 0 {
            other.execute(&cancel, &[]).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_start_waits_for_its_database() {
    let database = ScratchDatabase::create().await.unwrap();
    let (mut url, address) = (Url::parse(&database.url()).unwrap(), free_address());
    let server = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap());
    url.set_port(Some(address.rsplit_once(':').unwrap().1.parse().unwrap())).unwrap();
    let flags = format!("--listen=127.0.0.1:0 --json --blob-store=memory: --database-url {url}");
    let mut starting = program(&flags).spawn().unwrap();
    let mut log = BufReader::new(starting.stderr.take().unwrap()).lines();
    let waits = |line: &str| line.contains(r#""waiting for the database""#);
    while !waits(&log.next_line().await.unwrap().expect("a start that waits")) {}
    // It comes back.
    let listener = TcpListener::bind(&address).await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut server = TcpStream::connect(&server).await.unwrap();
            tokio::spawn(async move { copy_bidirectional(&mut client, &mut server).await });
        }
    });
    let mut ready = BufReader::new(starting.stdout.take().unwrap()).lines();
    let line = timeout(TIMEOUT, ready.next_line()).await.expect("a start in time").unwrap();
    assert!(line.unwrap().contains(r#""store":"postgres""#));
}

#[tokio::test]
async fn a_database_that_cannot_hold_every_text_is_refused() {
    let database = ScratchDatabase::empty().await.unwrap();
    let client = sql(&database.url()).await;
    let name = format!("latin_{}", std::process::id());
    client.batch_execute(&format!("DROP DATABASE IF EXISTS {name}")).await.unwrap();
    let create = format!("CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    client.batch_execute(&create).await.unwrap();
    let mut url = url::Url::parse(&database.url()).unwrap();
    url.set_path(&name);
    for arguments in ["--listen=127.0.0.1:0", "migrate"] {
        let line = refusal(program(&format!("--database-url {url} {arguments}")), 2).await;
        let parts = ["LATIN1", "createdb -E UTF8 -T template0"];
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    }
    client.batch_execute(&format!("DROP DATABASE {name}")).await.unwrap();
}

#[tokio::test]
async fn an_embedded_server_without_a_seed_has_a_key_of_its_own() {
    let database = ScratchDatabase::create().await.unwrap();
    let start =
        async || EmbeddedServer::builder().database_url(database.url()).start().await.unwrap();
    let (one, two) = (start().await, start().await);
    assert_ne!(one.api_key(), two.api_key());
    let created = call(&one, "POST", "/prompts", Some(PROMPT)).await.json();
    let id = &created["data"]["id"];
    let seen = call(&two, "GET", &format!("/prompts/{id}"), None).await;
    assert_eq!(seen.json()["data"], created["data"], "the keys belong to the same account");
}

#[tokio::test]
async fn a_revoked_key_is_refused_on_every_path_of_every_server() {
    let database = ScratchDatabase::create().await.unwrap();
    let store = store(&database).await;
    let requests = [
        ("GET", "/prompts", None),
        ("GET", "/prompts?limit=x", None),
        ("GET", "/prompts/1", None),
        ("GET", "/vaults/1/prompts", None),
        ("GET", "/generations/x/status", None),
        ("POST", "/prompts", Some(PROMPT)),
        ("POST", "/prompts", Some("no JSON")),
        ("POST", "/uploads/images", Some(SLOT)),
        ("DELETE", "/vaults/x", None),
    ];
    let key = |at| format!("promptarium_live_a{at}_s3cret");
    let builder = EmbeddedServer::builder().database_url(database.url());
    let builder = (0..requests.len())
        .fold(builder, |builder, at| builder.seed_key(format!("{}=alice", key(at))));
    let servers = [builder.clone().start().await.unwrap(), builder.start().await.unwrap()];
    for (at, (method, path, body)) in requests.into_iter().enumerate() {
        let key = key(at);
        for server in &servers {
            // So that each has the key in its cache.
            let mut connection = Connection::to(server).await;
            assert_eq!(connection.api(&key, "GET", "/vaults", None).await.status, 200);
        }
        store.revoke_key(&format!("a{at}")).await.unwrap().unwrap();
        for server in &servers {
            let mut connection = Connection::to(server).await;
            let response = connection.api(&key, method, path, body).await;
            assert_eq!(response.status, 401, "{method} {path} {body:?}: {}", response.body);
            assert_eq!(response.header("www-authenticate"), Some("Bearer"));
            assert_eq!(connection.api(&key, method, path, body).await.status, 401);
        }
    }
}
