//! Journals of another key or base URL, copies of vaults, and many steps.

use std::time::Duration;

use promptarium::durable::{Journal, Resolution, Resolved};
use promptarium::testing::{self, Answer, fixture};
use promptarium::{Client, Outcome, VaultId};
use serde_json::json;

use super::{Place, begin, stored};

/// A client of the script with this key and base URL.
fn other(place: &Place, url: &str, key: &str) -> Client {
    testing::builder(&place.script).base_url(url).api_key(key).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_journal_goes_on_with_another_key_or_base_url_if_the_caller_says_so() {
    let place = Place::new();
    place.script.post("/prompts").answer(Answer::data(&stored(7, "Dusk")));
    place.open().await.run("a", place.create("Dusk")).await.unwrap();
    let moved = "https://new.example/api/v1";
    for (url, key, problem) in [
        (testing::BASE_URL, "promptarium_test_1_key", "another API key"),
        (moved, "promptarium_test_1_key", testing::BASE_URL),
    ] {
        let client = other(&place, url, key);
        let error = Journal::open(&client, place.path()).await.unwrap_err().to_string();
        assert!(error.contains(problem) && error.contains("`Journal::open_moved`"), "{error}");
        drop(Journal::open_moved(&client, place.path()).await.unwrap());
        let journal = Journal::open(&client, place.path()).await.unwrap();
        let create = client.prompts().create("Dusk", "Still life");
        assert_eq!(journal.run("a", create).await.unwrap().title, "Dusk");
    }
    assert!(place.try_open().await.is_err());
    assert_eq!(place.script.calls(), ["POST /prompts"]);
}

#[tokio::test(start_paused = true)]
async fn the_key_may_change_its_secret_and_come_from_a_provider() {
    let place = Place::new();
    drop(place.open().await);
    let renewed = other(&place, testing::BASE_URL, "promptarium_test_0_other");
    drop(Journal::open(&renewed, place.path()).await.unwrap());
    let provided = testing::builder(&place.script)
        .api_key_provider(async || Ok::<_, std::io::Error>("k".to_owned()));
    drop(Journal::open(&provided.build().unwrap(), place.path()).await.unwrap());
    assert!(!place.text().contains("other"), "{}", place.text());
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_a_vault_is_made_once() {
    let place = Place::new();
    place.script.post("/vaults/{vaultId}/fork").answer(Answer::data(&fixture::vault()));
    for _ in 0..2 {
        let fork = place.client.vaults().fork(VaultId::new(5));
        assert_eq!(place.open().await.run("copy", fork).await.unwrap(), fixture::vault());
    }
    place.script.verify().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_lost_copy_is_sent_again_only_if_there_is_no_new_vault() {
    let open = [begin("copy", "fork", &json!({ "copyOf": 5 }))];
    let (mut old, new, mut general) = (fixture::vault(), fixture::vault(), fixture::vault());
    old.created_at = super::began_at().checked_sub(Duration::from_secs(360)).unwrap();
    (general.is_system, general.id) = (true, VaultId::new(1));

    let place = Place::with(&open);
    place.script.get("/vaults").always(Answer::data(&[&general, &old]));
    place.script.post("/vaults/{vaultId}/fork").answer(Answer::data(&new));
    let fork = || place.client.vaults().fork(VaultId::new(5));
    assert_eq!(place.open().await.run("copy", fork()).await.unwrap(), new);

    let place = Place::with(&open);
    place.script.get("/vaults").always(Answer::data(&[&general, &new]));
    let journal = place.open().await;
    let error = journal.run("copy", fork()).await.unwrap_err();
    assert!(error.is_ambiguous() && error.outcome() == Outcome::Unknown, "{error}");
    assert_eq!(journal.recover().await.unwrap(), [("copy".to_owned(), Resolved::Ambiguous)]);
    journal.resolve("copy", Resolution::Vault(Box::new(new.clone()))).await.unwrap();
    assert_eq!(journal.run("copy", fork()).await.unwrap(), new);
}

#[tokio::test]
async fn a_step_that_is_done_is_found_at_once_among_many() {
    const STEPS: usize = 20_000;
    let mut lines = Vec::new();
    for step in 0..STEPS {
        let (key, title) = (format!("step {step}"), format!("Study {step}"));
        lines.push(super::open_prompt(&key, &title));
        let value = stored(step as i64, &title);
        lines.push(json!({ "event": "done", "key": key, "value": value }));
    }
    let place = Place::with(&lines);
    let journal = place.open().await;
    let began = std::time::Instant::now();
    for step in 0..STEPS {
        let create = place.create(&format!("Study {step}"));
        journal.run(format!("step {step}"), create).await.unwrap();
    }
    let each = began.elapsed() / STEPS as u32;
    // Each step looked at all others before: some milliseconds in a build without optimization.
    assert!(each < Duration::from_micros(500), "{each:?} for each step");
    assert!(place.script.calls().is_empty());
}
