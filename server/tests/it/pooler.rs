//! Servers behind PgBouncer: each mode works, or the start names the setting to change.
//!
//! Needs PgBouncer (`script/test` installs it); with `PROMPTARIUM_SKIP_PGBOUNCER=1` nothing here
//! runs.

use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use futures::future::join_all;
use promptarium_server::test_support::ScratchDatabase;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use url::Url;

use crate::support::client::Connection;
use crate::support::program::{Running, program, refusal};
use crate::support::{PROMPT, TIMEOUT, wait_until};

/// Set to 1 where there is no PgBouncer.
const SKIP: &str = "PROMPTARIUM_SKIP_PGBOUNCER";

/// A running PgBouncer in front of a database.
struct PgBouncer {
    url: String,
    _process: Child,
    _folder: TempDir,
    _database: ScratchDatabase,
}

/// Whether this version keeps apart the prepared statements of its clients.
async fn maps_statements() -> bool {
    let run = Command::new("pgbouncer").arg("--version").output().await;
    let run = run.unwrap_or_else(|error| {
        panic!("pgbouncer: {error}; Debian has it as a package, and {SKIP}=1 skips this")
    });
    let text = String::from_utf8(run.stdout).unwrap();
    let number = text.split_whitespace().nth(1).unwrap();
    number.split('.').map(|part| part.parse().unwrap()).take(2).collect::<Vec<u32>>() >= vec![1, 21]
}

impl PgBouncer {
    /// `None` if it is to be skipped.
    async fn start(mode: &str) -> Option<Self> {
        if std::env::var(SKIP).is_ok_and(|value| value == "1") {
            return None;
        }
        let (database, folder) =
            (ScratchDatabase::create().await.unwrap(), TempDir::new().unwrap());
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut url = Url::parse(&database.url()).unwrap();
        let statements = if maps_statements().await { "max_prepared_statements = 200" } else { "" };
        let settings = format!(
            "[databases]\n* = host={} port={} user={} password={}\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\ndefault_pool_size = 40\n{statements}\npool_mode = {mode}\n",
            url.host_str().unwrap(),
            url.port().unwrap(),
            url.username(),
            url.password().unwrap(),
        );
        // It refuses to run as root.
        let (user, nobody) = (std::fs::metadata("/proc/self").unwrap().uid(), "pgbouncer");
        let mut command = Command::new(if user == 0 { "setpriv" } else { nobody });
        if user == 0 {
            command.args("--reuid nobody --regid nogroup --clear-groups".split(' ')).arg(nobody);
        }
        url.set_port(Some(port)).unwrap();
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, settings).unwrap();
        let process = command.arg(&file).kill_on_drop(true).spawn().unwrap();
        let listens = async || TcpStream::connect(("127.0.0.1", port)).await.is_ok();
        wait_until(TIMEOUT, listens).await.expect("PgBouncer does not start");
        Some(Self { url: url.into(), _process: process, _folder: folder, _database: database })
    }

    async fn server(&self) -> Running {
        Running::on(&self.url, "--log=warn").await
    }

    /// Two servers behind it answer everything as they should.
    async fn assert_works(&self) {
        let (first, second) = (self.server().await, self.server().await);
        let clients = [&first, &second, &first, &second].map(async |server| {
            let (key, mut connection) = (first.api_key(), Connection::to(server).await);
            for number in 0..40 {
                let created = connection.api(key, "POST", "/prompts", Some(PROMPT)).await;
                assert_eq!(created.status, 201, "{number}: {}", created.body);
                let path = format!("/prompts/{}", created.data()["id"]);
                for (method, path, body, status) in [
                    ("GET", &*path, None, 200),
                    ("PATCH", &*path, Some(r#"{"title":"Quay"}"#), 200),
                    ("GET", "/vaults", None, 200),
                    ("DELETE", &*path, None, 200),
                    ("GET", &*path, None, 404),
                ] {
                    let response = connection.api(key, method, path, body).await;
                    assert_eq!(response.status, status, "{method} {path}: {}", response.body);
                }
            }
        });
        join_all(clients).await;
    }

    /// A start is refused in one line that has these parts.
    async fn assert_refused(&self, parts: &[&str]) {
        let flags = format!("--blob-store=memory: --log=error --database-url {}", self.url);
        let text = refusal(program(&format!("--listen=127.0.0.1:0 {flags}")), 2).await;
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        assert!(!text.contains("password"), "{text}");
    }
}

#[tokio::test]
async fn pooling_by_session_works() {
    if let Some(pooler) = PgBouncer::start("session").await {
        pooler.assert_works().await;
    }
}

#[tokio::test]
async fn options_of_the_url_are_refused_with_another_way() {
    if let Some(mut pooler) = PgBouncer::start("session").await {
        pooler.url += "?options=-csearch_path%3Dx";
        pooler.assert_refused(&["startup parameter", "leave `options` out", "ALTER ROLE"]).await;
    }
}

#[tokio::test]
async fn pooling_by_transaction_works_or_the_start_names_the_setting() {
    let Some(pooler) = PgBouncer::start("transaction").await else { return };
    if maps_statements().await {
        pooler.assert_works().await;
    } else {
        // Not by chance: several at once disturb one another's check.
        let parts = ["pool_mode", "session"];
        join_all((0..8).map(|_| pooler.assert_refused(&parts))).await;
    }
}

#[tokio::test]
async fn pooling_by_statement_is_refused() {
    if let Some(pooler) = PgBouncer::start("statement").await {
        pooler.assert_refused(&["pool_mode"]).await;
    }
}
