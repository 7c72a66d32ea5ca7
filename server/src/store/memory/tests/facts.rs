//! Facts that random steps do not show, or show less plainly.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use promptarium::{PromptId, VaultId};

use super::{
    START, caller, contents, done, is_not_found, key, manual_clock, new_prompt, prompt, store,
    vault, walk,
};
use crate::domain::{
    AccountId, Caller, KeyId, NewVault, PromptImage, PromptInputs, PromptKind, PromptPatch,
    PromptQuery, Scopes, VaultPatch, VaultVisibility,
};
use crate::store::memory::{MemoryStore, lock};
use crate::store::{Store, StoreError};

#[test]
fn a_seeded_account_has_one_private_system_vault_called_general() {
    let store = store();
    let by = caller(&store, "alice");
    caller(&store, "alice");
    let vaults = done(store.vaults(&by)).expect("the account exists");
    let [general] = &vaults[..] else { panic!("one vault expected: {vaults:?}") };
    assert_eq!((&*general.name, &*general.slug), ("General", "general"));
    assert_eq!((general.system, general.prompt_count), (true, 0));
    assert_eq!(general.visibility, VaultVisibility::Private);
    store.check_invariants();
}

#[test]
fn a_taken_key_leaves_no_account_behind() {
    let store = store();
    caller(&store, "alice");
    let other_account = done(store.seed_key("bob", key("alice")));
    assert!(matches!(other_account, Err(StoreError::KeyTaken)));
    let revoked = crate::domain::NewKey { revoked: true, ..key("alice") };
    assert!(matches!(done(store.seed_key("alice", revoked)), Err(StoreError::KeyTaken)));
    assert_eq!(lock::read(&store.accounts).len(), 1);
    store.check_invariants();
}

#[test]
fn an_account_that_does_not_exist_has_nothing() {
    let store = store();
    let nobody = Caller { key: KeyId(9), account: AccountId(9), scopes: Scopes::default() };
    assert!(is_not_found(&done(store.vaults(&nobody))));
    assert!(is_not_found(&done(store.prompt(&nobody, PromptId::new(1)))));
}

#[test]
fn a_change_within_one_tick_of_the_clock_is_later_all_the_same() {
    let (hand, clock) = manual_clock();
    let store = MemoryStore::new(clock);
    let by = caller(&store, "alice");
    let made = prompt(&store, &by, None);
    let title = || PromptPatch { title: Some("Another".into()), ..PromptPatch::default() };
    let update = |patch| done(store.update_prompt(&by, made.id, patch)).expect("it exists");
    assert_eq!(update(PromptPatch::default()).updated_at, START);
    assert_eq!(update(title()).updated_at, START + SignedDuration::from_micros(1));
    assert_eq!(update(title()).updated_at, START + SignedDuration::from_micros(2));
    hand.advance(Duration::from_secs(1));
    let last = update(title());
    assert_eq!((last.updated_at, last.created_at), (START + SignedDuration::from_secs(1), START));
}

#[test]
fn an_answer_shares_its_texts_and_never_sees_a_later_change() {
    let store = store();
    let by = caller(&store, "alice");
    let made = prompt(&store, &by, None);
    let query = PromptQuery { vault: None, kind: None, after: None, limit: 1 };
    let page = done(store.list_prompts(&by, query)).expect("the account exists");
    assert!(Arc::ptr_eq(&page.prompts[0], &made), "a page is no copy");

    let shelf = vault(&store, &by, VaultVisibility::Private);
    let saved = done(store.save_prompt(&by, made.id, shelf.id)).expect("both exist");
    assert_eq!((&made.vault_ids[..], &saved.vault_ids[..]), (&[][..], &[shelf.id][..]));
    assert!(Arc::ptr_eq(&made.text, &saved.text), "a changed record shares its text");
}

#[test]
fn contents_are_those_of_the_moment_they_were_asked_for() {
    let store = store();
    let by = caller(&store, "alice");
    let shelf = vault(&store, &by, VaultVisibility::Private);
    let made = prompt(&store, &by, Some(shelf.id));
    let listed = done(store.contents(&by, shelf.id)).expect("the vault exists");
    done(store.delete_prompt(&by, made.id)).expect("it exists");
    prompt(&store, &by, Some(shelf.id));
    let listed: Vec<_> =
        done(futures::TryStreamExt::try_collect(listed)).expect("a snapshot does not fail");
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].prompt, made);
}

#[test]
fn contents_show_the_latest_pin_first_and_then_the_latest_added() {
    let store = store();
    let by = caller(&store, "alice");
    let shelf = vault(&store, &by, VaultVisibility::Private).id;
    let ids: Vec<_> = (0..4).map(|_| prompt(&store, &by, None).id).collect();
    done(store.add_prompts(&by, shelf, &ids)).expect("all exist");
    let order = || contents(&store, &by, shelf).iter().map(|l| l.prompt.id).collect::<Vec<_>>();
    let member = |prompt: PromptId| {
        let listed = contents(&store, &by, shelf);
        listed.iter().find(|l| l.prompt.id == prompt).expect("it is in").membership
    };
    let pin = |prompt, pinned| {
        done(store.set_pinned(&by, shelf, member(prompt), pinned)).expect("it is in");
    };
    assert_eq!(order(), [ids[3], ids[2], ids[1], ids[0]]);
    pin(ids[2], true);
    pin(ids[0], true);
    pin(ids[2], true);
    assert_eq!(order(), [ids[0], ids[2], ids[3], ids[1]]);
    pin(ids[2], false);
    pin(ids[2], true);
    assert_eq!(order(), [ids[2], ids[0], ids[3], ids[1]]);
    done(store.move_membership(&by, shelf, member(ids[2]), shelf)).expect("it is in");
    assert_eq!(order(), [ids[0], ids[2], ids[3], ids[1]]);
    store.check_invariants();
}

#[test]
fn a_vault_renamed_within_its_own_slug_keeps_it() {
    let store = store();
    let by = caller(&store, "alice");
    let [first, second] = [(); 2].map(|()| vault(&store, &by, VaultVisibility::Private));
    let rename = |id: VaultId, name: &str| {
        let patch = VaultPatch { name: Some(name.into()), ..VaultPatch::default() };
        done(store.update_vault(&by, id, patch)).expect("it exists").slug
    };
    assert_eq!(&*rename(second.id, "SKY"), "sky-2");
    assert_eq!(&*rename(first.id, "Sea"), "sea");
    assert_eq!(&*rename(second.id, "SKY"), "sky-2", "the same name brings no new slug");
    assert_eq!(&*rename(second.id, "sky"), "sky");
}

#[test]
fn a_fork_has_the_images_cover_and_inputs_of_its_source_but_not_its_pins() {
    let (hand, clock) = manual_clock();
    let store = MemoryStore::new(clock);
    let (alice, bob) = (caller(&store, "alice"), caller(&store, "bob"));
    let source = vault(&store, &alice, VaultVisibility::Unlisted);
    let new = new_prompt(PromptKind::Image, Some(source.id));
    let inputs = PromptInputs { aspect_ratio: Some("1:1".into()), ..new.inputs.clone() };
    let old = done(store.create_prompt(&alice, crate::domain::NewPrompt { inputs, ..new }));
    let old = old.expect("the vault exists").id;
    let image = PromptImage {
        url: "http://localhost/a.png".into(),
        width: 1,
        height: 2,
        created_at: START,
    };
    {
        let account = store.account(alice.account).expect("it was seeded");
        let account = &mut *lock::write(&account);
        let vault = account.vaults.get_mut(&source.id).expect("it was made");
        vault.record.cover_image_url = Some("http://localhost/cover.png".into());
        let prompt = account.prompts.get_mut(&old).expect("it was made");
        Arc::make_mut(prompt).images = Arc::from([image]);
    }
    let pinned = contents(&store, &alice, source.id)[0].membership;
    done(store.set_pinned(&alice, source.id, pinned, true)).expect("it is in");
    hand.advance(Duration::from_secs(5));

    let copy = done(store.fork_vault(&bob, source.id)).expect("the source is unlisted");
    assert_eq!(copy.cover_image_url.as_deref(), Some("http://localhost/cover.png"));
    assert_eq!(copy.created_at, START + SignedDuration::from_secs(5));
    let listed = contents(&store, &bob, copy.id);
    let original = done(store.prompt(&alice, old)).expect("it exists");
    assert_eq!((listed.len(), listed[0].pinned), (1, false));
    assert!(Arc::ptr_eq(&listed[0].prompt.images, &original.images));
    assert_eq!(listed[0].prompt.inputs, original.inputs);
    assert_eq!(listed[0].prompt.created_at, copy.created_at);
    assert_eq!(listed[0].prompt.vault_ids, [copy.id]);
    assert_ne!(listed[0].prompt.id, old);
    store.check_invariants();
}

#[test]
fn one_can_fork_ones_own_public_vault() {
    let store = store();
    let by = caller(&store, "alice");
    let source = vault(&store, &by, VaultVisibility::Public);
    prompt(&store, &by, Some(source.id));
    let copy = done(store.fork_vault(&by, source.id)).expect("it is public");
    assert_eq!((&*copy.slug, copy.prompt_count), ("sky-2", 1));
    assert_eq!((copy.visibility, copy.system), (VaultVisibility::Private, false));
    assert_eq!(walk(&store, &by, 1).len(), 2);
    assert!(matches!(done(store.fork_vault(&by, copy.id)), Err(StoreError::ForkOfPrivateVault)));
    store.check_invariants();
}

#[test]
fn only_a_fork_gets_at_a_public_vault_of_another_account() {
    let store = store();
    let (alice, bob) = (caller(&store, "alice"), caller(&store, "bob"));
    let shelf = vault(&store, &alice, VaultVisibility::Public).id;
    let made = prompt(&store, &alice, Some(shelf));
    let member = contents(&store, &alice, shelf)[0].membership;
    assert!(is_not_found(&done(store.vault(&bob, shelf))));
    assert!(is_not_found(&done(store.contents(&bob, shelf))));
    assert!(is_not_found(&done(store.add_prompts(&bob, shelf, &[made.id]))));
    assert!(is_not_found(&done(store.set_pinned(&bob, shelf, member, true))));
    assert!(is_not_found(&done(store.delete_vault(&bob, shelf))));
    let into = new_prompt(PromptKind::Text, Some(shelf));
    assert!(matches!(done(store.create_prompt(&bob, into)), Err(StoreError::UnknownVault)));
    assert!(done(store.fork_vault(&bob, shelf)).is_ok());
}

#[test]
fn a_deleted_vault_is_unknown_to_a_fork_and_frees_its_slug() {
    let store = store();
    let (alice, bob) = (caller(&store, "alice"), caller(&store, "bob"));
    let shelf = vault(&store, &alice, VaultVisibility::Public);
    let made = prompt(&store, &alice, Some(shelf.id));
    done(store.delete_vault(&alice, shelf.id)).expect("it is no system vault");
    assert!(is_not_found(&done(store.fork_vault(&bob, shelf.id))));
    let left = done(store.prompt(&alice, made.id)).expect("prompts stay");
    assert!(left.vault_ids.is_empty());
    let new = NewVault { name: "sky!".into(), description: None, visibility: shelf.visibility };
    assert_eq!(done(store.create_vault(&alice, new)).expect("made").slug, shelf.slug);
    store.check_invariants();
}

#[test]
fn a_poisoned_account_goes_on() {
    let store = store();
    let by = caller(&store, "alice");
    let account = store.account(by.account).expect("it was seeded");
    let poisoned = std::thread::spawn(move || {
        let _held = lock::write(&account);
        panic!("a request fails");
    });
    assert!(poisoned.join().is_err());
    prompt(&store, &by, None);
    assert_eq!(walk(&store, &by, 1).len(), 1);
}
