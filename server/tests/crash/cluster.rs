//! A PostgreSQL that can be killed: its own cluster, which writes what it
//! acknowledges to the disk first.

use std::path::Path;
use std::process::Command;

use tokio::task::spawn_blocking;
use tokio_postgres::{Client, NoTls};

use crate::folder::Folder;

/// Set by `script/test` to the folder of PostgreSQL's programs.
const PROGRAMS: &str = "PROMPTARIUM_TEST_POSTGRES_BIN";

/// Against what the script is there for otherwise: clusters that may forget.
const DURABLE: [&str; 3] = ["fsync=on", "full_page_writes=on", "synchronous_commit=on"];

/// A running cluster, removed with this value.
pub(crate) struct Cluster {
    folder: Folder,
    pub(crate) url: String,
}

impl Cluster {
    pub(crate) async fn start() -> Self {
        assert!(
            std::env::var_os(PROGRAMS).is_some(),
            "{PROGRAMS} is not set; script/test finds PostgreSQL's programs and sets it"
        );
        let folder = Folder::create("cluster");
        let url = start(folder.path()).await;
        let cluster = Self { folder, url };
        let durable = cluster.connect().await.query_one("SHOW fsync", &[]).await.unwrap();
        assert_eq!(durable.get::<_, &str>(0), "on");
        cluster
    }

    /// A connection of the test's own.
    pub(crate) async fn connect(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Ends all its processes at once, as a crash does.
    pub(crate) async fn crash(&self) {
        script(["stop", &path(self.folder.path()), "immediate"]).await;
    }

    pub(crate) async fn stop(&self) {
        script(["stop", &path(self.folder.path()), "fast"]).await;
    }

    /// The ids of all its processes that answer clients, and of the one that takes
    /// new ones.
    pub(crate) async fn processes(&self) -> Vec<String> {
        let file = self.folder.path().join("data/postmaster.pid");
        let text = std::fs::read_to_string(file).unwrap();
        let mut ids = vec![text.lines().next().unwrap().to_owned()];
        let client = self.connect().await;
        let others = "SELECT pid::text FROM pg_stat_activity \
                      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
        ids.extend(client.query(others, &[]).await.unwrap().iter().map(|row| row.get(0)));
        ids
    }

    /// Sends a signal to processes of it.
    pub(crate) async fn signal(&self, processes: &[String], name: &str) {
        let mut command = tokio::process::Command::new("kill");
        let sent = command.args(["-s", name]).args(processes).status().await.unwrap();
        assert!(sent.success());
    }

    /// Starts it again, at the same address.
    pub(crate) async fn start_again(&self) {
        assert_eq!(start(self.folder.path()).await, self.url);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // It is as gone as it can be made.
        let _ = command(["remove", &path(self.folder.path())]).output();
    }
}

async fn start(folder: &Path) -> String {
    let folder = path(folder);
    let [a, b, c] = DURABLE;
    script(["start", &folder, a, b, c]).await.trim_end().to_owned()
}

async fn script<const N: usize>(arguments: [&str; N]) -> String {
    let mut command = command(arguments);
    let output = spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "script/postgres {arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn command<const N: usize>(arguments: [&str; N]) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../script/postgres");
    let mut command = Command::new(script);
    command.args(arguments);
    command
}

fn path(folder: &Path) -> String {
    folder.to_str().unwrap().to_owned()
}
