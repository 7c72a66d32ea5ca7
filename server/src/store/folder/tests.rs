//! Folders in every state, and steps that cannot be made durable.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use parking_lot::Mutex;
use rusqlite::Connection;

use super::file::{self, DATABASE, commit};
use super::{Folder, FolderJournal, Problem, Write};
use crate::clock::{Clock, ManualClock};
use crate::domain::{Caller, PromptKind};
use crate::store::StoreError;
use crate::store::contract_tests::{StoreUnderTest, caller, new_prompt};
use crate::store::memory::{Batch, MemoryStore};
use crate::store::prelude::*;

pub(in crate::store) fn open(folder: &Path, clock: &ManualClock) -> MemoryStore {
    let store = Folder::lock(folder).unwrap().open(Clock::Manual(clock.clone())).unwrap();
    store.with_vaults_max(crate::store::contract_tests::VAULTS_MAX)
}

/// Panics if the file has other records than the memory.
pub(in crate::store) fn check_file(store: &MemoryStore, folder: &Path) {
    let read = MemoryStore::new(Clock::System);
    let connection = Connection::open(folder.join(DATABASE)).unwrap();
    file::load(&connection, &read).unwrap().unwrap();
    assert!(read.records() == store.records(), "memory and file differ");
}

fn system(folder: &Path) -> Result<MemoryStore, Problem> {
    Folder::lock(folder)?.open(Clock::System)
}

/// The error of a folder with this file as its database, from "folder" on.
fn refusal(database: impl FnOnce(&Path)) -> String {
    let folder = tempfile::tempdir().unwrap();
    drop(system(folder.path()).unwrap());
    let file = folder.path().join(DATABASE);
    database(&file);
    let before = fs::read(&file).unwrap();
    let error = system(folder.path()).unwrap_err().to_string();
    assert!(fs::read(&file).unwrap() == before, "the file was changed");
    assert!(!error.contains('\n'), "{error}");
    error.replace(&*folder.path().to_string_lossy(), "folder")
}

pub(super) fn sql(file: &Path, sql: &str) {
    let connection = Connection::open(file).unwrap();
    connection.execute_batch(sql).unwrap();
}

#[test]
fn a_folder_of_a_newer_version_says_so_and_stays_as_it_is() {
    let error = refusal(|file| sql(file, "PRAGMA user_version = 2"));
    assert!(error.starts_with("folder: a newer promptarium-server has written this"), "{error}");
}

#[test]
fn a_folder_with_a_record_of_an_unknown_kind_is_not_opened() {
    let error = refusal(|file| sql(file, "INSERT INTO record VALUES (7, 'colour', '[1,2]')"));
    assert!(error.starts_with("folder: its database is damaged (a record of the unk"), "{error}");
}

#[test]
fn the_database_of_another_program_is_not_touched() {
    let other = |file: &Path| {
        fs::remove_file(file).unwrap();
        sql(file, "CREATE TABLE note (text TEXT)");
    };
    for error in [refusal(other), refusal(|file| fs::write(file, "a letter").unwrap())] {
        assert!(error.starts_with("folder: promptarium.db in it belongs to another"), "{error}");
    }
}

#[test]
fn an_empty_database_is_a_damaged_one_and_a_start_that_is_cut_off_leaves_none() {
    for cut in ["", "SQLite"] {
        let error = refusal(|file| fs::write(file, cut).unwrap());
        assert!(
            error.contains("promptarium.db in it belongs to another program, or is"),
            "{error}"
        );
    }
    let error = refusal(|file| sql(file, "DROP TABLE record"));
    assert!(error.starts_with("folder: its database is damaged (no such table"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("promptarium.partial"), "").unwrap();
    system(folder.path()).unwrap();
}

#[test]
fn a_damaged_database_is_not_opened() {
    let damage = |file: &Path| {
        sql(file, "INSERT INTO record VALUES (1, 'setting', '[\"a\",[1]]')");
        let mut bytes = fs::read(file).unwrap();
        bytes[4096..].fill(0x5a);
        fs::write(file, bytes).unwrap();
    };
    let error = refusal(damage);
    assert!(error.starts_with("folder: its database is damaged (database disk image"), "{error}");
    assert!(error.contains("restore a backup"), "{error}");
}

#[test]
fn a_folder_of_something_else_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("lost+found")).unwrap();
    fs::write(folder.path().join("thesis.tex"), "").unwrap();
    let error = system(folder.path()).unwrap_err().to_string();
    assert!(error.contains("it has thesis.tex and no promptarium.db"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    fs::remove_file(folder.path().join("thesis.tex")).unwrap();
    system(folder.path()).unwrap();
}

#[test]
fn a_second_server_names_the_folder_and_the_process_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let first = system(folder.path()).unwrap();
    let error = system(folder.path()).unwrap_err().to_string();
    let (place, process) = (folder.path().display().to_string(), std::process::id());
    assert!(error.starts_with(&place), "{error}");
    assert!(error.contains(&format!("(process {process})")), "{error}");
    // The lock is no mere file.
    fs::remove_file(folder.path().join("lock")).unwrap();
    let error = system(folder.path()).unwrap_err().to_string();
    assert!(error.contains("another server uses this folder"), "{error}");
    drop(first);
    system(folder.path()).unwrap();
}

#[test]
fn who_starts_while_another_ends_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let first = system(folder.path()).unwrap();
    let ending = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(first);
    });
    system(folder.path()).unwrap();
    ending.join().unwrap();
}

#[tokio::test]
async fn a_folder_that_is_moved_away_takes_no_changes_until_it_is_back() {
    let home = tempfile::tempdir().unwrap();
    let (folder, away) = (home.path().join("data"), home.path().join("away"));
    let store = system(&folder).unwrap();
    let alice = caller(&store, "alice").await;
    fs::rename(&folder, &away).unwrap();
    let refused = create(&store, &alice).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotDurable { is_full: false, .. }), "{refused:?}");
    fs::rename(&away, &folder).unwrap();
    create(&store, &alice).await.unwrap();
    check_file(&store, &folder);
}

#[test]
fn a_path_that_cannot_be_a_folder_says_what_to_do() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = system(&file.path().join("data")).unwrap_err().to_string();
    assert!(error.contains("name another folder"), "{error}");
}

#[tokio::test]
async fn a_folder_is_the_same_after_each_of_a_hundred_starts() {
    let mut db = StoreUnderTest::folder();
    let alice = db.caller("alice").await;
    let mut prompts = Vec::new();
    for number in 0..100 {
        prompts.push(db.prompt(&alice, None).await.id);
        db.store.set_last_public_url(&format!("http://{number}")).await.unwrap();
        db = db.reopened();
        let shown = db.store.prompt(&alice, prompts[number / 2]).await.unwrap();
        assert_eq!(shown.id, prompts[number / 2]);
    }
    assert!(prompts.is_sorted_by(|a, b| a < b), "{prompts:?}");
    db.check().await;
}

#[tokio::test]
async fn an_id_is_not_used_again_after_its_owner_was_deleted() {
    let db = StoreUnderTest::folder();
    let alice = db.caller("alice").await;
    let deleted = db.prompt(&alice, None).await.id;
    db.store.delete_prompt(&alice, deleted).await.unwrap();
    let db = db.reopened();
    assert!(db.prompt(&alice, None).await.id > deleted);
}

#[tokio::test]
async fn after_a_clock_was_set_back_an_hour_changes_have_later_times() {
    let folder = tempfile::tempdir().unwrap();
    let now = jiff::Timestamp::from_second(7_200).unwrap();
    let store = open(folder.path(), &ManualClock::new(now));
    let alice = caller(&store, "alice").await;
    let new = || new_prompt(PromptKind::Text, None);
    let first = store.create_prompt(&alice, new()).await.unwrap();
    drop(store);
    let clock = ManualClock::new(jiff::Timestamp::from_second(3_600).unwrap());
    let store = open(folder.path(), &clock);
    let second = store.create_prompt(&alice, new()).await.unwrap();
    assert!(second.id > first.id);
    let patch = crate::domain::PromptPatch { title: Some("b".into()), ..Default::default() };
    let changed = store.update_prompt(&alice, first.id, patch).await.unwrap();
    assert!(changed.updated_at > first.updated_at);
    clock.advance(Duration::from_secs(1));
    store.check_invariants();
}

/// Where a transaction fails.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Before it.
    Begin,
    /// At the record of a prompt.
    Middle,
    /// At its end, which leaves it open.
    Commit,
}

impl Fault {
    const ALL: [Self; 3] = [Self::Begin, Self::Middle, Self::Commit];

    fn write(self, connection: &mut Connection, batches: &[Batch]) -> rusqlite::Result<()> {
        let body = match self {
            Self::Begin => {
                let full = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
                return Err(rusqlite::Error::SqliteFailure(full, None));
            }
            Self::Middle => "SELECT RAISE(ABORT, 'a fault')",
            Self::Commit => "INSERT INTO child VALUES (1)",
        };
        connection.execute_batch(&format!(
            "PRAGMA foreign_keys = ON;
             CREATE TEMP TABLE parent (id INTEGER PRIMARY KEY);
             CREATE TEMP TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
             CREATE TEMP TRIGGER fault AFTER INSERT ON record WHEN new.kind = 'prompt'
                 BEGIN {body}; END;"
        ))?;
        let failed = commit(connection, batches);
        assert!(connection.is_autocommit(), "{self:?}: the transaction is open");
        connection.execute_batch("DROP TRIGGER fault; DROP TABLE child; DROP TABLE parent")?;
        failed
    }
}

type Faults = Arc<Mutex<Vec<Fault>>>;

/// A store whose next writes fail in these ways, the last one first.
fn failing(folder: &Path) -> (Arc<MemoryStore>, Faults) {
    let locked = Folder::lock(folder).unwrap();
    file::create(&folder.join(DATABASE)).unwrap();
    let mut connection = file::open(&folder.join(DATABASE)).unwrap();
    let store = MemoryStore::new(Clock::System);
    file::load(&connection, &store).unwrap().unwrap();
    let faults = Faults::default();
    let left = faults.clone();
    let write: Write = Box::new(move |batches| match left.lock().pop() {
        Some(fault) => fault.write(&mut connection, batches),
        None => commit(&mut connection, batches),
    });
    let store = store.with_journal(|undo| FolderJournal::start(locked, write, undo));
    (Arc::new(store.unwrap()), faults)
}

async fn create(store: &MemoryStore, by: &Caller) -> Result<(), StoreError> {
    store.create_prompt(by, new_prompt(PromptKind::Text, None)).await.map(drop)
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused_and_undone_and_writing_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let (store, faults) = failing(folder.path());
    let alice = caller(&*store, "alice").await;
    for (kept, fault) in (0..).zip(Fault::ALL) {
        faults.lock().extend([fault; 3]);
        for _ in 0..3 {
            let refused = create(&store, &alice).await.unwrap_err();
            let StoreError::NotDurable { is_full, .. } = refused else { panic!("{refused:?}") };
            assert_eq!(is_full, matches!(fault, Fault::Begin), "{fault:?}");
            let left = store.count_prompts(&alice, None, 9).await.unwrap();
            assert_eq!(left, kept, "{fault:?}");
            check_file(&store, folder.path());
        }
        create(&store, &alice).await.unwrap();
        check_file(&store, folder.path());
    }
    assert_eq!(store.count_prompts(&alice, None, 9).await.unwrap(), 3);
}

/// Steps of many callers at once, of which failed writes refuse some.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_and_file_are_equal_whichever_writes_fail() {
    let folder = tempfile::tempdir().unwrap();
    let (store, faults) = failing(folder.path());
    let alice = caller(&*store, "alice").await;
    let writer = |number: u32| {
        let (store, alice, faults) = (store.clone(), alice.clone(), faults.clone());
        tokio::spawn(async move {
            let mut durable = 0;
            for step in 0..100 {
                if (number + step).is_multiple_of(37) {
                    faults.lock().push(Fault::ALL[step as usize % 3]);
                }
                durable += usize::from(create(&store, &alice).await.is_ok());
            }
            durable
        })
    };
    let durable: usize = join_all((0..16).map(writer)).await.into_iter().map(Result::unwrap).sum();
    faults.lock().clear();
    assert!(durable < 1600, "no write failed");
    assert_eq!(store.count_prompts(&alice, None, 9999).await.unwrap(), durable);
    store.check_invariants();
    check_file(&store, folder.path());
}
