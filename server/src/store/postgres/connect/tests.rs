//! Connecting to servers that run, are down, do not answer, or want TLS.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt, chown};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use super::super::tests::cluster::Cluster;
use super::super::{ConnectError, DatabaseUrl, Migration, PostgresStore};
use super::{Connector, DbClient, Unreachable};
use crate::clock::Clock;

async fn connect(url: &str) -> Result<DbClient, Unreachable> {
    Connector::new(&DatabaseUrl::parse(url).unwrap()).connect().await
}

/// The message of an operator's failed start, and whether another one may succeed.
async fn error(url: &str) -> (String, bool) {
    let url = DatabaseUrl::parse(url).unwrap();
    let error = PostgresStore::open(&url, Migration::Auto, Clock::System).await.unwrap_err();
    assert!(matches!(error, ConnectError::Unreachable(_)), "{error:?}");
    let (text, temporary) = (error.to_string(), error.is_temporary());
    assert!(text.starts_with("no connection to the database: ") && !text.contains('\n'), "{text}");
    (text, temporary)
}

/// An address where nothing listens.
async fn closed_port() -> String {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string()
}

/// `postgres://postgres:…` and `127.0.0.1:port/postgres`.
fn split(cluster: &Cluster) -> (&str, &str) {
    cluster.url().split_once('@').unwrap()
}

async fn text(client: &DbClient, sql: &str) -> String {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn each_failure_is_one_line_without_the_password() {
    let cluster = Cluster::start(&[]);
    let (credentials, place) = split(&cluster);
    let closed = closed_port().await;
    for (url, part, temporary) in [
        (
            format!("{credentials}@{closed}/postgres"),
            &*format!("{closed}: error connecting to server: Connection refused"),
            true,
        ),
        (format!("{credentials}x@{place}"), "password authentication failed for user", false),
        (format!("postgres://postgres@{place}"), "password missing", false),
        (format!("{credentials}@{place}s"), "database \"postgress\" does not exist", false),
        (format!("{credentials}@{place}?sslmode=require"), "server does not support TLS", false),
        (
            format!("{credentials}@nowhere.invalid/d"),
            "nowhere.invalid: error connecting to server: failed to lookup",
            true,
        ),
    ] {
        let (error, is_temporary) = error(&url).await;
        assert!(error.contains(part), "{part:?} is not in {error:?}");
        assert_eq!(is_temporary, temporary, "{error}");
        assert!(!error.contains(credentials.rsplit_once(':').unwrap().1), "{error}");
    }
}

#[tokio::test]
async fn a_host_that_is_down_or_does_not_answer_is_passed_over_and_not_tried_first_again() {
    let cluster = Cluster::start(&[]);
    let (credentials, place) = split(&cluster);
    let closed = closed_port().await;
    let client = connect(&format!("{credentials}@{closed},{place}")).await.unwrap();
    assert_eq!(text(&client, "SELECT 'here'").await, "here");

    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let url = format!("{credentials}@{address},{place}?connect_timeout=1");
    let connector = Connector::new(&DatabaseUrl::parse(&url).unwrap());
    let began = Instant::now();
    connector.connect().await.unwrap();
    assert!(began.elapsed().as_millis() >= 1000, "the first host was not tried");
    let began = Instant::now();
    connector.connect().await.unwrap();
    assert!(began.elapsed().as_millis() < 900, "the silent host was tried again");
    let url = format!("{credentials}@{address},{closed}/postgres?connect_timeout=1");
    let (error, _) = error(&url).await;
    assert!(error.contains("did not answer for 1 s; ") && error.contains("refused"), "{error}");
}

/// An address that leads to `to` and hands on what it reads after `delay`.
async fn far(to: String, delay: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let (read, write) = near.into_split();
            let (answers, requests) = TcpStream::connect(&to).await.unwrap().into_split();
            tokio::spawn(relay(read, requests, delay));
            tokio::spawn(relay(answers, write, delay));
        }
    });
    address
}

async fn relay(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, delay: Duration) {
    let mut bytes = vec![0; 65_536];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        sleep(delay).await;
        to.write_all(&bytes[..count]).await.unwrap();
    }
}

#[tokio::test]
async fn a_database_that_is_far_away_is_not_taken_for_one_that_does_not_answer() {
    let cluster = Cluster::start(&[]);
    let (credentials, place) = split(&cluster);
    let (host, database) = place.split_once('/').unwrap();
    let far = far(host.to_owned(), Duration::from_millis(50)).await;
    let url = DatabaseUrl::parse(&format!("{credentials}@{far}/{database}")).unwrap();
    PostgresStore::open(&url, Migration::Auto, Clock::System).await.unwrap();
}

#[tokio::test]
async fn a_session_has_its_settings() {
    let cluster = Cluster::start(&["default_transaction_isolation=serializable"]);
    let client = connect(&format!("{}?statement_timeout=1500", cluster.url())).await.unwrap();
    for (setting, value) in [
        ("default_transaction_isolation", "read committed"),
        ("jit", "off"),
        ("statement_timeout", "1500ms"),
        ("idle_in_transaction_session_timeout", "1min"),
    ] {
        assert_eq!(text(&client, &format!("SHOW {setting}")).await, value, "{setting}");
    }
}

fn openssl(folder: &Path, arguments: &str) {
    let words = arguments.split(' ');
    let output = Command::new("openssl").current_dir(folder).args(words).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A certificate for `localhost` from the authority in `ca.crt`; `other.crt` is an authority
/// that did not sign it.
fn certify(folder: &Path) {
    let curve = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    for name in ["ca", "other"] {
        let subject = format!("-subj /CN={name} -days 9");
        openssl(folder, &format!("req -x509 {curve} -keyout {name}.key -out {name}.crt {subject}"));
    }
    openssl(folder, &format!("req {curve} -keyout server.key -out server.csr -subj /CN=localhost"));
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    let signed = "-CA ca.crt -CAkey ca.key -CAcreateserial -days 9 -extfile names";
    openssl(folder, &format!("x509 -req -in server.csr {signed} -out server.crt"));
    let owner = std::fs::metadata(folder).unwrap();
    for name in ["server.key", "server.crt"] {
        let path = folder.join(name);
        chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    }
}

/// Lets a cluster take connections with this rule of `pg_hba.conf` and these settings.
async fn reload(cluster: &Cluster, client: &DbClient, rule: &str, settings: &[&str]) {
    let rule = format!("{rule} all all 127.0.0.1/32 scram-sha-256\n");
    std::fs::write(cluster.data().join("pg_hba.conf"), rule).unwrap();
    for setting in settings {
        client.batch_execute(&format!("ALTER SYSTEM SET {setting}")).await.unwrap();
    }
    client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
}

const IS_ON: &str = "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

#[tokio::test]
async fn prefer_takes_every_certificate_and_falls_back_to_no_encryption() {
    let cluster = Cluster::start(&[]);
    certify(&cluster.data());
    // As Citus does, of version 1.
    let folder = cluster.data();
    openssl(&folder, "x509 -req -in server.csr -signkey server.key -days 9 -out server.crt");
    let client = connect(cluster.url()).await.unwrap();
    reload(&cluster, &client, "hostssl", &["ssl = on"]).await;
    let prefer = format!("{}?sslmode=prefer", cluster.url());
    while connect(&prefer).await.is_err() {
        tokio::task::yield_now().await;
    }
    assert_eq!(text(&connect(&prefer).await.unwrap(), IS_ON).await, "true");
    let bound = connect(&format!("{prefer}&channel_binding=require")).await.err().unwrap();
    assert!(bound.to_string().contains("UnsupportedCertVersion"), "{bound}");
    // The server takes no encrypted connection, then none that this client can encrypt.
    for (rule, version) in [("hostnossl", "TLSv1.3"), ("host", "TLSv1.1")] {
        let version = format!("ssl_max_protocol_version = '{version}'");
        reload(&cluster, &client, rule, &["ssl_min_protocol_version = 'TLSv1'", &version]).await;
        while connect(&format!("{}?sslmode=require", cluster.url())).await.is_ok() {
            tokio::task::yield_now().await;
        }
        assert_eq!(text(&connect(&prefer).await.unwrap(), IS_ON).await, "false", "{rule}");
    }
}

#[tokio::test]
async fn each_sslmode_encrypts_and_verifies_as_documented() {
    let cluster = Cluster::start(&[]);
    certify(&cluster.data());
    let client = connect(cluster.url()).await.unwrap();
    reload(&cluster, &client, "host", &["ssl = on"]).await;
    let (credentials, place) = split(&cluster);
    let port = place.split([':', '/']).nth(1).unwrap();
    while connect(&format!("{}?sslmode=require", cluster.url())).await.is_err() {
        tokio::task::yield_now().await;
    }
    let [ca, other] = ["ca.crt", "other.crt"].map(|name| cluster.data().join(name));
    let (ca, other) = (ca.display(), other.display());
    for (host, query, expected) in [
        ("127.0.0.1", "sslmode=disable".to_owned(), Ok("false")),
        ("127.0.0.1", "sslmode=prefer".to_owned(), Ok("true")),
        ("127.0.0.1", String::new(), Ok("true")),
        ("127.0.0.1", "sslmode=require".to_owned(), Ok("true")),
        ("127.0.0.1", "sslmode=require&channel_binding=require".to_owned(), Ok("true")),
        ("localhost", format!("sslmode=verify-full&sslrootcert={ca}"), Ok("true")),
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={ca}"), Err("not valid for name")),
        ("localhost", format!("sslmode=verify-full&sslrootcert={other}"), Err("UnknownIssuer")),
        ("localhost", "sslmode=verify-full".to_owned(), Err("UnknownIssuer")),
        ("localhost", "sslrootcert=system".to_owned(), Err("UnknownIssuer")),
    ] {
        let client = connect(&format!("{credentials}@{host}:{port}/postgres?{query}")).await;
        match (client, expected) {
            (Ok(client), Ok(expected)) => {
                assert_eq!(text(&client, IS_ON).await, expected, "{host} {query}");
            }
            (Err(error), Err(part)) => {
                assert!(error.to_string().contains(part), "{host} {query}: {error}");
            }
            (client, _) => panic!("{host} {query}: {:?}", client.err()),
        }
    }
}
