//! Vaults, slugs and forks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use promptarium::VaultId;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use super::{
    ALL_PROMPTS, NO_VAULT, StoreUnderTest, assert_error, contract_tests, named, new_prompt, renamed,
};
use crate::domain::{
    GenerationRequest, NewJob, NewVault, PromptImage, PromptKind, PromptRecord, ProviderTicket,
    Reserved, VaultPatch, VaultRecord, VaultVisibility, slug,
};
use crate::store::StoreError;

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
}

async fn a_vault_is_returned_as_it_was_created(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let new = NewVault {
        name: "Night Sky".into(),
        description: Some("stars".into()),
        visibility: VaultVisibility::Unlisted,
    };
    let made = on.store.create_vault(&by, new).await.unwrap();
    assert_eq!((&*made.name, made.description.as_deref()), ("Night Sky", Some("stars")));
    assert_eq!((&*made.slug, made.visibility), ("night-sky", VaultVisibility::Unlisted));
    assert_eq!((made.prompt_count, made.system, &made.cover_image_url), (0, false, &None));
    assert_eq!(made.created_at, made.updated_at);
    assert_eq!(on.store.vault(&by, made.id).await.unwrap(), made);
}

async fn vaults_are_listed_newest_first_with_their_counts(on: Arc<StoreUnderTest>) {
    let (by, other) = (on.caller("alice").await, on.caller("bob").await);
    let ids: [_; 3] = on.prompts(&by).await;
    on.public(&other, &[]).await;
    let (first, second) = (on.private(&by, &ids).await, on.private(&by, &ids[1..]).await);
    let listed = on.store.vaults(&by).await.unwrap();
    let counts: Vec<_> = listed.iter().map(|vault| (vault.id, vault.prompt_count)).collect();
    assert_eq!(counts, [(second, 2), (first, 3), (on.general(&by).await.id, 0)]);
    for vault in listed {
        assert_eq!(on.store.vault(&by, vault.id).await.unwrap(), vault);
    }
}

/// A patch, and the change it makes to a record.
type Change = (VaultPatch, fn(&mut VaultRecord));

async fn an_update_changes_the_fields_it_names_and_no_other(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let ids: [_; 2] = on.prompts(&by).await;
    let id = on.private(&by, &ids).await;
    let mut before = on.store.vault(&by, id).await.unwrap();
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
        let after = on.store.update_vault(&by, id, patch.clone()).await.unwrap();
        assert_eq!(after.updated_at > before.updated_at, !patch.is_empty());
        let mut expected = VaultRecord { updated_at: after.updated_at, ..before };
        change(&mut expected);
        assert_eq!(after, expected, "{patch:?}");
        assert_eq!(on.store.vault(&by, id).await.unwrap(), after);
        before = after;
    }
    assert_error!(on.store.update_vault(&by, NO_VAULT, renamed("x")).await, StoreError::NotFound);
}

async fn a_system_vault_keeps_its_name_and_cannot_be_deleted(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let before = on.general(&by).await;
    let patch = VaultPatch { description: Some(Some("d".into())), ..renamed("Mine") };
    let renaming = on.store.update_vault(&by, before.id, patch).await;
    assert_error!(renaming, StoreError::SystemVaultRename);
    assert_error!(on.store.delete_vault(&by, before.id).await, StoreError::SystemVaultDelete);
    assert_eq!(on.general(&by).await, before);
    let patch = VaultPatch { description: Some(Some("d".into())), ..renamed("General") };
    let described = on.store.update_vault(&by, before.id, patch).await.unwrap();
    assert_eq!(described.description.as_deref(), Some("d"));
}

async fn a_deleted_vault_takes_its_memberships_and_no_prompt(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let ids @ [a, b, c] = on.prompts(&by).await;
    let (deleted, stays) = (on.private(&by, &ids).await, on.private(&by, &ids).await);
    let slug = on.store.vault(&by, deleted).await.unwrap().slug;
    on.store.delete_vault(&by, deleted).await.unwrap();
    assert_error!(on.store.delete_vault(&by, deleted).await, StoreError::NotFound);
    assert_error!(on.store.contents(&by, deleted).await.map(drop), StoreError::NotFound);
    assert_eq!(on.shown(&by, stays).await, [c, b, a]);
    assert_eq!(on.pages(&by, ALL_PROMPTS).await, [c, b, a]);
    assert_eq!(on.store.prompt(&by, a).await.unwrap().vault_ids, [stays]);
    let next = on.store.create_vault(&by, named("Sky")).await.unwrap();
    assert_eq!(next.slug, slug, "its slug is free again");
}

async fn a_vault_of_another_account_does_not_exist(on: Arc<StoreUnderTest>) {
    let (by, other) = (on.caller("alice").await, on.caller("bob").await);
    let id = on.public(&other, &[]).await;
    let before = on.store.vault(&other, id).await.unwrap();
    assert_error!(on.store.vault(&by, id).await, StoreError::NotFound);
    assert_error!(on.store.update_vault(&by, id, renamed("x")).await, StoreError::NotFound);
    let empty = on.store.update_vault(&by, id, VaultPatch::default()).await;
    assert_error!(empty, StoreError::NotFound);
    assert_error!(on.store.delete_vault(&by, id).await, StoreError::NotFound);
    assert_eq!(on.store.vault(&other, id).await.unwrap(), before);
    assert_eq!(&*on.store.create_vault(&by, named("Sky")).await.unwrap().slug, "sky");
}

/// Names whose slugs collide.
pub(super) const NAMES: [&str; 8] = ["a", "a 2", "a 3", "a 2 2", "a-1", "A", "a_b", "a 02"];

async fn a_slug_is_the_first_free_candidate(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let mut random = StdRng::seed_from_u64(4);
    let mut slugs: BTreeMap<VaultId, Arc<str>> = BTreeMap::new();
    for _ in 0..250 {
        let name = *NAMES.choose(&mut random).unwrap();
        let ids: Vec<_> = slugs.keys().copied().collect();
        let vault = match (random.random_range(0..5), ids.choose(&mut random).copied()) {
            (0, Some(id)) => {
                on.store.delete_vault(&by, id).await.unwrap();
                slugs.remove(&id);
                continue;
            }
            (1 | 2, Some(id)) => {
                let same = *on.store.vault(&by, id).await.unwrap().name == *name;
                let vault = on.store.update_vault(&by, id, renamed(name)).await.unwrap();
                if same {
                    assert_eq!(vault.slug, slugs[&id], "the same name keeps the slug");
                    continue;
                }
                // The slug that it had is free for its new name.
                slugs.remove(&id);
                vault
            }
            _ => on.store.create_vault(&by, named(name)).await.unwrap(),
        };
        let taken: BTreeSet<_> = slugs.values().map(ToString::to_string).collect();
        let first =
            (1..).map(|n| slug::candidate(&slug::base(name), n)).find(|slug| !taken.contains(slug));
        assert_eq!(Some(&*vault.slug), first.as_deref(), "for {name:?} beside {taken:?}");
        slugs.insert(vault.id, vault.slug);
    }
}

/// A prompt with an image, created by a job.
async fn generate(on: &StoreUnderTest, by: &crate::domain::Caller, vault: VaultId) -> PromptRecord {
    let new = NewJob {
        client_job_id: "job".into(),
        digest: [1; 32],
        request: GenerationRequest { prompt: "Sea".into(), ..GenerationRequest::default() }.into(),
        vault: Some(vault),
    };
    let Reserved::New(job) = on.store.reserve_job(by, new).await.unwrap() else { unreachable!() };
    let ticket = ProviderTicket { request_id: "r".into(), provider_state: "m".into() };
    on.store.job_submitted(&job.key, ticket).await.unwrap();
    let hour = Duration::from_secs(3600);
    let claim = on.store.claim_job(hour, hour).await.unwrap().unwrap();
    let images = [("http://localhost/a.png", 3, 4), ("http://localhost/b.png", 5, 6)];
    let image = |(url, width, height): (&str, u32, u32)| PromptImage {
        url: url.into(),
        width,
        height,
        created_at: jiff::Timestamp::from_microsecond(8_000_001).unwrap(),
    };
    let images: Vec<_> = images.into_iter().map(image).collect();
    let id = on.store.complete_job(&claim.lease, images.clone()).await.unwrap();
    let prompt = on.store.prompt(by, id).await.unwrap();
    assert_eq!(*prompt.images, images, "images keep their order");
    Arc::unwrap_or_clone(prompt)
}

async fn a_fork_copies_everything_but_pins_ids_and_times(on: Arc<StoreUnderTest>) {
    let (alice, bob) = (on.caller("alice").await, on.caller("bob").await);
    let id = on.vault(&alice, VaultVisibility::Unlisted, &[]).await;
    let patch = VaultPatch { description: Some(Some("stars".into())), ..VaultPatch::default() };
    on.store.update_vault(&alice, id, patch).await.unwrap();
    on.set_cover(&alice, id, "http://localhost/cover.png").await;
    let first = generate(&on, &alice, id).await;
    let video = new_prompt(PromptKind::Video, Some(id));
    let second = Arc::unwrap_or_clone(on.store.create_prompt(&alice, video).await.unwrap());
    let pinned = on.membership(&alice, id, first.id).await;
    on.store.set_pinned(&alice, id, pinned, true).await.unwrap();
    on.private(&bob, &[]).await;
    on.clock.advance(Duration::from_secs(5));

    let copy = on.store.fork_vault(&bob, id).await.unwrap();
    assert_eq!((&*copy.name, copy.description.as_deref()), ("Sky", Some("stars")));
    assert_eq!(copy.cover_image_url.as_deref(), Some("http://localhost/cover.png"));
    assert_eq!((&*copy.slug, copy.visibility), ("sky-2", VaultVisibility::Private));
    assert_eq!((copy.system, copy.prompt_count), (false, 2));
    assert_eq!(copy.created_at, on.now());
    assert_eq!(on.store.vault(&bob, copy.id).await.unwrap(), copy);
    let copies = on.contents(&bob, copy.id).await;
    for (listed, source) in copies.iter().zip([second, first]) {
        let times = (copy.created_at, copy.created_at);
        let (id, vault_ids) = (listed.prompt.id, vec![copy.id]);
        assert!(id != source.id && !listed.pinned);
        let (created_at, updated_at) = times;
        let expected = PromptRecord { id, vault_ids, created_at, updated_at, ..source };
        assert_eq!(*listed.prompt, expected);
        let query = super::PromptQuery { kind: Some(expected.kind), ..ALL_PROMPTS };
        assert_eq!(on.pages(&bob, query).await, [id]);
    }
    let own = on.public(&alice, &[]).await;
    let own_copy = on.store.fork_vault(&alice, own).await.unwrap();
    assert_eq!((&*own_copy.slug, own_copy.visibility), ("sky-3", VaultVisibility::Private));
}

async fn the_copies_of_a_fork_are_in_the_order_of_addition(on: Arc<StoreUnderTest>) {
    let (alice, bob) = (on.caller("alice").await, on.caller("bob").await);
    let mut ids: [_; 70] = on.prompts(&alice).await;
    ids.reverse();
    let source = on.public(&alice, &ids).await;
    let moved = on.membership(&alice, source, ids[7]).await;
    on.store.move_membership(&alice, source, moved, source).await.unwrap();
    for (number, id) in ids.iter().enumerate() {
        let title = Some(format!("{number}").into());
        let patch = crate::domain::PromptPatch { title, ..Default::default() };
        on.store.update_prompt(&alice, *id, patch).await.unwrap();
    }
    let copy = on.store.fork_vault(&bob, source).await.unwrap();
    let titles = async |by, vault| {
        let contents = on.contents(by, vault).await;
        contents.into_iter().map(|listed| listed.prompt.title.clone()).collect::<Vec<_>>()
    };
    assert_eq!(titles(&bob, copy.id).await, titles(&alice, source).await);
    assert!(on.shown(&bob, copy.id).await.is_sorted_by(|a, b| a > b));
}

async fn private_and_deleted_vaults_cannot_be_forked(on: Arc<StoreUnderTest>) {
    let (alice, bob) = (on.caller("alice").await, on.caller("bob").await);
    let private = on.private(&alice, &[]).await;
    let deleted = on.public(&alice, &[]).await;
    on.store.delete_vault(&alice, deleted).await.unwrap();
    let own = on.store.fork_vault(&alice, private).await;
    assert_error!(own, StoreError::ForkOfPrivateVault);
    for id in [private, deleted, NO_VAULT] {
        assert_error!(on.store.fork_vault(&bob, id).await, StoreError::NotFound);
    }
    assert_eq!(on.store.vaults(&bob).await.unwrap().len(), 1);
}
