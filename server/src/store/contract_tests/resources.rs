//! What the conformance scenarios cannot see of keys, prompts and vaults.

use std::sync::Arc;

use futures::TryStreamExt;

use super::jobs::{claim, image, new, reserved, ticket};
use super::{StoreUnderTest, assert_error, contract_tests, found, key};
use crate::domain::{NewKey, PromptPatch, Scopes};
use crate::store::StoreError;

contract_tests! {
    a_seeded_key_is_found_as_it_was_given
    another_key_with_the_same_public_id_is_refused_and_creates_no_account
    an_update_is_later_than_the_previous_one_even_if_the_clock_stands_still
    a_response_never_shows_a_later_change
    a_fork_copies_the_cover_and_the_images
    the_newest_vaults_are_those_with_the_latest_ids
}

async fn a_seeded_key_is_found_as_it_was_given(db: Arc<StoreUnderTest>) {
    let read_only = NewKey { scopes: Scopes::default(), digest: [9; 32], ..key("b") };
    let revoked = NewKey { revoked: true, ..key("c") };
    let mut accounts = Vec::new();
    for key in [key("a"), read_only, revoked] {
        db.store.seed_key("alice", key.clone()).await.unwrap();
        let found = db.store.find_key(&key.public_id, &[7; 32]).await.unwrap().unwrap();
        assert_eq!(found.key, key);
        assert_eq!(db.store.find_key(&key.public_id, &[7; 32]).await.unwrap(), Some(found.clone()));
        accounts.push(found.account);
    }
    accounts.dedup();
    assert_eq!(accounts.len(), 1);
    assert_eq!(db.store.find_key("d", &[7; 32]).await.unwrap(), None);
}

async fn another_key_with_the_same_public_id_is_refused_and_creates_no_account(
    db: Arc<StoreUnderTest>,
) {
    db.store.seed_key("alice", key("a")).await.unwrap();
    db.store.seed_key("bob", key("b")).await.unwrap();
    db.store.seed_key("alice", key("a")).await.expect("the same seed again changes nothing");
    for (account, other) in [
        ("bob", key("a")),
        ("carol", key("a")),
        ("alice", NewKey { digest: [8; 32], ..key("a") }),
        ("alice", NewKey { scopes: Scopes::default(), ..key("a") }),
        ("alice", NewKey { revoked: true, ..key("a") }),
    ] {
        assert_error!(db.store.seed_key(account, other).await, StoreError::KeyTaken);
    }
    assert_eq!(db.accounts().await, 2);
}

async fn an_update_is_later_than_the_previous_one_even_if_the_clock_stands_still(
    db: Arc<StoreUnderTest>,
) {
    let alice = db.caller("alice").await;
    let created = db.prompt(&alice, None).await;
    let mut before = created.updated_at;
    for _ in 0..3 {
        let patch = PromptPatch { title: Some("x".into()), ..PromptPatch::default() };
        let after = db.store.update_prompt(&alice, created.id, patch).await.unwrap();
        assert_eq!(after.updated_at, before + jiff::SignedDuration::from_micros(1));
        before = after.updated_at;
    }
}

async fn a_response_never_shows_a_later_change(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let vault = db.private(&alice, &[]).await;
    let created = db.prompt(&alice, Some(vault)).await;
    let contents = db.store.contents(&alice, vault).await.unwrap();
    db.store.delete_prompt(&alice, created.id).await.unwrap();
    db.prompt(&alice, Some(vault)).await;
    let contents: Vec<_> = contents.try_collect().await.unwrap();
    assert_eq!(contents.len(), 1);
    assert_eq!((&contents[0].prompt, &created.vault_ids[..]), (&created, &[vault][..]));
    assert!(found(db.store.prompt(&alice, created.id).await).is_none());
}

async fn a_fork_copies_the_cover_and_the_images(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let source = db.public(&alice, &[]).await;
    let cover = Some("http://localhost/cover.png".into());
    db.store.set_cover(&alice, source, cover).await.unwrap();
    let job = reserved(&*db.store, &alice, new("job", 1, Some(source))).await;
    db.store.job_submitted(&job.key, ticket()).await.unwrap();
    let lease = claim(&*db.store).await.unwrap().lease;
    db.store.complete_job(&lease, vec![image(), image()]).await.unwrap();
    let copy = db.store.fork_vault(&alice, source).await.unwrap();
    assert_eq!(copy.cover_image, Some("http://localhost/cover.png".into()));
    assert_eq!(db.store.vault(&alice, copy.id).await.unwrap(), copy);
    let contents = db.contents(&alice, copy.id).await;
    assert_eq!(*contents[0].prompt.images, [image(), image()]);
}

async fn the_newest_vaults_are_those_with_the_latest_ids(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let mut made = Vec::new();
    for caller in [&alice, &bob, &alice, &alice] {
        made.push(db.public(caller, &[]).await);
    }
    let newest = async |limit| {
        let vaults = db.store.newest_vaults(&alice, limit).await.unwrap();
        vaults.into_iter().map(|vault| vault.id).collect::<Vec<_>>()
    };
    assert_eq!(newest(2).await, [made[3], made[2]]);
    // The last one is General.
    assert_eq!(newest(100).await[..3], [made[3], made[2], made[0]]);
    assert_eq!(newest(100).await.len(), 4);
}
