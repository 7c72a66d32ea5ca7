//! The file: what is cut, broken, locked or foreign, and what is never in it.

use std::fs;

use promptarium::Outcome;
use promptarium::durable::{Journal, Resolved};
use promptarium::testing::{self, API_KEY, Answer, fixture};
use serde_json::{Value, json};

use super::{Place, open_prompt, stored};
#[cfg(unix)]
use crate::connections::child::passes_in_child_of;

#[tokio::test(start_paused = true)]
async fn a_file_that_was_cut_at_any_byte_keeps_every_complete_line() {
    let done = |key: &str, id| json!({ "event": "done", "key": key, "value": stored(id, "Dusk") });
    let lines = [open_prompt("a", "Dusk"), open_prompt("b", "Dusk"), done("b", 2), done("a", 1)];
    let place = Place::new();
    drop(place.open().await);
    let header = place.text();
    let whole = Place::with(&lines).text();
    let whole = header + whole.split_once('\n').unwrap().1;
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
    let version = |version| format!("{{\"promptariumJournal\":{version},\"baseUrl\":\"b\"}}\n");
    let (older, newer) = (version(1), version(3));
    let foreign = "the file is not a journal";
    for (text, problem) in [
        ("hello", foreign),
        ("{\"promptariumJournal\":2}\n", foreign),
        ("{}\n", foreign),
        ("{\"promptariumJournal\":3}", foreign),
        (&*older, "the journal has version 1, not 2"),
        (&*newer, "the journal has version 3, not 2"),
    ] {
        let place = Place::new();
        fs::write(place.path(), text).unwrap();
        let error = place.try_open().await.unwrap_err();
        let problem = format!("line 1: {problem}");
        assert!(error.to_string().contains(&problem), "{error}");
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
    for there in ["Still life", "A harbour", r#""event":"not_done""#] {
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

/// Runs in a process that may write files of 8 KiB only, as a full disk would end a larger line.
#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn a_journal_goes_on_after_a_line_for_which_the_disk_had_no_space() {
    let name = "durable::file::a_journal_goes_on_after_a_line_for_which_the_disk_had_no_space";
    if passes_in_child_of("ulimit -f 16; trap '' XFSZ; exec \"$0\" \"$@\"", name) {
        return;
    }
    let place = Place::new();
    place.script.post("/prompts").always(Answer::data(&stored(7, "Dusk")));
    let journal = place.open().await;
    let large = || place.client.prompts().create("Large", "x".repeat(9000));
    let error = journal.run("large", large()).await.unwrap_err();
    assert!(error.is_input() && error.outcome() == Outcome::NotDone, "{error}");
    journal.run("small", place.create("Dusk")).await.unwrap();
    journal.run("large", large()).await.unwrap_err();
    journal.run("smaller", place.create("Dusk")).await.unwrap();
    drop(journal);
    assert!(place.text().lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    let journal = place.open().await;
    journal.run("small", place.create("Dusk")).await.unwrap();
    assert_eq!(place.script.calls(), ["POST /prompts"; 2]);
}

#[tokio::test]
async fn a_journal_of_another_account_is_refused() {
    let place = Place::new();
    drop(place.open().await);
    let stranger = testing::builder(&place.script).api_key("promptarium_test_1_key");
    let opened = Journal::open(&stranger.build().unwrap(), place.path()).await;
    assert!(
        opened.unwrap_err().to_string().contains("line 1: the journal is one of another API key")
    );
}
