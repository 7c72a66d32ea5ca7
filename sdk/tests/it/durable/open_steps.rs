//! Open steps of a program that was killed: one rule, one test.

use std::time::Duration;

use futures::future::join_all;
use promptarium::durable::{Resolution, Resolved};
use promptarium::testing::{Answer, fixture};
use promptarium::{GenerationState, JobId, PromptId, VaultId};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Place, began_at, begin, open_prompt, stored};

const LIST: &str = "GET /prompts?limit=100";
const SETTLE: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn a_prompt_that_is_in_the_list_was_created() {
    let place = Place::with(&[open_prompt("a", "Dusk")]);
    place.script.get("/prompts").list(vec![stored(6, "Dawn"), stored(7, "Dusk")], 1);
    let journal = place.open().await;
    let began = Instant::now();
    assert_eq!(journal.run("a", place.create("Dusk")).await.unwrap(), stored(7, "Dusk"));
    assert_eq!(began.elapsed(), Duration::ZERO, "what is there needs no waiting");
    assert_eq!(place.script.calls(), [LIST.to_owned(), format!("{LIST}&cursor=from-1")]);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_is_not_in_the_list_is_sent_after_the_settle_time() {
    let place = Place::with(&[open_prompt("a", "Dusk")]);
    place.script.get("/prompts").list(vec![old(stored(6, "Dawn"))], 100);
    place.script.post("/prompts").answer(Answer::data(&stored(7, "Dusk")));
    let journal = place.open().await;
    let began = Instant::now();
    assert_eq!(journal.run("a", place.create("Dusk")).await.unwrap(), stored(7, "Dusk"));
    assert!(began.elapsed() >= SETTLE && began.elapsed() < SETTLE + Duration::from_secs(1));
    assert_eq!(place.script.calls(), [LIST, LIST, "POST /prompts"]);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_comes_within_the_settle_time_is_found() {
    let place = Place::with(&[open_prompt("a", "Dusk")]);
    let page = |prompts| Answer::page(&fixture::page(prompts));
    place.script.get("/prompts").answer(page(vec![])).answer(page(vec![stored(7, "Dusk")]));
    let journal = place.open().await;
    assert_eq!(journal.run("a", place.create("Dusk")).await.unwrap(), stored(7, "Dusk"));
    place.script.verify().unwrap();
}

#[tokio::test(start_paused = true)]
async fn eight_open_prompts_cost_one_reading_of_the_list_and_one_more_if_some_are_absent() {
    let titles: Vec<_> = (0..8).map(|n| format!("Study {n}")).collect();
    let lines: Vec<_> = titles.iter().map(|title| open_prompt(title, title)).collect();
    for (present, posts, lists) in [(8, 0, 1), (5, 3, 2)] {
        let place = Place::with(&lines);
        let there = (0..present).map(|n| stored(n, &titles[n as usize])).collect();
        place.script.get("/prompts").list(there, 100);
        place.script.post("/prompts").always(Answer::data(&stored(9, "new")));
        let journal = place.open().await;
        let runs = titles.iter().map(|title| journal.run(title, place.create(title)));
        for outcome in join_all(runs).await {
            outcome.unwrap();
        }
        let calls = place.script.calls();
        let count = |line: &str| calls.iter().filter(|call| *call == line).count();
        assert_eq!((count("POST /prompts"), count(LIST)), (posts, lists), "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn steps_with_the_same_content_share_the_prompts_that_are_there() {
    let place = Place::with(&[open_prompt("a", "Dusk"), open_prompt("b", "Dusk")]);
    place.script.get("/prompts").list(vec![stored(7, "Dusk")], 100);
    place.script.post("/prompts").answer(Answer::data(&stored(8, "Dusk")));
    let journal = place.open().await;
    assert_eq!(journal.run("b", place.create("Dusk")).await.unwrap().id, PromptId::new(8));
    assert_eq!(journal.run("a", place.create("Dusk")).await.unwrap().id, PromptId::new(7));
    place.script.verify().unwrap();
}

#[tokio::test(start_paused = true)]
async fn more_prompts_than_steps_are_ambiguous_until_the_caller_decides() {
    for decision in [Resolution::NotDone, Resolution::Prompt(Box::new(stored(7, "Dusk")))] {
        let place = Place::with(&[open_prompt("a", "Dusk")]);
        place.script.get("/prompts").list(vec![stored(7, "Dusk"), stored(8, "Dusk")], 100);
        let journal = place.open().await;
        let error = journal.run("a", place.create("Dusk")).await.unwrap_err();
        assert!(error.is_ambiguous(), "{error}");
        assert_eq!(
            error.to_string(),
            "cannot tell whether the step \"a\" was carried out: the service has more like it than \
             steps of the journal"
        );
        assert_eq!(place.script.calls(), [LIST, LIST], "nothing is sent");

        let vault = Resolution::Vault(Box::new(fixture::vault()));
        assert!(journal.resolve("a", vault).await.unwrap_err().is_input());
        assert!(journal.resolve("b", Resolution::NotDone).await.unwrap_err().is_input());
        place.script.post("/prompts").always(Answer::data(&stored(9, "Dusk")));
        let id = if matches!(decision, Resolution::NotDone) { 9 } else { 7 };
        journal.resolve("a", decision).await.unwrap();
        drop(journal);
        let journal = place.open().await;
        assert_eq!(journal.run("a", place.create("Dusk")).await.unwrap().id, PromptId::new(id));
        let decided = journal.resolve("a", Resolution::NotDone).await.unwrap_err();
        assert_eq!(decided.to_string(), "no step \"a\" of the journal is open");
    }
}

/// Created before any step.
fn old(mut prompt: promptarium::Prompt) -> promptarium::Prompt {
    prompt.created_at = jiff_minutes(-6);
    prompt
}

/// Whether a prompt counts as the one of the open step; `None` if that cannot be told.
async fn counts(prompt: promptarium::Prompt, date: Option<&str>) -> Option<bool> {
    let place = Place::with(&[open_prompt("a", "Dusk")]);
    let page = Answer::page(&fixture::page(vec![prompt]));
    let page = date.map_or(page.clone(), |date| page.header("date", date));
    place.script.get("/prompts").always(page);
    place.script.post("/prompts").always(Answer::data(&stored(9, "Dusk")));
    match place.open().await.run("a", place.create("Dusk")).await {
        Ok(found) => Some(found.id != PromptId::new(9)),
        Err(error) => {
            assert!(error.is_ambiguous(), "{error}");
            None
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_prompt_with_another_title_text_type_or_platform_leaves_it_open() {
    assert_eq!(counts(stored(7, "Dusk"), None).await, Some(true));
    type Change = fn(&mut promptarium::Prompt);
    let changes: [(Change, Option<bool>); 9] = [
        (|it| it.title = "dusk".into(), None),
        (|it| it.text = "Still life.".into(), None),
        (|it| it.prompt_type = "image".into(), None),
        (|it| it.platform = Some("print".into()), None),
        (|it| it.created_at = jiff_minutes(-4), Some(true)),
        (|it| it.created_at = jiff_minutes(-6), None),
        (|it| (it.created_at, it.platform) = (jiff_minutes(-6), Some("print".into())), None),
        (|it| (it.created_at, it.title) = (jiff_minutes(-6), "dusk".into()), None),
        (|it| (it.created_at, it.title) = (jiff_minutes(-6), "Dawn".into()), Some(false)),
    ];
    for (index, (change, expected)) in changes.into_iter().enumerate() {
        let mut prompt = stored(7, "Dusk");
        change(&mut prompt);
        assert_eq!(counts(prompt, None).await, expected, "change {index}");
    }
    // A service whose clock is an hour behind says so.
    let mut prompt = stored(7, "Dusk");
    prompt.created_at = jiff_minutes(-58);
    let behind = promptarium::Timestamp::now().as_second() - 3600;
    let behind = std::time::UNIX_EPOCH + Duration::from_secs(behind.try_into().unwrap());
    assert_eq!(counts(prompt, Some(&httpdate::fmt_http_date(behind))).await, Some(true));
}

fn jiff_minutes(minutes: i64) -> promptarium::Timestamp {
    promptarium::Timestamp::from_second(began_at().as_second() + 60 * minutes).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_result_of_another_step_is_no_candidate() {
    let done = json!({ "event": "done", "key": "a", "value": stored(7, "Dusk") });
    let place = Place::with(&[open_prompt("a", "Dusk"), done, open_prompt("b", "Dusk")]);
    place.script.get("/prompts").list(vec![stored(7, "Dusk")], 100);
    place.script.post("/prompts").answer(Answer::data(&stored(8, "Dusk")));
    let journal = place.open().await;
    assert_eq!(journal.run("b", place.create("Dusk")).await.unwrap().id, PromptId::new(8));
}

#[tokio::test(start_paused = true)]
async fn the_list_is_that_of_the_vault_if_the_call_names_one() {
    let content = json!({ "title": "Dusk", "prompt": "Still life", "vaultId": 3 });
    let place = Place::with(&[begin("a", "prompt", &content)]);
    place.script.get("/prompts").list(vec![stored(7, "Dusk")], 100);
    let create = place.create("Dusk").vault(VaultId::new(3));
    place.open().await.run("a", create).await.unwrap();
    assert_eq!(place.script.calls(), ["GET /prompts?limit=100&vaultId=3"]);
}

#[tokio::test(start_paused = true)]
async fn a_vault_is_recognized_by_name_description_and_visibility() {
    let content = json!({ "name": "Landscapes", "description": "Wide views, few people" });
    let mut other = fixture::vault();
    (other.name, other.created_at) = ("Portraits".to_owned(), jiff_minutes(-6));
    let mut open = fixture::vault();
    open.visibility = "public".into();
    let place = Place::with(&[begin("a", "vault", &content)]);
    place.script.get("/vaults").always(Answer::data(&[open]));
    let create = place.client.vaults().create("Landscapes").description("Wide views, few people");
    assert!(place.open().await.run("a", create).await.unwrap_err().is_ambiguous());
    for (vaults, posts) in [(vec![fixture::vault()], 0), (vec![other], 1)] {
        let place = Place::with(&[begin("a", "vault", &content)]);
        place.script.get("/vaults").always(Answer::data(&vaults));
        place.script.post("/vaults").always(Answer::data(&fixture::vault()));
        let create = place.client.vaults().create("Landscapes");
        let create = create.description("Wide views, few people");
        place.open().await.run("a", create).await.unwrap();
        let calls = place.script.calls();
        assert_eq!(
            calls.iter().filter(|call| call.starts_with("POST")).count(),
            posts,
            "{calls:?}"
        );
    }
}

fn open_job() -> Value {
    let content = json!({ "modelId": "local/plasma", "prompt": "A harbour" });
    let mut line = begin("a", "generation", &content);
    line["job"] = json!("job-1");
    line
}

#[tokio::test(start_paused = true)]
async fn a_job_that_the_service_has_was_queued() {
    let place = Place::with(&[open_job()]);
    let status = fixture::generation_status(GenerationState::InProgress);
    place.script.get("/generations/job-1/status").answer(Answer::data(&status));
    let job = place.open().await.run("a", place.generate()).await.unwrap();
    assert_eq!(job.client_job_id, JobId::from("job-1"));
    assert_eq!(place.script.calls(), ["GET /generations/job-1/status"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_the_service_does_not_have_is_sent_again_with_the_same_id() {
    let place = Place::with(&[open_job()]);
    let absent = Answer::error(404, "no such job");
    place.script.get("/generations/job-1/status").answer(absent.clone()).answer(absent);
    place.script.post("/generations").answer(Answer::data(&fixture::generation_job()).status(202));
    let began = Instant::now();
    place.open().await.run("a", place.generate()).await.unwrap();
    assert!(began.elapsed() >= SETTLE);
    let sent = place.script.requests().pop().unwrap();
    assert_eq!(sent.json()["clientJobId"], "job-1");
    place.script.verify().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_404_that_is_not_one_of_the_api_proves_nothing_about_a_job() {
    let place = Place::with(&[open_job()]);
    place.script.any().always(Answer::raw(404, "text/html", "<h1>Not Found</h1>"));
    let error = place.open().await.run("a", place.generate()).await.unwrap_err();
    assert!(error.is_ambiguous(), "{error}");
    assert_eq!(place.script.calls(), ["GET /generations/job-1/status"]);
}

fn open_upload() -> Value {
    begin("a", "upload", &json!({ "size": fixture::uploaded_image().size }))
}

#[tokio::test(start_paused = true)]
async fn an_upload_is_sent_again_at_once() {
    let place = Place::with(&[open_upload()]);
    place.script.storage();
    let began = Instant::now();
    place.open().await.run("a", place.client.uploads().image(fixture::png())).await.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(place.script.calls()[0], "POST /uploads/images");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_refused_is_ambiguous_and_one_that_fails_may_be_asked_again() {
    let place = Place::with(&[open_prompt("a", "Dusk")]);
    place.script.get("/prompts").answer(Answer::error(401, "no such key"));
    let journal = place.open().await;
    let error = journal.run("a", place.create("Dusk")).await.unwrap_err();
    assert!(error.is_ambiguous() && error.to_string().contains("401 Unauthorized"), "{error}");
    place.script.get("/prompts").always(Answer::error(503, "busy"));
    let error = journal.run("a", place.create("Dusk")).await.unwrap_err();
    assert!(error.is_server_error() && error.is_outcome_unknown(), "{error}");
    assert!(!place.script.calls().iter().any(|call| call.starts_with("POST")));
}

#[tokio::test(start_paused = true)]
async fn recovery_tells_the_outcome_of_each_open_step_in_their_order() {
    let done = json!({ "event": "done", "key": "z", "value": stored(1, "Noon") });
    let two = open_prompt("c", "Twice");
    let place = Place::with(&[
        open_prompt("z", "Noon"),
        done,
        open_prompt("b", "Dusk"),
        two,
        open_prompt("d", "Absent"),
        open_upload(),
    ]);
    let there = vec![stored(2, "Twice"), stored(3, "Twice"), stored(4, "Dusk")];
    place.script.get("/prompts").list(there, 100);
    let journal = place.open().await;
    let found = journal.recover().await.unwrap();
    let found: Vec<_> = found.iter().map(|(key, resolved)| (&**key, *resolved)).collect();
    use Resolved::{Ambiguous, Done, NotDone};
    assert_eq!(found, [("a", NotDone), ("b", Done), ("c", Ambiguous), ("d", NotDone)]);
    drop(journal);
    let again = place.open().await.recover().await.unwrap();
    assert_eq!(again, [("c".to_owned(), Ambiguous)]);
}
