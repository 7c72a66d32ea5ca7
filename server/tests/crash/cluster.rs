//! A durable PostgreSQL cluster that a test can stop, crash, freeze and start again.

use std::collections::BTreeSet;
use std::time::Duration;

use tempfile::TempDir;
use tokio::process::Command;
use tokio_postgres::NoTls;

use crate::support::program::signal;
use crate::support::{TIMEOUT, wait_until};

/// The fencing tokens of the leases on jobs.
pub(crate) const LEASES: &str = "SELECT fence::text FROM job WHERE fence IS NOT NULL";

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../script/postgres");

/// By default `script/postgres` starts clusters that lose data in a crash.
const DURABLE: [&str; 3] = ["fsync=on", "full_page_writes=on", "synchronous_commit=on"];

/// A running cluster, removed on drop.
pub(crate) struct Cluster {
    folder: TempDir,
    pub(crate) url: String,
}

impl Cluster {
    pub(crate) async fn start() -> Self {
        let mut cluster = Self { folder: TempDir::new().unwrap(), url: String::new() };
        cluster.url = cluster.script("start", &DURABLE).await;
        cluster
    }

    /// A running standby of this cluster, which is restarted for it.
    pub(crate) async fn start_standby(&self) -> Self {
        let mut standby = Self { folder: TempDir::new().unwrap(), url: String::new() };
        standby.follow(self).await;
        standby
    }

    /// Makes this cluster a standby of another, whatever it was.
    pub(crate) async fn follow(&mut self, primary: &Self) {
        self.script("standby", &[primary.folder.path().to_str().unwrap()]).await;
        primary.start_again().await;
        self.url = self.script("start", &DURABLE).await;
        primary.wait_for_standby().await;
    }

    /// From here on each commit waits until the standby has it on its disk.
    async fn wait_for_standby(&self) {
        self.query("ALTER SYSTEM SET synchronous_standby_names = '*'").await;
        self.query("SELECT pg_reload_conf()::text").await;
        let state = "SELECT sync_state FROM pg_stat_replication";
        let sync = self.wait_until(TIMEOUT, state, |states| states.contains("sync")).await;
        assert!(sync.is_some(), "the standby does not follow");
    }

    /// Makes a primary of a standby.
    pub(crate) async fn promote(&self) {
        assert_eq!(self.query("SELECT pg_promote()::text").await, ["true".to_owned()].into());
    }

    /// Kills all its processes at once with SIGKILL.
    pub(crate) async fn kill(&self) {
        signal("KILL", &self.freeze().await).await;
    }

    /// Starts it again at the same address.
    pub(crate) async fn start_again(&self) {
        assert_eq!(self.script("start", &DURABLE).await, self.url);
    }

    /// In the mode `immediate` all its processes are killed at once.
    pub(crate) async fn stop(&self, mode: &str) {
        self.script("stop", &[mode]).await;
    }

    /// Repeats a query until its rows fulfil the condition, and returns how long that took.
    pub(crate) async fn wait_until(
        &self,
        limit: Duration,
        query: &str,
        condition: impl Fn(&BTreeSet<String>) -> bool,
    ) -> Option<Duration> {
        wait_until(limit, async || condition(&self.query(query).await)).await
    }

    pub(crate) async fn query(&self, query: &str) -> BTreeSet<String> {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.query(query, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// Stops all its processes with SIGSTOP, and returns their ids. First the one that accepts
    /// connections, so that no other starts meanwhile.
    pub(crate) async fn freeze(&self) -> Vec<String> {
        let file = self.folder.path().join("data/postmaster.pid");
        let text = std::fs::read_to_string(file).unwrap();
        let mut ids = vec![text.lines().next().unwrap().to_owned()];
        signal("STOP", &ids).await;
        let children = Command::new("pgrep").args(["-P", &ids[0]]).output().await.unwrap();
        ids.extend(String::from_utf8(children.stdout).unwrap().lines().map(str::to_owned));
        assert!(ids.len() > 1, "it has no other processes");
        signal("STOP", &ids[1..]).await;
        ids
    }

    async fn script(&self, verb: &str, rest: &[&str]) -> String {
        let mut command = Command::new(SCRIPT);
        let output = command.arg(verb).arg(self.folder.path()).args(rest).output().await.unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "script/postgres {verb}: {stderr}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // No second panic while one unwinds.
        let _ = std::process::Command::new(SCRIPT).arg("remove").arg(self.folder.path()).output();
    }
}
