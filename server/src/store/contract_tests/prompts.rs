//! Prompts and pages of prompts.

use std::sync::Arc;

use super::{
    ALL_PROMPTS, NO_VAULT, StoreUnderTest, assert_error, contract_tests, found, new_prompt,
};
use crate::domain::{
    PromptInputs, PromptKind, PromptPatch, PromptQuery, PromptRecord, SharedPrompt,
};
use crate::store::StoreError;

contract_tests! {
    a_prompt_is_returned_as_it_was_created
    an_update_changes_the_fields_it_names_and_no_other
    an_update_is_later_than_the_previous_one_even_if_the_clock_stands_still
    errors_of_an_update_have_an_order
    a_saved_prompt_keeps_its_position_when_saved_again
    a_deleted_prompt_leaves_its_vaults
    a_page_has_exactly_the_prompts_of_its_filter
    an_empty_page_differs_from_an_unknown_vault
    prompts_of_another_account_do_not_exist
    a_response_never_shows_a_later_change
}

const KINDS: [PromptKind; 3] = [PromptKind::Text, PromptKind::Image, PromptKind::Video];

async fn a_prompt_is_returned_as_it_was_created(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let vault = db.private(&alice, &[]).await;
    for kind in KINDS {
        for vault in [None, Some(vault)] {
            let new = new_prompt(kind, vault);
            let created = db.store.create_prompt(&alice, new.clone()).await.unwrap();
            assert_eq!((&created.title, &created.text), (&new.title, &new.text));
            assert_eq!((created.kind, &created.platform), (kind, &new.platform));
            assert_eq!((&created.inputs, created.images.len()), (&new.inputs, 0));
            assert_eq!(created.vault_ids, vault.into_iter().collect::<Vec<_>>());
            assert_eq!(created.created_at, created.updated_at);
            assert_eq!(db.store.prompt(&alice, created.id).await.unwrap(), created);
        }
        let unknown = db.store.create_prompt(&alice, new_prompt(kind, Some(NO_VAULT))).await;
        assert_error!(unknown, StoreError::UnknownVault);
    }
    assert_eq!(db.pages(&alice, ALL_PROMPTS).await.len(), 6);
    assert_eq!(db.shown(&alice, vault).await.len(), 3);
}

/// A patch, and the change it makes to a record.
type Change = (PromptPatch, fn(&mut PromptRecord));

/// Every field alone, the platform in all its states, and everything at once.
fn changes() -> Vec<Change> {
    let all = || PromptInputs {
        model_id: Some("local/other".into()),
        aspect_ratio: Some("1:1".into()),
        image_url: Some("https://example.com/c.png".into()),
        reference_media_urls: Some(["https://example.com/1".into(), "x".into()].into()),
    };
    let ratio = PromptInputs { aspect_ratio: Some("9:16".into()), ..PromptInputs::default() };
    let plain = PromptPatch::default;
    vec![
        (plain(), |_| {}),
        (PromptPatch { kind: Some(PromptKind::Video), ..plain() }, |p| p.kind = PromptKind::Video),
        (PromptPatch { kind: Some(PromptKind::Text), ..plain() }, |p| p.kind = PromptKind::Text),
        (PromptPatch { title: Some("Other".into()), ..plain() }, |p| p.title = "Other".into()),
        (PromptPatch { text: Some("Other".into()), ..plain() }, |p| p.text = "Other".into()),
        (PromptPatch { platform: Some(None), ..plain() }, |p| p.platform = None),
        (PromptPatch { platform: Some(Some("x".into())), ..plain() }, |p| {
            p.platform = Some("x".into());
        }),
        (PromptPatch { inputs: ratio, ..plain() }, |p| p.inputs.aspect_ratio = Some("9:16".into())),
        (
            PromptPatch {
                title: Some("All".into()),
                text: Some("All".into()),
                kind: Some(PromptKind::Video),
                platform: Some(Some("all".into())),
                inputs: all(),
                vault: None,
            },
            |p| {
                (p.title, p.text, p.kind) = ("All".into(), "All".into(), PromptKind::Video);
                p.platform = Some("all".into());
                p.inputs.model_id = Some("local/other".into());
                p.inputs.aspect_ratio = Some("1:1".into());
                p.inputs.image_url = Some("https://example.com/c.png".into());
                let media = ["https://example.com/1".into(), "x".into()];
                p.inputs.reference_media_urls = Some(media.into());
            },
        ),
    ]
}

async fn an_update_changes_the_fields_it_names_and_no_other(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let vault = db.private(&alice, &[]).await;
    let new = new_prompt(PromptKind::Image, Some(vault));
    let mut before: SharedPrompt = db.store.create_prompt(&alice, new).await.unwrap();
    for (patch, change) in changes() {
        let after = db.store.update_prompt(&alice, before.id, patch.clone()).await.unwrap();
        assert_eq!(after.updated_at > before.updated_at, !patch.is_empty());
        let mut expected = PromptRecord { updated_at: after.updated_at, ..(*before).clone() };
        change(&mut expected);
        assert_eq!(*after, expected, "{patch:?}");
        assert_eq!(db.store.prompt(&alice, before.id).await.unwrap(), after);
        let query = PromptQuery { vault: Some(vault), kind: Some(after.kind), ..ALL_PROMPTS };
        assert_eq!(db.pages(&alice, query).await, [after.id], "the filters follow the type");
        before = after;
    }
    let general = db.general(&alice).await.id;
    let into = PromptPatch { vault: Some(general), ..PromptPatch::default() };
    let after = db.store.update_prompt(&alice, before.id, into).await.unwrap();
    assert_eq!(after.vault_ids, [general, vault]);
    assert_eq!(db.shown(&alice, general).await, [before.id]);
}

async fn an_update_is_later_than_the_previous_one_even_if_the_clock_stands_still(
    db: Arc<StoreUnderTest>,
) {
    let alice = db.caller("alice").await;
    let created = db.prompt(&alice, None).await;
    let mut before = created.updated_at;
    for _ in 0..3 {
        let patch = PromptPatch { title: Some("x".into()), ..PromptPatch::default() };
        let after = db.store.update_prompt(&alice, created.id, patch).await.unwrap();
        assert_eq!(after.updated_at, before + jiff::SignedDuration::from_micros(1));
        before = after.updated_at;
    }
}

async fn errors_of_an_update_have_an_order(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let id = db.prompt(&alice, None).await.id;
    let missing = promptarium::PromptId::new(i64::MAX);
    let before = db.store.prompt(&alice, id).await.unwrap();
    let image = Some(PromptKind::Image);
    for (kind, vault) in [(image, Some(NO_VAULT)), (None, Some(NO_VAULT)), (image, None)] {
        let patch = || PromptPatch { kind, vault, ..PromptPatch::default() };
        assert_error!(db.store.update_prompt(&alice, missing, patch()).await, StoreError::NotFound);
        let error = db.store.update_prompt(&alice, id, patch()).await;
        if vault.is_some() {
            assert_error!(error, StoreError::UnknownVault);
        } else {
            assert_error!(error, StoreError::ModelRequired);
        }
    }
    let general = db.general(&alice).await.id;
    assert_error!(db.store.save_prompt(&alice, missing, NO_VAULT).await, StoreError::NotFound);
    assert_error!(db.store.save_prompt(&alice, missing, general).await, StoreError::NotFound);
    assert_error!(db.store.save_prompt(&alice, id, NO_VAULT).await, StoreError::UnknownVault);
    assert_eq!(db.store.prompt(&alice, id).await.unwrap(), before);
}

async fn a_saved_prompt_keeps_its_position_when_saved_again(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let [a, b] = db.prompts(&alice).await;
    let vault = db.private(&alice, &[]).await;
    for id in [a, b, a] {
        let saved = db.store.save_prompt(&alice, id, vault).await.unwrap();
        assert_eq!(saved.vault_ids, [vault]);
    }
    assert_eq!(db.shown(&alice, vault).await, [b, a]);
}

async fn a_deleted_prompt_leaves_its_vaults(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let [a, b] = db.prompts(&alice).await;
    let vaults = [db.private(&alice, &[a, b]).await, db.private(&alice, &[b, a]).await];
    db.store.delete_prompt(&alice, a).await.unwrap();
    for vault in vaults {
        assert_eq!(db.shown(&alice, vault).await, [b]);
    }
    assert_error!(db.store.delete_prompt(&alice, a).await, StoreError::NotFound);
    assert_error!(db.store.prompt(&alice, a).await, StoreError::NotFound);
    assert_eq!(db.pages(&alice, ALL_PROMPTS).await, [b]);
}

async fn a_page_has_exactly_the_prompts_of_its_filter(db: Arc<StoreUnderTest>) {
    let (alice, other) = (db.caller("alice").await, db.caller("bob").await);
    let (vault, theirs) = (db.private(&alice, &[]).await, db.private(&other, &[]).await);
    let mut all = Vec::new();
    for number in 0..24 {
        let kind = KINDS[number % 4 % 3];
        let place = (number % 3 != 0).then_some(vault);
        all.push(db.store.create_prompt(&alice, new_prompt(kind, place)).await.unwrap());
        db.store.create_prompt(&other, new_prompt(kind, Some(theirs))).await.unwrap();
    }
    all.reverse();
    for kind in KINDS.into_iter().map(Some).chain([None]) {
        for vault in [None, Some(vault)] {
            let expected: Vec<_> = all
                .iter()
                .filter(|prompt| kind.is_none_or(|kind| prompt.kind == kind))
                .filter(|prompt| vault.is_none_or(|vault| prompt.vault_ids.contains(&vault)))
                .cloned()
                .collect();
            let ids: Vec<_> = expected.iter().map(|prompt| prompt.id).collect();
            for limit in [1, 4, 7, 100] {
                let query = PromptQuery { vault, kind, limit, ..ALL_PROMPTS };
                assert_eq!(db.pages(&alice, query).await, ids, "{query:?}");
            }
            let query = PromptQuery { vault, kind, limit: 100, ..ALL_PROMPTS };
            assert_eq!(db.store.list_prompts(&alice, query).await.unwrap().prompts, expected);
        }
    }
}

async fn an_empty_page_differs_from_an_unknown_vault(db: Arc<StoreUnderTest>) {
    let (alice, other) = (db.caller("alice").await, db.caller("bob").await);
    let (general, theirs) = (db.general(&alice).await.id, db.general(&other).await.id);
    for kind in [None, Some(PromptKind::Text)] {
        for vault in [None, Some(general)] {
            let query = PromptQuery { vault, kind, ..ALL_PROMPTS };
            assert!(db.pages(&alice, query).await.is_empty(), "{query:?}");
        }
        for vault in [theirs, NO_VAULT] {
            let query = PromptQuery { vault: Some(vault), kind, ..ALL_PROMPTS };
            assert_error!(db.store.list_prompts(&alice, query).await, StoreError::UnknownVault);
        }
    }
}

async fn prompts_of_another_account_do_not_exist(db: Arc<StoreUnderTest>) {
    let (owner, other) = (db.caller("alice").await, db.caller("bob").await);
    let (theirs, mine) = (db.general(&owner).await.id, db.general(&other).await.id);
    let (id, own) = (db.prompt(&owner, None).await.id, db.prompt(&other, None).await.id);
    let patch = |title: Option<&str>, vault| PromptPatch {
        title: title.map(Into::into),
        vault,
        ..PromptPatch::default()
    };
    for error in [
        db.store.prompt(&other, id).await.err(),
        db.store.update_prompt(&other, id, patch(Some("x"), None)).await.err(),
        db.store.update_prompt(&other, id, patch(None, None)).await.err(),
        db.store.save_prompt(&other, id, mine).await.err(),
        db.store.delete_prompt(&other, id).await.err(),
    ] {
        assert!(matches!(error, Some(StoreError::NotFound)), "{error:?}");
    }
    for error in [
        db.store.create_prompt(&other, new_prompt(PromptKind::Text, Some(theirs))).await.err(),
        db.store.update_prompt(&other, own, patch(None, Some(theirs))).await.err(),
        db.store.save_prompt(&other, own, theirs).await.err(),
    ] {
        assert!(matches!(error, Some(StoreError::UnknownVault)), "{error:?}");
    }
    assert!(db.shown(&owner, theirs).await.is_empty());
    assert_eq!(db.pages(&other, ALL_PROMPTS).await, [own]);
}

async fn a_response_never_shows_a_later_change(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let vault = db.private(&alice, &[]).await;
    let created = db.prompt(&alice, Some(vault)).await;
    let contents = db.store.contents(&alice, vault).await.unwrap();
    db.store.delete_prompt(&alice, created.id).await.unwrap();
    db.prompt(&alice, Some(vault)).await;
    let contents: Vec<_> = futures::TryStreamExt::try_collect(contents).await.unwrap();
    assert_eq!(contents.len(), 1);
    assert_eq!((&contents[0].prompt, &created.vault_ids[..]), (&created, &[vault][..]));
    assert!(found(db.store.prompt(&alice, created.id).await).is_none());
}
