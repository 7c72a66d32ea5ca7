//! Reads of lists that wait for one another.

use std::sync::Arc;

use futures::future::join_all;
use futures::{FutureExt, TryStreamExt};

use super::{caller, store};
use crate::domain::{ListedPrompt, PromptKind, PromptQuery};
use crate::store::StoreError;
use crate::store::contract_tests::{named, new_prompt};
use crate::store::prelude::*;

const PAGE: PromptQuery = PromptQuery { vault: None, kind: None, after: None, limit: 3 };

#[tokio::test]
async fn equal_pages_that_wait_share_their_rows_and_others_do_not() {
    let (store, _database) = store().await;
    let (alice, bob) = (caller(&store, "alice").await, caller(&store, "bob").await);
    let mine = store.create_prompt(&alice, new_prompt(PromptKind::Text, None)).await.unwrap().id;
    let bobs = store.create_prompt(&bob, new_prompt(PromptKind::Text, None)).await.unwrap().id;
    let longer = PromptQuery { limit: 4, ..PAGE };
    // Two are on their way at once, and the others of the same key and query wait.
    let mut reads: Vec<_> = (0..6).map(|_| store.list_prompts(&alice, PAGE)).collect();
    reads.push(store.list_prompts(&alice, longer));
    reads.push(store.list_prompts(&bob, PAGE));
    let pages = join_all(reads).await.into_iter().map(Result::unwrap);
    let pages: Vec<_> = pages.map(|page| page.prompts).collect();
    let expected = [[mine; 7].as_slice(), &[bobs]].concat();
    assert_eq!(pages.iter().map(|page| page[0].id).collect::<Vec<_>>(), expected);
    let shared = |a: usize, b: usize| Arc::ptr_eq(&pages[a][0], &pages[b][0]);
    assert!((3..6).all(|at| shared(2, at)));
    assert!(!shared(0, 1) && !shared(0, 2) && !shared(1, 2) && !shared(2, 6));
}

#[tokio::test]
async fn a_page_has_what_was_created_before_its_request_although_older_reads_are_on_their_way() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    let mut older: Vec<_> = (0..2).map(|_| store.list_prompts(&alice, PAGE)).collect();
    for read in &mut older {
        assert!(read.now_or_never().is_none());
    }
    let created = store.create_prompt(&alice, new_prompt(PromptKind::Text, None)).await.unwrap().id;
    let (page, _) = tokio::join!(store.list_prompts(&alice, PAGE), join_all(older));
    assert_eq!(page.unwrap().prompts[0].id, created);
}

#[tokio::test]
async fn reads_of_a_small_vault_that_wait_share_their_rows() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    let vault = store.create_vault(&alice, named("Sky")).await.unwrap().id;
    let prompt = store.create_prompt(&alice, new_prompt(PromptKind::Text, None)).await.unwrap().id;
    store.add_prompts(&alice, vault, &[prompt]).await.unwrap();
    let read = async || -> Vec<ListedPrompt> {
        store.contents(&alice, vault).await.unwrap().try_collect().await.unwrap()
    };
    let read = join_all((0..5).map(|_| read())).await;
    assert!(read.iter().all(|entries| entries.len() == 1 && entries[0].prompt.id == prompt));
    let shared = |a: usize, b: usize| Arc::ptr_eq(&read[a][0].prompt, &read[b][0].prompt);
    assert!(shared(2, 3) && shared(2, 4) && !shared(0, 1) && !shared(0, 2));
}

#[tokio::test]
async fn each_list_that_waits_for_others_is_refused_if_the_key_is_revoked_or_the_vault_unknown() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    let vault = store.create_vault(&alice, named("Sky")).await.unwrap().id;
    store.delete_vault(&alice, vault).await.unwrap();
    let of_vault = PromptQuery { vault: Some(vault), ..PAGE };
    for page in join_all((0..5).map(|_| store.list_prompts(&alice, of_vault))).await {
        assert!(matches!(page, Err(StoreError::UnknownVault)), "{page:?}");
    }
    for contents in join_all((0..5).map(|_| store.contents(&alice, vault))).await {
        assert!(matches!(contents.err(), Some(StoreError::NotFound)));
    }
    store.revoke_key("key-of-alice").await.unwrap();
    for page in join_all((0..5).map(|_| store.list_prompts(&alice, PAGE))).await {
        assert!(matches!(page, Err(StoreError::KeyRevoked)), "{page:?}");
    }
}
