//! Statements that wait for a lock, and what changed meanwhile.

use std::sync::Arc;

use tokio_postgres::Client;

use super::until_waiting;
use crate::domain::{Membership, PromptPatch};
use crate::store::contract_tests::StoreUnderTest;

/// Runs `call` until it waits for a lock of `holder`, then `meanwhile`, and then ends the
/// transaction of `holder`.
async fn beside<T: Send + 'static>(
    db: &StoreUnderTest,
    holder: &Client,
    call: impl Future<Output = T> + Send + 'static,
    meanwhile: impl AsyncFnOnce(),
) -> T {
    let called = tokio::spawn(call);
    until_waiting(&db.sql().await).await;
    meanwhile().await;
    holder.batch_execute("COMMIT").await.unwrap();
    called.await.unwrap()
}

#[tokio::test]
async fn a_prompt_that_comes_into_or_leaves_a_vault_while_its_deletion_waits_is_counted_once() {
    for leaves in [false, true] {
        let db = StoreUnderTest::postgres().await;
        let alice = db.caller("alice").await;
        let prompt = db.prompt(&alice, None).await.id;
        let one = db.private(&alice, &[prompt]).await;
        let prompts = [prompt];
        let two = db.private(&alice, &prompts[..usize::from(leaves)]).await;
        let holder = db.sql().await;
        let lock = format!("BEGIN; SELECT FROM vault WHERE id = {one} FOR NO KEY UPDATE");
        holder.batch_execute(&lock).await.unwrap();
        let (store, by) = (Arc::clone(&db.store), alice.clone());
        let deletion = async move { store.delete_prompt(&by, prompt).await };
        let deleted = beside(&db, &holder, deletion, async || {
            if leaves {
                let id = db.contents(&alice, two).await[0].membership;
                let at = Membership { vault: two, id };
                db.store.remove_membership(&alice, at).await.unwrap();
            } else {
                db.store.save_prompt(&alice, prompt, two).await.unwrap();
            }
        });
        deleted.await.unwrap();
        let vaults = db.store.vaults(&alice).await.unwrap();
        assert!(vaults.iter().all(|vault| vault.prompt_count == 0), "{leaves}: {vaults:?}");
        db.check().await;
    }
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
