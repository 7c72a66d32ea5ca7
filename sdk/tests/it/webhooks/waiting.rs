//! A wait that is fed by events.

use std::time::Duration;

use futures::stream;
use promptarium::testing::{Answer, Script, client, fixture};
use promptarium::{GenerationState, JobId, WebhookEventType};
use tokio::time::{Instant, sleep};

#[tokio::test(start_paused = true)]
async fn an_event_of_the_job_ends_the_wait_before_the_next_poll() {
    let script = Script::new();
    let queued = fixture::generation_status(GenerationState::Queued);
    script.get("/generations/job-1/status").answer(Answer::data(&queued));
    script.get("/prompts/7").answer(Answer::data(&fixture::prompt()));
    let mut other = fixture::webhook_event();
    other.generation.as_mut().unwrap().client_job_id = Some(JobId::from("job-2"));
    let events = stream::unfold(vec![fixture::webhook_event(), other], |mut left| async {
        sleep(Duration::from_secs(2)).await;
        left.pop().map(|event| (event, left))
    });
    let start = Instant::now();
    let events = Box::pin(events);
    let finished = client(&script).generations().wait("job-1").notified(events).await.unwrap();
    assert_eq!(finished.prompts, [fixture::prompt()]);
    assert_eq!(start.elapsed().as_secs(), 4);
    script.verify().unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_event_of_a_failure_fails_the_wait() {
    let script = Script::new();
    let queued = fixture::generation_status(GenerationState::Queued);
    script.get("/generations/job-1/status").answer(Answer::data(&queued));
    let mut event = fixture::webhook_event();
    event.kind = WebhookEventType::GenerationFailed;
    event.generation = Some(fixture::generation_status(GenerationState::Failed));
    let events = stream::unfold(Some(event), |event| async {
        sleep(Duration::from_secs(2)).await;
        event.map(|event| (event, None))
    });
    let wait = client(&script).generations().wait("job-1").notified(Box::pin(events));
    assert!(wait.await.unwrap_err().is_job_failed());
}

#[tokio::test(start_paused = true)]
async fn without_an_event_the_job_is_polled_once_a_minute() {
    let script = Script::new();
    let queued = fixture::generation_status(GenerationState::Queued);
    script.get("/generations/job-1/status").answer(Answer::data(&queued));
    let completed = fixture::generation_status(GenerationState::Completed);
    script.get("/generations/job-1/status").answer(Answer::data(&completed));
    script.get("/prompts/7").answer(Answer::data(&fixture::prompt()));
    let wait = client(&script).generations().wait("job-1").notified(stream::empty());
    let start = Instant::now();
    wait.await.unwrap();
    assert!((30..=60).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
}
