//! Steps on memberships.

mod tumult;

use promptarium::{PromptId, VaultId, VaultPromptId};

use crate::domain::{Caller, VaultVisibility};
use crate::store::postgres::tests::ground::Ground;
use crate::store::{Added, Store, StoreError};

const NOWHERE: VaultId = VaultId::new(i64::MAX);

async fn shelf(ground: &Ground, by: &Caller, prompts: &[PromptId]) -> VaultId {
    ground.vault(by, VaultVisibility::Private, prompts).await
}

/// The prompts of a vault as they are shown.
async fn shown(ground: &Ground, vault: VaultId) -> Vec<PromptId> {
    ground.places(vault).await.into_iter().map(|(_, prompt, _)| prompt).collect()
}

/// The membership of a prompt in a vault.
async fn member(ground: &Ground, vault: VaultId, prompt: PromptId) -> VaultPromptId {
    ground.places(vault).await.into_iter().find(|place| place.1 == prompt).unwrap().0
}

async fn count(ground: &Ground, by: &Caller, vault: VaultId) -> u64 {
    ground.store.vault(by, vault).await.unwrap().prompt_count
}

#[tokio::test]
async fn the_last_prompt_added_is_on_top_and_those_there_keep_their_place() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let [a, b, c, d] = ground.prompts(&by, 4).await[..] else { unreachable!() };
    let vault = shelf(&ground, &by, &[]).await;
    let added = ground.store.add_prompts(&by, vault, &[c, a]).await.unwrap();
    assert_eq!(added, Added { added: 2, prompt_count: 2 });
    let added = ground.store.add_prompts(&by, vault, &[d, c, b, d, b]).await.unwrap();
    assert_eq!(added, Added { added: 2, prompt_count: 4 });
    assert_eq!(shown(&ground, vault).await, [b, d, a, c]);
    assert_eq!(count(&ground, &by, vault).await, 4);
    let added = ground.store.add_prompts(&by, vault, &[]).await.unwrap();
    assert_eq!(added, Added { added: 0, prompt_count: 4 });
}

#[tokio::test]
async fn one_unknown_prompt_keeps_all_out_and_every_unknown_one_is_named_once() {
    let ground = Ground::new().await;
    let (by, other) = (ground.caller("alice").await, ground.caller("bob").await);
    let own = ground.prompts(&by, 2).await;
    let foreign = ground.prompts(&other, 1).await[0];
    let missing = PromptId::new(i64::MAX);
    let vault = shelf(&ground, &by, &own[..1]).await;
    let asked = [missing, own[1], foreign, missing, own[0], foreign];
    match ground.store.add_prompts(&by, vault, &asked).await {
        Err(StoreError::UnknownPrompts(unknown)) => assert_eq!(unknown, [missing, foreign]),
        outcome => panic!("{outcome:?}"),
    }
    assert_eq!(shown(&ground, vault).await, own[..1]);
    let nowhere = ground.store.add_prompts(&by, NOWHERE, &asked).await;
    assert!(matches!(nowhere, Err(StoreError::NotFound)), "{nowhere:?}");
}

#[tokio::test]
async fn a_removed_membership_leaves_the_prompt_and_the_others() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let prompts = ground.prompts(&by, 3).await;
    let (vault, other) = (shelf(&ground, &by, &prompts).await, shelf(&ground, &by, &prompts).await);
    let gone = member(&ground, vault, prompts[1]).await;
    let elsewhere = ground.store.remove_membership(&by, other, gone).await;
    assert!(matches!(elsewhere, Err(StoreError::NotFound)), "{elsewhere:?}");
    ground.store.remove_membership(&by, vault, gone).await.unwrap();
    let again = ground.store.remove_membership(&by, vault, gone).await;
    assert!(matches!(again, Err(StoreError::NotFound)), "{again:?}");
    assert_eq!(shown(&ground, vault).await, [prompts[2], prompts[0]]);
    assert_eq!((count(&ground, &by, vault).await, count(&ground, &by, other).await), (2, 3));
}

#[tokio::test]
async fn a_moved_membership_is_a_new_one_on_top_and_unpinned() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let prompts = ground.prompts(&by, 3).await;
    let (from, to) =
        (shelf(&ground, &by, &prompts).await, shelf(&ground, &by, &prompts[1..]).await);
    let old = member(&ground, from, prompts[0]).await;
    ground.store.set_pinned(&by, from, old, true).await.unwrap();
    let moved = ground.store.move_membership(&by, from, old, to).await.unwrap();
    assert_eq!(moved.prompt, prompts[0]);
    assert_eq!(ground.places(to).await[0], (moved.membership, prompts[0], false));
    assert_eq!(shown(&ground, from).await, [prompts[2], prompts[1]]);
    assert_eq!((count(&ground, &by, from).await, count(&ground, &by, to).await), (2, 3));
    let again = ground.store.move_membership(&by, from, old, to).await;
    assert!(matches!(again, Err(StoreError::NotFound)), "{again:?}");
}

#[tokio::test]
async fn a_move_replaces_the_membership_that_the_target_has() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let prompts = ground.prompts(&by, 3).await;
    let (from, to) = (shelf(&ground, &by, &prompts).await, shelf(&ground, &by, &prompts).await);
    let replaced = member(&ground, to, prompts[0]).await;
    ground.store.set_pinned(&by, to, replaced, true).await.unwrap();
    let old = member(&ground, from, prompts[0]).await;
    let moved = ground.store.move_membership(&by, from, old, to).await.unwrap();
    assert!(moved.membership > replaced && moved.membership > old);
    assert_eq!(shown(&ground, to).await, [prompts[0], prompts[2], prompts[1]]);
    assert_eq!(ground.places(to).await[0], (moved.membership, prompts[0], false));
    assert_eq!((count(&ground, &by, from).await, count(&ground, &by, to).await), (2, 3));
}

#[tokio::test]
async fn a_move_within_a_vault_brings_to_the_top() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let prompts = ground.prompts(&by, 3).await;
    let vault = shelf(&ground, &by, &prompts).await;
    let old = member(&ground, vault, prompts[0]).await;
    let moved = ground.store.move_membership(&by, vault, old, vault).await.unwrap();
    assert!(moved.membership > old);
    assert_eq!(shown(&ground, vault).await, [prompts[0], prompts[2], prompts[1]]);
    assert_eq!(count(&ground, &by, vault).await, 3);
}

#[tokio::test]
async fn a_move_to_nowhere_moves_nothing_and_tells_a_missing_membership_first() {
    let ground = Ground::new().await;
    let (by, other) = (ground.caller("alice").await, ground.caller("bob").await);
    let prompts = ground.prompts(&by, 2).await;
    let (vault, foreign) = (shelf(&ground, &by, &prompts).await, shelf(&ground, &other, &[]).await);
    let old = member(&ground, vault, prompts[0]).await;
    let before = ground.places(vault).await;
    for target in [NOWHERE, foreign] {
        let outcome = ground.store.move_membership(&by, vault, old, target).await;
        assert!(matches!(outcome, Err(StoreError::UnknownTargetVault)), "{outcome:?}");
        let none = VaultPromptId::new(i64::MAX);
        for (vault, membership) in [(vault, none), (NOWHERE, old), (foreign, old)] {
            let outcome = ground.store.move_membership(&by, vault, membership, target).await;
            assert!(matches!(outcome, Err(StoreError::NotFound)), "{outcome:?}");
        }
    }
    assert_eq!(ground.places(vault).await, before);
}

#[tokio::test]
async fn the_latest_pinned_is_on_top_and_pinning_again_keeps_its_place() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let [a, b, c, d] = ground.prompts(&by, 4).await[..] else { unreachable!() };
    let vault = shelf(&ground, &by, &[a, b, c, d]).await;
    for (prompt, pinned, expected) in [
        (c, true, [c, d, b, a]),
        (a, true, [a, c, d, b]),
        (c, true, [a, c, d, b]),
        (b, false, [a, c, d, b]),
        (a, false, [c, d, b, a]),
        (a, true, [a, c, d, b]),
    ] {
        let id = member(&ground, vault, prompt).await;
        ground.store.set_pinned(&by, vault, id, pinned).await.unwrap();
        assert_eq!(shown(&ground, vault).await, expected);
    }
    let outcome = ground.store.set_pinned(&by, vault, VaultPromptId::new(i64::MAX), true).await;
    assert!(matches!(outcome, Err(StoreError::NotFound)), "{outcome:?}");
}

#[tokio::test]
async fn memberships_of_another_account_do_not_exist() {
    let ground = Ground::new().await;
    let (by, other) = (ground.caller("alice").await, ground.caller("bob").await);
    let prompts = ground.prompts(&other, 1).await;
    let (vault, own) = (shelf(&ground, &other, &prompts).await, shelf(&ground, &by, &[]).await);
    let id = member(&ground, vault, prompts[0]).await;
    let nothing = |outcome| assert!(matches!(outcome, Err(StoreError::NotFound)), "{outcome:?}");
    nothing(ground.store.add_prompts(&by, vault, &[]).await.map(drop));
    nothing(ground.store.remove_membership(&by, vault, id).await);
    nothing(ground.store.move_membership(&by, vault, id, own).await.map(drop));
    nothing(ground.store.set_pinned(&by, vault, id, true).await);
    assert_eq!(ground.places(vault).await, [(id, prompts[0], false)]);
}

#[tokio::test]
async fn a_revoked_key_changes_no_membership() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let prompts = ground.prompts(&by, 2).await;
    let vault = shelf(&ground, &by, &prompts[..1]).await;
    let before = ground.places(vault).await;
    let id = before[0].0;
    ground.revoke(&by).await;
    let refused = |outcome| assert!(matches!(outcome, Err(StoreError::KeyRevoked)), "{outcome:?}");
    refused(ground.store.add_prompts(&by, vault, &prompts).await.map(drop));
    refused(ground.store.remove_membership(&by, vault, id).await);
    refused(ground.store.move_membership(&by, vault, id, vault).await.map(drop));
    refused(ground.store.set_pinned(&by, vault, id, true).await);
    assert_eq!(ground.places(vault).await, before);
}
