//! Accounts as a whole, uploaded pictures, and vaults that anybody may read.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::jobs::{image, new, queued};
use super::{
    ALL_PROMPTS, StoreUnderTest, VAULTS_MAX, assert_error, contract_tests, found, key, named,
};
use crate::domain::{
    AccountData, MemberData, PromptData, PromptInputs, PromptKind, VaultData, VaultPatch,
    VaultVisibility,
};
use crate::limits::PROMPT_IMAGES_MAX;
use crate::store::StoreError;

contract_tests! {
    a_renamed_account_keeps_its_keys_and_sessions
    an_account_gets_no_name_that_another_one_has
    a_deleted_account_leaves_nothing_and_its_name_is_free
    an_import_adds_prompts_and_vaults_in_order
    an_import_adds_nothing_if_it_does_not_fit
    a_picture_is_added_to_an_own_prompt_up_to_the_limit
    a_cover_is_set_and_cleared_by_the_owner
    a_vault_is_found_by_its_slug_unless_it_is_private
    a_page_of_a_vault_is_a_part_of_its_contents
}

async fn a_renamed_account_keeps_its_keys_and_sessions(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let session = db.session("alice", 1).await;
    let prompt = db.prompt(&alice, None).await;
    db.store.create_sign_in_code("alice", [2; 32]).await.unwrap();
    db.store.rename_account(&session.caller(), "carol").await.unwrap();
    assert_eq!(db.store.prompt(&alice, prompt.id).await.unwrap(), prompt);
    let found = db.store.find_session([1; 32]).await.unwrap().unwrap();
    assert_eq!(&*found.account_name, "carol");
    let later = db.store.sign_in([2; 32], [3; 32], None).await.unwrap().unwrap();
    assert_eq!((&*later.account_name, later.account), ("carol", alice.account));
    assert_error!(db.store.create_sign_in_code("alice", [4; 32]).await, StoreError::NotFound);
    db.store.seed_key("alice", key("other")).await.unwrap();
    let other = db.store.find_key("other", &[7; 32]).await.unwrap().unwrap();
    assert_ne!(other.account, alice.account);
}

async fn an_account_gets_no_name_that_another_one_has(db: Arc<StoreUnderTest>) {
    let (alice, _) = (db.caller("alice").await, db.caller("bob").await);
    assert_error!(db.store.rename_account(&alice, "bob").await, StoreError::AccountTaken);
    db.store.rename_account(&alice, "alice").await.unwrap();
    assert_eq!(db.session("alice", 1).await.account, alice.account);
}

async fn a_deleted_account_leaves_nothing_and_its_name_is_free(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let session = db.session("alice", 1).await.caller();
    db.store.create_sign_in_code("alice", [2; 32]).await.unwrap();
    let prompt = db.prompt(&alice, None).await.id;
    let vault = db.public(&alice, &[prompt]).await;
    let general = db.general(&alice).await.id;
    db.store.add_prompts(&alice, general, &[prompt]).await.unwrap();
    queued(&*db.store, &alice, "one").await;
    let (kept, of_bob) = (db.prompt(&bob, None).await.id, queued(&*db.store, &bob, "one").await);

    db.store.delete_account(&session).await.unwrap();
    for caller in [&alice, &session] {
        assert_error!(db.store.prompt(caller, prompt).await, StoreError::KeyRevoked);
    }
    assert_eq!(db.store.find_key("key-of-alice", &[8; 32]).await.unwrap(), None);
    assert_eq!(db.store.find_session([1; 32]).await.unwrap(), None);
    assert_eq!(db.store.sign_in([2; 32], [3; 32], None).await.unwrap(), None);
    assert_error!(db.store.fork_vault(&bob, vault).await, StoreError::NotFound);
    assert_eq!(db.accounts().await, 1);
    assert_eq!(db.store.prompt(&bob, kept).await.unwrap().id, kept);
    assert_eq!(db.store.job(&bob, "one").await.unwrap().key, of_bob.key);

    db.store.seed_key("alice", key("other")).await.unwrap();
    let again = db.store.find_key("other", &[7; 32]).await.unwrap().unwrap().caller();
    assert_ne!(again.account, alice.account);
    assert_eq!(db.pages(&again, ALL_PROMPTS).await, []);
    assert_error!(db.store.job(&again, "one").await, StoreError::NotFound);
    db.store.reserve_job(&again, new("one", 2, None)).await.unwrap();
}

fn time(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

fn prompt(title: &str, at: i64) -> PromptData {
    PromptData {
        title: title.into(),
        text: "A \"text\"\n".into(),
        kind: PromptKind::Image,
        platform: None,
        inputs: PromptInputs {
            model_id: Some("local/plasma".into()),
            aspect_ratio: None,
            image_url: Some("https://example.com/a.png".into()),
            reference_media_urls: Some(["https://example.com/b.png".into()].into()),
        },
        images: vec![image()],
        created_at: time(at),
        updated_at: time(at + 1),
    }
}

fn vault(name: &str, system: bool, members: &[(usize, bool)]) -> VaultData {
    let members = members.iter().map(|&(prompt, pinned)| MemberData { prompt, pinned });
    VaultData {
        name: name.into(),
        description: Some("About it".into()),
        visibility: VaultVisibility::Unlisted,
        cover_image: Some("https://example.com/c.png".into()),
        system,
        created_at: time(5),
        updated_at: time(6),
        members: members.collect(),
    }
}

async fn an_import_adds_prompts_and_vaults_in_order(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let old = db.prompt(&alice, None).await.id;
    let general = db.general(&alice).await.id;
    db.store.add_prompts(&alice, general, &[old]).await.unwrap();
    let pinned = db.contents(&alice, general).await[0].membership;
    db.store.set_pinned(&alice, general, pinned, true).await.unwrap();
    let data = AccountData {
        prompts: vec![prompt("first", 1), prompt("second", 2), prompt("third", 3)],
        vaults: vec![
            vault("Sky", false, &[(0, true), (2, true), (1, false)]),
            vault("Sky", false, &[]),
            vault("Other name", true, &[(1, true), (0, false)]),
        ],
    };
    db.store.import(&alice, data.clone()).await.unwrap();

    let ids = db.pages(&alice, ALL_PROMPTS).await;
    let [third, second, first, last] = ids[..] else { panic!("{ids:?}") };
    assert_eq!(last, old);
    for (id, data) in [first, second, third].into_iter().zip(&data.prompts) {
        let found = db.store.prompt(&alice, id).await.unwrap();
        assert_eq!((&found.title, &found.text), (&data.title, &data.text));
        assert_eq!((found.created_at, found.updated_at), (data.created_at, data.updated_at));
        assert_eq!(&*found.images, &*data.images);
        assert_eq!(db.store.prompt_inputs(&alice, id).await.unwrap(), data.inputs);
    }
    let vaults = db.store.vaults(&alice).await.unwrap();
    let of = |slug: &str| vaults.iter().find(|vault| *vault.slug == *slug).unwrap();
    assert_eq!(vaults.len(), 3);
    let (sky, empty) = (of("sky"), of("sky-2"));
    assert_eq!(sky.visibility, VaultVisibility::Unlisted);
    assert_eq!(sky.cover_image, Some("https://example.com/c.png".into()));
    assert_eq!((sky.created_at, sky.updated_at), (time(5), time(6)));
    assert_eq!(db.shown(&alice, sky.id).await, [first, third, second]);
    let pins = db.contents(&alice, sky.id).await;
    assert_eq!(pins.iter().map(|one| one.pinned).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(db.shown(&alice, empty.id).await, []);
    assert_eq!(&*of("general").name, "General");
    assert_eq!(db.shown(&alice, general).await, [second, old, first]);
}

async fn an_import_adds_nothing_if_it_does_not_fit(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let data = AccountData {
        prompts: vec![prompt("first", 1)],
        vaults: vec![vault("Sky", false, &[(0, true)]); VAULTS_MAX],
    };
    assert_error!(db.store.import(&alice, data).await, StoreError::TooManyVaults);
    assert_eq!(db.pages(&alice, ALL_PROMPTS).await, []);
    assert_eq!(db.store.vaults(&alice).await.unwrap().len(), 1);
    db.store.import(&alice, AccountData::default()).await.unwrap();
}

async fn a_picture_is_added_to_an_own_prompt_up_to_the_limit(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let before = db.prompt(&alice, None).await;
    assert_error!(db.store.add_image(&bob, before.id, image()).await, StoreError::NotFound);
    for _ in 0..PROMPT_IMAGES_MAX {
        db.store.add_image(&alice, before.id, image()).await.unwrap();
    }
    let full = db.store.add_image(&alice, before.id, image()).await;
    assert_error!(full, StoreError::TooManyImages);
    let after = db.store.prompt(&alice, before.id).await.unwrap();
    assert_eq!(after.images.len(), PROMPT_IMAGES_MAX);
    assert_eq!(after.images[0], image());
    assert!(after.updated_at > before.updated_at && before.images.is_empty());
}

async fn a_cover_is_set_and_cleared_by_the_owner(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let id = db.public(&alice, &[]).await;
    let cover = Some("https://example.com/c.png".into());
    assert_error!(db.store.set_cover(&bob, id, cover.clone()).await, StoreError::NotFound);
    for cover in [cover, None] {
        db.store.set_cover(&alice, id, cover.clone()).await.unwrap();
        assert_eq!(db.store.vault(&alice, id).await.unwrap().cover_image, cover);
    }
}

async fn a_vault_is_found_by_its_slug_unless_it_is_private(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let id = db.store.create_vault(&alice, named("Night Sky")).await.unwrap().id;
    for (visibility, is_found) in [
        (VaultVisibility::Private, false),
        (VaultVisibility::Unlisted, true),
        (VaultVisibility::Public, true),
    ] {
        let patch = VaultPatch { visibility: Some(visibility), ..VaultPatch::default() };
        db.store.update_vault(&alice, id, patch).await.unwrap();
        let found = found(db.store.shared_vault("alice", "night-sky").await);
        let found = found.map(|(account, vault)| (account, vault.id));
        assert_eq!(found, is_found.then_some((alice.account, id)), "{visibility:?}");
    }
    for (account, slug) in [("bob", "night-sky"), ("alice", "night"), ("alice", "general")] {
        assert_error!(db.store.shared_vault(account, slug).await, StoreError::NotFound);
    }
}

async fn a_page_of_a_vault_is_a_part_of_its_contents(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let prompts = db.prompts::<5>(&alice).await;
    let id = db.public(&alice, &prompts).await;
    let oldest = db.contents(&alice, id).await[4].membership;
    db.store.set_pinned(&alice, id, oldest, true).await.unwrap();
    let whole = db.contents(&alice, id).await;
    for (offset, limit) in [(0, 2), (2, 2), (4, 2), (5, 2), (0, 100)] {
        let page = db.store.vault_page(alice.account, id, offset, limit).await.unwrap();
        let expected: Vec<_> = whole.iter().skip(offset).take(limit).cloned().collect();
        assert_eq!(page, expected, "{offset} {limit}");
    }
    let empty = db.store.create_vault(&alice, named("Other")).await.unwrap().id;
    assert_eq!(db.store.vault_page(alice.account, empty, 0, 2).await.unwrap(), []);
}
