//! Final states of other services.

use super::*;

const FINAL: [&str; 3] = ["canceled", "expired", "timed_out"];

#[tokio::test(start_paused = true)]
async fn a_final_state_that_is_named_ends_a_wait_as_a_failure() {
    for state in ["canceled", "Expired", "TIMED OUT"] {
        let polls = Polls::states(&["queued", state]);
        let wait = polls.client().generations().wait("job-1").final_states(FINAL);
        let error = wait.await.unwrap_err();
        assert!(error.is_job_failed(), "{error}");
        assert_eq!(error.to_string(), format!("the generation \"job-1\" ended as `{state}`"));
        assert_eq!(error.last_status().map(|status| status.state.as_str()), Some(state));
        assert_eq!(polls.times().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_state_of_success_that_is_named_has_the_output() {
    let succeeded = Answer::data(&json!({ "status": "Succeeded", "promptId": 7 }));
    let polls = Polls::new(vec![state_answer("queued"), succeeded]);
    let wait = polls.client().generations().wait("job-1").success_states(["succeeded"]);
    assert_eq!(wait.await.unwrap().prompts[0].id, PromptId::new(7));
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_with_a_final_state_that_is_named() {
    let polls = Polls::states(&["queued", "canceled"]);
    let mut watch = polls.client().generations().watch("job-1").final_states(FINAL);
    while watch.try_next().await.unwrap().is_some() {}
    assert_eq!(watch.last_status().unwrap().state.as_str(), "canceled");
    assert_eq!(polls.times().len(), 2);
}
