//! PostgreSQL clusters of a test's own, to set up, stop and start as it likes.
//! `script/postgres` does the work.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../script/postgres");

static CREATED: AtomicU32 = AtomicU32::new(0);

/// A running cluster, removed when this value is dropped.
pub(crate) struct Cluster {
    folder: PathBuf,
    settings: Vec<String>,
    url: String,
}

impl Cluster {
    /// Starts one with these settings of `postgresql.conf`.
    pub(crate) fn start(settings: &[&str]) -> Self {
        let mut cluster = Self::new(settings);
        cluster.url = cluster.start_again();
        cluster
    }

    /// A running standby of this cluster, which is restarted for it. It has the same password.
    pub(crate) fn standby(&self) -> Self {
        let mut standby = Self::new(&[]);
        standby.script("standby", &[self.folder.to_str().unwrap()]);
        self.start_again();
        standby.url = standby.start_again();
        standby
    }

    fn new(settings: &[&str]) -> Self {
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        let name = format!("promptarium-cluster-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let settings = settings.iter().map(ToString::to_string).collect();
        Self { folder, settings, url: String::new() }
    }

    /// Its address, with a database `postgres` in it.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Where its files are.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Stops it, `fast` or `immediate`; the latter is as good as a crash.
    pub(crate) fn stop(&self, how: &str) {
        self.script("stop", &[how]);
    }

    /// Starts it where it was.
    pub(crate) fn start_again(&self) -> String {
        let settings: Vec<_> = self.settings.iter().map(String::as_str).collect();
        self.script("start", &settings).trim().to_owned()
    }

    fn script(&self, verb: &str, rest: &[&str]) -> String {
        let output = Command::new(SCRIPT).arg(verb).arg(&self.folder).args(rest).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "script/postgres {verb}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Not `script`: a second panic would hide the first.
        let _ = Command::new(SCRIPT).arg("remove").arg(&self.folder).status();
    }
}
