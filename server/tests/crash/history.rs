//! Writers change the prompts of one account while readers walk its lists, over HTTP and on server
//! processes. No walk may skip, repeat or disorder entries, or have one that was deleted.
//!
//! These variables make the runs longer. For a long one give the tests `--test-threads=1`, so that
//! one run does not slow another.
//!
//! | Variable | Default |
//! |---|---|
//! | `PROMPTARIUM_HISTORY_SECONDS` | 2 |
//! | `PROMPTARIUM_HISTORY_WRITERS` | 8 |
//! | `PROMPTARIUM_HISTORY_READERS` | 20 |
//! | `PROMPTARIUM_HISTORY_PROMPTS`, the most at once | 300 |
//! | `PROMPTARIUM_HISTORY_DATABASE_URL`, another database to run on | none |
//! | `PROMPTARIUM_HISTORY_BLOB_STORE`, the blob store of that database | a new folder |

mod check;
mod client;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::join_all;
use promptarium_server::test_support::ScratchDatabase;
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::time::sleep;

use self::client::{FILTERS, Run};

#[tokio::test(flavor = "multi_thread")]
async fn walks_beside_writers_in_memory() {
    run("memory", "--data memory:", None, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn walks_beside_writers_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let place = format!("--data {}", folder.path().join("data").display());
    run("folder", &place, None, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn walks_beside_writers_on_postgres() {
    let database = ScratchDatabase::create().await.unwrap();
    run("postgres", &on(&database.url()), None, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn walks_beside_writers_on_three_replicas() {
    let database = ScratchDatabase::create().await.unwrap();
    run("three replicas", &on(&database.url()), None, 3).await;
}

/// On the database that `PROMPTARIUM_HISTORY_DATABASE_URL` names, if it names one.
#[tokio::test(flavor = "multi_thread")]
async fn walks_beside_writers_on_a_named_database() {
    if let Ok(url) = std::env::var("PROMPTARIUM_HISTORY_DATABASE_URL") {
        let blob_store = std::env::var("PROMPTARIUM_HISTORY_BLOB_STORE").ok();
        run("named database", &on(&url), blob_store, 3).await;
    }
}

/// The variable of this name, or the default.
fn setting(name: &str, default: usize) -> usize {
    std::env::var(format!("PROMPTARIUM_HISTORY_{name}"))
        .map_or(default, |value| value.parse().expect("a number"))
}

fn random() -> StdRng {
    StdRng::seed_from_u64(rand::random())
}

fn on(database: &str) -> String {
    format!("--database-url {database}")
}

async fn run(name: &str, place: &str, blob_store: Option<String>, replicas: usize) {
    let run = Arc::new(Run::start(place, blob_store, replicas).await);
    let seconds = setting("SECONDS", 2);
    // Each filter has a reader that begins with it.
    let (writers, readers) = (setting("WRITERS", 8).max(1), setting("READERS", 20).max(FILTERS));
    let most = (setting("PROMPTS", 300) / writers).max(2);
    let begun = join_all((0..writers).map(|_| join_all((0..most).map(|_| run.create())))).await;
    let mut tasks = tokio::task::JoinSet::new();
    for ids in begun {
        let run = run.clone();
        tasks.spawn(async move { run.write_on(ids, most).await });
    }
    for number in 0..readers {
        let run = run.clone();
        tasks.spawn(async move { run.walk_on(number).await });
    }
    sleep(Duration::from_secs(seconds as u64)).await;
    run.stop.store(true, Ordering::Relaxed);
    tasks.join_all().await;
    // Nothing changes any more.
    for number in 0..FILTERS {
        run.walk(number).await;
    }

    let [writes, walks, pages, entries, refused] =
        run.counts.each_ref().map(|count| count.load(Ordering::Relaxed));
    let prompts = run.prompts();
    let count = prompts.known.len();
    println!(
        "{name}: {writers} writers and {readers} readers for {seconds} s: {writes} writes to {count} \
         prompts, {walks} walks, {pages} pages with {entries} entries, {refused} requests refused \
         and repeated"
    );
    let are_known = prompts.unknown.iter().all(|id| prompts.known.contains_key(id));
    assert!(are_known, "nobody made all of {:?}", prompts.unknown);
    assert!(writes > count, "the writers did nothing");
}
