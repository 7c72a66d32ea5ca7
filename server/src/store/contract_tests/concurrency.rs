//! Many changes at once of prompts and vaults: each result fits one order of the calls, and so does what is left.
//! Afterwards the invariants hold, and PostgreSQL has seen no deadlock.

use std::sync::Arc;

use futures::future::join_all;
use promptarium::{PromptId, VaultId};
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _};

use super::{ALL_PROMPTS, StoreUnderTest, contract_tests, found, key, new_prompt};
use crate::domain::{
    Caller, Membership, PromptInputs, PromptKind, PromptPatch, PromptQuery, VaultPatch, slug,
};
use crate::store::StoreError;

contract_tests! {
    concurrent_seeds_create_one_account
    a_prompt_comes_into_a_vault_before_the_vault_is_deleted_or_not_at_all
    of_two_changes_the_later_response_shows_both
    counts_slugs_and_indexes_survive_random_concurrent_changes
    a_fork_during_changes_sees_one_instant
    forks_in_both_directions_do_not_deadlock
}

pub(super) const ROUNDS: usize = 30;

/// Names whose slugs collide.
const NAMES: [&str; 8] = ["a", "a 2", "a 3", "a 2 2", "a-1", "A", "a_b", "a 02"];

/// The results of calls `0..count`, which run as tasks of their own.
pub(super) async fn parallel<T, Task>(
    db: &Arc<StoreUnderTest>,
    caller: &Caller,
    count: usize,
    call: impl Fn(Arc<StoreUnderTest>, Caller, usize) -> Task,
) -> Vec<T>
where
    T: Send + 'static,
    Task: Future<Output = T> + Send + 'static,
{
    let task = |number| tokio::spawn(call(Arc::clone(db), caller.clone(), number));
    let tasks: Vec<_> = (0..count).map(task).collect();
    join_all(tasks).await.into_iter().map(Result::unwrap).collect()
}

async fn concurrent_seeds_create_one_account(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let seeds = parallel(&db, &alice, 16, |db, _, number| async move {
        db.store.seed_key("bob", key(["a", "b"][number % 2])).await
    });
    assert!(seeds.await.iter().all(Result::is_ok));
    assert_eq!(db.store.accounts().await.unwrap().len(), 2);
}

async fn a_prompt_comes_into_a_vault_before_the_vault_is_deleted_or_not_at_all(
    db: Arc<StoreUnderTest>,
) {
    let alice = db.caller("alice").await;
    let general = db.general(&alice).await.id;
    let id = db.prompt(&alice, Some(general)).await.id;
    let mut prompts = 1;
    for _ in 0..ROUNDS {
        let vault = db.private(&alice, &[]).await;
        let patch = PromptPatch { vault: Some(vault), ..PromptPatch::default() };
        let (created, saved, updated, deleted) = tokio::join!(
            db.store.create_prompt(&alice, new_prompt(PromptKind::Text, Some(vault))),
            db.store.save_prompt(&alice, id, vault),
            db.store.update_prompt(&alice, id, patch),
            db.store.delete_vault(&alice, vault),
        );
        deleted.unwrap();
        prompts += usize::from(created.is_ok());
        for (result, before) in [(created, &[][..]), (saved, &[general]), (updated, &[general])] {
            match result {
                Ok(prompt) => assert_eq!(prompt.vault_ids, [before, &[vault]].concat()),
                Err(error) => assert!(matches!(error, StoreError::UnknownVault), "{error:?}"),
            }
        }
        assert_eq!(db.store.prompt(&alice, id).await.unwrap().vault_ids, [general]);
    }
    assert_eq!(db.pages(&alice, ALL_PROMPTS).await.len(), prompts);
}

async fn of_two_changes_the_later_response_shows_both(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let (one, two) = (db.private(&alice, &[]).await, db.private(&alice, &[]).await);
    for _ in 0..ROUNDS {
        let id = db.prompt(&alice, None).await.id;
        let patch = |title: Option<&str>, text: Option<&str>, vault| PromptPatch {
            title: title.map(Into::into),
            text: text.map(Into::into),
            vault,
            ..PromptPatch::default()
        };
        let into = patch(None, Some("y"), Some(one));
        let title = patch(Some("x"), None, None);
        let (updated, saved, titled) = tokio::join!(
            db.store.update_prompt(&alice, id, into),
            db.store.save_prompt(&alice, id, two),
            db.store.update_prompt(&alice, id, title),
        );
        let (updated, saved, titled) = (updated.unwrap(), saved.unwrap(), titled.unwrap());
        let update_shows_save = updated.vault_ids == [one, two];
        let save_shows_update = saved.vault_ids == [one, two] && &*saved.text == "y";
        assert!(update_shows_save != save_shows_update, "{updated:?} and {saved:?}");
        let latest = db.store.prompt(&alice, id).await.unwrap().updated_at;
        let (a, b) = (updated.updated_at, titled.updated_at);
        assert!(a != b && a.max(b) == latest, "{a} and {b}, then {latest}");
    }
}

/// One random call. Whether it finds what it addresses does not matter.
async fn random_call(
    db: &StoreUnderTest,
    caller: &Caller,
    vaults: &[VaultId],
    random: &mut StdRng,
) {
    let store = &db.store;
    let (vault, target) = (*vaults.choose(random).unwrap(), *vaults.choose(random).unwrap());
    let listed = db.contents(caller, vault).await.choose(random).cloned();
    let listed = listed.map(|one| (Membership { vault, id: one.membership }, one));
    match (random.random_range(0..15), listed) {
        (0 | 1, _) => {
            let new = new_prompt(PromptKind::Image, Some(vault));
            found(store.create_prompt(caller, new).await);
        }
        (2, Some((_, listed))) => drop(found(store.delete_prompt(caller, listed.prompt.id).await)),
        (3, Some((at, _))) => drop(found(store.remove_membership(caller, at).await)),
        (4, Some((_, listed))) => {
            let kind = [PromptKind::Text, PromptKind::Image].choose(random).copied();
            let inputs = PromptInputs { model_id: Some("m".into()), ..PromptInputs::default() };
            let patch = PromptPatch { kind, inputs, vault: Some(target), ..PromptPatch::default() };
            found(store.update_prompt(caller, listed.prompt.id, patch).await);
            found(store.save_prompt(caller, listed.prompt.id, target).await);
        }
        (5 | 6, Some((at, listed))) => {
            found(store.set_pinned(caller, at, !listed.pinned).await);
        }
        (7..=9, Some((at, _))) => {
            found(store.move_membership(caller, at, target).await);
        }
        (10, _) => temporary_vault(db, caller, vault).await,
        (11 | 12, _) => {
            let name = NAMES.choose(random).copied().unwrap();
            let patch = VaultPatch { name: Some(name.into()), ..VaultPatch::default() };
            let slug = store.update_vault(caller, vault, patch).await.unwrap().slug;
            let base = slug::base(name);
            let mut candidates = (1..=20).map(|n| slug::candidate(&base, n));
            assert!(candidates.any(|candidate| *candidate == *slug), "{slug} for {name:?}");
        }
        _ => {
            let query = PromptQuery { limit: 8, ..ALL_PROMPTS };
            let page = store.list_prompts(caller, query).await.unwrap();
            let mut ids: Vec<_> = page.prompts.iter().map(|prompt| prompt.id).collect();
            ids.shuffle(random);
            found(store.add_prompts(caller, vault, &ids).await);
        }
    }
}

/// A vault is created, and deleted while memberships come into it and it is forked.
async fn temporary_vault(db: &StoreUnderTest, caller: &Caller, from: VaultId) {
    let store = &db.store;
    let vault = db.public(caller, &[]).await;
    let contents = db.contents(caller, from).await;
    let ids: Vec<_> = contents.iter().map(|listed| listed.prompt.id).take(8).collect();
    let moves = contents.iter().take(3).map(|listed| async {
        let at = Membership { vault: from, id: listed.membership };
        found(store.move_membership(caller, at, vault).await);
    });
    let (_, _, copy, deleted) = tokio::join!(
        join_all(moves),
        async { found(store.add_prompts(caller, vault, &ids).await) },
        async { found(store.fork_vault(caller, vault).await) },
        async { store.delete_vault(caller, vault).await },
    );
    deleted.unwrap();
    if let Some(copy) = copy {
        store.delete_vault(caller, copy.id).await.unwrap();
    }
}

async fn counts_slugs_and_indexes_survive_random_concurrent_changes(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let ids: [PromptId; 20] = db.prompts(&alice).await;
    let mut vaults = [VaultId::new(0); 4];
    for vault in &mut vaults {
        *vault = db.private(&alice, &ids).await;
    }
    let changes = parallel(&db, &alice, 8, |db, alice, seed| async move {
        let mut random = StdRng::seed_from_u64(seed as u64);
        for _ in 0..100 {
            random_call(&db, &alice, &vaults, &mut random).await;
        }
    });
    changes.await;
    for vault in vaults {
        db.shown(&alice, vault).await;
    }
}

async fn a_fork_during_changes_sees_one_instant(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let source = db.public(&alice, &[]).await;
    let ids: [_; 80] = db.prompts(&alice).await;
    let changes = {
        let (db, alice) = (Arc::clone(&db), alice.clone());
        tokio::spawn(async move {
            for (round, pair) in ids.chunks(2).enumerate() {
                // Name and description change together, and prompts come in pairs.
                let text = format!("{round}");
                let (name, description) = (Some((*text).into()), Some(Some((*text).into())));
                let patch = VaultPatch { name, description, ..VaultPatch::default() };
                db.store.update_vault(&alice, source, patch).await.unwrap();
                db.store.add_prompts(&alice, source, pair).await.unwrap();
            }
        })
    };
    for caller in [&alice, &bob].into_iter().cycle() {
        let last = changes.is_finished();
        let copy = db.store.fork_vault(caller, source).await.unwrap();
        if &*copy.name != "Sky" {
            assert_eq!(copy.description.as_ref(), Some(&copy.name));
        }
        assert_eq!(copy.prompt_count % 2, 0, "half a pair");
        assert_eq!(db.shown(caller, copy.id).await.len() as u64, copy.prompt_count);
        db.store.delete_vault(caller, copy.id).await.unwrap();
        if last {
            break;
        }
    }
    changes.await.unwrap();
}

async fn forks_in_both_directions_do_not_deadlock(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let of_alice = db.public(&alice, &db.prompts::<3>(&alice).await).await;
    let sources = [of_alice, db.public(&bob, &db.prompts::<3>(&bob).await).await];
    let fork = |db: Arc<StoreUnderTest>, caller: Caller, number: usize| async move {
        db.store.fork_vault(&caller, sources[number % 2]).await.unwrap().slug
    };
    let forks = tokio::join!(parallel(&db, &alice, 20, fork), parallel(&db, &bob, 20, fork));
    for slugs in [forks.0, forks.1] {
        assert!(slugs.iter().any(|slug| **slug == *"sky-21"), "{slugs:?}");
    }
}
