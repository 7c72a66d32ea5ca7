//! Servers behind PgBouncer: each mode works, or the start names the setting to change.
//!
//! Needs PgBouncer (`script/test` installs it); with `PROMPTARIUM_SKIP_PGBOUNCER=1` nothing here
//! runs.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use futures::future::join_all;
use promptarium_server::test_support::ScratchDatabase;
use tempfile::TempDir;
use tokio::net::TcpStream;
use url::Url;

use crate::support::PROMPT;
use crate::support::client::Connection;
use crate::support::program::{Running, program, refusal_of};

const FLAGS: [&str; 2] = ["--blob-store=memory:", "--log=error"];

/// Set to 1 where there is no PgBouncer.
const SKIP: &str = "PROMPTARIUM_SKIP_PGBOUNCER";

fn is_wanted() -> bool {
    !std::env::var(SKIP).is_ok_and(|value| value == "1")
}

/// A running PgBouncer in front of a database.
struct PgBouncer {
    process: Child,
    url: String,
    folder: TempDir,
    settings: String,
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The first and second number of its version.
fn version() -> (u32, u32) {
    let run = Command::new("pgbouncer").arg("--version").output();
    let run = run.unwrap_or_else(|error| {
        panic!("pgbouncer: {error}; Debian has it as a package, and {SKIP}=1 skips this")
    });
    let text = String::from_utf8(run.stdout).unwrap();
    let number = text.split_whitespace().nth(1).unwrap();
    let mut parts = number.split('.').map(|part| part.parse().unwrap());
    (parts.next().unwrap(), parts.next().unwrap())
}

/// Whether it keeps apart the prepared statements of its clients.
fn maps_statements() -> bool {
    version() >= (1, 21)
}

impl PgBouncer {
    async fn start(database: &ScratchDatabase, mode: &str) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut url = Url::parse(&database.url()).unwrap();
        let statements = if maps_statements() { "max_prepared_statements = 200" } else { "" };
        let settings = format!(
            "[databases]\n* = host={} port={} user={} password={}\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\ndefault_pool_size = 40\n{statements}\n",
            url.host_str().unwrap(),
            url.port().unwrap(),
            url.username(),
            url.password().unwrap(),
        );
        let file = write_settings(&folder, &settings, mode);
        // It refuses to run as root.
        let mut command = match std::fs::metadata("/proc/self").map(|own| owner(&own)) {
            Ok(0) => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]);
                command.arg("pgbouncer");
                command
            }
            _ => Command::new("pgbouncer"),
        };
        command.arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().unwrap();
        url.set_port(Some(port)).unwrap();
        let pooler = Self { process, url: url.into(), folder, settings };
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return pooler;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("PgBouncer does not start");
    }

    /// Changes the mode while it runs.
    fn change_mode(&self, mode: &str) {
        write_settings(&self.folder, &self.settings, mode);
        let sent =
            Command::new("kill").args(["-s", "HUP", &self.process.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }
}

fn write_settings(folder: &TempDir, settings: &str, mode: &str) -> PathBuf {
    let file = folder.path().join("pgbouncer.ini");
    std::fs::write(&file, format!("{settings}pool_mode = {mode}\n")).unwrap();
    file
}

fn owner(file: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::uid(file)
}

/// Two servers behind the pooler answer everything as they should.
async fn assert_works(pooler: &PgBouncer) {
    let arguments = [&FLAGS[..], &["--database-url", &pooler.url]].concat();
    let first = Running::start(&arguments).await;
    let second = Running::start(&arguments).await;
    let key = first.api_key().to_owned();
    let clients = [&first, &second, &first, &second].map(|server| {
        let (key, url) = (key.clone(), server.base_url().to_owned());
        async move {
            let mut connection = Connection::open(&url).await;
            for number in 0..40 {
                let created = connection.api(&key, "POST", "/prompts", Some(PROMPT)).await;
                assert_eq!(created.status, 201, "{number}: {}", created.body);
                let path = format!("/prompts/{}", created.json()["data"]["id"]);
                for (method, path, body, status) in [
                    ("GET", &*path, None, 200),
                    ("PATCH", &*path, Some(r#"{"title":"Quay"}"#), 200),
                    ("GET", "/vaults", None, 200),
                    ("DELETE", &*path, None, 200),
                    ("GET", &*path, None, 404),
                ] {
                    let response = connection.api(&key, method, path, body).await;
                    assert_eq!(response.status, status, "{method} {path}: {}", response.body);
                }
            }
        }
    });
    join_all(clients).await;
}

/// The one line of a start that is refused.
async fn refusal(pooler: &PgBouncer) -> String {
    let arguments = [&FLAGS[..], &["--listen=127.0.0.1:0", "--database-url", &pooler.url]].concat();
    let text = refusal_of(program(&arguments, &[])).await;
    assert!(!text.contains("password"), "{text}");
    text
}

#[tokio::test]
async fn pooling_by_session_works() {
    if is_wanted() {
        let database = ScratchDatabase::create().await.unwrap();
        assert_works(&PgBouncer::start(&database, "session").await).await;
    }
}

#[tokio::test]
async fn pooling_by_transaction_works_or_the_start_names_the_setting() {
    if is_wanted() {
        let database = ScratchDatabase::create().await.unwrap();
        let pooler = PgBouncer::start(&database, "transaction").await;
        if maps_statements() {
            assert_works(&pooler).await;
        } else {
            // Not by chance: several at once disturb one another's check.
            let all = join_all((0..8).map(|_| refusal(&pooler))).await;
            for text in all {
                assert!(text.contains("pool_mode") && text.contains("session"), "{text}");
            }
        }
    }
}

#[tokio::test]
async fn pooling_by_statement_is_refused() {
    if is_wanted() {
        let database = ScratchDatabase::create().await.unwrap();
        let text = refusal(&PgBouncer::start(&database, "statement").await).await;
        assert!(text.contains("pool_mode"), "{text}");
    }
}

/// The first start found nothing wrong, but a pooler is set up otherwise at any time.
#[tokio::test]
async fn a_pooler_that_begins_to_mix_up_statements_is_not_used_any_more() {
    if !is_wanted() || maps_statements() {
        return;
    }
    let database = ScratchDatabase::create().await.unwrap();
    let pooler = PgBouncer::start(&database, "session").await;
    let arguments = ["--blob-store=memory:", "--log=warn", "--database-url", &pooler.url];
    let server = Running::start(&arguments).await;
    pooler.change_mode("transaction");
    let mut statuses = BTreeSet::new();
    let clients = (0..8).map(|_| async {
        let mut connection = Connection::to(&server).await;
        let mut statuses = BTreeSet::new();
        for _ in 0..200 {
            let created = connection.api(server.api_key(), "POST", "/prompts", Some(PROMPT)).await;
            statuses.insert(created.status);
            if statuses.contains(&503) {
                break;
            }
        }
        statuses
    });
    for of_client in join_all(clients).await {
        statuses.extend(of_client);
    }
    assert!(statuses.is_subset(&[201, 503].into()) && statuses.contains(&503), "{statuses:?}");
    let log = server.stop().await.stderr;
    assert!(log.contains("pool_mode"), "{log}");
}
