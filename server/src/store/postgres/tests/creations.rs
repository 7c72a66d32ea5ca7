//! Prompts that are created at once, some of them by one statement.

use std::sync::Arc;

use futures::future::join_all;

use super::{caller, store};
use crate::domain::{ImageRef, NewPrompt, PromptInputs, PromptKind, PromptQuery};
use crate::store::StoreError;
use crate::store::prelude::*;

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

#[tokio::test]
async fn none_of_many_prompts_is_created_with_a_revoked_key() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    store.revoke_key("key-of-alice").await.unwrap();
    for created in join_all((0..6).map(|number| store.create_prompt(&alice, new(number)))).await {
        assert!(matches!(created, Err(StoreError::KeyRevoked)), "{created:?}");
    }
}
