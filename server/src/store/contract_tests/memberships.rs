//! Memberships.

use std::sync::Arc;

use promptarium::{PromptId, VaultPromptId};

use super::{NO_VAULT, StoreUnderTest, assert_error, contract_tests};
use crate::store::{Added, StoreError};

contract_tests! {
    the_last_added_prompt_is_on_top_and_present_ones_keep_their_position
    one_unknown_prompt_prevents_the_addition_and_all_unknown_ones_are_reported_once
    a_removed_membership_leaves_the_prompt_and_its_other_memberships
    a_moved_membership_is_on_top_of_the_unpinned_ones_and_unpinned
    a_move_replaces_the_membership_in_the_target
    a_move_within_a_vault_puts_the_prompt_on_top
    a_failed_move_changes_nothing_and_reports_the_membership_before_the_target
    the_last_pinned_is_on_top_and_pinning_again_keeps_its_position
    memberships_of_another_account_do_not_exist
}

async fn the_last_added_prompt_is_on_top_and_present_ones_keep_their_position(
    on: Arc<StoreUnderTest>,
) {
    let by = on.caller("alice").await;
    let [a, b, c, d] = on.prompts(&by).await;
    let vault = on.private(&by, &[]).await;
    for (prompts, added, prompt_count) in
        [(&[c, a][..], 2, 2), (&[d, c, b, d, b], 2, 4), (&[], 0, 4)]
    {
        let result = on.store.add_prompts(&by, vault, prompts).await.unwrap();
        assert_eq!(result, Added { added, prompt_count });
    }
    assert_eq!(on.shown(&by, vault).await, [b, d, a, c]);
}

async fn one_unknown_prompt_prevents_the_addition_and_all_unknown_ones_are_reported_once(
    on: Arc<StoreUnderTest>,
) {
    let (by, other) = (on.caller("alice").await, on.caller("bob").await);
    let own: [_; 2] = on.prompts(&by).await;
    let [foreign] = on.prompts(&other).await;
    let missing = PromptId::new(i64::MAX);
    let vault = on.private(&by, &own[..1]).await;
    let ids = [missing, own[1], foreign, missing, own[0], foreign];
    match on.store.add_prompts(&by, vault, &ids).await {
        Err(StoreError::UnknownPrompts(unknown)) => assert_eq!(unknown, [missing, foreign]),
        result => panic!("{result:?}"),
    }
    assert_eq!(on.shown(&by, vault).await, own[..1]);
    assert_error!(on.store.add_prompts(&by, NO_VAULT, &ids).await, StoreError::NotFound);
}

async fn a_removed_membership_leaves_the_prompt_and_its_other_memberships(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let ids @ [a, b, c] = on.prompts(&by).await;
    let (vault, other) = (on.private(&by, &ids).await, on.private(&by, &ids).await);
    let removed = on.membership(&by, vault, b).await;
    let remove = |vault| on.store.remove_membership(&by, vault, removed);
    assert_error!(remove(other).await, StoreError::NotFound);
    remove(vault).await.unwrap();
    assert_error!(remove(vault).await, StoreError::NotFound);
    assert_eq!(on.shown(&by, vault).await, [c, a]);
    assert_eq!(on.shown(&by, other).await, [c, b, a]);
    assert_eq!(on.store.prompt(&by, b).await.unwrap().vault_ids, [other]);
}

async fn a_moved_membership_is_on_top_of_the_unpinned_ones_and_unpinned(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let ids @ [a, b, c] = on.prompts(&by).await;
    let (from, to) = (on.private(&by, &ids).await, on.private(&by, &ids[1..]).await);
    let old = on.membership(&by, from, a).await;
    on.store.set_pinned(&by, from, old, true).await.unwrap();
    let pinned = on.membership(&by, to, b).await;
    on.store.set_pinned(&by, to, pinned, true).await.unwrap();
    let moved = on.store.move_membership(&by, from, old, to).await.unwrap();
    assert_eq!(moved.prompt, a);
    assert_eq!((on.shown(&by, from).await, on.shown(&by, to).await), (vec![c, b], vec![b, a, c]));
    let listed = &on.contents(&by, to).await[1];
    assert_eq!((listed.membership, listed.pinned), (moved.membership, false));
    let again = on.store.move_membership(&by, from, old, to).await;
    assert_error!(again, StoreError::NotFound);
}

async fn a_move_replaces_the_membership_in_the_target(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let ids @ [a, b, c] = on.prompts(&by).await;
    let (from, to) = (on.private(&by, &ids).await, on.private(&by, &ids).await);
    let replaced = on.membership(&by, to, a).await;
    on.store.set_pinned(&by, to, replaced, true).await.unwrap();
    let old = on.membership(&by, from, a).await;
    let moved = on.store.move_membership(&by, from, old, to).await.unwrap();
    assert!(moved.membership > replaced && moved.membership > old);
    assert_eq!((on.shown(&by, from).await, on.shown(&by, to).await), (vec![c, b], vec![a, c, b]));
    let listed = &on.contents(&by, to).await[0];
    assert_eq!((listed.membership, listed.pinned), (moved.membership, false));
}

async fn a_move_within_a_vault_puts_the_prompt_on_top(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let ids @ [a, b, c] = on.prompts(&by).await;
    let vault = on.private(&by, &ids).await;
    let old = on.membership(&by, vault, a).await;
    let moved = on.store.move_membership(&by, vault, old, vault).await.unwrap();
    assert!(moved.membership > old);
    assert_eq!(on.shown(&by, vault).await, [a, c, b]);
}

async fn a_failed_move_changes_nothing_and_reports_the_membership_before_the_target(
    on: Arc<StoreUnderTest>,
) {
    let (by, other) = (on.caller("alice").await, on.caller("bob").await);
    let [a, b] = on.prompts(&by).await;
    let (vault, foreign) = (on.private(&by, &[a, b]).await, on.private(&other, &[]).await);
    let membership = on.membership(&by, vault, a).await;
    for target in [NO_VAULT, foreign] {
        let moving = |vault, membership| on.store.move_membership(&by, vault, membership, target);
        assert_error!(moving(vault, membership).await, StoreError::UnknownTargetVault);
        let missing = VaultPromptId::new(i64::MAX);
        for (vault, membership) in [(vault, missing), (NO_VAULT, membership), (foreign, membership)]
        {
            assert_error!(moving(vault, membership).await, StoreError::NotFound);
        }
    }
    assert_eq!(on.membership(&by, vault, a).await, membership);
    assert_eq!(on.shown(&by, vault).await, [b, a]);
}

async fn the_last_pinned_is_on_top_and_pinning_again_keeps_its_position(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let [a, b, c, d] = on.prompts(&by).await;
    let vault = on.private(&by, &[a, b, c, d]).await;
    for (prompt, pinned, expected) in [
        (c, true, [c, d, b, a]),
        (a, true, [a, c, d, b]),
        (c, true, [a, c, d, b]),
        (b, false, [a, c, d, b]),
        (a, false, [c, d, b, a]),
        (a, true, [a, c, d, b]),
    ] {
        let membership = on.membership(&by, vault, prompt).await;
        on.store.set_pinned(&by, vault, membership, pinned).await.unwrap();
        assert_eq!(on.shown(&by, vault).await, expected);
    }
    let missing = on.store.set_pinned(&by, vault, VaultPromptId::new(i64::MAX), true).await;
    assert_error!(missing, StoreError::NotFound);
}

async fn memberships_of_another_account_do_not_exist(on: Arc<StoreUnderTest>) {
    let (by, other) = (on.caller("alice").await, on.caller("bob").await);
    let [prompt] = on.prompts(&other).await;
    let (vault, own) = (on.public(&other, &[prompt]).await, on.private(&by, &[]).await);
    let id = on.membership(&other, vault, prompt).await;
    let pinned = on.contents(&other, vault).await;
    assert_error!(on.store.contents(&by, vault).await.map(drop), StoreError::NotFound);
    assert_error!(on.store.add_prompts(&by, vault, &[]).await, StoreError::NotFound);
    assert_error!(on.store.remove_membership(&by, vault, id).await, StoreError::NotFound);
    assert_error!(on.store.move_membership(&by, vault, id, own).await, StoreError::NotFound);
    assert_error!(on.store.set_pinned(&by, vault, id, true).await, StoreError::NotFound);
    assert_eq!(on.contents(&other, vault).await, pinned);
}
