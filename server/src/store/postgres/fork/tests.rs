//! Copies of vaults.

use promptarium::VaultId;
use tokio_postgres::Row;

use crate::domain::{VaultPatch, VaultVisibility};
use crate::store::postgres::tests::ground::Ground;
use crate::store::{Store, StoreError};

/// Everything of the prompts in a vault but their ids and times, in the order they
/// were added.
async fn copied(ground: &Ground, vault: VaultId) -> Vec<String> {
    let shown = "SELECT (to_jsonb(p) - '{account_id,id,created_at,updated_at}'::text[])::text
        FROM membership m JOIN prompt p ON p.id = m.prompt_id WHERE m.vault_id = $1 ORDER BY m.id";
    let rows = ground.sql.query(shown, &[&vault.get()]).await.unwrap();
    rows.iter().map(|row: &Row| row.get(0)).collect()
}

#[tokio::test]
async fn a_copy_is_a_private_vault_of_the_caller_with_all_that_the_source_shows() {
    let ground = Ground::new().await;
    let (alice, bob) = (ground.caller("alice").await, ground.caller("bob").await);
    let prompts = ground.prompts(&alice, 1).await;
    let id = ground.vault(&alice, VaultVisibility::Unlisted, &prompts).await;
    let patch = VaultPatch { description: Some(Some("stars".into())), ..VaultPatch::default() };
    ground.store.update_vault(&alice, id, patch).await.unwrap();
    let covered = "UPDATE vault SET cover_image_url = 'http://cover' WHERE id = $1";
    ground.sql.execute(covered, &[&id.get()]).await.unwrap();
    ground.vault(&bob, VaultVisibility::Private, &[]).await;

    let copy = ground.store.fork_vault(&bob, id).await.unwrap();
    assert_eq!((&*copy.name, copy.description.as_deref()), ("Sky", Some("stars")));
    assert_eq!(copy.cover_image_url.as_deref(), Some("http://cover"));
    assert_eq!((&*copy.slug, copy.visibility), ("sky-2", VaultVisibility::Private));
    assert_eq!((copy.system, copy.prompt_count), (false, 1));
    assert_eq!(copy.created_at, copy.updated_at);
    assert_eq!(ground.store.vault(&bob, copy.id).await.unwrap(), copy);
}

#[tokio::test]
async fn the_prompts_of_a_copy_are_new_and_in_the_order_they_were_added() {
    let ground = Ground::new().await;
    let (alice, bob) = (ground.caller("alice").await, ground.caller("bob").await);
    let mut prompts = ground.prompts(&alice, 300).await;
    prompts.reverse();
    let source = ground.vault(&alice, VaultVisibility::Public, &prompts).await;
    let all = "UPDATE prompt SET kind = 'image', platform = 'p', model_id = 'm' || id,
        aspect_ratio = '1:1', image_url = 'i', reference_media_urls = '{a,b}',
        images = '[{\"url\": \"u\", \"width\": 1, \"height\": 2, \"createdAt\": 3}]'
        WHERE id % 2 = 0";
    ground.sql.execute(all, &[]).await.unwrap();
    let pinned = ground.places(source).await[7].0;
    ground.store.set_pinned(&alice, source, pinned, true).await.unwrap();

    let copy = ground.store.fork_vault(&bob, source).await.unwrap();
    assert_eq!(copied(&ground, copy.id).await, copied(&ground, source).await);
    let places = ground.places(copy.id).await;
    assert!(places.iter().all(|&(_, prompt, pinned)| !pinned && !prompts.contains(&prompt)));
    assert!(places.is_sorted_by_key(|&(_, prompt, _)| std::cmp::Reverse(prompt)));
    let as_the_vault = "SELECT count(*) FROM prompt p
        WHERE account_id = $1 AND created_at = updated_at
            AND created_at = (SELECT created_at FROM vault WHERE id = $2)";
    let number = ground.number(as_the_vault, &[&bob.account.0, &copy.id.get()]).await;
    assert_eq!(number, 300);
    let kinds = "SELECT count(*) FROM membership m JOIN prompt p ON p.id = m.prompt_id
        WHERE m.kind <> p.kind";
    assert_eq!(ground.number(kinds, &[]).await, 0);
}

#[tokio::test]
async fn what_is_private_is_not_forked() {
    let ground = Ground::new().await;
    let (alice, bob) = (ground.caller("alice").await, ground.caller("bob").await);
    let source = ground.vault(&alice, VaultVisibility::Private, &[]).await;
    let own = ground.store.fork_vault(&alice, source).await;
    assert!(matches!(own, Err(StoreError::ForkOfPrivateVault)), "{own:?}");
    let foreign = ground.store.fork_vault(&bob, source).await;
    assert!(matches!(foreign, Err(StoreError::NotFound)), "{foreign:?}");
    let nowhere = ground.store.fork_vault(&bob, VaultId::new(i64::MAX)).await;
    assert!(matches!(nowhere, Err(StoreError::NotFound)), "{nowhere:?}");
    assert_eq!(ground.store.vaults(&bob).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_fork_during_changes_sees_one_instant() {
    let ground = Ground::new().await;
    let (alice, bob) = (ground.caller("alice").await, ground.caller("bob").await);
    let source = ground.vault(&alice, VaultVisibility::Public, &[]).await;
    let prompts = ground.prompts(&alice, 120).await;
    let changing = async {
        for (round, pair) in prompts.chunks(2).enumerate() {
            // Name and description change together, prompts come in pairs.
            let text = format!("{round}");
            let (name, description) = (Some((*text).into()), Some(Some((*text).into())));
            let patch = VaultPatch { name, description, visibility: None };
            ground.store.update_vault(&alice, source, patch).await.unwrap();
            ground.store.add_prompts(&alice, source, pair).await.unwrap();
        }
    };
    let forking = async {
        for round in 0..40 {
            // Within the account, and across accounts.
            let by = if round % 2 == 0 { &alice } else { &bob };
            let copy = ground.store.fork_vault(by, source).await.unwrap();
            if &*copy.name != "Sky" {
                assert_eq!(copy.description.as_ref(), Some(&copy.name));
            }
            assert_eq!(copy.prompt_count % 2, 0, "a pair was torn");
            assert_eq!(copy.prompt_count, ground.places(copy.id).await.len() as u64);
        }
    };
    tokio::join!(changing, forking);
}

#[tokio::test]
async fn copies_of_one_vault_made_at_once_have_slugs_of_their_own() {
    let ground = Ground::new().await;
    let (alice, bob) = (ground.caller("alice").await, ground.caller("bob").await);
    let prompts = ground.prompts(&alice, 20).await;
    let source = ground.vault(&alice, VaultVisibility::Public, &prompts).await;
    let forks = (0..20).map(|_| ground.store.fork_vault(&bob, source));
    let copies = futures::future::try_join_all(forks).await.unwrap();
    let slugs: std::collections::BTreeSet<_> = copies.iter().map(|copy| &copy.slug).collect();
    assert_eq!(slugs.len(), 20);
    assert!(slugs.iter().any(|slug| &***slug == "sky-20"));
}
