//! Searches that go beyond the newest prompts.

use promptarium::PromptId;

use super::{caller, number, store};
use crate::domain::{Caller, Place, PromptKind, PromptSearch};
use crate::store::contract_tests::named;
use crate::store::postgres::PostgresStore;
use crate::store::prelude::*;

/// More than a search reads before it asks the index. Each tenth has a word of its own, half of
/// them are in the vault 7.
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
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let words = PromptSearch::words(text);
        let search = PromptSearch { words, place, kind: None, after, limit: 50 };
        let page = store.search_prompts(caller, search).await.unwrap();
        ids.extend(page.prompts.iter().map(|prompt| prompt.id.get()));
        after = ids.last().copied().map(PromptId::new);
        if !page.more {
            return ids;
        }
    }
}

#[tokio::test]
async fn a_search_finds_the_same_among_the_newest_and_by_the_index() {
    let (store, _database) = store().await;
    let (alice, bob) = (caller(&store, "alice").await, caller(&store, "bob").await);
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
        assert_eq!(found(&store, &bob, text, place).await, [0; 0], "{text} {place:?}");
    }
    let count = |kind, most| store.count_prompts(&alice, kind, most);
    assert_eq!(count(None, 5000).await.unwrap(), 1200);
    assert_eq!(count(Some(PromptKind::Image), 5000).await.unwrap(), 600);
    assert_eq!(count(Some(PromptKind::Video), 5000).await.unwrap(), 0);
    assert_eq!(count(None, 1000).await.unwrap(), 1000);
}
