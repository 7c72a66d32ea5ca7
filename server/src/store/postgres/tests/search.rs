//! Searches over several chunks, and what a chunk holds.

use std::sync::Arc;

use super::{caller, fill, number, store};
use crate::domain::{Caller, PromptKind};
use crate::limits::{SEARCH_CHUNK, SEARCH_CHUNK_BYTES};
use crate::search::{PromptSearch, SearchBound, Words, search_prompts};
use crate::store::Place;
use crate::store::contract_tests::named;
use crate::store::postgres::PostgresStore;
use crate::store::prelude::*;

/// More than a chunk has. Each tenth has a word of its own, half of them are in a vault.
const FILL: &str = "
    WITH filled AS (
        INSERT INTO prompt (account_id, id, kind, title, body, platform, created_at, updated_at)
        SELECT account.id, at, CASE WHEN at % 2 = 0 THEN 'image' ELSE 'text' END,
            'Study/' || at || CASE WHEN at % 10 = 0 THEN '/tenth' ELSE '' END, 'Calm_water',
            CASE WHEN at <= 4 THEN 'Oldest' END, now(), now()
        FROM account, generate_series(1, 1200) AS at WHERE account.name = 'alice'
        RETURNING account_id, id, kind
    ), placed AS (
        INSERT INTO vault_prompt (account_id, vault_id, prompt_id, kind)
        SELECT account_id, $1, id, kind FROM filled WHERE id % 2 = 0 RETURNING 1
    )
    SELECT count(*) FROM placed";

async fn found(store: &PostgresStore, caller: &Caller, text: &str, place: Place) -> Vec<i64> {
    let (mut ids, words) = (Vec::new(), Words::parse(text).map(Arc::new));
    let mut search = PromptSearch { words, place, kind: None, after: None, limit: 50 };
    loop {
        let page = search_prompts(store, caller, &search, SearchBound::default()).await.unwrap();
        ids.extend(page.prompts.iter().map(|prompt| prompt.id.get()));
        search.after = page.next;
        if page.next.is_none() {
            return ids;
        }
    }
}

#[tokio::test]
async fn a_search_finds_the_same_in_every_chunk() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    let vault = store.create_vault(&alice, named("Sky")).await.unwrap().id;
    let placed = number(&store, &FILL.replace("$1", &vault.to_string())).await;
    assert_eq!(placed, 600);
    let down = |step: usize| (1..=1200_i64).rev().filter(move |id| *id % step as i64 == 0);
    for (text, place, expected) in [
        ("study", Place::Anywhere, down(1).collect()),
        ("ten wat", Place::Anywhere, down(10).collect::<Vec<_>>()),
        ("TENTH", Place::Vault(vault), down(10).collect()),
        ("tenth", Place::NoVault, vec![]),
        ("oldest", Place::Anywhere, vec![4, 3, 2, 1]),
        ("oldest", Place::Vault(vault), vec![4, 2]),
        ("oldest", Place::NoVault, vec![3, 1]),
        ("old study calm 1", Place::Anywhere, vec![1]),
        ("absent", Place::Anywhere, vec![]),
        ("account 1 1", Place::Anywhere, vec![]),
    ] {
        assert_eq!(found(&store, &alice, text, place).await, expected, "{text} {place:?}");
    }
    let count = |kind, most| store.count_prompts(&alice, kind, most);
    assert_eq!(count(None, 5000).await.unwrap(), 1200);
    assert_eq!(count(Some(PromptKind::Image), 5000).await.unwrap(), 600);
    assert_eq!(count(Some(PromptKind::Video), 5000).await.unwrap(), 0);
    assert_eq!(count(None, 1000).await.unwrap(), 1000);
}

#[tokio::test]
async fn a_chunk_of_large_texts_ends_early_and_the_next_one_goes_on() {
    let (store, _database) = store().await;
    let alice = caller(&store, "alice").await;
    let vault = store.create_vault(&alice, named("Sky")).await.unwrap().id;
    fill(&store, &alice, vault, 400, 15_000).await;
    for place in [Place::Anywhere, Place::Vault(vault)] {
        let (mut ids, mut after) = (Vec::new(), None);
        loop {
            let chunk = store.prompt_texts(&alice, place, None, after).await.unwrap();
            let bytes: usize = chunk.texts.iter().map(|texts| texts.text.len()).sum();
            assert!(bytes < SEARCH_CHUNK_BYTES + 15_000 && chunk.texts.len() < SEARCH_CHUNK);
            ids.extend(chunk.texts.iter().map(|texts| texts.id));
            after = chunk.next;
            if after.is_none() {
                break;
            }
        }
        assert!(ids.len() == 400 && ids.is_sorted_by(|one, next| one > next), "{ids:?}");
    }
}
