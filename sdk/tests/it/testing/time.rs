//! Calls on a virtual clock: delays, limits and deadlines to the millisecond, in no time.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::join_all;
use promptarium::testing::{Answer, Script, builder, client, fixture};
use promptarium::{GenerationState, PromptId, RetryPolicy, path};

const SECOND: Duration = Duration::from_secs(1);

fn status(state: GenerationState) -> Answer {
    Answer::data(&fixture::generation_status(state))
}

#[tokio::test]
async fn delays_between_attempts_are_those_of_the_policy_and_of_the_service() {
    let script = Script::new();
    let get = script.get(path::PROMPT).answer(Answer::refusal(503, "busy"));
    let get = get.answer(Answer::refusal(429, "slow down").retry_after(30 * SECOND));
    get.answer(Answer::data(&fixture::prompt()));
    let start = Instant::now();
    client(&script).prompts().get(PromptId::new(7)).await.unwrap();
    let slept = script.clock().slept();
    assert!((SECOND / 10..=SECOND / 5).contains(&slept[0]), "{slept:?}");
    assert_eq!(slept[1..], [30 * SECOND]);
    assert_eq!(script.clock().elapsed(), slept[0] + slept[1]);
    assert!(start.elapsed() < 10 * SECOND);
    script.verify().unwrap();
}

#[tokio::test]
async fn delays_are_the_same_in_every_run() {
    let run = async || {
        let script = Script::new();
        script.any().always(Answer::refusal(503, "busy"));
        client(&script).prompts().get(PromptId::new(7)).await.unwrap_err();
        script.clock().slept()
    };
    assert_eq!(run().await, run().await);
}

#[tokio::test]
async fn an_answer_in_time_is_taken_and_a_late_one_is_not() {
    for (delay, in_time) in [(19, true), (21, false)] {
        let script = Script::new();
        script.any().always(Answer::data(&fixture::prompt()).after(delay * SECOND));
        let client = builder(&script).retry(RetryPolicy::never()).build().unwrap();
        let outcome = client.prompts().get(PromptId::new(7)).await;
        assert_eq!(outcome.is_ok(), in_time);
        assert!(outcome.is_ok() || outcome.unwrap_err().is_timeout());
        assert_eq!(script.clock().elapsed(), SECOND * delay.min(20));
    }
}

#[tokio::test]
async fn a_date_in_retry_after_is_read_by_the_same_clock() {
    let script = Script::new();
    let date = "Sun, 01 Mar 2026 12:00:45 GMT";
    let get =
        script.get(path::PROMPT).answer(Answer::refusal(503, "busy").header("retry-after", date));
    get.answer(Answer::data(&fixture::prompt()));
    client(&script).prompts().get(PromptId::new(7)).await.unwrap();
    assert_eq!(script.clock().slept(), [45 * SECOND]);
}

#[tokio::test]
async fn a_job_is_waited_for_through_all_its_states() {
    let script = Script::new();
    let states = script.get(path::GENERATION_STATUS).answer(status(GenerationState::Queued));
    let states = states.answer(status(GenerationState::InProgress).after(3 * SECOND));
    let states = states.answer(Answer::hang_up());
    states.answer(status(GenerationState::Completed));
    script.get(path::PROMPT).answer(Answer::data(&fixture::prompt()));
    let told = Arc::new(Mutex::new(Vec::new()));
    let noted = told.clone();
    let wait = client(&script).generations().wait("job-1");
    let wait = wait.on_change(move |now| noted.lock().unwrap().push(now.status.to_string()));
    assert_eq!(wait.await.unwrap(), fixture::finished_generation());
    assert_eq!(*told.lock().unwrap(), ["queued", "in_progress", "completed"]);
    assert_eq!(script.clock().slept().len(), 4, "three delays between polls, and a slow answer");
    script.verify().unwrap();
}

#[tokio::test]
async fn a_deadline_is_reached_exactly_and_at_once() {
    let (script, start) = (Script::new(), Instant::now());
    script.get(path::GENERATION_STATUS).always(status(GenerationState::Queued));
    let wait = client(&script).generations().wait("job-1").deadline(3600 * SECOND);
    assert!(wait.await.unwrap_err().is_deadline());
    assert_eq!(script.clock().elapsed(), 3600 * SECOND);
    assert!(script.requests().len() > 700);
    assert!(start.elapsed() < 30 * SECOND);
}

#[tokio::test]
async fn a_watch_that_is_kept_aside_holds_up_no_other_call() {
    let script = Script::new();
    script.get(path::GENERATION_STATUS).always(status(GenerationState::Queued).after(SECOND));
    script.get(path::PROMPT).always(Answer::data(&fixture::prompt()).after(15 * SECOND));
    let client = client(&script);
    let mut watch = client.generations().watch("job-1").deadline(20 * SECOND);
    watch.next().await.unwrap().unwrap();
    for _ in 0..3 {
        client.prompts().get(PromptId::new(7)).await.unwrap();
    }
    assert_eq!(script.clock().elapsed(), 46 * SECOND);
    assert!(watch.next().await.unwrap().unwrap_err().is_deadline());
}

/// Each call is answered after its own time, some only at the third attempt.
async fn many_calls(script: &Script) {
    script.get(path::PROMPT).always_with(|asked| {
        let id: u64 = asked.path.rsplit('/').next().unwrap().parse().unwrap();
        let mut prompt = fixture::prompt();
        prompt.id = i64::try_from(id).unwrap().into();
        Answer::data(&prompt).after(Duration::from_millis(id))
    });
    let client = client(script);
    let call = async |id: i64| {
        let clock = client.clone();
        let prompt = clock.prompts().get(PromptId::new(id)).await.unwrap();
        assert_eq!(prompt.id, PromptId::new(id));
    };
    join_all((1..=200).map(call)).await;
}

#[tokio::test]
async fn calls_at_once_take_as_long_as_the_longest() {
    let script = Script::new();
    many_calls(&script).await;
    assert_eq!(script.clock().elapsed(), Duration::from_millis(200));
    assert!(script.clock().slept().is_sorted());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn so_they_do_on_several_threads() {
    let script = Script::new();
    script.get(path::PROMPT).always(Answer::data(&fixture::prompt()).after(SECOND));
    let calls = (0..50).map(|_| {
        let get = client(&script).prompts().get(PromptId::new(7));
        tokio::spawn(async { get.await.unwrap() })
    });
    join_all(calls).await;
    assert_eq!(script.clock().elapsed(), SECOND);
    assert_eq!(script.requests().len(), 50);

    let script = Script::new();
    script.get(path::GENERATION_STATUS).always(status(GenerationState::Queued));
    let wait = client(&script).generations().wait("job-1").deadline(60 * SECOND).into_future();
    assert!(tokio::spawn(wait).await.unwrap().unwrap_err().is_deadline());
    assert_eq!(script.clock().elapsed(), 60 * SECOND);
}
