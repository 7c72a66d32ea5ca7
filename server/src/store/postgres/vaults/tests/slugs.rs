//! Which slug a vault gets.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::{join_all, try_join_all};
use promptarium::VaultId;

use super::{named, renamed};
use crate::domain::slug;
use crate::store::postgres::tests::ground::{Dice, Ground};
use crate::store::{Store, StoreError};

/// Names whose slugs stand in each other's way.
const NAMES: [&str; 8] = ["a", "a 2", "a 3", "a 2 2", "a-1", "A", "a_b", "a 02"];

#[tokio::test]
async fn a_slug_is_the_first_free_candidate_whatever_came_before() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let mut dice = Dice(4);
    let mut taken: BTreeMap<VaultId, String> = BTreeMap::new();
    for _ in 0..250 {
        let name = dice.pick(&NAMES);
        let known: Vec<_> = taken.keys().copied().collect();
        let some = (!known.is_empty()).then(|| dice.pick(&known));
        let given = match (dice.roll(5), some) {
            (0, Some(id)) => {
                ground.store.delete_vault(&by, id).await.unwrap();
                taken.remove(&id);
                continue;
            }
            (1 | 2, Some(id)) => {
                if *ground.store.vault(&by, id).await.unwrap().name == *name {
                    let same = ground.store.update_vault(&by, id, renamed(name)).await.unwrap();
                    assert_eq!(*same.slug, *taken[&id], "the same name leaves the slug alone");
                    continue;
                }
                taken.remove(&id);
                ground.store.update_vault(&by, id, renamed(name)).await.unwrap()
            }
            _ => ground.store.create_vault(&by, named(name)).await.unwrap(),
        };
        let taken_slugs: BTreeSet<_> = taken.values().cloned().collect();
        let first = slug::candidates(&slug::base(name)).find(|slug| !taken_slugs.contains(slug));
        assert_eq!(Some(&*given.slug), first.as_deref(), "for {name:?} beside {taken_slugs:?}");
        taken.insert(given.id, given.slug.to_string());
    }
}

#[tokio::test]
async fn fifty_vaults_of_one_name_made_at_once_have_the_first_fifty_slugs() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let makings = (0..50).map(|_| ground.store.create_vault(&by, named("Sky")));
    let made = try_join_all(makings).await.unwrap();
    let slugs: BTreeSet<_> = made.iter().map(|vault| vault.slug.to_string()).collect();
    assert_eq!(slugs, slug::candidates("sky").take(50).collect());
}

#[tokio::test]
async fn accounts_do_not_stand_in_the_way_of_each_other() {
    let ground = Ground::new().await;
    let callers = [ground.caller("alice").await, ground.caller("bob").await];
    for by in &callers {
        let made = ground.store.create_vault(by, named("Sky")).await.unwrap();
        assert_eq!(&*made.slug, "sky");
    }
}

#[tokio::test]
async fn names_that_lead_to_the_same_slugs_may_come_and_change_at_once() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let lives = (0..24_u64).map(|seed| {
        let (store, by) = (&ground.store, &by);
        async move {
            let mut dice = Dice(seed);
            let mut id = store.create_vault(by, named(dice.pick(&NAMES))).await?.id;
            for _ in 0..10 {
                let name = dice.pick(&NAMES);
                if dice.roll(3) == 0 {
                    store.delete_vault(by, id).await?;
                    id = store.create_vault(by, named(name)).await?.id;
                } else {
                    let changed = store.update_vault(by, id, renamed(name)).await?;
                    let base = slug::base(name);
                    let fits = *changed.slug == *base
                        || slug::numbered(&changed.slug).is_some_and(|(stem, _)| stem == base);
                    assert!(fits, "{} for {name:?}", changed.slug);
                }
            }
            Ok::<_, StoreError>(())
        }
    });
    for life in join_all(lives).await {
        life.unwrap();
    }
    let vaults = ground.store.vaults(&by).await.unwrap();
    let slugs: BTreeSet<_> = vaults.iter().map(|vault| &vault.slug).collect();
    assert_eq!((vaults.len(), slugs.len()), (25, 25));
}
