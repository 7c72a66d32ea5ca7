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

async fn a_prompt_is_returned_as_it_was_created(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let vault = on.private(&by, &[]).await;
    for kind in KINDS {
        for vault in [None, Some(vault)] {
            let new = new_prompt(kind, vault);
            let made = on.store.create_prompt(&by, new.clone()).await.unwrap();
            assert_eq!((&made.title, &made.text), (&new.title, &new.text));
            assert_eq!((made.kind, &made.platform), (kind, &new.platform));
            assert_eq!((&made.inputs, made.images.len()), (&new.inputs, 0));
            assert_eq!(made.vault_ids, vault.into_iter().collect::<Vec<_>>());
            assert_eq!(made.created_at, made.updated_at);
            assert_eq!(on.store.prompt(&by, made.id).await.unwrap(), made);
        }
        let unknown = on.store.create_prompt(&by, new_prompt(kind, Some(NO_VAULT))).await;
        assert_error!(unknown, StoreError::UnknownVault);
    }
    assert_eq!(on.pages(&by, ALL_PROMPTS).await.len(), 6);
    assert_eq!(on.shown(&by, vault).await.len(), 3);
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

async fn an_update_changes_the_fields_it_names_and_no_other(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let vault = on.private(&by, &[]).await;
    let new = new_prompt(PromptKind::Image, Some(vault));
    let mut before: SharedPrompt = on.store.create_prompt(&by, new).await.unwrap();
    for (patch, change) in changes() {
        let after = on.store.update_prompt(&by, before.id, patch.clone()).await.unwrap();
        assert_eq!(after.updated_at > before.updated_at, !patch.is_empty());
        let mut expected = PromptRecord { updated_at: after.updated_at, ..(*before).clone() };
        change(&mut expected);
        assert_eq!(*after, expected, "{patch:?}");
        assert_eq!(on.store.prompt(&by, before.id).await.unwrap(), after);
        let query = PromptQuery { vault: Some(vault), kind: Some(after.kind), ..ALL_PROMPTS };
        assert_eq!(on.pages(&by, query).await, [after.id], "the filters follow the type");
        before = after;
    }
    let general = on.general(&by).await.id;
    let into = PromptPatch { vault: Some(general), ..PromptPatch::default() };
    let after = on.store.update_prompt(&by, before.id, into).await.unwrap();
    assert_eq!(after.vault_ids, [general, vault]);
    assert_eq!(on.shown(&by, general).await, [before.id]);
}

async fn an_update_is_later_than_the_previous_one_even_if_the_clock_stands_still(
    on: Arc<StoreUnderTest>,
) {
    let by = on.caller("alice").await;
    let made = on.prompt(&by, None).await;
    let mut before = made.updated_at;
    for _ in 0..3 {
        let patch = PromptPatch { title: Some("x".into()), ..PromptPatch::default() };
        let after = on.store.update_prompt(&by, made.id, patch).await.unwrap();
        assert_eq!(after.updated_at, before + jiff::SignedDuration::from_micros(1));
        before = after.updated_at;
    }
}

async fn errors_of_an_update_have_an_order(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let id = on.prompt(&by, None).await.id;
    let missing = promptarium::PromptId::new(i64::MAX);
    let before = on.store.prompt(&by, id).await.unwrap();
    let image = Some(PromptKind::Image);
    for (kind, vault) in [(image, Some(NO_VAULT)), (None, Some(NO_VAULT)), (image, None)] {
        let patch = || PromptPatch { kind, vault, ..PromptPatch::default() };
        assert_error!(on.store.update_prompt(&by, missing, patch()).await, StoreError::NotFound);
        let error = on.store.update_prompt(&by, id, patch()).await;
        if vault.is_some() {
            assert_error!(error, StoreError::UnknownVault);
        } else {
            assert_error!(error, StoreError::ModelRequired);
        }
    }
    let general = on.general(&by).await.id;
    assert_error!(on.store.save_prompt(&by, missing, NO_VAULT).await, StoreError::NotFound);
    assert_error!(on.store.save_prompt(&by, missing, general).await, StoreError::NotFound);
    assert_error!(on.store.save_prompt(&by, id, NO_VAULT).await, StoreError::UnknownVault);
    assert_eq!(on.store.prompt(&by, id).await.unwrap(), before);
}

async fn a_saved_prompt_keeps_its_position_when_saved_again(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let [a, b] = on.prompts(&by).await;
    let vault = on.private(&by, &[]).await;
    for id in [a, b, a] {
        let saved = on.store.save_prompt(&by, id, vault).await.unwrap();
        assert_eq!(saved.vault_ids, [vault]);
    }
    assert_eq!(on.shown(&by, vault).await, [b, a]);
}

async fn a_deleted_prompt_leaves_its_vaults(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let [a, b] = on.prompts(&by).await;
    let vaults = [on.private(&by, &[a, b]).await, on.private(&by, &[b, a]).await];
    on.store.delete_prompt(&by, a).await.unwrap();
    for vault in vaults {
        assert_eq!(on.shown(&by, vault).await, [b]);
    }
    assert_error!(on.store.delete_prompt(&by, a).await, StoreError::NotFound);
    assert_error!(on.store.prompt(&by, a).await, StoreError::NotFound);
    assert_eq!(on.pages(&by, ALL_PROMPTS).await, [b]);
}

async fn a_page_has_exactly_the_prompts_of_its_filter(on: Arc<StoreUnderTest>) {
    let (by, other) = (on.caller("alice").await, on.caller("bob").await);
    let (vault, theirs) = (on.private(&by, &[]).await, on.private(&other, &[]).await);
    let mut all = Vec::new();
    for number in 0..24 {
        let kind = KINDS[number % 4 % 3];
        let place = (number % 3 != 0).then_some(vault);
        all.push(on.store.create_prompt(&by, new_prompt(kind, place)).await.unwrap());
        on.store.create_prompt(&other, new_prompt(kind, Some(theirs))).await.unwrap();
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
                assert_eq!(on.pages(&by, query).await, ids, "{query:?}");
            }
            let query = PromptQuery { vault, kind, limit: 100, ..ALL_PROMPTS };
            assert_eq!(on.store.list_prompts(&by, query).await.unwrap().prompts, expected);
        }
    }
}

async fn an_empty_page_differs_from_an_unknown_vault(on: Arc<StoreUnderTest>) {
    let (by, other) = (on.caller("alice").await, on.caller("bob").await);
    let (general, theirs) = (on.general(&by).await.id, on.general(&other).await.id);
    for kind in [None, Some(PromptKind::Text)] {
        for vault in [None, Some(general)] {
            let query = PromptQuery { vault, kind, ..ALL_PROMPTS };
            assert!(on.pages(&by, query).await.is_empty(), "{query:?}");
        }
        for vault in [theirs, NO_VAULT] {
            let query = PromptQuery { vault: Some(vault), kind, ..ALL_PROMPTS };
            assert_error!(on.store.list_prompts(&by, query).await, StoreError::UnknownVault);
        }
    }
}

async fn prompts_of_another_account_do_not_exist(on: Arc<StoreUnderTest>) {
    let (owner, other) = (on.caller("alice").await, on.caller("bob").await);
    let (theirs, mine) = (on.general(&owner).await.id, on.general(&other).await.id);
    let (id, own) = (on.prompt(&owner, None).await.id, on.prompt(&other, None).await.id);
    let patch = |title: Option<&str>, vault| PromptPatch {
        title: title.map(Into::into),
        vault,
        ..PromptPatch::default()
    };
    for error in [
        on.store.prompt(&other, id).await.err(),
        on.store.update_prompt(&other, id, patch(Some("x"), None)).await.err(),
        on.store.update_prompt(&other, id, patch(None, None)).await.err(),
        on.store.save_prompt(&other, id, mine).await.err(),
        on.store.delete_prompt(&other, id).await.err(),
    ] {
        assert!(matches!(error, Some(StoreError::NotFound)), "{error:?}");
    }
    for error in [
        on.store.create_prompt(&other, new_prompt(PromptKind::Text, Some(theirs))).await.err(),
        on.store.update_prompt(&other, own, patch(None, Some(theirs))).await.err(),
        on.store.save_prompt(&other, own, theirs).await.err(),
    ] {
        assert!(matches!(error, Some(StoreError::UnknownVault)), "{error:?}");
    }
    assert!(on.shown(&owner, theirs).await.is_empty());
    assert_eq!(on.pages(&other, ALL_PROMPTS).await, [own]);
}

async fn a_response_never_shows_a_later_change(on: Arc<StoreUnderTest>) {
    let by = on.caller("alice").await;
    let vault = on.private(&by, &[]).await;
    let made = on.prompt(&by, Some(vault)).await;
    let contents = on.store.contents(&by, vault).await.unwrap();
    on.store.delete_prompt(&by, made.id).await.unwrap();
    on.prompt(&by, Some(vault)).await;
    let contents: Vec<_> = futures::TryStreamExt::try_collect(contents).await.unwrap();
    assert_eq!(contents.len(), 1);
    assert_eq!((&contents[0].prompt, &made.vault_ids[..]), (&made, &[vault][..]));
    assert!(found(on.store.prompt(&by, made.id).await).is_none());
}
