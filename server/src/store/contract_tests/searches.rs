//! Searches: every store finds the same.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use promptarium::PromptId;

use super::{StoreUnderTest, assert_error, contract_tests, new_prompt};
use crate::domain::{Caller, NewPrompt, PromptKind};
use crate::limits::SEARCH_CHUNK;
use crate::search::{FoundPrompts, PromptSearch, SearchBound, TITLES, Words, search_prompts};
use crate::store::Place;
use crate::store::StoreError::UnknownVault;

contract_tests! {
    a_title_in_any_script_is_found_by_itself_and_by_no_other
    a_search_looks_in_its_place_only_and_at_its_type_only
    a_search_that_stops_early_says_how_far_it_came_and_goes_on_there
}

fn search_for(text: &str, place: Place, kind: Option<PromptKind>) -> PromptSearch {
    let words = Words::parse(text).map(Arc::new);
    PromptSearch { words, place, kind, after: None, limit: 3 }
}

async fn page(db: &StoreUnderTest, caller: &Caller, search: &PromptSearch) -> FoundPrompts {
    search_prompts(&*db.store, caller, search, SearchBound::default()).await.unwrap()
}

/// All prompts that match, page by page.
async fn found(db: &StoreUnderTest, caller: &Caller, mut search: PromptSearch) -> Vec<PromptId> {
    let mut ids = Vec::new();
    loop {
        let page = page(db, caller, &search).await;
        assert!(page.prompts.len() == search.limit || page.next.is_none(), "a short page");
        ids.extend(page.prompts.iter().map(|prompt| prompt.id));
        search.after = page.next;
        if page.next.is_none() {
            return ids;
        }
    }
}

async fn a_title_in_any_script_is_found_by_itself_and_by_no_other(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let new = |title: &str| NewPrompt { title: title.into(), ..new_prompt(PromptKind::Text, None) };
    for title in TITLES {
        db.store.create_prompt(&alice, new(title)).await.unwrap();
    }
    for title in TITLES {
        let page = page(&db, &alice, &search_for(title, Place::Anywhere, None)).await;
        let titles: Vec<_> = page.prompts.iter().map(|prompt| &*prompt.title).collect();
        assert_eq!(titles, [title]);
    }
}

async fn a_search_looks_in_its_place_only_and_at_its_type_only(db: Arc<StoreUnderTest>) {
    let (alice, bob) = (db.caller("alice").await, db.caller("bob").await);
    let vault = db.private(&alice, &[]).await;
    let mut all = Vec::new();
    for number in 0..20 {
        let kind = [PromptKind::Text, PromptKind::Image][number % 2];
        let new = new_prompt(kind, (number % 4 < 2).then_some(vault));
        all.push(db.store.create_prompt(&alice, new).await.unwrap());
    }
    for place in [Place::Anywhere, Place::Vault(vault), Place::NoVault] {
        for kind in [None, Some(PromptKind::Image), Some(PromptKind::Video)] {
            let expected = all.iter().rev().filter(|prompt| {
                let is_in_place = match place {
                    Place::Anywhere => true,
                    Place::Vault(_) => !prompt.vault_ids.is_empty(),
                    Place::NoVault => prompt.vault_ids.is_empty(),
                };
                is_in_place && kind.is_none_or(|kind| kind == prompt.kind)
            });
            let expected: Vec<_> = expected.map(|prompt| prompt.id).collect();
            for text in ["title", "platform TEX", ""] {
                let found = found(&db, &alice, search_for(text, place, kind)).await;
                assert_eq!(found, expected, "{text} {place:?} {kind:?}");
            }
            assert_eq!(found(&db, &alice, search_for("gull", place, kind)).await, []);
        }
    }
    assert_eq!(found(&db, &bob, search_for("title", Place::Anywhere, None)).await, []);
    let foreign = search_for("title", Place::Vault(vault), None);
    let result = search_prompts(&*db.store, &bob, &foreign, SearchBound::default()).await;
    assert_error!(result, UnknownVault);
}

async fn a_search_that_stops_early_says_how_far_it_came_and_goes_on_there(db: Arc<StoreUnderTest>) {
    let alice = db.caller("alice").await;
    let rare = NewPrompt { title: "A rare gull".into(), ..new_prompt(PromptKind::Text, None) };
    let rare = db.store.create_prompt(&alice, rare).await.unwrap().id;
    let more = (0..2 * SEARCH_CHUNK).map(|_| db.prompt(&alice, None));
    let mut newer: Vec<_> = join_all(more).await.iter().map(|prompt| prompt.id).collect();
    newer.sort_unstable();
    let (prompts, no_time) = (usize::MAX, Duration::ZERO);
    for bound in [
        SearchBound { prompts: 1, ..SearchBound::default() },
        SearchBound { prompts, time: no_time },
    ] {
        let mut search = search_for("gull", Place::Anywhere, None);
        for last in [newer[SEARCH_CHUNK], newer[0]] {
            let page = search_prompts(&*db.store, &alice, &search, bound).await.unwrap();
            assert_eq!((page.prompts.len(), page.next), (0, Some(last)));
            assert_eq!(page.stopped_after, Some(SEARCH_CHUNK));
            search.after = page.next;
        }
        let page = search_prompts(&*db.store, &alice, &search, bound).await.unwrap();
        let ids: Vec<_> = page.prompts.iter().map(|prompt| prompt.id).collect();
        assert_eq!((ids, page.next, page.stopped_after), (vec![rare], None, None));
    }
    let whole = page(&db, &alice, &search_for("gull", Place::Anywhere, None)).await;
    assert_eq!((whole.prompts.len(), whole.next, whole.stopped_after), (1, None, None));
    // A page that is full is no search that stopped early.
    let bound = SearchBound { prompts: 1, ..SearchBound::default() };
    let frequent = search_for("title", Place::Anywhere, None);
    let page = search_prompts(&*db.store, &alice, &frequent, bound).await.unwrap();
    let third = newer[newer.len() - 3];
    assert_eq!((page.prompts.len(), page.next, page.stopped_after), (3, Some(third), None));
}
