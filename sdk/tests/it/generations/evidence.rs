//! Which answers prove that the service has a job whose response was lost.

use promptarium::Outcome;
use promptarium::testing::client;

use super::*;

/// Successes that prove nothing about a job.
pub(crate) const NO_PROOF: [&str; 19] = [
    r#"{"data":null}"#,
    r#"{"data":{}}"#,
    r#"{"data":[]}"#,
    "[]",
    r#"{"data":{"status":null}}"#,
    r#"{"data":{"status":"not_found"}}"#,
    r#"{"data":{"status":"unknown"}}"#,
    r#"{"data":{"status":"Not Found","clientJobId":"job-1"}}"#,
    r#"{"data":{"exists":false,"clientJobId":"job-1"}}"#,
    r#"{"data":{"status":"queued","clientJobId":"job-2"}}"#,
    r#"{"data":{"status":"warming_up"}}"#,
    r#"{"data":{"message":"job-1"}}"#,
    r#"{"exists":false}"#,
    r#"{"data":{"found":false}}"#,
    // A list of jobs, or another job, for an id that it does not look at.
    r#"{"data":[{"id":"job-2","status":"queued"}]}"#,
    r#"{"data":{"jobs":[{"status":"completed"},{"status":"completed"}]}}"#,
    r#"{"data":{"client_job_id":"job-2","status":"queued"}}"#,
    r#"{"data":{"status":"queued","job":{"clientJobID":"job-2"}}}"#,
    r#"{"data":{"status":"Does not exist","clientJobId":"job-1"}}"#,
];

async fn lost(status: &'static str) -> Result<String, Outcome> {
    let script = Script::new();
    script.post(path::GENERATIONS).always(Answer::disconnect());
    script.get(path::GENERATION_STATUS).always(Answer::raw(200, "application/json", status));
    let create = client(&script).generations().create("local/plasma", "A harbour");
    let outcome = create.client_job_id("job-1").await;
    outcome.map(|job| job.client_job_id.to_string().to_lowercase()).map_err(|error| error.outcome())
}

#[tokio::test(start_paused = true)]
async fn a_success_without_a_known_state_and_without_the_id_of_the_job_proves_nothing() {
    for status in NO_PROOF {
        assert_eq!(lost(status).await, Err(Outcome::Unknown), "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_known_state_or_the_id_of_the_job_proves_that_the_service_has_it() {
    for status in [
        r#"{"data":{"status":"IN PROGRESS"}}"#,
        r#"{"data":{"status":"queued","clientJobId":"job-1"}}"#,
        r#"{"data":{"status":"warming_up","clientJobId":"job-1"}}"#,
        r#"{"data":{"clientJobId":"job-1"}}"#,
        r#"{"data":{"job":{"id":"job-1","state":"canceled"}}}"#,
        r#"{"data":"completed"}"#,
        r#"{"data":{"status":"queued","clientJobId":" JOB-1"}}"#,
        r#"{"data":[{"id":"job-2"},{"clientJobId":"job-1","status":"queued"}]}"#,
        r#"{"data":{"status":"queued","outputs":[{"status":"failed"}]}}"#,
    ] {
        assert_eq!(lost(status).await, Ok("job-1".to_owned()), "{status}");
    }
}
