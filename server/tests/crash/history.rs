//! Writers change the prompts of one account while readers walk its lists, over HTTP and on server
//! processes. The recorded history must have no page that skips, repeats or disorders entries, or
//! has one that was deleted.
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
mod faults;
mod reader;
mod record;
mod target;
mod writer;

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::join_all;
use promptarium_server::test_support::ScratchDatabase;
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::time::sleep;

use self::reader::{FILTERS, walk, walk_on};
use self::record::{History, Walk};
use self::target::Target;
use self::writer::Writer;

#[tokio::test(flavor = "multi_thread")]
async fn walks_beside_writers_in_memory() {
    run("memory", None, None, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn walks_beside_writers_on_postgres() {
    let database = ScratchDatabase::create().await.unwrap();
    run("postgres", Some(&database.url()), None, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn walks_beside_writers_on_three_replicas() {
    let database = ScratchDatabase::create().await.unwrap();
    run("three replicas", Some(&database.url()), None, 3).await;
}

/// On the database that `PROMPTARIUM_HISTORY_DATABASE_URL` names, if it names one.
#[tokio::test(flavor = "multi_thread")]
async fn walks_beside_writers_on_a_named_database() {
    if let Ok(url) = std::env::var("PROMPTARIUM_HISTORY_DATABASE_URL") {
        let blob_store = std::env::var("PROMPTARIUM_HISTORY_BLOB_STORE").ok();
        run("named database", Some(&url), blob_store, 3).await;
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

async fn run(name: &str, database: Option<&str>, blob_store: Option<String>, replicas: usize) {
    let target = Target::start(database, blob_store, replicas).await;
    let seconds = setting("SECONDS", 2);
    // Each filter has a reader that begins with it.
    let (writers, readers) = (setting("WRITERS", 8).max(1), setting("READERS", 20).max(FILTERS));
    let most = setting("PROMPTS", 300) / writers;
    let client = &target.client;
    let begin = |_| Writer::begin(client.clone(), random(), most);
    let writing = join_all((0..writers).map(begin)).await;
    let writing: Vec<_> = writing.into_iter().map(|writer| tokio::spawn(writer.run())).collect();
    let reading = (0..readers).map(|n| tokio::spawn(walk_on(client.clone(), random(), n)));
    let reading: Vec<_> = reading.collect();

    sleep(Duration::from_secs(seconds as u64)).await;
    client.stop.store(true, Ordering::Relaxed);
    let mut history = History::default();
    for writes in join_all(writing).await {
        history.prompts.extend(writes.unwrap());
    }
    for walks in join_all(reading).await {
        history.walks.extend(walks.unwrap());
    }
    // Nothing changes any more.
    for number in 0..FILTERS {
        history.walks.push(walk(client, &mut random(), number).await);
    }

    let findings = check::check(&history);
    let pages: Vec<_> = history.walks.iter().flat_map(|walk| &walk.pages).collect();
    println!(
        "{name}: {writers} writers and {readers} readers for {seconds} s: {} writes to {} prompts, \
         {} walks, {} pages with {} entries, {} requests refused and repeated, {} faults",
        history.prompts.values().map(Vec::len).sum::<usize>(),
        history.prompts.len(),
        history.walks.len(),
        pages.len(),
        pages.iter().map(|page| page.ids.len()).sum::<usize>(),
        client.refused.load(Ordering::Relaxed),
        findings.len(),
    );
    let some: Vec<_> = findings.iter().take(10).map(ToString::to_string).collect();
    let some = some.join("\n");
    assert!(findings.is_empty(), "{some}\nlogs of the servers:\n{}", target.logs());
    assert!(history.walks.iter().all(Walk::is_complete));
    let later = history.prompts.values().filter(|writes| writes.len() > 1).count();
    assert!(later > 0, "the writers did nothing");
}
