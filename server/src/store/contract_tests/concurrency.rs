//! Many calls at once: each result fits one order of the calls, and so does what is left.
//! Afterwards the invariants hold, and PostgreSQL has seen no deadlock.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::join_all;
use promptarium::{PromptId, VaultId};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use super::vaults::NAMES;
use super::{ALL_PROMPTS, StoreUnderTest, contract_tests, found, named, new_prompt, renamed};
use crate::domain::{Caller, PromptInputs, PromptKind, PromptPatch, PromptQuery, VaultPatch, slug};
use crate::store::StoreError;

contract_tests! {
    of_many_moves_of_one_membership_exactly_one_succeeds
    each_of_many_additions_returns_its_own_count
    the_same_prompts_added_in_any_order_are_added_once
    a_prompt_is_created_in_a_vault_or_the_vault_is_deleted_before
    of_two_deletions_of_a_prompt_one_succeeds
    a_prompt_is_saved_before_its_deletion_or_not_found
    a_prompt_is_saved_before_the_deletion_of_the_vault_or_the_vault_is_unknown
    of_two_changes_the_later_response_shows_both
    filters_follow_concurrent_changes_of_type
    counts_and_indexes_survive_random_concurrent_changes
    a_walk_over_pages_returns_each_prompt_that_stays_once
    a_fork_during_changes_sees_one_instant
    forks_in_both_directions_do_not_deadlock
    fifty_vaults_of_one_name_have_the_first_fifty_slugs
    concurrent_renames_keep_slugs_unique
}

const ROUNDS: usize = 30;

/// Runs the futures as tasks of their own, in parallel.
async fn parallel<T: Send + 'static>(
    futures: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let tasks: Vec<_> = futures.into_iter().map(tokio::spawn).collect();
    join_all(tasks).await.into_iter().map(Result::unwrap).collect()
}

/// The results of calls that run in parallel, each with its own clone of `$on` and `$by`.
macro_rules! together {
    ($on:ident, $by:ident; $($call:expr),+ $(,)?) => {
        tokio::join!($({
            let ($on, $by) = (Arc::clone(&$on), $by.clone());
            let task = tokio::spawn(async move { $call.await });
            async { task.await.unwrap() }
        }),+)
    };
}

async fn of_many_moves_of_one_membership_exactly_one_succeeds(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let [prompt] = on.prompts(&by).await;
    let mut here = on.private(&by, &[prompt]).await;
    let mut vaults = vec![here];
    for _ in 0..5 {
        vaults.push(on.private(&by, &[]).await);
    }
    for _ in 0..ROUNDS {
        let old = on.membership(&by, here, prompt).await;
        let moves = vaults.iter().map(|&to| {
            let (on, by) = (Arc::clone(&on), by.clone());
            async move { found(on.store.move_membership(&by, here, old, to).await).map(|_| to) }
        });
        let moved: Vec<_> = parallel(moves).await.into_iter().flatten().collect();
        let [to] = moved[..] else { panic!("{moved:?}") };
        assert_eq!(on.shown(&by, to).await, [prompt]);
        assert_ne!(on.membership(&by, to, prompt).await, old);
        here = to;
    }
}

async fn each_of_many_additions_returns_its_own_count(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let ids: [_; 100] = on.prompts(&by).await;
    let vault = on.private(&by, &[]).await;
    let additions = ids.chunks(5).map(|some| {
        let (on, by, some) = (Arc::clone(&on), by.clone(), some.to_vec());
        async move { on.store.add_prompts(&by, vault, &some).await.unwrap().prompt_count }
    });
    let mut counts = parallel(additions).await;
    counts.sort_unstable();
    assert_eq!(counts, (1..=20).map(|turn| turn * 5).collect::<Vec<_>>());
    assert_eq!(on.shown(&by, vault).await.len(), 100);
}

async fn the_same_prompts_added_in_any_order_are_added_once(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let ids: [_; 40] = on.prompts(&by).await;
    let vaults = [on.private(&by, &[]).await, on.private(&by, &[]).await];
    let additions = (0..24_usize).map(|turn| {
        let (on, by, mut some) = (Arc::clone(&on), by.clone(), ids);
        some.rotate_left(turn);
        if turn % 2 == 0 {
            some.reverse();
        }
        async move { on.store.add_prompts(&by, vaults[turn % 2], &some).await.unwrap().added }
    });
    assert_eq!(parallel(additions).await.into_iter().sum::<usize>(), 80);
}

async fn a_prompt_is_created_in_a_vault_or_the_vault_is_deleted_before(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let mut created = 0;
    for _ in 0..ROUNDS {
        let vault = on.private(&by, &[]).await;
        let (result, deleted) = together!(
            on, by;
            on.store.create_prompt(&by, new_prompt(PromptKind::Text, Some(vault))),
            on.store.delete_vault(&by, vault),
        );
        deleted.unwrap();
        match result {
            Ok(_) => created += 1,
            Err(error) => assert!(matches!(error, StoreError::UnknownVault), "{error:?}"),
        }
    }
    assert_eq!(on.pages(&by, ALL_PROMPTS).await.len(), created);
}

async fn of_two_deletions_of_a_prompt_one_succeeds(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let vault = on.private(&by, &[]).await;
    for _ in 0..ROUNDS {
        let id = on.prompt(&by, Some(vault)).await.id;
        let deletions = [(); 2].map(|()| {
            let (on, by) = (Arc::clone(&on), by.clone());
            async move { on.store.delete_prompt(&by, id).await }
        });
        let results = parallel(deletions).await;
        let (done, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
        assert_eq!((done.len(), refused.len()), (1, 1));
        assert!(refused.into_iter().all(|result| found(result).is_none()));
    }
    assert!(on.shown(&by, vault).await.is_empty());
}

async fn a_prompt_is_saved_before_its_deletion_or_not_found(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let (vault, other) = (on.private(&by, &[]).await, on.private(&by, &[]).await);
    for _ in 0..ROUNDS {
        let id = on.prompt(&by, Some(other)).await.id;
        let (saved, deleted) = together!(
            on, by;
            on.store.save_prompt(&by, id, vault),
            on.store.delete_prompt(&by, id),
        );
        deleted.unwrap();
        match saved {
            Ok(prompt) => assert_eq!(prompt.vault_ids, [vault, other]),
            Err(error) => assert!(matches!(error, StoreError::NotFound), "{error:?}"),
        }
    }
    assert!(on.shown(&by, vault).await.is_empty() && on.shown(&by, other).await.is_empty());
}

async fn a_prompt_is_saved_before_the_deletion_of_the_vault_or_the_vault_is_unknown(
    on: Arc<StoreUnderTest>,
) {
    let by = on.caller("alice").await;
    let general = on.general(&by).await.id;
    let id = on.prompt(&by, Some(general)).await.id;
    for _ in 0..ROUNDS {
        let vault = on.private(&by, &[]).await;
        let patch = PromptPatch { vault: Some(vault), ..PromptPatch::default() };
        let (saved, updated, deleted) = together!(
            on, by;
            on.store.save_prompt(&by, id, vault),
            on.store.update_prompt(&by, id, patch),
            on.store.delete_vault(&by, vault),
        );
        deleted.unwrap();
        for result in [saved, updated] {
            match result {
                Ok(prompt) => assert_eq!(prompt.vault_ids, [general, vault]),
                Err(error) => assert!(matches!(error, StoreError::UnknownVault), "{error:?}"),
            }
        }
        assert_eq!(on.store.prompt(&by, id).await.unwrap().vault_ids, [general]);
    }
}

async fn of_two_changes_the_later_response_shows_both(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let (one, two) = (on.private(&by, &[]).await, on.private(&by, &[]).await);
    for _ in 0..ROUNDS {
        let id = on.prompt(&by, None).await.id;
        let patch = |title: Option<&str>, text: Option<&str>, vault| PromptPatch {
            title: title.map(Into::into),
            text: text.map(Into::into),
            vault,
            ..PromptPatch::default()
        };
        let into = patch(None, Some("y"), Some(one));
        let title = patch(Some("x"), None, None);
        let (updated, saved, titled) = together!(
            on, by;
            on.store.update_prompt(&by, id, into),
            on.store.save_prompt(&by, id, two),
            on.store.update_prompt(&by, id, title),
        );
        let (updated, saved, titled) = (updated.unwrap(), saved.unwrap(), titled.unwrap());
        let update_shows_save = updated.vault_ids == [one, two];
        let save_shows_update = saved.vault_ids == [one, two] && &*saved.text == "y";
        assert!(update_shows_save != save_shows_update, "{updated:?} and {saved:?}");
        let latest = on.store.prompt(&by, id).await.unwrap().updated_at;
        let (a, b) = (updated.updated_at, titled.updated_at);
        assert!(a != b && a.max(b) == latest, "{a} and {b}, then {latest}");
    }
}

async fn filters_follow_concurrent_changes_of_type(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let vault = on.private(&by, &[]).await;
    for _ in 0..ROUNDS {
        let new = new_prompt(PromptKind::Image, None);
        let id = on.store.create_prompt(&by, new).await.unwrap().id;
        let kind = |kind| PromptPatch { kind: Some(kind), ..PromptPatch::default() };
        let results = together!(
            on, by;
            on.store.update_prompt(&by, id, kind(PromptKind::Video)),
            on.store.save_prompt(&by, id, vault),
            on.store.update_prompt(&by, id, kind(PromptKind::Text)),
        );
        assert!(results.0.is_ok() && results.1.is_ok() && results.2.is_ok(), "{results:?}");
    }
    let mut in_filters = 0;
    for kind in [PromptKind::Image, PromptKind::Video, PromptKind::Text] {
        let query = PromptQuery { vault: Some(vault), kind: Some(kind), ..ALL_PROMPTS };
        in_filters += on.pages(&by, query).await.len();
    }
    assert_eq!((in_filters, on.shown(&by, vault).await.len()), (ROUNDS, ROUNDS));
}

/// One random call. Whether it finds what it addresses does not matter.
async fn random_call(on: &StoreUnderTest, by: &Caller, vaults: &[VaultId], random: &mut StdRng) {
    let store = &on.store;
    let (vault, target) = (*vaults.choose(random).unwrap(), *vaults.choose(random).unwrap());
    let listed = on.contents(by, vault).await.choose(random).cloned();
    match (random.random_range(0..12), listed) {
        (0 | 1, _) => {
            let new = new_prompt(PromptKind::Image, Some(vault));
            found(store.create_prompt(by, new).await);
        }
        (2, Some(listed)) => drop(found(store.delete_prompt(by, listed.prompt.id).await)),
        (3, Some(listed)) => {
            found(store.remove_membership(by, vault, listed.membership).await);
        }
        (4, Some(listed)) => {
            let kind = [PromptKind::Text, PromptKind::Image].choose(random).copied();
            let inputs = PromptInputs { model_id: Some("m".into()), ..PromptInputs::default() };
            let patch = PromptPatch { kind, inputs, vault: Some(target), ..PromptPatch::default() };
            found(store.update_prompt(by, listed.prompt.id, patch).await);
            found(store.save_prompt(by, listed.prompt.id, target).await);
        }
        (5 | 6, Some(listed)) => {
            found(store.set_pinned(by, vault, listed.membership, !listed.pinned).await);
        }
        (7..=9, Some(listed)) => {
            found(store.move_membership(by, vault, listed.membership, target).await);
        }
        (10, _) => temporary_vault(on, by, vault).await,
        _ => {
            let query = PromptQuery { limit: 8, ..ALL_PROMPTS };
            let page = store.list_prompts(by, query).await.unwrap();
            let ids: Vec<_> = page.prompts.iter().map(|prompt| prompt.id).collect();
            found(store.add_prompts(by, vault, &ids).await);
        }
    }
}

/// A vault is created, and deleted while memberships come into it and it is forked.
async fn temporary_vault(on: &StoreUnderTest, by: &Caller, from: VaultId) {
    let store = &on.store;
    let vault = on.public(by, &[]).await;
    let contents = on.contents(by, from).await;
    let ids: Vec<_> = contents.iter().map(|listed| listed.prompt.id).take(8).collect();
    let moves = contents.iter().take(3).map(|listed| async {
        found(store.move_membership(by, from, listed.membership, vault).await);
    });
    let (_, _, copy, deleted) = tokio::join!(
        join_all(moves),
        async { found(store.add_prompts(by, vault, &ids).await) },
        async { found(store.fork_vault(by, vault).await) },
        async { store.delete_vault(by, vault).await },
    );
    deleted.unwrap();
    if let Some(copy) = copy {
        store.delete_vault(by, copy.id).await.unwrap();
    }
}

async fn counts_and_indexes_survive_random_concurrent_changes(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let ids: [PromptId; 20] = on.prompts(&by).await;
    let mut vaults = Vec::new();
    for _ in 0..4 {
        vaults.push(on.private(&by, &ids).await);
    }
    let tasks = (0..8).map(|seed| {
        let (on, by, vaults) = (Arc::clone(&on), by.clone(), vaults.clone());
        async move {
            let mut random = StdRng::seed_from_u64(seed);
            for _ in 0..100 {
                random_call(&on, &by, &vaults, &mut random).await;
            }
        }
    });
    parallel(tasks).await;
    for vault in vaults {
        on.shown(&by, vault).await;
    }
}

async fn a_walk_over_pages_returns_each_prompt_that_stays_once(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let all: [_; 80] = on.prompts(&by).await;
    let changes: Vec<_> = (0..4)
        .map(|task| {
            let (on, by) = (Arc::clone(&on), by.clone());
            async move {
                for id in all.iter().skip(1 + 2 * task).step_by(8) {
                    on.store.delete_prompt(&by, *id).await.unwrap();
                    on.prompt(&by, None).await;
                }
            }
        })
        .collect();
    let changes = tokio::spawn(parallel(changes));
    loop {
        let last = changes.is_finished();
        let seen: BTreeSet<_> = on.pages(&by, ALL_PROMPTS).await.into_iter().collect();
        assert!(all.iter().step_by(2).all(|id| seen.contains(id)), "a prompt was skipped");
        if last {
            break;
        }
    }
    changes.await.unwrap();
}

async fn a_fork_during_changes_sees_one_instant(on: Arc<StoreUnderTest>) {
    let (alice, bob) = (on.caller("alice").await, on.caller("bob").await);
    let source = on.public(&alice, &[]).await;
    let ids: [_; 80] = on.prompts(&alice).await;
    let changes = {
        let (on, alice) = (Arc::clone(&on), alice.clone());
        tokio::spawn(async move {
            for (round, pair) in ids.chunks(2).enumerate() {
                // Name and description change together, and prompts come in pairs.
                let text = format!("{round}");
                let (name, description) = (Some((*text).into()), Some(Some((*text).into())));
                let patch = VaultPatch { name, description, visibility: None };
                on.store.update_vault(&alice, source, patch).await.unwrap();
                on.store.add_prompts(&alice, source, pair).await.unwrap();
            }
        })
    };
    for by in [&alice, &bob].into_iter().cycle() {
        let last = changes.is_finished();
        let copy = on.store.fork_vault(by, source).await.unwrap();
        if &*copy.name != "Sky" {
            assert_eq!(copy.description.as_ref(), Some(&copy.name));
        }
        assert_eq!(copy.prompt_count % 2, 0, "half a pair");
        assert_eq!(on.shown(by, copy.id).await.len() as u64, copy.prompt_count);
        on.store.delete_vault(by, copy.id).await.unwrap();
        if last {
            break;
        }
    }
    changes.await.unwrap();
}

async fn forks_in_both_directions_do_not_deadlock(on: Arc<StoreUnderTest>) {
    let callers = [on.caller("alice").await, on.caller("bob").await];
    let mut sources = Vec::new();
    for by in &callers {
        let ids: [_; 3] = on.prompts(by).await;
        sources.push(on.public(by, &ids).await);
    }
    let forks = (0..40).map(|round| {
        let (on, by) = (Arc::clone(&on), callers[round % 2].clone());
        let source = sources[round / 2 % 2];
        async move { on.store.fork_vault(&by, source).await.unwrap().slug }
    });
    let slugs: BTreeSet<_> = parallel(forks).await.into_iter().collect();
    assert!(slugs.contains("sky-21"), "{slugs:?}");
}

async fn fifty_vaults_of_one_name_have_the_first_fifty_slugs(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let vaults = (0..50).map(|_| {
        let (on, by) = (Arc::clone(&on), by.clone());
        async move { on.store.create_vault(&by, named("Sky")).await.unwrap().slug.to_string() }
    });
    let slugs: BTreeSet<_> = parallel(vaults).await.into_iter().collect();
    assert_eq!(slugs, (1..=50).map(|n| slug::candidate("sky", n)).collect());
}

async fn concurrent_renames_keep_slugs_unique(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let tasks = (0..16).map(|seed| {
        let (on, by) = (Arc::clone(&on), by.clone());
        async move {
            let mut random = StdRng::seed_from_u64(seed);
            let mut name = || *NAMES.choose(&mut random).unwrap();
            let mut id = on.store.create_vault(&by, named(name())).await.unwrap().id;
            for round in 0..10 {
                if round % 3 == 0 {
                    on.store.delete_vault(&by, id).await.unwrap();
                    id = on.store.create_vault(&by, named(name())).await.unwrap().id;
                }
                let name = name();
                let slug = on.store.update_vault(&by, id, renamed(name)).await.unwrap().slug;
                let base = slug::base(name);
                let mut candidates = (1..=20).map(|n| slug::candidate(&base, n));
                assert!(candidates.any(|candidate| *candidate == *slug), "{slug} for {name:?}");
            }
        }
    });
    parallel(tasks).await;
    let vaults = on.store.vaults(&by).await.unwrap();
    let slugs: BTreeSet<_> = vaults.iter().map(|vault| &vault.slug).collect();
    assert_eq!((vaults.len(), slugs.len()), (17, 17));
}
