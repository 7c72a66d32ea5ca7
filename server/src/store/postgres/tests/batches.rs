//! Requests that wait for one another: reads of lists, and prompts that are created by one statement.

use std::sync::Arc;

use futures::TryStreamExt;
use futures::future::join_all;

use super::{caller, store};
use crate::domain::{ImageRef, ListedPrompt, NewPrompt, PromptInputs, PromptKind, PromptQuery};
use crate::store::StoreError;
use crate::store::contract_tests::{named, new_prompt};
use crate::store::prelude::*;

const PAGE: PromptQuery = PromptQuery { vault: None, kind: None, after: None, limit: 3 };

#[tokio::test]
async fn equal_pages_and_small_vaults_that_wait_share_their_rows_and_others_do_not() {
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

    let vault = store.create_vault(&alice, named("Sky")).await.unwrap().id;
    store.add_prompts(&alice, vault, &[mine]).await.unwrap();
    let read = async || -> Vec<ListedPrompt> {
        store.contents(&alice, vault).await.unwrap().entries.try_collect().await.unwrap()
    };
    let read = join_all((0..5).map(|_| read())).await;
    let shared = |a: usize, b: usize| Arc::ptr_eq(&read[a][0].prompt, &read[b][0].prompt);
    assert!(shared(2, 3) && shared(2, 4) && !shared(0, 1) && !shared(0, 2));
}

/// A prompt whose values are all different from those of other numbers; some lack some.
fn new(number: usize) -> NewPrompt {
    let text = |name: &str, every: usize| {
        (!number.is_multiple_of(every)).then(|| Arc::<str>::from(format!("{name} {number}")))
    };
    let urls =
        |count| (0..count).map(|at| ImageRef::from(&*format!("https://x.example/{number}/{at}")));
    NewPrompt {
        title: format!("T{number}").into(),
        text: format!("x{number}").into(),
        kind: [PromptKind::Text, PromptKind::Image, PromptKind::Video][number % 3],
        platform: text("platform", 2),
        inputs: PromptInputs {
            model_id: text("model", 3),
            aspect_ratio: text("ratio", 4),
            image_url: text("image", 5).map(|text| ImageRef::from(&*text)),
            reference_media_urls: (number % 4).checked_sub(1).map(|count| urls(count).collect()),
        },
        vault: None,
        images: [].into(),
    }
}

#[tokio::test]
async fn each_of_many_prompts_that_are_created_at_once_has_its_own_values() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    let all = 0..80;
    let created =
        join_all(all.clone().map(|number| store.create_prompt(&alice, new(number)))).await;
    for (number, created) in all.zip(created) {
        let (new, created) = (new(number), created.unwrap());
        let stored = store.prompt(&alice, created.id).await.unwrap();
        for prompt in [&created, &stored] {
            assert_eq!(
                (&prompt.title, &prompt.text, prompt.kind),
                (&new.title, &new.text, new.kind)
            );
            assert_eq!(prompt.platform, new.platform);
        }
        assert_eq!(store.prompt_inputs(&alice, created.id).await.unwrap(), new.inputs);
        assert_eq!(created, stored);
    }
}

#[tokio::test]
async fn a_prompt_that_the_database_refuses_fails_no_other() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    let all = (0..8).map(|number| match number {
        // PostgreSQL has no NUL in texts.
        5 => NewPrompt { title: "\0".into(), ..new(5) },
        _ => new(number),
    });
    let created = join_all(all.map(|new| store.create_prompt(&alice, new))).await;
    for (number, created) in created.iter().enumerate() {
        match created {
            Ok(prompt) => assert_eq!(*prompt.title, *new(number).title),
            Err(StoreError::Internal(_)) => assert_eq!(number, 5),
            Err(error) => panic!("{number}: {error}"),
        }
    }
    assert!(created[5].is_err());
    let query = PromptQuery { vault: None, kind: None, after: None, limit: 10 };
    assert_eq!(store.list_prompts(&alice, query).await.unwrap().prompts.len(), 7);
}
