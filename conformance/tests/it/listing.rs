//! A long list that changes while it is read.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::{StreamExt as _, TryStreamExt as _};
use promptarium::{Client, PromptId};
use promptarium_server::EmbeddedServer;

const STABLE: usize = 10_000;
const FICKLE: usize = 500;
const AT_ONCE: usize = 32;

/// PG-06: what is there from the first page to the last is listed exactly
/// once, whatever else comes and goes meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn each_of_10_000_prompts_is_listed_once_while_others_come_and_go() {
    let server = EmbeddedServer::start().await.unwrap();
    let client = Client::builder().base_url(server.base_url()).api_key(server.api_key());
    let client = client.build().unwrap();
    let (stable, fickle) = fill(&client).await;

    let listed = AtomicBool::new(false);
    let list = async {
        let prompts = client.prompts().list().page_size(100).items();
        let ids: Vec<_> = prompts.map_ok(|prompt| prompt.id).try_collect().await.unwrap();
        listed.store(true, Ordering::Relaxed);
        ids
    };
    let (ids, changes) = tokio::join!(list, come_and_go(&client, fickle, &listed));

    assert!(changes > 100, "only {changes} changes met the listing");
    let unique: HashSet<_> = ids.iter().copied().collect();
    assert_eq!(unique.len(), ids.len(), "some prompts were listed twice");
    let missing = stable.difference(&unique).count();
    assert_eq!(missing, 0, "some stable prompts were not listed");
    server.shutdown().await;
}

/// Stable prompts and, spread among them, fickle ones.
async fn fill(client: &Client) -> (HashSet<PromptId>, Vec<PromptId>) {
    let every = STABLE / FICKLE + 1;
    let made = futures::stream::iter(0..STABLE + FICKLE).map(|n| async move {
        let prompt = client.prompts().create(format!("prompt {n}"), "text").await.unwrap();
        (n % every == 0, prompt.id)
    });
    let made: Vec<_> = made.buffer_unordered(AT_ONCE).collect().await;
    let (fickle, stable): (Vec<_>, Vec<_>) = made.into_iter().partition(|(fickle, _)| *fickle);
    (stable.into_iter().map(|(_, id)| id).collect(), fickle.into_iter().map(|(_, id)| id).collect())
}

/// Deletes the fickle ones, latest first as the listing goes, and makes a new
/// one for each, until the list is read; how many changes that were.
async fn come_and_go(client: &Client, mut fickle: Vec<PromptId>, listed: &AtomicBool) -> usize {
    let mut changes = 0;
    while !listed.load(Ordering::Relaxed) {
        let Some(id) = fickle.pop() else { break };
        client.prompts().delete(id).await.unwrap();
        let made = client.prompts().create("fickle", "text").await.unwrap();
        if changes % 3 == 0 {
            fickle.insert(fickle.len() / 2, made.id);
        }
        changes += 2;
    }
    changes
}
