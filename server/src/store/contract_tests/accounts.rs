//! What neither the differential test nor responses show of accounts, prompts and vaults.

use std::sync::Arc;

use jiff::Timestamp;
use promptarium::PromptId;

use super::jobs::{image, new, queued};
use super::{
    ALL_PROMPTS, StoreUnderTest, VAULTS_MAX, assert_error, contract_tests, key, named, new_prompt,
};
use crate::domain::{AccountData, NewPrompt, PromptKind, PromptPatch};
use crate::limits::PROMPT_IMAGES_MAX;
use crate::store::StoreError;

contract_tests! {
    a_deleted_account_leaves_nothing_and_its_name_is_free
    an_import_adds_nothing_if_it_does_not_fit
    a_prompt_has_pictures_up_to_the_limit
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
    assert_eq!(db.store.accounts().await.unwrap().len(), 1);
    assert_eq!(db.store.prompt(&bob, kept).await.unwrap().id, kept);
    assert_eq!(db.store.job(&bob, "one").await.unwrap().key, of_bob.key);

    db.store.seed_key("alice", key("other")).await.unwrap();
    let again = db.store.find_key("other", &[7; 32]).await.unwrap().unwrap().caller();
    assert_ne!(again.account, alice.account);
    assert_eq!(db.pages(&again, ALL_PROMPTS).await, []);
    assert_error!(db.store.job(&again, "one").await, StoreError::NotFound);
    db.store.reserve_job(&again, new("one", 2, None)).await.unwrap();
}

async fn an_import_adds_nothing_if_it_does_not_fit(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let new = new_prompt(PromptKind::Image, None);
    let prompt = new.record(PromptId::new(1), Timestamp::UNIX_EPOCH);
    let vault = (named("Sky").record(Timestamp::UNIX_EPOCH), vec![(prompt.id, true)]);
    let prompts = vec![(prompt, new.inputs)];
    let data = AccountData { prompts, vaults: vec![vault; VAULTS_MAX] };
    assert_error!(db.store.import(&alice, data).await, StoreError::TooManyVaults);
    assert_eq!(db.pages(&alice, ALL_PROMPTS).await, []);
    assert_eq!(db.store.vaults(&alice).await.unwrap().len(), 1);
    db.store.import(&alice, AccountData::default()).await.unwrap();
}

async fn a_prompt_has_pictures_up_to_the_limit(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let new = NewPrompt { images: [image()].into(), ..new_prompt(PromptKind::Text, None) };
    let id = db.store.create_prompt(&alice, new).await.unwrap().id;
    let add = PromptPatch { image: Some(image()), ..PromptPatch::default() };
    for _ in 1..PROMPT_IMAGES_MAX {
        db.store.update_prompt(&alice, id, add.clone()).await.unwrap();
    }
    let title = Some("Refused".into());
    let one_more = db.store.update_prompt(&alice, id, PromptPatch { title, ..add }).await;
    assert_error!(one_more, StoreError::TooManyImages);
    let prompt = &db.store.prompt(&alice, id).await.unwrap();
    assert_eq!((&*prompt.title, &*prompt.images), ("A title", &*vec![image(); PROMPT_IMAGES_MAX]));
}
