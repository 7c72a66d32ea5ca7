//! A server with a data folder whose disk fails: each write and sync of the database, with each error.
//!
//! `data/faults.c` fails the calls, so the test needs Linux and a C compiler.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rusqlite::Connection as Database;
use serde_json::json;
use tempfile::TempDir;

use crate::support::client::{Connection, Response};
use crate::support::program::{Running, program};

const KEY: &str = "promptarium_live_a1_s3cretOfAlice";
/// A key of hers that only reads, and is first used while the disk fails: its use cannot be noted.
const READER: &str = "promptarium_live_r1_s3cretOfAlice";
const EIO: i32 = 5;
const ENOSPC: i32 = 28;
/// More writes than one commit has.
const CALLS: u32 = 4;

struct Home {
    folder: TempDir,
    server: Running,
    /// The titles of acknowledged prompts, oldest first.
    kept: Vec<String>,
    tried: u32,
}

impl Home {
    async fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let (library, source) = (folder.path().join("faults.so"), "tests/data/faults.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source);
        assert!(compiler.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success());
        let data = folder.path().join("data");
        let arguments = format!(
            "--listen=127.0.0.1:0 --json --log-format=json --data={} --seed-key={KEY}=alice \
             --seed-key={READER}=alice:none",
            data.display()
        );
        let mut command = program(&arguments);
        command.env("LD_PRELOAD", library).env("FAULTS", folder.path().join("faults"));
        Self { folder, server: Running::of(command).await, kept: Vec::new(), tried: 0 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn connection(&self) -> Connection {
        Connection::to(&self.server).await
    }

    /// Creates a prompt; returns the response if it is refused.
    async fn create(&mut self) -> Option<Response> {
        self.tried += 1;
        let title = format!("prompt {}", self.tried);
        let body = json!({ "title": title, "prompt": "A harbour" }).to_string();
        let response = self.connection().await.api(KEY, "POST", "/prompts", Some(&body)).await;
        if response.status == 503 {
            return Some(response);
        }
        assert_eq!(response.status, 201, "{response:?}");
        self.kept.push(title);
        None
    }

    /// Kills it, and starts one whose disk works.
    async fn crash(&mut self) {
        self.server.child.kill().await.unwrap();
        let data = format!("--data={}", self.path("data").display());
        self.server = Running::start(&data).await;
        self.check_list().await;
    }

    async fn check_list(&self) {
        let mut connection = self.connection().await;
        let listed = connection.api(READER, "GET", "/prompts?limit=100", None).await;
        assert_eq!(listed.status, 200, "{listed:?}");
        let listed = listed.data();
        let titles = listed.as_array().unwrap().iter().rev().map(|one| one["title"].clone());
        assert_eq!(titles.collect::<Vec<_>>(), self.kept);
    }

    /// Compares what another process reads from the database.
    fn check_file(&self) {
        let database = Database::open(self.path("data/promptarium.db")).unwrap();
        let sql = "SELECT count(*) FROM record WHERE kind = 'prompt'";
        let count: i64 = database.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(count as usize, self.kept.len());
    }
}

#[tokio::test]
async fn a_disk_that_fails_at_any_write_or_sync_refuses_changes_and_loses_none_that_was_answered() {
    let mut home = Home::start().await;
    home.create().await;
    let points =
        ["write", "sync"].into_iter().flat_map(|call| (0..CALLS).map(move |at| (call, at)));
    for (call, skipped) in points {
        for error in [EIO, ENOSPC] {
            let message = match (call, error) {
                ("write", ENOSPC) => "the data folder has no space left",
                _ => "the data folder cannot be written",
            };
            let point = format!("{call} {error} {skipped}");
            fs::write(home.path("faults"), &point).unwrap();
            let mut refused = None;
            for _ in 0..=CALLS {
                refused = refused.or(home.create().await);
            }
            let refused = refused.unwrap_or_else(|| panic!("{point}: no change is refused"));
            assert!(refused.header("retry-after").is_some(), "{point}: {refused:?}");
            assert!(refused.is_error_envelope(), "{point}: {refused:?}");
            assert!(refused.body.contains(message), "{point}: {refused:?}");
            home.check_list().await;
            home.check_file();
            fs::remove_file(home.path("faults")).unwrap();
            assert!(home.create().await.is_none(), "{point}: writing does not resume");
        }
    }
    home.crash().await;
}

#[tokio::test]
async fn a_change_that_was_refused_does_not_come_back_after_a_crash() {
    let mut home = Home::start().await;
    home.create().await;
    fs::write(home.path("faults"), format!("sync {EIO} 0")).unwrap();
    assert!(home.create().await.is_some());
    home.crash().await;
}
