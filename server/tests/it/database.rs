//! Servers of one database: what they share, and what all of them refuse at once.

use promptarium_server::Clock;
use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::ScratchDatabase;
use promptarium_server::test_support::{DatabaseUrl, Migration, PostgresStore};

use crate::support::browser::{self, OWN, code, create_key, send, sign_in, sign_in_request};
use crate::support::client::{Connection, call};
use crate::support::program::{Running, program as command, refusal_of};

const SEED: &str = "promptarium_live_a1_s3cret=alice";
const PROMPT: &str = r#"{"title":"Harbour","prompt":"A harbour at dawn"}"#;
const SLOT: &str = r#"{"contentType":"image/png","size":9}"#;

async fn embedded(database: &ScratchDatabase) -> EmbeddedServer {
    let builder = EmbeddedServer::builder().database_url(database.url());
    builder.seed_key(SEED).start().await.unwrap()
}

async fn program(database: &ScratchDatabase) -> Running {
    let url = database.url();
    Running::start(&["--blob-store=memory:", "--database-url", &url], &[]).await
}

#[tokio::test]
async fn only_the_first_start_creates_a_key() {
    let database = ScratchDatabase::create().await.unwrap();
    let first = program(&database).await;
    assert_eq!(first.ready["store"], "postgres");
    assert!(first.ready["sign_in_url"].is_string());
    let second = program(&database).await;
    assert!(second.ready["api_key"].is_null(), "{}", second.ready);
    assert!(second.ready["sign_in_url"].is_null(), "a link is for the one who made the account");
    let mut connection = Connection::to(&second).await;
    assert_eq!(connection.api(first.api_key(), "GET", "/vaults", None).await.status, 200);
}

/// A tenant who revokes a key that is seeded must not keep the service from starting.
#[tokio::test]
async fn a_seed_key_that_was_revoked_or_is_taken_is_a_warning() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = database.url();
    let start = async |seed| {
        let flags = ["--blob-store=memory:", "--database-url", &url, "--seed-key", seed];
        Running::start(&flags, &[]).await
    };
    let message = "a seed key was not created: it is revoked, or another key has its public id. \
                   Remove it from --seed-key, and create another one with `key create`";
    assert!(start(SEED).await.ready["sign_in_url"].is_string(), "the account is new");
    let parsed = DatabaseUrl::parse(&url).unwrap();
    let store = PostgresStore::open(&parsed, Migration::Auto, Clock::System).await.unwrap();
    store.revoke_key("a1").await.unwrap().unwrap();
    for seed in [SEED, "promptarium_live_a1_other=alice"] {
        let mut server = start(seed).await;
        assert!(server.ready["sign_in_url"].is_null(), "{}", server.ready);
        let event = server.event(message).await;
        assert_eq!((&event["level"], &event["public_id"]), (&"WARN".into(), &"a1".into()));
        assert!(!server.log_at_end().await.contains("s3cret"));
    }
}

/// Also if another server holds the lock of the migrations for long.
#[tokio::test]
async fn a_start_that_waits_for_migrations_ends_at_a_signal_and_accepts_no_connection() {
    let database = ScratchDatabase::empty().await.unwrap();
    let (other, connection) =
        tokio_postgres::connect(&database.url(), tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    other.batch_execute("SELECT pg_advisory_lock(x'0070726f6d707473'::bigint)").await.unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let flags = ["--blob-store=memory:", "--listen", &port.to_string(), "--database-url"];
    for signal in ["TERM", "INT"] {
        let url = database.url();
        let mut child = command(&[&flags[..], &[&url]].concat(), &[]).spawn().unwrap();
        let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        while other.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert!(tokio::net::TcpStream::connect(port).await.is_err(), "nobody would answer");
        let id = child.id().unwrap().to_string();
        let sent = std::process::Command::new("kill").args(["-s", signal, &id]).status();
        assert!(sent.unwrap().success());
        let began = std::time::Instant::now();
        let ended = tokio::time::timeout(crate::support::TIMEOUT, child.wait()).await;
        assert_eq!(ended.expect("an end in time").unwrap().code(), Some(0), "{signal}");
        assert!(began.elapsed().as_secs() < 3, "{signal}: {:?}", began.elapsed());
        let cancel = "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE NOT granted
            AND locktype = 'advisory'
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        // The next server must be the one that waits.
        while other.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            other.execute(cancel, &[]).await.unwrap();
        }
    }
    connection.abort();
}

#[tokio::test]
async fn a_database_that_cannot_hold_every_text_is_refused() {
    let database = ScratchDatabase::empty().await.unwrap();
    let (client, connection) =
        tokio_postgres::connect(&database.url(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let name = format!("latin_{}", std::process::id());
    client.batch_execute(&format!("DROP DATABASE IF EXISTS {name}")).await.unwrap();
    let create = format!("CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    client.batch_execute(&create).await.unwrap();
    let mut url = url::Url::parse(&database.url()).unwrap();
    url.set_path(&name);
    for arguments in [&["--listen=127.0.0.1:0"][..], &["migrate"]] {
        let flags = [&["--database-url", url.as_str()], arguments].concat();
        let line = refusal_of(command(&flags, &[])).await;
        assert!(
            line.contains("LATIN1") && line.contains("createdb -E UTF8 -T template0"),
            "{line}"
        );
    }
    client.batch_execute(&format!("DROP DATABASE {name}")).await.unwrap();
}

#[tokio::test]
async fn servers_that_start_at_once_create_one_key() {
    let database = ScratchDatabase::create().await.unwrap();
    let all = [program(&database), program(&database), program(&database)];
    let all = futures::future::join_all(all).await;
    assert_eq!(all.iter().filter(|server| !server.ready["api_key"].is_null()).count(), 1);
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
async fn a_session_and_its_keys_begin_and_end_on_all_servers_at_once() {
    let database = ScratchDatabase::create().await.unwrap();
    let (one, two) = (embedded(&database).await, embedded(&database).await);
    let cookie = sign_in(&one).await;
    let created = create_key(&two, &cookie, "Laptop").await;
    let key = created["key"].as_str().unwrap();
    let own = format!("{OWN}{cookie}");
    let path = format!("/api/v1/api-keys/{}", created["publicId"].as_str().unwrap());
    for expected in [200, 401] {
        for server in [&one, &two] {
            let mut connection = Connection::to(server).await;
            assert_eq!(connection.api(key, "GET", "/vaults", None).await.status, expected);
        }
        let revoked = send(&one, &browser::request("DELETE", &path, &own, "")).await;
        assert_eq!(revoked.status, 200);
    }

    let link = sign_in_request(&code(&one).await, "");
    let (first, second) = tokio::join!(send(&one, &link), send(&two, &link));
    assert_eq!(first.status.min(second.status), 303);
    assert_eq!(first.status.max(second.status), 401, "one code, one session");

    assert_eq!(send(&two, &browser::request("POST", "/sign-out", &own, "")).await.status, 303);
    for server in [&one, &two] {
        let listed = browser::request("GET", "/api/v1/api-keys", &cookie, "");
        assert_eq!(send(server, &listed).await.status, 401);
    }
}

#[tokio::test]
async fn a_cursor_of_one_server_is_valid_at_another() {
    let database = ScratchDatabase::create().await.unwrap();
    let (one, two) = (embedded(&database).await, embedded(&database).await);
    for _ in 0..2 {
        assert_eq!(call(&one, "POST", "/prompts", Some(PROMPT)).await.status, 201);
    }
    let page = call(&one, "GET", "/prompts?limit=1", None).await.json();
    let cursor = page["pagination"]["nextCursor"].as_str().unwrap();
    let path = format!("/prompts?limit=1&cursor={cursor}");
    assert_eq!(call(&two, "GET", &path, None).await.status, 200);
}

#[tokio::test]
async fn a_revoked_key_is_refused_on_every_path_of_every_server() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = DatabaseUrl::parse(&database.url()).unwrap();
    let store = PostgresStore::open(&url, Migration::Auto, Clock::System).await.unwrap();
    let requests = [
        ("GET", "/prompts", None),
        ("GET", "/prompts?limit=x", None),
        ("GET", "/prompts/x", None),
        ("GET", "/prompts/1", None),
        ("GET", "/vaults", None),
        ("GET", "/vaults/1/prompts", None),
        ("GET", "/generations/x/status", None),
        ("POST", "/prompts", Some(PROMPT)),
        ("POST", "/prompts", Some("{}")),
        ("POST", "/prompts", Some("no JSON")),
        ("POST", "/uploads/images", Some(SLOT)),
        ("POST", "/uploads/images", Some("{}")),
        ("DELETE", "/vaults/x", None),
    ];
    for (at, (method, path, body)) in requests.into_iter().enumerate() {
        let (seed, key) = (format!("a{at}"), format!("promptarium_live_a{at}_s3cret"));
        let start = async || {
            let builder = EmbeddedServer::builder().database_url(database.url());
            builder.seed_key(format!("{key}=alice")).start().await.unwrap()
        };
        let servers = [start().await, start().await];
        for server in &servers {
            // So that each has the key in its cache.
            assert_eq!(call(server, "GET", "/vaults", None).await.status, 200);
        }
        store.revoke_key(&seed).await.unwrap().unwrap();
        for server in &servers {
            let response = call(server, method, path, body).await;
            assert_eq!(response.status, 401, "{method} {path} {body:?}: {}", response.body);
            assert_eq!(response.header("www-authenticate"), Some("Bearer"));
            assert_eq!(call(server, method, path, body).await.status, 401);
        }
    }
}
