//! Steps on vaults.

mod slugs;

use crate::domain::{Caller, NewVault, VaultPatch, VaultRecord, VaultVisibility};
use crate::store::postgres::tests::ground::Ground;
use crate::store::{Store, StoreError};

fn named(name: &str) -> NewVault {
    NewVault { name: name.into(), description: None, visibility: VaultVisibility::Private }
}

fn renamed(name: &str) -> VaultPatch {
    VaultPatch { name: Some(name.into()), ..VaultPatch::default() }
}

async fn general(ground: &Ground, by: &Caller) -> VaultRecord {
    ground.store.vaults(by).await.unwrap().pop().unwrap()
}

#[tokio::test]
async fn a_vault_comes_out_as_it_went_in() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let new = NewVault {
        name: "Night Sky".into(),
        description: Some("stars".into()),
        visibility: VaultVisibility::Unlisted,
    };
    let made = ground.store.create_vault(&by, new).await.unwrap();
    assert_eq!((&*made.name, made.description.as_deref()), ("Night Sky", Some("stars")));
    assert_eq!((&*made.slug, made.visibility), ("night-sky", VaultVisibility::Unlisted));
    assert_eq!((made.prompt_count, made.system, &made.cover_image_url), (0, false, &None));
    assert_eq!(made.created_at, made.updated_at);
    assert_eq!(ground.store.vault(&by, made.id).await.unwrap(), made);
}

#[tokio::test]
async fn vaults_are_listed_newest_first_each_with_its_count() {
    let ground = Ground::new().await;
    let (by, other) = (ground.caller("alice").await, ground.caller("bob").await);
    let prompts = ground.prompts(&by, 3).await;
    ground.vault(&other, VaultVisibility::Public, &[]).await;
    let first = ground.vault(&by, VaultVisibility::Private, &prompts).await;
    let second = ground.vault(&by, VaultVisibility::Private, &prompts[1..]).await;
    let listed = ground.store.vaults(&by).await.unwrap();
    let facts: Vec<_> = listed.iter().map(|vault| (vault.id, vault.prompt_count)).collect();
    let general = listed.iter().find(|vault| vault.system).unwrap().id;
    assert_eq!(facts, [(second, 2), (first, 3), (general, 0)]);
}

#[tokio::test]
async fn a_vault_of_another_account_does_not_exist() {
    let ground = Ground::new().await;
    let (by, other) = (ground.caller("alice").await, ground.caller("bob").await);
    let id = ground.vault(&other, VaultVisibility::Public, &[]).await;
    let before = ground.store.vault(&other, id).await.unwrap();
    let nothing = |outcome| assert!(matches!(outcome, Err(StoreError::NotFound)), "{outcome:?}");
    nothing(ground.store.vault(&by, id).await.map(drop));
    nothing(ground.store.update_vault(&by, id, renamed("mine")).await.map(drop));
    nothing(ground.store.update_vault(&by, id, VaultPatch::default()).await.map(drop));
    nothing(ground.store.delete_vault(&by, id).await);
    assert_eq!(ground.store.vault(&other, id).await.unwrap(), before);
}

#[tokio::test]
async fn a_change_names_what_it_changes_and_leaves_the_rest() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let prompts = ground.prompts(&by, 2).await;
    let id = ground.vault(&by, VaultVisibility::Private, &prompts).await;
    let before = ground.store.vault(&by, id).await.unwrap();

    let patch = VaultPatch { description: Some(Some("d".into())), ..VaultPatch::default() };
    let described = ground.store.update_vault(&by, id, patch).await.unwrap();
    assert!(described.updated_at > before.updated_at);
    let updated_at = described.updated_at;
    assert_eq!(described, VaultRecord { description: Some("d".into()), updated_at, ..before });

    let patch = VaultPatch { visibility: Some(VaultVisibility::Public), ..VaultPatch::default() };
    let shown = ground.store.update_vault(&by, id, patch).await.unwrap();
    let (visibility, updated_at) = (VaultVisibility::Public, shown.updated_at);
    assert_eq!(shown, VaultRecord { visibility, updated_at, ..described });

    let patch = VaultPatch { description: Some(None), ..VaultPatch::default() };
    let cleared = ground.store.update_vault(&by, id, patch).await.unwrap();
    let updated_at = cleared.updated_at;
    assert_eq!(cleared, VaultRecord { description: None, updated_at, ..shown });
    assert_eq!(ground.store.vault(&by, id).await.unwrap(), cleared);
}

#[tokio::test]
async fn a_change_that_names_nothing_changes_nothing() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let id = ground.vault(&by, VaultVisibility::Private, &[]).await;
    let before = ground.store.vault(&by, id).await.unwrap();
    let after = ground.store.update_vault(&by, id, VaultPatch::default()).await.unwrap();
    assert_eq!(after, before);
}

#[tokio::test]
async fn a_change_is_later_than_one_before_it_whatever_the_clock_says() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let id = ground.vault(&by, VaultVisibility::Private, &[]).await;
    let ahead = "UPDATE vault SET updated_at = '2100-01-01 00:00:00.5Z' WHERE id = $1";
    ground.sql.execute(ahead, &[&id.get()]).await.unwrap();
    let after = ground.store.update_vault(&by, id, renamed("Sky")).await.unwrap();
    assert_eq!(after.updated_at.to_string(), "2100-01-01T00:00:00.500001Z");
}

#[tokio::test]
async fn a_system_vault_keeps_its_name_and_stays() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let before = general(&ground, &by).await;
    let patch = VaultPatch { description: Some(Some("d".into())), ..renamed("Mine") };
    let outcome = ground.store.update_vault(&by, before.id, patch).await;
    assert!(matches!(outcome, Err(StoreError::SystemVaultRename)), "{outcome:?}");
    let outcome = ground.store.delete_vault(&by, before.id).await;
    assert!(matches!(outcome, Err(StoreError::SystemVaultDelete)), "{outcome:?}");
    assert_eq!(general(&ground, &by).await, before);
    let patch = VaultPatch { description: Some(Some("d".into())), ..renamed("General") };
    let described = ground.store.update_vault(&by, before.id, patch).await.unwrap();
    assert_eq!(described.description.as_deref(), Some("d"));
}

#[tokio::test]
async fn a_deleted_vault_takes_its_memberships_and_no_prompt() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let prompts = ground.prompts(&by, 3).await;
    let (gone, stays) = (
        ground.vault(&by, VaultVisibility::Private, &prompts).await,
        ground.vault(&by, VaultVisibility::Private, &prompts).await,
    );
    ground.store.delete_vault(&by, gone).await.unwrap();
    let again = ground.store.delete_vault(&by, gone).await;
    assert!(matches!(again, Err(StoreError::NotFound)), "{again:?}");
    assert!(ground.places(gone).await.is_empty());
    assert_eq!(ground.places(stays).await.len(), 3);
    assert_eq!(ground.store.vault(&by, stays).await.unwrap().prompt_count, 3);
    assert_eq!(ground.number("SELECT count(*) FROM prompt", &[]).await, 3);
}

#[tokio::test]
async fn a_revoked_key_is_refused_and_changes_nothing() {
    let ground = Ground::new().await;
    let (by, watcher) = (ground.caller("alice").await, ground.caller("bob").await);
    let id = ground.vault(&watcher, VaultVisibility::Public, &[]).await;
    ground.revoke(&by).await;
    let refused = |outcome| assert!(matches!(outcome, Err(StoreError::KeyRevoked)), "{outcome:?}");
    refused(ground.store.vaults(&by).await.map(drop));
    refused(ground.store.vault(&by, id).await.map(drop));
    refused(ground.store.create_vault(&by, named("Sky")).await.map(drop));
    refused(ground.store.update_vault(&by, id, renamed("Sea")).await.map(drop));
    refused(ground.store.update_vault(&by, id, VaultPatch::default()).await.map(drop));
    refused(ground.store.delete_vault(&by, id).await);
    refused(ground.store.fork_vault(&by, id).await.map(drop));
    assert_eq!(ground.number("SELECT count(*) FROM vault", &[]).await, 3);
}
