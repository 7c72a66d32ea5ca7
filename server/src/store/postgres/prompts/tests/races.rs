//! Two steps at once, many times over. Whichever comes first, both answers fit it,
//! and what is left fits both.

use promptarium::{PromptId, VaultId};

use super::world::{self, counts};
use crate::domain::{Caller, PromptKind, PromptPatch};
use crate::store::postgres::PostgresStore;
use crate::store::postgres::tests::store;
use crate::store::{Store, StoreError};

const ROUNDS: usize = 60;

async fn prompt(store: &PostgresStore, by: &Caller, vault: Option<VaultId>) -> PromptId {
    store.create_prompt(by, world::new(PromptKind::Image, vault)).await.unwrap().id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_is_made_in_a_vault_that_goes_or_not_at_all() {
    let (store, _database) = store().await;
    let (by, _) = world::account(&store).await;
    let mut made = 0;
    for _ in 0..ROUNDS {
        let vault = world::vault(&store, &by).await;
        let creating = store.create_prompt(&by, world::new(PromptKind::Text, Some(vault)));
        match tokio::join!(creating, world::drop_vault(&store, vault)).0 {
            Ok(_) => made += 1,
            Err(error) => assert!(matches!(error, StoreError::UnknownVault), "{error:?}"),
        }
    }
    assert_eq!(world::number(&store, "SELECT count(*) FROM prompt").await, made);
    assert_eq!(world::number(&store, "SELECT count(*) FROM membership").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_deletions_of_a_prompt_one_succeeds() {
    let (store, _database) = store().await;
    let (by, vault) = world::account(&store).await;
    for _ in 0..ROUNDS {
        let id = prompt(&store, &by, Some(vault)).await;
        let (a, b) = tokio::join!(store.delete_prompt(&by, id), store.delete_prompt(&by, id));
        assert!(a.is_ok() != b.is_ok(), "{a:?} and {b:?}");
        let lost = a.and(b).unwrap_err();
        assert!(matches!(lost, StoreError::NotFound), "{lost:?}");
    }
    assert_eq!(counts(&store, vault).await, (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_goes_is_saved_before_or_not_found() {
    let (store, _database) = store().await;
    let (by, vault) = world::account(&store).await;
    let other = world::vault(&store, &by).await;
    for _ in 0..ROUNDS {
        let id = prompt(&store, &by, Some(other)).await;
        let (saved, deleted) =
            tokio::join!(store.save_prompt(&by, id, vault), store.delete_prompt(&by, id));
        deleted.unwrap();
        match saved {
            Ok(prompt) => assert_eq!(prompt.vault_ids, [vault, other]),
            Err(error) => assert!(matches!(error, StoreError::NotFound), "{error:?}"),
        }
    }
    assert_eq!(counts(&store, vault).await, (0, 0));
    assert_eq!(counts(&store, other).await, (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_is_saved_to_a_vault_that_goes_or_the_vault_is_unknown() {
    let (store, _database) = store().await;
    let (by, general) = world::account(&store).await;
    let id = prompt(&store, &by, Some(general)).await;
    for _ in 0..ROUNDS {
        let vault = world::vault(&store, &by).await;
        let patch = PromptPatch { vault: Some(vault), ..PromptPatch::default() };
        let (saved, updated, ()) = tokio::join!(
            store.save_prompt(&by, id, vault),
            store.update_prompt(&by, id, patch),
            world::drop_vault(&store, vault),
        );
        for outcome in [saved, updated] {
            match outcome {
                Ok(prompt) => assert_eq!(prompt.vault_ids, [general, vault]),
                Err(error) => assert!(matches!(error, StoreError::UnknownVault), "{error:?}"),
            }
        }
        assert_eq!(store.prompt(&by, id).await.unwrap().vault_ids, [general]);
    }
    assert_eq!(counts(&store, general).await, (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_changes_the_later_answer_shows_both() {
    let (store, _database) = store().await;
    let (by, one) = world::account(&store).await;
    let two = world::vault(&store, &by).await;
    for _ in 0..ROUNDS {
        let id = prompt(&store, &by, None).await;
        let into =
            PromptPatch { text: Some("y".into()), vault: Some(one), ..PromptPatch::default() };
        let (updated, saved) =
            tokio::join!(store.update_prompt(&by, id, into), store.save_prompt(&by, id, two));
        let (updated, saved) = (updated.unwrap(), saved.unwrap());
        let update_shows_save = updated.vault_ids == [one, two];
        let save_shows_update = saved.vault_ids == [one, two] && &*saved.text == "y";
        assert!(update_shows_save != save_shows_update, "{updated:?} and {saved:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_changes_one_is_later() {
    let (store, _database) = store().await;
    let (by, _) = world::account(&store).await;
    let id = prompt(&store, &by, None).await;
    for _ in 0..ROUNDS {
        let title = PromptPatch { title: Some("x".into()), ..PromptPatch::default() };
        let text = PromptPatch { text: Some("x".into()), ..PromptPatch::default() };
        let (a, b) =
            tokio::join!(store.update_prompt(&by, id, title), store.update_prompt(&by, id, text));
        let latest = store.prompt(&by, id).await.unwrap().updated_at;
        let (a, b) = (a.unwrap().updated_at, b.unwrap().updated_at);
        assert!(a != b && a.max(b) == latest, "{a} and {b}, and then {latest}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_membership_has_the_type_of_its_prompt_whatever_happens_at_once() {
    let (store, _database) = store().await;
    let (by, vault) = world::account(&store).await;
    for _ in 0..ROUNDS {
        let id = prompt(&store, &by, None).await;
        let kind = |kind| PromptPatch { kind: Some(kind), ..PromptPatch::default() };
        let (a, b, c) = tokio::join!(
            store.update_prompt(&by, id, kind(PromptKind::Video)),
            store.save_prompt(&by, id, vault),
            store.update_prompt(&by, id, kind(PromptKind::Text)),
        );
        let outcomes = [a, b, c];
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    }
    let strays = "SELECT count(*) FROM membership m JOIN prompt p
         ON p.account_id = m.account_id AND p.id = m.prompt_id WHERE p.kind <> m.kind";
    assert_eq!(world::number(&store, strays).await, 0);
    let rounds = i64::try_from(ROUNDS).unwrap();
    assert_eq!(counts(&store, vault).await, (rounds, rounds));
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_stay_true_when_many_write_to_the_same_vaults() {
    let (store, _database) = store().await;
    let (by, one) = world::account(&store).await;
    let two = world::vault(&store, &by).await;
    let writers = (0..8).map(|number| {
        let (store, by) = (store.clone(), by.clone());
        let (here, there) = if number % 2 == 0 { (one, two) } else { (two, one) };
        tokio::spawn(async move {
            for round in 0..ROUNDS / 4 {
                let id = prompt(&store, &by, Some(here)).await;
                store.save_prompt(&by, id, there).await.unwrap();
                if round % 2 == 0 {
                    store.delete_prompt(&by, id).await.unwrap();
                }
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let held = 8 * i64::try_from(ROUNDS / 4 / 2).unwrap();
    assert_eq!(counts(&store, one).await, (held, held));
    assert_eq!(counts(&store, two).await, (held, held));
}
