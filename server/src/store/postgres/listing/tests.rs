//! Pages held against a plain list, and what they cost.

use promptarium::{PromptId, VaultId, limits};

use super::MOST;
use crate::domain::{Caller, PromptKind, PromptQuery};
use crate::store::postgres::PostgresStore;
use crate::store::postgres::prompts::tests::world::{self, query};
use crate::store::postgres::tests::store;
use crate::store::{Store, StoreError};

const EVERY: PromptQuery = PromptQuery { vault: None, kind: None, after: None, limit: 3 };

/// Prompts of all types, some of them in a vault.
async fn filled() -> (PostgresStore, Caller, VaultId, impl Drop) {
    let (store, database) = store().await;
    let (by, vault) = world::account(&store).await;
    let (other, theirs) = world::account(&store).await;
    let kinds = [PromptKind::Text, PromptKind::Image, PromptKind::Video, PromptKind::Text];
    for number in 0..24 {
        let kind = kinds[number % 4];
        let place = (number % 3 != 0).then_some(vault);
        store.create_prompt(&by, world::new(kind, place)).await.unwrap();
        store.create_prompt(&other, world::new(kind, Some(theirs))).await.unwrap();
    }
    (store, by, vault, database)
}

async fn walk(store: &PostgresStore, by: &Caller, mut query: PromptQuery) -> Vec<PromptId> {
    let mut ids = Vec::new();
    loop {
        let page = store.list_prompts(by, query).await.unwrap();
        assert!(page.prompts.len() == query.limit || !page.more, "a short page has no next");
        ids.extend(page.prompts.iter().map(|prompt| prompt.id));
        query.after = ids.last().copied();
        if !page.more {
            return ids;
        }
    }
}

#[tokio::test]
async fn pages_of_each_question_hold_exactly_what_was_asked_for() {
    let (store, by, vault, _database) = filled().await;
    let mut all = Vec::new();
    for id in 1..=48 {
        all.extend(store.prompt(&by, PromptId::new(id)).await.ok());
    }
    all.reverse();
    assert_eq!(all.len(), 24);
    let kinds = [None, Some(PromptKind::Image), Some(PromptKind::Text), Some(PromptKind::Video)];
    for kind in kinds {
        for vault in [None, Some(vault)] {
            let expected: Vec<_> = all
                .iter()
                .filter(|prompt| kind.is_none_or(|kind| prompt.kind == kind))
                .filter(|prompt| vault.is_none_or(|vault| prompt.vault_ids.contains(&vault)))
                .map(|prompt| prompt.id)
                .collect();
            for limit in [1, 4, 7, MOST] {
                let query = PromptQuery { vault, kind, limit, ..EVERY };
                assert_eq!(walk(&store, &by, query).await, expected, "{query:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_page_shows_prompts_as_they_are() {
    let (store, by, vault, _database) = filled().await;
    for vault in [None, Some(vault)] {
        let page = store.list_prompts(&by, PromptQuery { vault, ..EVERY }).await.unwrap();
        for prompt in page.prompts {
            assert_eq!(prompt, store.prompt(&by, prompt.id).await.unwrap());
        }
    }
}

#[tokio::test]
async fn an_empty_page_an_unknown_vault_and_a_revoked_key_are_told_apart() {
    let (store, _database) = store().await;
    let (by, general) = world::account(&store).await;
    let (_, theirs) = world::account(&store).await;
    let kinds = [None, Some(PromptKind::Text)];
    for kind in kinds {
        for vault in [None, Some(general)] {
            let query = PromptQuery { vault, kind, ..EVERY };
            let page = store.list_prompts(&by, query).await.unwrap();
            assert!(page.prompts.is_empty() && !page.more, "{query:?}");
        }
        for vault in [theirs, VaultId::new(999)] {
            let query = PromptQuery { vault: Some(vault), kind, ..EVERY };
            let error = store.list_prompts(&by, query).await.unwrap_err();
            assert!(matches!(error, StoreError::UnknownVault), "{query:?}: {error:?}");
        }
    }
    world::revoke(&store, &by).await;
    for kind in kinds {
        for vault in [None, Some(general), Some(theirs)] {
            let query = PromptQuery { vault, kind, ..EVERY };
            let error = store.list_prompts(&by, query).await.unwrap_err();
            assert!(matches!(error, StoreError::KeyRevoked), "{query:?}: {error:?}");
        }
    }
}

#[test]
fn no_page_that_may_be_asked_for_is_too_long() {
    assert_eq!(usize::try_from(*limits::PAGE_SIZE.end()).unwrap(), MOST);
    assert!(super::ALL.iter().all(|one| one.sql.contains(&format!("LIMIT {}\n", MOST + 1))));
}

/// Blocks that the last statement of a plan read, of all kinds.
async fn blocks(store: &PostgresStore, statement: &str, arguments: &str) -> i64 {
    let client = store.db.exclusive().await.unwrap();
    let setting =
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off";
    client.batch_execute(&format!("{setting}; PREPARE page AS {statement}")).await.unwrap();
    let explain = format!("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE page{arguments}");
    // The first time it also reads what is known of the tables.
    let mut found = serde_json::Value::Null;
    for _ in 0..2 {
        found = client.query_one(&explain, &[]).await.unwrap().get(0);
    }
    client.batch_execute("DEALLOCATE page; RESET ALL").await.unwrap();
    found[0]["Plan"]["Shared Hit Blocks"].as_i64().unwrap()
        + found[0]["Plan"]["Shared Read Blocks"].as_i64().unwrap()
}

#[tokio::test]
async fn a_page_costs_the_same_in_a_large_account() {
    let (store, _database) = store().await;
    let (by, vault) = world::account(&store).await;
    let fill = "WITH made AS (
             INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at)
             SELECT $1, CASE WHEN n % 500 = 0 THEN 'video' ELSE 'text' END, 'T', 'B', now(), now()
             FROM generate_series(1, $3::integer) n RETURNING id, kind
         )
         INSERT INTO membership (account_id, vault_id, prompt_id, kind)
         SELECT $1, $2, id, kind FROM made";
    query(&store, fill, &[&by.account.0, &vault.get(), &5_000]).await;
    let key = by.key.0;
    let arguments = |last: &str| format!("({key}, 9223372036854775807, 3{last})");
    let (of_vault, of_kind) = (format!(", {}", vault.get()), ", 'video'".to_owned());
    let both = format!("{of_vault}{of_kind}");
    let questions = [
        (&super::EVERY, arguments("")),
        (&super::OF_KIND, arguments(&of_kind)),
        (&super::IN_VAULT, arguments(&of_vault)),
        (&super::OF_KIND_IN_VAULT, arguments(&both)),
    ];
    for (statement, arguments) in questions {
        let blocks = blocks(&store, statement.sql, &arguments).await;
        assert!(blocks < 80, "{} read {blocks} blocks for 3 prompts", statement.name);
    }
}
