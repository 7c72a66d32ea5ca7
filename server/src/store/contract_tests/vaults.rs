//! Vaults, slugs, forks and memberships.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use promptarium::{PromptId, VaultId, VaultPromptId};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use super::jobs::{claim, image, new, reserved, ticket};
use super::{
    ALL_PROMPTS, NO_VAULT, StoreUnderTest, assert_error, contract_tests, named, new_prompt, renamed,
};
use crate::domain::{
    Caller, NewVault, PromptImage, PromptKind, PromptPatch, PromptQuery, PromptRecord, VaultPatch,
    VaultRecord, VaultVisibility, slug,
};
use crate::store::{Added, StoreError};

contract_tests! {
    a_vault_is_returned_as_it_was_created
    vaults_are_listed_newest_first_with_their_counts
    an_update_changes_the_fields_it_names_and_no_other
    a_system_vault_keeps_its_name_and_cannot_be_deleted
    a_deleted_vault_takes_its_memberships_and_no_prompt
    a_vault_of_another_account_does_not_exist
    a_slug_is_the_first_free_candidate
    a_fork_copies_everything_but_pins_ids_and_times
    the_copies_of_a_fork_are_in_the_order_of_addition
    private_and_deleted_vaults_cannot_be_forked
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

async fn a_vault_is_returned_as_it_was_created(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let new = NewVault {
        name: "Night Sky".into(),
        description: Some("stars".into()),
        visibility: VaultVisibility::Unlisted,
    };
    let created = db.store.create_vault(&alice, new).await.unwrap();
    assert_eq!((&*created.name, created.description.as_deref()), ("Night Sky", Some("stars")));
    assert_eq!((&*created.slug, created.visibility), ("night-sky", VaultVisibility::Unlisted));
    assert_eq!((created.prompt_count, created.system, &created.cover_image_url), (0, false, &None));
    assert_eq!(created.created_at, created.updated_at);
    assert_eq!(db.store.vault(&alice, created.id).await.unwrap(), created);
}

async fn vaults_are_listed_newest_first_with_their_counts(db: Arc<StoreUnderTest>) {
    let (alice, other) = (db.caller("alice").await, db.caller("bob").await);
    let ids: [_; 3] = db.prompts(&alice).await;
    db.public(&other, &[]).await;
    let (first, second) = (db.private(&alice, &ids).await, db.private(&alice, &ids[1..]).await);
    let listed = db.store.vaults(&alice).await.unwrap();
    let counts: Vec<_> = listed.iter().map(|vault| (vault.id, vault.prompt_count)).collect();
    assert_eq!(counts, [(second, 2), (first, 3), (db.general(&alice).await.id, 0)]);
    for vault in listed {
        assert_eq!(db.store.vault(&alice, vault.id).await.unwrap(), vault);
    }
}

/// A patch, and the change it makes to a record.
type Change = (VaultPatch, fn(&mut VaultRecord));

async fn an_update_changes_the_fields_it_names_and_no_other(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let ids: [_; 2] = db.prompts(&alice).await;
    let id = db.private(&alice, &ids).await;
    let mut before = db.store.vault(&alice, id).await.unwrap();
    let changes: [Change; 6] = [
        (VaultPatch::default(), |_| {}),
        (VaultPatch { description: Some(Some("d".into())), ..VaultPatch::default() }, |vault| {
            vault.description = Some("d".into());
        }),
        (
            VaultPatch { visibility: Some(VaultVisibility::Public), ..VaultPatch::default() },
            |vault| vault.visibility = VaultVisibility::Public,
        ),
        (VaultPatch { description: Some(None), ..VaultPatch::default() }, |vault| {
            vault.description = None;
        }),
        (renamed("Sea"), |vault| (vault.name, vault.slug) = ("Sea".into(), "sea".into())),
        (renamed("Sea"), |_| {}),
    ];
    for (patch, change) in changes {
        // The clock stands still; the time of the update increases all the same.
        let after = db.store.update_vault(&alice, id, patch.clone()).await.unwrap();
        assert_eq!(after.updated_at > before.updated_at, !patch.is_empty());
        let mut expected = VaultRecord { updated_at: after.updated_at, ..before };
        change(&mut expected);
        assert_eq!(after, expected, "{patch:?}");
        assert_eq!(db.store.vault(&alice, id).await.unwrap(), after);
        before = after;
    }
    assert_error!(
        db.store.update_vault(&alice, NO_VAULT, renamed("x")).await,
        StoreError::NotFound
    );
}

async fn a_system_vault_keeps_its_name_and_cannot_be_deleted(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let before = db.general(&alice).await;
    let patch = VaultPatch { description: Some(Some("d".into())), ..renamed("Mine") };
    let renaming = db.store.update_vault(&alice, before.id, patch).await;
    assert_error!(renaming, StoreError::SystemVaultRename);
    assert_error!(db.store.delete_vault(&alice, before.id).await, StoreError::SystemVaultDelete);
    assert_eq!(db.general(&alice).await, before);
    let patch = VaultPatch { description: Some(Some("d".into())), ..renamed("General") };
    let described = db.store.update_vault(&alice, before.id, patch).await.unwrap();
    assert_eq!(described.description.as_deref(), Some("d"));
}

async fn a_deleted_vault_takes_its_memberships_and_no_prompt(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let ids @ [a, b, c] = db.prompts(&alice).await;
    let (deleted, stays) = (db.private(&alice, &ids).await, db.private(&alice, &ids).await);
    let slug = db.store.vault(&alice, deleted).await.unwrap().slug;
    db.store.delete_vault(&alice, deleted).await.unwrap();
    assert_error!(db.store.delete_vault(&alice, deleted).await, StoreError::NotFound);
    assert_error!(db.store.contents(&alice, deleted).await.map(drop), StoreError::NotFound);
    assert_eq!(db.shown(&alice, stays).await, [c, b, a]);
    assert_eq!(db.pages(&alice, ALL_PROMPTS).await, [c, b, a]);
    assert_eq!(db.store.prompt(&alice, a).await.unwrap().vault_ids, [stays]);
    let next = db.store.create_vault(&alice, named("Sky")).await.unwrap();
    assert_eq!(next.slug, slug, "its slug is free again");
}

async fn a_vault_of_another_account_does_not_exist(db: Arc<StoreUnderTest>) {
    let (alice, other) = (db.caller("alice").await, db.caller("bob").await);
    let id = db.public(&other, &[]).await;
    let before = db.store.vault(&other, id).await.unwrap();
    assert_error!(db.store.vault(&alice, id).await, StoreError::NotFound);
    assert_error!(db.store.update_vault(&alice, id, renamed("x")).await, StoreError::NotFound);
    let empty = db.store.update_vault(&alice, id, VaultPatch::default()).await;
    assert_error!(empty, StoreError::NotFound);
    assert_error!(db.store.delete_vault(&alice, id).await, StoreError::NotFound);
    assert_eq!(db.store.vault(&other, id).await.unwrap(), before);
    assert_eq!(&*db.store.create_vault(&alice, named("Sky")).await.unwrap().slug, "sky");
}

/// Names whose slugs collide.
pub(super) const NAMES: [&str; 8] = ["a", "a 2", "a 3", "a 2 2", "a-1", "A", "a_b", "a 02"];

async fn a_slug_is_the_first_free_candidate(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let mut random = StdRng::seed_from_u64(4);
    let mut slugs: BTreeMap<VaultId, Arc<str>> = BTreeMap::new();
    for _ in 0..250 {
        let name = *NAMES.choose(&mut random).unwrap();
        let ids: Vec<_> = slugs.keys().copied().collect();
        let vault = match (random.random_range(0..5), ids.choose(&mut random).copied()) {
            (0, Some(id)) => {
                db.store.delete_vault(&alice, id).await.unwrap();
                slugs.remove(&id);
                continue;
            }
            (1 | 2, Some(id)) => {
                let same = *db.store.vault(&alice, id).await.unwrap().name == *name;
                let vault = db.store.update_vault(&alice, id, renamed(name)).await.unwrap();
                if same {
                    assert_eq!(vault.slug, slugs[&id], "the same name keeps the slug");
                    continue;
                }
                // The slug that it had is free for its new name.
                slugs.remove(&id);
                vault
            }
            _ => db.store.create_vault(&alice, named(name)).await.unwrap(),
        };
        let taken: BTreeSet<_> = slugs.values().map(ToString::to_string).collect();
        let first =
            (1..).map(|n| slug::candidate(&slug::base(name), n)).find(|slug| !taken.contains(slug));
        assert_eq!(Some(&*vault.slug), first.as_deref(), "for {name:?} beside {taken:?}");
        slugs.insert(vault.id, vault.slug);
    }
}

/// A prompt with images, created by a job.
async fn generate(db: &StoreUnderTest, caller: &Caller, vault: VaultId) -> PromptRecord {
    let job = reserved(&*db.store, caller, new("job", 1, Some(vault))).await;
    db.store.job_submitted(&job.key, ticket()).await.unwrap();
    let lease = claim(&*db.store).await.unwrap().lease;
    let other = PromptImage { url: "http://localhost/b.png".into(), width: 5, ..image() };
    let images = vec![image(), other];
    let id = db.store.complete_job(&lease, images.clone()).await.unwrap();
    let prompt = db.store.prompt(caller, id).await.unwrap();
    assert_eq!(*prompt.images, images, "images keep their order");
    Arc::unwrap_or_clone(prompt)
}

async fn a_fork_copies_everything_but_pins_ids_and_times(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let id = db.vault(&alice, VaultVisibility::Unlisted, &[]).await;
    let patch = VaultPatch { description: Some(Some("stars".into())), ..VaultPatch::default() };
    db.store.update_vault(&alice, id, patch).await.unwrap();
    db.set_cover(&alice, id, "http://localhost/cover.png").await;
    let first = generate(&db, &alice, id).await;
    let video = new_prompt(PromptKind::Video, Some(id));
    let second = Arc::unwrap_or_clone(db.store.create_prompt(&alice, video).await.unwrap());
    let pinned = db.membership(&alice, id, first.id).await;
    db.store.set_pinned(&alice, id, pinned, true).await.unwrap();
    db.private(&bob, &[]).await;
    db.clock.advance(Duration::from_secs(5));

    let copy = db.store.fork_vault(&bob, id).await.unwrap();
    assert_eq!((&*copy.name, copy.description.as_deref()), ("Sky", Some("stars")));
    assert_eq!(copy.cover_image_url.as_deref(), Some("http://localhost/cover.png"));
    assert_eq!((&*copy.slug, copy.visibility), ("sky-2", VaultVisibility::Private));
    assert_eq!((copy.system, copy.prompt_count), (false, 2));
    assert_eq!(copy.created_at, db.now());
    assert_eq!(db.store.vault(&bob, copy.id).await.unwrap(), copy);
    let copies = db.contents(&bob, copy.id).await;
    for (listed, source) in copies.iter().zip([second, first]) {
        let times = (copy.created_at, copy.created_at);
        let (id, vault_ids) = (listed.prompt.id, vec![copy.id]);
        assert!(id != source.id && !listed.pinned);
        let (created_at, updated_at) = times;
        let expected = PromptRecord { id, vault_ids, created_at, updated_at, ..source };
        assert_eq!(*listed.prompt, expected);
        let query = PromptQuery { kind: Some(expected.kind), ..ALL_PROMPTS };
        assert_eq!(db.pages(&bob, query).await, [id]);
    }
    let own = db.public(&alice, &[]).await;
    let own_copy = db.store.fork_vault(&alice, own).await.unwrap();
    assert_eq!((&*own_copy.slug, own_copy.visibility), ("sky-3", VaultVisibility::Private));
}

async fn the_copies_of_a_fork_are_in_the_order_of_addition(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let mut ids: [_; 70] = db.prompts(&alice).await;
    ids.reverse();
    let source = db.public(&alice, &ids).await;
    let moved = db.membership(&alice, source, ids[7]).await;
    db.store.move_membership(&alice, source, moved, source).await.unwrap();
    for (number, id) in ids.iter().enumerate() {
        let title = Some(format!("{number}").into());
        let patch = PromptPatch { title, ..Default::default() };
        db.store.update_prompt(&alice, *id, patch).await.unwrap();
    }
    let copy = db.store.fork_vault(&bob, source).await.unwrap();
    let titles = async |alice, vault| {
        let contents = db.contents(alice, vault).await;
        contents.into_iter().map(|listed| listed.prompt.title.clone()).collect::<Vec<_>>()
    };
    assert_eq!(titles(&bob, copy.id).await, titles(&alice, source).await);
    assert!(db.shown(&bob, copy.id).await.is_sorted_by(|a, b| a > b));
}

async fn private_and_deleted_vaults_cannot_be_forked(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let private = db.private(&alice, &[]).await;
    let deleted = db.public(&alice, &[]).await;
    db.store.delete_vault(&alice, deleted).await.unwrap();
    let own = db.store.fork_vault(&alice, private).await;
    assert_error!(own, StoreError::ForkOfPrivateVault);
    for id in [private, deleted, NO_VAULT] {
        assert_error!(db.store.fork_vault(&bob, id).await, StoreError::NotFound);
    }
    assert_eq!(db.store.vaults(&bob).await.unwrap().len(), 1);
}

async fn the_last_added_prompt_is_on_top_and_present_ones_keep_their_position(
    db: Arc<StoreUnderTest>,
) {
    let alice = db.caller("alice").await;
    let [a, b, c, d] = db.prompts(&alice).await;
    let vault = db.private(&alice, &[]).await;
    for (prompts, added, prompt_count) in
        [(&[c, a][..], 2, 2), (&[d, c, b, d, b], 2, 4), (&[], 0, 4)]
    {
        let result = db.store.add_prompts(&alice, vault, prompts).await.unwrap();
        assert_eq!(result, Added { added, prompt_count });
    }
    assert_eq!(db.shown(&alice, vault).await, [b, d, a, c]);
}

async fn one_unknown_prompt_prevents_the_addition_and_all_unknown_ones_are_reported_once(
    db: Arc<StoreUnderTest>,
) {
    let (alice, other) = (db.caller("alice").await, db.caller("bob").await);
    let own: [_; 2] = db.prompts(&alice).await;
    let [foreign] = db.prompts(&other).await;
    let missing = PromptId::new(i64::MAX);
    let vault = db.private(&alice, &own[..1]).await;
    let ids = [missing, own[1], foreign, missing, own[0], foreign];
    match db.store.add_prompts(&alice, vault, &ids).await {
        Err(StoreError::UnknownPrompts(unknown)) => assert_eq!(unknown, [missing, foreign]),
        result => panic!("{result:?}"),
    }
    assert_eq!(db.shown(&alice, vault).await, own[..1]);
    assert_error!(db.store.add_prompts(&alice, NO_VAULT, &ids).await, StoreError::NotFound);
}

async fn a_removed_membership_leaves_the_prompt_and_its_other_memberships(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let ids @ [a, b, c] = db.prompts(&alice).await;
    let (vault, other) = (db.private(&alice, &ids).await, db.private(&alice, &ids).await);
    let removed = db.membership(&alice, vault, b).await;
    let remove = |vault| db.store.remove_membership(&alice, vault, removed);
    assert_error!(remove(other).await, StoreError::NotFound);
    remove(vault).await.unwrap();
    assert_error!(remove(vault).await, StoreError::NotFound);
    assert_eq!(db.shown(&alice, vault).await, [c, a]);
    assert_eq!(db.shown(&alice, other).await, [c, b, a]);
    assert_eq!(db.store.prompt(&alice, b).await.unwrap().vault_ids, [other]);
}

async fn a_moved_membership_is_on_top_of_the_unpinned_ones_and_unpinned(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let ids @ [a, b, c] = db.prompts(&alice).await;
    let (from, to) = (db.private(&alice, &ids).await, db.private(&alice, &ids[1..]).await);
    let old = db.membership(&alice, from, a).await;
    db.store.set_pinned(&alice, from, old, true).await.unwrap();
    let pinned = db.membership(&alice, to, b).await;
    db.store.set_pinned(&alice, to, pinned, true).await.unwrap();
    let moved = db.store.move_membership(&alice, from, old, to).await.unwrap();
    assert_eq!(moved.prompt, a);
    assert_eq!(
        (db.shown(&alice, from).await, db.shown(&alice, to).await),
        (vec![c, b], vec![b, a, c])
    );
    let listed = &db.contents(&alice, to).await[1];
    assert_eq!((listed.membership, listed.pinned), (moved.membership, false));
    let again = db.store.move_membership(&alice, from, old, to).await;
    assert_error!(again, StoreError::NotFound);
}

async fn a_move_replaces_the_membership_in_the_target(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let ids @ [a, b, c] = db.prompts(&alice).await;
    let (from, to) = (db.private(&alice, &ids).await, db.private(&alice, &ids).await);
    let replaced = db.membership(&alice, to, a).await;
    db.store.set_pinned(&alice, to, replaced, true).await.unwrap();
    let old = db.membership(&alice, from, a).await;
    let moved = db.store.move_membership(&alice, from, old, to).await.unwrap();
    assert!(moved.membership > replaced && moved.membership > old);
    assert_eq!(
        (db.shown(&alice, from).await, db.shown(&alice, to).await),
        (vec![c, b], vec![a, c, b])
    );
    let listed = &db.contents(&alice, to).await[0];
    assert_eq!((listed.membership, listed.pinned), (moved.membership, false));
}

async fn a_move_within_a_vault_puts_the_prompt_on_top(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let ids @ [a, b, c] = db.prompts(&alice).await;
    let vault = db.private(&alice, &ids).await;
    let old = db.membership(&alice, vault, a).await;
    let moved = db.store.move_membership(&alice, vault, old, vault).await.unwrap();
    assert!(moved.membership > old);
    assert_eq!(db.shown(&alice, vault).await, [a, c, b]);
}

async fn a_failed_move_changes_nothing_and_reports_the_membership_before_the_target(
    db: Arc<StoreUnderTest>,
) {
    let (alice, other) = (db.caller("alice").await, db.caller("bob").await);
    let [a, b] = db.prompts(&alice).await;
    let (vault, foreign) = (db.private(&alice, &[a, b]).await, db.private(&other, &[]).await);
    let membership = db.membership(&alice, vault, a).await;
    for target in [NO_VAULT, foreign] {
        let moving =
            |vault, membership| db.store.move_membership(&alice, vault, membership, target);
        assert_error!(moving(vault, membership).await, StoreError::UnknownTargetVault);
        let missing = VaultPromptId::new(i64::MAX);
        for (vault, membership) in [(vault, missing), (NO_VAULT, membership), (foreign, membership)]
        {
            assert_error!(moving(vault, membership).await, StoreError::NotFound);
        }
    }
    assert_eq!(db.membership(&alice, vault, a).await, membership);
    assert_eq!(db.shown(&alice, vault).await, [b, a]);
}

async fn the_last_pinned_is_on_top_and_pinning_again_keeps_its_position(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let [a, b, c, d] = db.prompts(&alice).await;
    let vault = db.private(&alice, &[a, b, c, d]).await;
    for (prompt, pinned, expected) in [
        (c, true, [c, d, b, a]),
        (a, true, [a, c, d, b]),
        (c, true, [a, c, d, b]),
        (b, false, [a, c, d, b]),
        (a, false, [c, d, b, a]),
        (a, true, [a, c, d, b]),
    ] {
        let membership = db.membership(&alice, vault, prompt).await;
        db.store.set_pinned(&alice, vault, membership, pinned).await.unwrap();
        assert_eq!(db.shown(&alice, vault).await, expected);
    }
    let missing = db.store.set_pinned(&alice, vault, VaultPromptId::new(i64::MAX), true).await;
    assert_error!(missing, StoreError::NotFound);
}

async fn memberships_of_another_account_do_not_exist(db: Arc<StoreUnderTest>) {
    let (alice, other) = (db.caller("alice").await, db.caller("bob").await);
    let [prompt] = db.prompts(&other).await;
    let (vault, own) = (db.public(&other, &[prompt]).await, db.private(&alice, &[]).await);
    let id = db.membership(&other, vault, prompt).await;
    let pinned = db.contents(&other, vault).await;
    assert_error!(db.store.contents(&alice, vault).await.map(drop), StoreError::NotFound);
    assert_error!(db.store.add_prompts(&alice, vault, &[]).await, StoreError::NotFound);
    assert_error!(db.store.remove_membership(&alice, vault, id).await, StoreError::NotFound);
    assert_error!(db.store.move_membership(&alice, vault, id, own).await, StoreError::NotFound);
    assert_error!(db.store.set_pinned(&alice, vault, id, true).await, StoreError::NotFound);
    assert_eq!(db.contents(&other, vault).await, pinned);
}
