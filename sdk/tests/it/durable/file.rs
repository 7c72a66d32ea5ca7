//! The file: what is cut, broken, locked or foreign, and what is never in it.

use std::fs;

use promptarium::durable::{Journal, Resolved};
use promptarium::testing::{self, API_KEY, Answer, fixture};
use serde_json::{Value, json};

use super::{Place, open_prompt, stored};

#[tokio::test(start_paused = true)]
async fn a_file_that_was_cut_at_any_byte_keeps_every_complete_line() {
    let done = |key: &str, id| json!({ "event": "done", "key": key, "value": stored(id, "Dusk") });
    let lines = [open_prompt("a", "Dusk"), open_prompt("b", "Dusk"), done("b", 2), done("a", 1)];
    let whole = Place::with(&lines).text();
    let place = Place::new();
    for length in 0..=whole.len() {
        let cut = &whole[..length];
        fs::write(place.path(), cut).unwrap();
        drop(place.open().await);
        // A last line that lacks no more than its end is complete.
        let complete = cut.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok());
        let lines = complete.count().max(1);
        let kept: String = whole.split_inclusive('\n').take(lines).collect();
        assert_eq!(place.text(), kept, "cut at {length}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_journal_continues_after_a_line_that_was_cut() {
    let place = Place::with(&[open_prompt("a", "Dusk")]);
    let text = place.text();
    fs::write(place.path(), &text[..text.len() - 9]).unwrap();
    place.script.post("/prompts").answer(Answer::data(&stored(7, "Dusk")));
    place.open().await.run("a", place.create("Dusk")).await.unwrap();
    place.open().await.run("a", place.create("Dusk")).await.unwrap();
    assert_eq!(place.script.calls(), ["POST /prompts"]);
}

#[tokio::test]
async fn a_broken_line_elsewhere_is_an_error_that_names_it() {
    let unknown = json!({ "event": "done", "key": "nobody", "value": null });
    for (line, problem) in
        [(json!("no event"), "line 3: "), (unknown, "line 3: no step \"nobody\" has begun")]
    {
        let place = Place::with(&[open_prompt("a", "Dusk"), line, open_prompt("b", "Dusk")]);
        let before = place.text();
        let error = place.try_open().await.unwrap_err();
        assert!(error.is_input() && error.to_string().contains(problem), "{error}");
        assert_eq!(place.text(), before);
    }
}

#[tokio::test]
async fn another_file_is_refused_and_left_alone() {
    for text in ["hello", "{\"promptariumJournal\":1}\n", "{}\n", "{\"promptariumJournal\":2}"] {
        let place = Place::new();
        fs::write(place.path(), text).unwrap();
        let error = place.try_open().await.unwrap_err();
        let problem = "line 1: the file is not a journal of this version";
        assert!(error.to_string().contains(problem), "{error}");
        assert_eq!(place.text(), text);
    }
}

#[tokio::test]
async fn a_journal_of_another_service_is_refused() {
    let place = Place::with(&[]);
    let other = promptarium::Client::new("https://staging.example/api/v1", API_KEY).unwrap();
    let error = Journal::open(&other, place.path()).await.unwrap_err();
    let problem = format!("line 1: the journal is one of {}", testing::BASE_URL);
    assert!(error.to_string().contains(&problem), "{error}");
}

#[tokio::test]
async fn a_journal_is_open_once_at_a_time() {
    let place = Place::new();
    let first = place.open().await;
    let clone = first.clone();
    drop(first);
    let error = place.try_open().await.unwrap_err();
    assert!(error.is_input(), "{error}");
    assert!(error.to_string().ends_with("is in use by another journal"), "{error}");
    drop(clone);
    place.open().await;
}

#[tokio::test]
async fn a_file_that_cannot_be_opened_is_named() {
    let place = Place::new();
    let path = place.folder.path().join("nowhere").join("journal");
    let error = Journal::open(&place.client, &path).await.unwrap_err();
    assert!(error.is_input(), "{error}");
    assert!(error.to_string().starts_with(&*path.display().to_string()), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_file_has_texts_and_no_secrets() {
    let place = Place::new();
    place.script.storage();
    place.script.post("/prompts").answer(Answer::data(&stored(7, "Dusk")));
    place.script.post("/generations").answer(Answer::disconnect());
    place.script.get("/generations/{job}/status").always(Answer::error(404, "no such job"));
    let journal = place.open().await;
    journal.run("image", place.client.uploads().image(fixture::png())).await.unwrap();
    let signed = "https://cdn.example/a.png?signature=of-the-caller";
    let create = place.create("Dusk").image_url(signed).reference_media_urls([signed]);
    journal.run("prompt", create).await.unwrap();
    let generate = place.generate().image_input(signed).image_inputs([signed]);
    journal.run("job", generate.reference_image_urls([signed])).await.unwrap_err();
    let text = place.text();
    for there in ["Still life", "A harbour", r#""event":"slot""#, r#""event":"not_done""#] {
        assert!(text.contains(there), "{there} is not in {text}");
    }
    let slot = fixture::upload_slot();
    for secret in [API_KEY, slot.token.expose(), "signature", slot.upload_url.expose().as_str()] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
    let debug = format!("{journal:?}");
    assert!(!debug.contains(API_KEY), "{debug}");
    assert_eq!(serde_json::to_value(Resolved::NotDone).unwrap(), "not_done");
}
