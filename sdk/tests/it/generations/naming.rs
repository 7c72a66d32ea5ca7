//! Errors after a job was queued name it, and a job that is not visible yet is waited for.

use promptarium::{Error, JobId, RetryPolicy, VaultId};

use super::*;

fn no_such_job() -> Answer {
    Answer::error(404, "no such job")
}

/// A service that queues jobs, with these answers to polls, the last again and again.
fn service_with(polls: Vec<Answer>) -> Polls {
    let service = Polls::new(polls);
    service.script.post(path::GENERATIONS).always(Answer::data(&json!({})).status(202));
    service
}

async fn and_wait(service: &Polls) -> Result<Vec<Prompt>, Error> {
    let create = service.client().generations().create("local/plasma", "A harbour");
    let create = create.client_job_id("job-1").vault(VaultId::new(3));
    create.and_wait().await.map(|finished| finished.prompts)
}

fn names_the_job(error: &Error) {
    assert_eq!(error.job_id(), Some(&JobId::from("job-1")), "{error}");
    assert_eq!(error.to_string().matches("job-1").count(), 1, "{error}");
}

/// Answers that end a wait.
fn final_answers() -> Vec<Answer> {
    let mut all: Vec<_> =
        [400, 401, 403, 410, 501].map(|status| Answer::error(status, "no")).into();
    all.push(Answer::raw(302, "", "").header("location", "https://elsewhere.example/"));
    all
}

#[tokio::test(start_paused = true)]
async fn an_error_of_a_poll_names_the_job() {
    for answer in final_answers() {
        let late = answer.clone();
        // Late, so that 410 does not mean that the job is not visible yet.
        let polls = vec![state_answer("queued").retry_after(11 * SECOND), late];
        let error = and_wait(&service_with(polls)).await.unwrap_err();
        names_the_job(&error);
        let generations = Polls::new(vec![answer]).client().generations();
        names_the_job(&generations.wait("job-1").await.unwrap_err());
        names_the_job(&generations.watch("job-1").next().await.unwrap().unwrap_err());
        names_the_job(&generations.status("job-1").await.unwrap_err());
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_search_for_the_output_names_the_job() {
    for answer in final_answers() {
        let script = Script::new();
        script.post(path::GENERATIONS).always(Answer::data(&json!({})).status(202));
        script.get(path::GENERATION_STATUS).always(Answer::data(&json!({ "status": "completed" })));
        script.get(path::VAULT_PROMPTS).always(answer.clone());
        script.get(path::VAULTS).always(answer);
        let generations = client(&script).generations();
        let create = generations.create("local/plasma", "A harbour").client_job_id("job-1");
        names_the_job(&create.clone().and_wait().await.unwrap_err());
        names_the_job(&create.vault(VaultId::new(3)).and_wait().await.unwrap_err());
        names_the_job(&generations.wait("job-1").await.unwrap_err());
    }
    let named = Script::new();
    named.get(path::GENERATION_STATUS).always(state_answer("completed"));
    named.get(path::PROMPT).always(Answer::error(401, "no"));
    names_the_job(&client(&named).generations().wait("job-1").await.unwrap_err());
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_request_names_the_job_with_and_without_a_wait() {
    for status in [400, 401, 409, 429] {
        let script = Script::new();
        script.post(path::GENERATIONS).always(Answer::error(status, "no"));
        let client = builder(&script).retry(RetryPolicy::never()).build().unwrap();
        let create = client.generations().create("local/plasma", "A harbour");
        let create = create.client_job_id("job-1");
        names_the_job(&create.clone().await.unwrap_err());
        names_the_job(&create.and_wait().await.unwrap_err());
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_job_that_is_not_visible_yet_is_waited_for() {
    for absent in
        [no_such_job(), Answer::raw(404, "text/html", "<h1>?</h1>"), Answer::error(410, "")]
    {
        let polls = vec![absent.clone(), absent, state_answer("queued"), state_answer("completed")];
        assert_eq!(and_wait(&service_with(polls)).await.unwrap()[0].id, PromptId::new(7));
    }
    // Also by the job that was returned, and by a stored one.
    let service = service_with(vec![no_such_job(), no_such_job(), state_answer("completed")]);
    let generations = service.client().generations();
    let job = generations.create("local/plasma", "A harbour").client_job_id("job-1");
    let job = job.await.unwrap();
    let stored: promptarium::GenerationJob =
        serde_json::from_str(&serde_json::to_string(&job).unwrap()).unwrap();
    generations.wait(stored).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_job_that_stays_absent_for_ten_seconds_does_not_exist() {
    let service = service_with(vec![no_such_job()]);
    let start = Instant::now();
    let error = and_wait(&service).await.unwrap_err();
    assert!(error.is_not_found(), "{error}");
    names_the_job(&error);
    assert!(start.elapsed() >= 10 * SECOND && start.elapsed() < 14 * SECOND, "{start:?}");

    // One that was visible before, and is absent later.
    let polls = vec![state_answer("queued").retry_after(11 * SECOND), no_such_job()];
    assert!(and_wait(&service_with(polls)).await.unwrap_err().is_not_found());
}

#[tokio::test(start_paused = true)]
async fn an_id_from_outside_that_is_absent_does_not_exist() {
    let polls = Polls::new(vec![no_such_job(), state_answer("completed")]);
    let error = polls.client().generations().wait("job-1").await.unwrap_err();
    assert!(error.is_not_found() && polls.times().len() == 1);
    names_the_job(&error);
}

#[tokio::test(start_paused = true)]
async fn a_server_error_of_any_number_between_two_polls_does_not_end_a_wait() {
    for status in [408, 425, 429, 500, 503, 520, 524, 529, 599] {
        let trouble = Answer::error(status, "busy");
        let polls = vec![state_answer("queued"), trouble, state_answer("completed")];
        assert_eq!(and_wait(&service_with(polls)).await.unwrap()[0].id, PromptId::new(7));
    }
}
