//! Steps that are run: what is sent, and what is not.

use std::time::Duration;

use futures::future::join_all;
use promptarium::testing::{Answer, STORAGE_URL, fixture};
use promptarium::{PromptId, RetryPolicy};
use tokio::time::timeout;

use super::{Place, stored};

#[tokio::test(start_paused = true)]
async fn a_step_is_sent_once_also_by_the_next_program() {
    let place = Place::new();
    place.script.storage();
    place.script.post("/prompts").answer(Answer::data(&stored(7, "Dusk")));
    place.script.post("/vaults").answer(Answer::data(&fixture::vault()));
    place.script.post("/generations").answer(Answer::data(&fixture::generation_job()).status(202));
    let mut results = Vec::new();
    for _ in 0..3 {
        let journal = place.open().await;
        for _ in 0..2 {
            let image = place.client.uploads().image(fixture::png());
            results.push((
                journal.run("image", image).await.unwrap(),
                journal.run("prompt", place.create("Dusk")).await.unwrap(),
                journal.run("vault", place.client.vaults().create("Landscapes")).await.unwrap(),
                journal.run("job", place.generate()).await.unwrap(),
            ));
        }
    }
    assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
    let calls = place.script.calls();
    assert_eq!(calls.len(), 5, "{calls:?}");
    place.script.verify().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_key_that_was_used_for_another_call_is_an_error_that_names_it() {
    let place = Place::new();
    place.script.storage();
    place.script.post("/prompts").answer(Answer::data(&stored(7, "Dusk")));
    let journal = place.open().await;
    journal.run("harbour", place.create("Dusk")).await.unwrap();
    journal.run("picture", place.client.uploads().image(fixture::png())).await.unwrap();
    let calls = place.script.calls().len();
    let vault = place.client.vaults().create("Dusk");
    let larger = [&fixture::png()[..], b"more"].concat();
    for (key, error) in [
        ("harbour", journal.run("harbour", place.create("Dawn")).await.unwrap_err()),
        ("harbour", journal.run("harbour", vault).await.unwrap_err()),
        (
            "picture",
            journal.run("picture", place.client.uploads().image(larger)).await.unwrap_err(),
        ),
    ] {
        assert!(error.is_input(), "{error}");
        let text = format!("the step \"{key}\" of the journal is another call; use another key");
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(place.script.calls().len(), calls);
}

#[tokio::test(start_paused = true)]
async fn a_picture_that_is_gone_is_not_needed_again() {
    let place = Place::new();
    place.script.storage();
    let file = place.folder.path().join("a.png");
    std::fs::write(&file, fixture::png()).unwrap();
    let journal = place.open().await;
    let first = journal.run("a", place.client.uploads().image(&file)).await.unwrap();
    std::fs::remove_file(&file).unwrap();
    let second = journal.run("a", place.client.uploads().image(&file)).await.unwrap();
    assert_eq!(first, second);
}

#[tokio::test(start_paused = true)]
async fn what_was_refused_is_sent_again_at_once_and_may_be_corrected() {
    let place = Place::new();
    place.script.post("/prompts").answer(Answer::error(400, "no")).answer(Answer::error(400, "no"));
    place.script.post("/prompts").answer(Answer::data(&stored(7, "Dawn")));
    assert!(place.open().await.run("a", place.create("Dusk")).await.unwrap_err().is_invalid());
    let journal = place.open().await;
    assert!(journal.run("a", place.create("Dusk")).await.unwrap_err().is_invalid());
    assert_eq!(journal.run("a", place.create("Dawn")).await.unwrap().title, "Dawn");
    assert_eq!(place.script.calls(), ["POST /prompts"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_key_is_run_once_at_a_time_and_other_keys_beside_it() {
    let place = Place::new();
    let slow = |id| Answer::data(&stored(id, "Dusk")).after(Duration::from_secs(1));
    for id in 1..=8 {
        place.script.post("/prompts").answer(slow(id));
    }
    let journal = place.open().await;
    let keys = ["a", "b", "c", "d", "e", "f", "g", "h", "a"];
    let began = tokio::time::Instant::now();
    let outcomes = join_all(keys.map(|key| journal.run(key, place.create("Dusk")))).await;
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let (errors, prompts): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_err);
    let mut ids: Vec<_> = prompts.into_iter().map(|prompt| prompt.unwrap().id).collect();
    ids.sort();
    assert_eq!(ids, (1..=8).map(PromptId::new).collect::<Vec<_>>());
    let errors: Vec<_> = errors.into_iter().map(|error| error.unwrap_err().to_string()).collect();
    assert_eq!(errors, ["the step \"a\" of the journal is running"]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_response_is_found_in_the_list() {
    let place = Place::new();
    place.script.post("/prompts").answer(Answer::disconnect());
    let mut prompt = stored(7, "Dusk");
    prompt.created_at = promptarium::Timestamp::now();
    place.script.get("/prompts").answer(Answer::page(&fixture::page(vec![prompt])));
    let journal = place.open().await;
    assert_eq!(journal.run("a", place.create("Dusk")).await.unwrap().id, PromptId::new(7));
    assert_eq!(place.script.calls(), ["POST /prompts", "GET /prompts?limit=100"]);
    place.script.verify().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_lost_request_is_an_error_with_a_known_outcome_after_the_settle_time() {
    let place = Place::new();
    place.script.post("/prompts").answer(Answer::disconnect());
    place.script.get("/prompts").list(vec![stored(7, "Dawn")], 100);
    let journal = place.open().await.with_settle(Duration::from_secs(5));
    let began = tokio::time::Instant::now();
    let error = journal.run("a", place.create("Dusk")).await.unwrap_err();
    assert!(error.is_transport() && !error.is_outcome_unknown(), "{error}");
    assert!(!error.to_string().contains("unknown"), "{error}");
    assert!(began.elapsed() >= Duration::from_secs(5));
    place.script.post("/prompts").answer(Answer::data(&stored(8, "Dusk")));
    assert_eq!(journal.run("a", place.create("Dusk")).await.unwrap().id, PromptId::new(8));
    let lists = ["GET /prompts?limit=100"; 2];
    assert_eq!(place.script.calls(), [&["POST /prompts"], &lists[..], &["POST /prompts"]].concat());
}

#[tokio::test(start_paused = true)]
async fn a_step_whose_future_was_dropped_is_asked_for() {
    let place = Place::new();
    place.script.post("/prompts").answer(Answer::never());
    let journal = place.open().await;
    let run = journal.run("a", place.create("Dusk"));
    timeout(Duration::from_secs(1), run).await.unwrap_err();
    let mut prompt = stored(7, "Dusk");
    prompt.created_at = promptarium::Timestamp::now();
    place.script.get("/prompts").list(vec![prompt], 100);
    assert_eq!(journal.run("a", place.create("Dusk")).await.unwrap().id, PromptId::new(7));
}

#[tokio::test(start_paused = true)]
async fn a_picture_that_may_have_been_sent_is_sent_again() {
    let place = Place::new();
    let put = format!("{STORAGE_URL}/{{name}}");
    place.script.put(&put).answer(Answer::disconnect());
    place.script.storage();
    let journal = place.open().await;
    let image = || place.client.uploads().image(fixture::png()).retry(RetryPolicy::never());
    let error = journal.run("a", image()).await.unwrap_err();
    assert!(!error.is_outcome_unknown(), "{error}");
    journal.run("a", image()).await.unwrap();
    let calls = place.script.calls();
    assert_eq!(calls.iter().filter(|call| call.starts_with("PUT ")).count(), 2, "{calls:?}");
}
