//! Statements that wait for a lock, and what changed meanwhile.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::try_join_all;
use tokio_postgres::Client;

use super::{caller, store, store_in};
use crate::clock::Clock;
use crate::domain::{Caller, PromptPatch, slug};
use crate::store::contract_tests::{StoreUnderTest, named};
use crate::store::prelude::*;

/// Runs `call` until it waits for a lock of `holder`, then `meanwhile`, and then ends the
/// transaction of `holder`.
async fn beside<T: Send + 'static>(
    db: &StoreUnderTest,
    holder: &Client,
    call: impl Future<Output = T> + Send + 'static,
    meanwhile: impl AsyncFnOnce(),
) -> T {
    let called = tokio::spawn(call);
    let observer = db.sql().await;
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while observer.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
    meanwhile().await;
    holder.batch_execute("COMMIT").await.unwrap();
    called.await.unwrap()
}

async fn locked(db: &StoreUnderTest, table: &str, id: i64) -> Client {
    let holder = db.sql().await;
    let lock = format!("BEGIN; SELECT FROM {table} WHERE id = {id} FOR NO KEY UPDATE");
    holder.batch_execute(&lock).await.unwrap();
    holder
}

async fn counts(db: &StoreUnderTest, caller: &Caller) -> Vec<u64> {
    db.store.vaults(caller).await.unwrap().iter().map(|vault| vault.prompt_count).collect()
}

#[tokio::test]
async fn a_prompt_that_comes_into_a_vault_while_its_deletion_waits_leaves_that_too() {
    let db = StoreUnderTest::postgres().await;
    let alice = db.caller("alice").await;
    let prompt = db.prompt(&alice, None).await.id;
    let (one, two) = (db.private(&alice, &[prompt]).await, db.private(&alice, &[]).await);
    let holder = locked(&db, "vault", one.get()).await;
    let (store, by) = (Arc::clone(&db.store), alice.clone());
    let deletion = async move { store.delete_prompt(&by, prompt).await };
    let deleted = beside(&db, &holder, deletion, async || {
        db.store.save_prompt(&alice, prompt, two).await.unwrap();
    });
    deleted.await.unwrap();
    assert_eq!(counts(&db, &alice).await, [0, 0, 0]);
    db.check().await;
}

#[tokio::test]
async fn a_prompt_that_leaves_a_vault_while_its_deletion_waits_is_counted_once() {
    let db = StoreUnderTest::postgres().await;
    let alice = db.caller("alice").await;
    let prompt = db.prompt(&alice, None).await.id;
    let (one, two) = (db.private(&alice, &[prompt]).await, db.private(&alice, &[prompt]).await);
    let member = db.contents(&alice, two).await[0].membership;
    let holder = locked(&db, "vault", one.get()).await;
    let (store, by) = (Arc::clone(&db.store), alice.clone());
    let deletion = async move { store.delete_prompt(&by, prompt).await };
    let deleted = beside(&db, &holder, deletion, async || {
        db.store.remove_membership(&alice, two, member).await.unwrap();
    });
    deleted.await.unwrap();
    assert_eq!(counts(&db, &alice).await, [0, 0, 0]);
    db.check().await;
}

#[tokio::test]
async fn an_update_that_waited_for_a_save_shows_its_vault() {
    let db = StoreUnderTest::postgres().await;
    let alice = db.caller("alice").await;
    let prompt = db.prompt(&alice, None).await.id;
    let vault = db.private(&alice, &[]).await;
    let holder = db.sql().await;
    // What the statements of a save do.
    let save = format!(
        "BEGIN; UPDATE vault SET prompt_count = 1 WHERE id = {vault};
         SELECT FROM prompt WHERE id = {prompt} FOR UPDATE;
         INSERT INTO vault_prompt (account_id, vault_id, prompt_id, kind)
         SELECT account_id, {vault}, id, kind FROM prompt WHERE id = {prompt}"
    );
    holder.batch_execute(&save).await.unwrap();
    let (store, by) = (Arc::clone(&db.store), alice.clone());
    let title = PromptPatch { title: Some("x".into()), ..PromptPatch::default() };
    let update = async move { store.update_prompt(&by, prompt, title).await };
    let updated = beside(&db, &holder, update, async || {}).await.unwrap();
    assert_eq!((&*updated.title, &updated.vault_ids[..]), ("x", &[vault][..]));
    db.check().await;
}

#[tokio::test]
async fn vaults_of_one_name_that_many_servers_create_at_once_have_the_first_slugs() {
    let (one, database) = store().await;
    let alice = caller(&one, "alice").await;
    let mut servers = vec![one];
    for _ in 0..3 {
        servers.push(store_in(&database, Clock::System).await);
    }
    let created = servers.iter().cycle().take(80).map(|server| {
        let (server, alice) = (server.clone(), alice.clone());
        async move { server.create_vault(&alice, named("Sky")).await }
    });
    let created = try_join_all(created).await.unwrap();
    let slugs: BTreeSet<_> = created.iter().map(|vault| vault.slug.to_string()).collect();
    assert_eq!(slugs, (1..=80).map(|number| slug::candidate("sky", number)).collect());
}
