//! Many threads at once.

use std::collections::BTreeSet;
use std::thread;

use promptarium::VaultId;

use super::{caller, contents, done, is_not_found, key, prompt, store, vault, walk};
use crate::domain::{Caller, VaultPatch, VaultVisibility};
use crate::store::Store;
use crate::store::memory::MemoryStore;

const THREADS: usize = 4;

/// Runs `work` on every thread with its number and gives what each returned.
fn on_all_threads<T: Send>(work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..THREADS).map(|me| scope.spawn(move || work(me))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread fails")).collect()
    })
}

/// Runs `watch` over and over on this thread while `work` runs on another.
fn while_working(work: impl FnOnce() + Send, mut watch: impl FnMut()) {
    thread::scope(|scope| {
        let worker = scope.spawn(work);
        while !worker.is_finished() {
            watch();
        }
    });
    watch();
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % sides
    }
}

#[test]
fn of_many_moves_of_one_membership_exactly_one_succeeds() {
    let store = store();
    let by = caller(&store, "alice");
    let shelves = [(); THREADS + 1].map(|()| vault(&store, &by, VaultVisibility::Private).id);
    let made = prompt(&store, &by, Some(shelves[0])).id;
    for _ in 0..300 {
        let here = done(store.prompt(&by, made)).expect("it exists").vault_ids[0];
        let member = contents(&store, &by, here)[0].membership;
        let moves = on_all_threads(|me| {
            let moved = done(store.move_membership(&by, here, member, shelves[me]));
            assert!(moved.is_ok() || is_not_found(&moved), "{moved:?}");
            moved.ok()
        });
        let moved: Vec<_> = moves.into_iter().flatten().collect();
        assert_eq!(moved.len(), 1);
        assert_ne!(moved[0].membership, member);
        store.check_invariants();
    }
}

/// One of the steps that change what vaults hold; whether it finds what it
/// looks for does not matter.
fn stir(store: &MemoryStore, by: &Caller, shelves: &[VaultId], dice: &mut Dice) {
    let shelf = shelves[dice.roll(shelves.len())];
    let listed = contents(store, by, shelf);
    let member = (!listed.is_empty()).then(|| listed[dice.roll(listed.len())].clone());
    match (dice.roll(8), member) {
        (0 | 1, _) => drop(prompt(store, by, Some(shelf))),
        (2, Some(member)) => drop(done(store.delete_prompt(by, member.prompt.id))),
        (3, Some(member)) => drop(done(store.remove_membership(by, shelf, member.membership))),
        (4 | 5, Some(member)) => {
            drop(done(store.set_pinned(by, shelf, member.membership, !member.pinned)));
        }
        (6, Some(member)) => {
            let target = shelves[dice.roll(shelves.len())];
            drop(done(store.move_membership(by, shelf, member.membership, target)));
        }
        _ => {
            let some: Vec<_> = walk(store, by, 7).into_iter().take(5).collect();
            drop(done(store.add_prompts(by, shelf, &some)));
        }
    }
}

#[test]
fn counts_and_indexes_are_true_at_every_moment_of_a_tumult() {
    let store = store();
    let by = caller(&store, "alice");
    let shelves = [(); 3].map(|()| vault(&store, &by, VaultVisibility::Private).id);
    let tumult = || {
        on_all_threads(|me| {
            let mut dice = Dice(me as u64);
            (0..800).for_each(|_| stir(&store, &by, &shelves, &mut dice));
        });
    };
    while_working(tumult, || store.check_account(by.account));
    store.check_invariants();
    for shelf in shelves {
        let count = done(store.vault(&by, shelf)).expect("it exists").prompt_count;
        assert_eq!(count, contents(&store, &by, shelf).len() as u64);
    }
}

#[test]
fn a_page_walk_visits_each_prompt_that_stays_exactly_once() {
    let store = store();
    let by = caller(&store, "alice");
    let all: Vec<_> = (0..400).map(|_| prompt(&store, &by, None).id).collect();
    let (staying, leaving): (Vec<_>, Vec<_>) = all.iter().partition(|id| id.get() % 2 == 0);
    let change = || {
        on_all_threads(|me| {
            for id in leaving.iter().skip(me).step_by(THREADS) {
                done(store.delete_prompt(&by, *id)).expect("nobody else deletes it");
                let fleeting = prompt(&store, &by, None).id;
                prompt(&store, &by, None);
                done(store.delete_prompt(&by, fleeting)).expect("nobody else deletes it");
            }
        });
    };
    while_working(change, || {
        let seen = walk(&store, &by, 7);
        let seen: BTreeSet<_> = seen.into_iter().collect();
        assert!(staying.iter().all(|id| seen.contains(id)), "a prompt was passed over");
    });
    store.check_invariants();
}

/// Otherwise a walk that has passed a place could miss what comes in there
/// later, and a later reader would see it as older.
#[test]
fn a_new_prompt_never_appears_below_one_that_was_seen() {
    let store = store();
    let by = caller(&store, "alice");
    let create = || {
        on_all_threads(|_| (0..500).for_each(|_| drop(prompt(&store, &by, None))));
    };
    let mut seen = Vec::new();
    while_working(create, || {
        let now = walk(&store, &by, usize::MAX);
        assert!(now.ends_with(&seen));
        seen = now;
    });
    assert_eq!(seen.len(), THREADS * 500);
}

#[test]
fn a_fork_during_changes_sees_one_instant() {
    let store = store();
    let (alice, bob) = (caller(&store, "alice"), caller(&store, "bob"));
    let source = vault(&store, &alice, VaultVisibility::Public).id;
    let change = || {
        for round in 0..150 {
            // Name and description change together, prompts come in pairs.
            let text = format!("{round}");
            let (name, description) = (Some((*text).into()), Some(Some((*text).into())));
            let patch = VaultPatch { name, description, visibility: None };
            done(store.update_vault(&alice, source, patch)).expect("it exists");
            let pair = [(); 2].map(|()| prompt(&store, &alice, None).id);
            done(store.add_prompts(&alice, source, &pair)).expect("all exist");
        }
    };
    // Alice forks within her own account, Bob across accounts.
    let mut forkers = [&alice, &bob].into_iter().cycle();
    while_working(change, || {
        let by = forkers.next().expect("a cycle does not end");
        let copy = done(store.fork_vault(by, source)).expect("it is public");
        if &*copy.name != "Sky" {
            assert_eq!(copy.description.as_ref(), Some(&copy.name));
        }
        assert_eq!(copy.prompt_count % 2, 0, "a pair was torn");
        assert_eq!(copy.prompt_count, contents(&store, by, copy.id).len() as u64);
        done(store.delete_vault(by, copy.id)).expect("it is no system vault");
    });
    store.check_invariants();
}

#[test]
fn forks_in_both_directions_never_block_each_other() {
    let store = store();
    let by = ["alice", "bob"].map(|name| caller(&store, name));
    let sources = [0, 1].map(|who| {
        let source = vault(&store, &by[who], VaultVisibility::Public).id;
        prompt(&store, &by[who], Some(source));
        source
    });
    on_all_threads(|me| {
        for round in 0..200 {
            let source = sources[(me + round) % 2];
            done(store.fork_vault(&by[me % 2], source)).expect("it is public");
        }
    });
    store.check_invariants();
}

#[test]
fn the_same_seed_at_once_makes_one_account() {
    for _ in 0..50 {
        let store = store();
        let seeds = on_all_threads(|me| {
            done(store.seed_key("alice", key("shared")))
                .and(done(store.seed_key("alice", key(&format!("own-{me}")))))
        });
        assert!(seeds.iter().all(Result::is_ok));
        store.check_invariants();
        let by = caller(&store, "alice");
        assert_eq!(done(store.vaults(&by)).expect("the account exists").len(), 1);
    }
}
