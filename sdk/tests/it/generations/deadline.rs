//! One timeout bounds the request, the polls and the search for the output.

use promptarium::{Client, JobId, RetryPolicy, VaultId};

use super::*;

fn generation(client: &Client) -> promptarium::request::CreateGeneration {
    client.generations().create("local/plasma", "A harbour").client_job_id("job-1")
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_wait_bounds_the_request_too() {
    for answer in [Answer::never(), Answer::data(&json!({})).stall_at(3), Answer::disconnect()] {
        let script = Script::new();
        script.post(path::GENERATIONS).always(answer);
        script.get(path::GENERATION_STATUS).always(Answer::error(404, "no such job"));
        let start = Instant::now();
        let wait = generation(&client(&script)).and_wait().timeout(SECOND);
        let error = wait.await.unwrap_err();
        assert!(start.elapsed() <= SECOND + SECOND / 100, "{:?}", start.elapsed());
        assert!(error.is_outcome_unknown(), "{error}");
        assert_eq!(error.job_id(), Some(&JobId::from("job-1")));
        assert!(error.to_string().contains("job-1"), "{error}");
        let posts = script.calls().iter().filter(|call| call.starts_with("POST")).count();
        assert_eq!(posts, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_for_the_request_is_part_of_the_timeout() {
    let polls = Polls::states(&["queued"]);
    polls.script.post(path::GENERATIONS).always(Answer::data(&json!({})).after(6 * SECOND));
    let start = Instant::now();
    let wait = generation(&polls.client()).and_wait().timeout(10 * SECOND);
    assert!(wait.await.unwrap_err().is_wait_timeout());
    assert_eq!(start.elapsed(), 10 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_not_sent_in_time_queued_nothing() {
    let script = Script::new();
    script.post(path::GENERATIONS).always(Answer::no_connection());
    let start = Instant::now();
    let error = generation(&client(&script)).and_wait().timeout(SECOND).await.unwrap_err();
    assert!(!error.is_outcome_unknown() && error.is_connect(), "{error}");
    assert!(start.elapsed() <= SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_completed_job_is_not_reported_as_a_wait_that_timed_out() {
    let searches = [
        Answer::data(&Vec::<Value>::new()),
        Answer::error(503, "busy"),
        Answer::never(),
        Answer::data(&Vec::<Value>::new()).after(2 * SECOND),
    ];
    for search in searches {
        let script = Script::new();
        script.post(path::GENERATIONS).always(Answer::data(&json!({})));
        script.get(path::GENERATION_STATUS).always(Answer::data(&json!({ "status": "completed" })));
        script.get(path::VAULT_PROMPTS).always(search);
        let client = builder(&script).retry(RetryPolicy::never()).build().unwrap();
        let start = Instant::now();
        let wait = generation(&client).vault(VaultId::new(3)).and_wait();
        let error = wait.timeout(SECOND * 3 / 10).await.unwrap_err();
        assert!(error.is_output_not_found() && !error.is_wait_timeout(), "{error}");
        assert_eq!(error.last_status().unwrap().state, GenerationState::Completed);
        assert!(start.elapsed() <= SECOND * 3 / 10 + SECOND / 100, "{:?}", start.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_the_timeout_of_a_wait_ends_names_that_timeout() {
    let script = Script::new();
    script.post(path::GENERATIONS).always(Answer::never());
    let error = generation(&client(&script)).and_wait().timeout(SECOND).await.unwrap_err();
    assert!(error.to_string().contains("timed out after 1s (timeout)"), "{error}");
}
