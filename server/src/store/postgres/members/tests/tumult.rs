//! Many steps at once in the same vaults, on the same prompts.

use futures::future::join_all;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::{member, shelf, shown};
use crate::domain::{Caller, NewVault, PromptInputs, PromptKind, PromptPatch, VaultVisibility};
use crate::store::postgres::tests::ground::{Dice, Ground};
use crate::store::{Store, StoreError};

/// Whatever was asked for may be gone; nothing else may be wrong.
fn settled<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(
            StoreError::NotFound
            | StoreError::UnknownVault
            | StoreError::UnknownTargetVault
            | StoreError::UnknownPrompts(_),
        ) => None,
        Err(error) => panic!("{error:?}"),
    }
}

/// Every count is true, and no two steps have waited for each other. The store's
/// connections are lost by this.
async fn check(ground: &Ground) {
    let wrong = "SELECT count(*) FROM vault v WHERE prompt_count <>
        (SELECT count(*) FROM membership m WHERE (m.account_id, m.vault_id) = (v.account_id, v.id))";
    assert_eq!(ground.number(wrong, &[]).await, 0, "vaults with a wrong count");
    let dangling = "SELECT count(*) FROM membership m
        WHERE NOT EXISTS (SELECT FROM vault v WHERE (v.account_id, v.id) = (m.account_id, m.vault_id))
            OR NOT EXISTS (SELECT FROM prompt p
                WHERE (p.account_id, p.id, p.kind) = (m.account_id, m.prompt_id, m.kind))";
    assert_eq!(ground.number(dangling, &[]).await, 0, "memberships of nothing");
    // A server's process tells of its deadlocks at the latest when it ends.
    let ended = "SELECT count(*) FILTER (WHERE NOT pg_terminate_backend(pid, 10000))
        FROM pg_stat_activity WHERE datname = current_database()
            AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    assert_eq!(ground.number(ended, &[]).await, 0, "connections that stay");
    let deadlocks = "SELECT pg_stat_get_db_deadlocks(oid) FROM pg_database
        WHERE datname = current_database()";
    assert_eq!(ground.number(deadlocks, &[]).await, 0, "deadlocks");
}

#[tokio::test]
async fn of_many_moves_of_one_membership_exactly_one_succeeds() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let made = ground.prompts(&by, 1).await[0];
    let mut here = shelf(&ground, &by, &[made]).await;
    let mut shelves = vec![here];
    for _ in 0..5 {
        shelves.push(shelf(&ground, &by, &[]).await);
    }
    for _ in 0..30 {
        let old = member(&ground, here, made).await;
        let moves = shelves.iter().map(|to| {
            let moving = ground.store.move_membership(&by, here, old, *to);
            async move { moving.await.map(|moved| (moved, *to)) }
        });
        let moved: Vec<_> = join_all(moves).await.into_iter().filter_map(settled).collect();
        let [(moved, to)] = moved[..] else { panic!("{moved:?}") };
        assert_eq!(ground.places(to).await, [(moved.membership, made, false)]);
        here = to;
    }
    check(&ground).await;
}

#[tokio::test]
async fn each_of_many_additions_answers_the_count_it_made() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let prompts = ground.prompts(&by, 200).await;
    let vault = shelf(&ground, &by, &[]).await;
    let adding = prompts.chunks(5).map(|some| ground.store.add_prompts(&by, vault, some));
    let mut counts: Vec<_> =
        join_all(adding).await.into_iter().map(|added| added.unwrap().prompt_count).collect();
    counts.sort_unstable();
    assert_eq!(counts, (1..=40).map(|turn| turn * 5).collect::<Vec<_>>());
    assert_eq!(shown(&ground, vault).await.len(), 200);
    check(&ground).await;
}

#[tokio::test]
async fn the_same_prompts_added_at_once_in_any_order_are_there_once() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let prompts = ground.prompts(&by, 40).await;
    let vaults = [shelf(&ground, &by, &[]).await, shelf(&ground, &by, &[]).await];
    let adding = (0..24_usize).map(|turn| {
        let mut some = prompts.clone();
        some.rotate_left(turn);
        if turn % 2 == 0 {
            some.reverse();
        }
        let (store, by, vault) = (&ground.store, &by, vaults[turn % 2]);
        async move { store.add_prompts(by, vault, &some).await.unwrap() }
    });
    let added: usize = join_all(adding).await.iter().map(|added| added.added).sum();
    assert_eq!(added, 80);
    check(&ground).await;
}

/// What all workers of a tumult share.
struct Field<'a> {
    ground: &'a Ground,
    by: &'a Caller,
    shelves: &'a [VaultId],
    prompts: &'a [PromptId],
}

impl Field<'_> {
    /// One step; whether it finds what it looks for does not matter.
    async fn stir(&self, dice: &mut Dice) {
        let (store, by) = (&self.ground.store, self.by);
        let shelf = dice.pick(self.shelves);
        let places = self.ground.places(shelf).await;
        let place = (!places.is_empty()).then(|| dice.pick(&places));
        match (dice.roll(10), place) {
            (0, _) if dice.roll(2) == 0 => self.pass(dice).await,
            (0, Some((_, prompt, _))) => self.change(prompt, shelf, dice).await,
            (1, Some((_, prompt, _))) => self.replace(prompt).await,
            (2, Some((id, ..))) => drop(settled(store.remove_membership(by, shelf, id).await)),
            (3 | 4, Some((id, _, pinned))) => {
                settled(store.set_pinned(by, shelf, id, !pinned).await);
            }
            (5..=7, Some((id, ..))) => self.relocate(shelf, id, dice).await,
            _ => {
                let some: Vec<_> = (0..5).map(|_| dice.pick(self.prompts)).collect();
                settled(store.add_prompts(by, shelf, &some).await);
            }
        }
    }

    /// A prompt changes its type, and comes into a vault by that.
    async fn change(&self, prompt: PromptId, vault: VaultId, dice: &mut Dice) {
        let kind = dice.pick(&[PromptKind::Text, PromptKind::Image]);
        let inputs = PromptInputs { model_id: Some("m".into()), ..PromptInputs::default() };
        let vault = (dice.roll(2) == 0).then_some(vault);
        let patch = PromptPatch { kind: Some(kind), inputs, vault, ..PromptPatch::default() };
        settled(self.ground.store.update_prompt(self.by, prompt, patch).await);
        settled(self.ground.store.save_prompt(self.by, prompt, dice.pick(self.shelves)).await);
    }

    async fn relocate(&self, shelf: VaultId, id: VaultPromptId, dice: &mut Dice) {
        let target = dice.pick(self.shelves);
        settled(self.ground.store.move_membership(self.by, shelf, id, target).await);
    }

    /// A prompt goes, and another comes under its id so that there is always one.
    async fn replace(&self, prompt: PromptId) {
        settled(self.ground.store.delete_prompt(self.by, prompt).await);
        let made = "INSERT INTO prompt (account_id, id, kind, title, body, created_at, updated_at)
            VALUES ($1, $2, 'text', '', '', now(), now()) ON CONFLICT DO NOTHING";
        self.ground.sql.execute(made, &[&self.by.account.0, &prompt.get()]).await.unwrap();
    }

    /// A vault comes, takes memberships in, and goes with them.
    async fn pass(&self, dice: &mut Dice) {
        let (store, by) = (&self.ground.store, self.by);
        let new = NewVault {
            name: "Passing".into(),
            description: None,
            visibility: VaultVisibility::Public,
        };
        let vault = store.create_vault(by, new).await.unwrap().id;
        let from = dice.pick(self.shelves);
        let places = self.ground.places(from).await;
        let some: Vec<_> = (0..8).map(|_| dice.pick(self.prompts)).collect();
        let moving = places.iter().take(3).map(|place| async {
            settled(store.move_membership(by, from, place.0, vault).await);
        });
        let adding = async { settled(store.add_prompts(by, vault, &some).await) };
        let deleting = async { settled(store.delete_vault(by, vault).await) };
        let forking = async { settled(store.fork_vault(by, vault).await) };
        let (_, _, copy, deleted) = tokio::join!(join_all(moving), adding, forking, deleting);
        deleted.unwrap();
        if let Some(copy) = copy {
            assert!(!copy.system);
            store.delete_vault(by, copy.id).await.unwrap();
        }
    }
}

#[tokio::test]
async fn counts_are_true_after_a_tumult_and_nobody_has_waited_in_a_circle() {
    let ground = Ground::new().await;
    let by = ground.caller("alice").await;
    let prompts = ground.prompts(&by, 30).await;
    let mut shelves = Vec::new();
    for _ in 0..4 {
        shelves.push(shelf(&ground, &by, &prompts[..15]).await);
    }
    let field = Field { ground: &ground, by: &by, shelves: &shelves, prompts: &prompts };
    join_all((0..12).map(|seed| {
        let field = &field;
        async move {
            let mut dice = Dice(seed);
            for _ in 0..120 {
                field.stir(&mut dice).await;
            }
        }
    }))
    .await;
    check(&ground).await;
}
