//! Polling the status of a job: when, for how long, and what ends it.

use std::error::Error as _;

use promptarium::{Error, JobId, Watch};

use super::*;
use crate::errors::kinds;
use crate::stub::{answering, client as over_http, on_a_fast_clock};

async fn states(watch: &mut Watch) -> Vec<String> {
    let mut states = Vec::new();
    while let Some(change) = watch.next().await {
        states.push(change.map_or_else(|error| error.to_string(), |now| now.state.to_string()));
    }
    states
}

fn busy(status: u16) -> Answer {
    Answer::error(status, "busy")
}

#[tokio::test(start_paused = true)]
async fn the_first_status_comes_at_once_and_each_change_with_its_poll() {
    let polls = Polls::states(&["queued", "in_progress", "in_progress", "completed"]);
    let mut watch = polls.client().generations().watch("job-1");
    let start = Instant::now();
    for (state, poll) in [("queued", 0), ("in_progress", 1), ("completed", 3)] {
        assert_eq!(watch.next().await.unwrap().unwrap().state.as_str(), state);
        assert_eq!(start.elapsed(), polls.times()[poll]);
    }
    assert!(watch.next().await.is_none() && watch.next().await.is_none());
    assert_eq!(polls.times().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn delays_double_from_a_quarter_of_a_second_to_three_seconds() {
    let polls = Polls::states(&["queued"]);
    states(&mut polls.client().generations().watch("job-1")).await;
    let times = polls.times();
    let mut length = 0.25_f64;
    for (before, after) in times.iter().zip(&times[1..]) {
        let delay = (*after - *before).as_secs_f64();
        // Tokio's paused clock counts whole milliseconds.
        assert!((length / 2.0 - 0.002..length + 0.002).contains(&delay), "{delay} of {length}");
        length = (length * 2.0).min(3.0);
    }
    assert!(times.len() > 200, "{}", times.len());
}

#[tokio::test(start_paused = true)]
async fn retry_after_makes_a_delay_longer() {
    let polls = Polls::new(vec![
        state_answer("queued").retry_after(20 * SECOND),
        busy(503).retry_after(20 * SECOND),
        busy(429).header("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT"),
        state_answer("completed"),
    ]);
    let mut watch = polls.client().generations().watch("job-1");
    assert_eq!(states(&mut watch).await, ["queued", "completed"]);
    let times = polls.times();
    assert!(times[1] >= 20 * SECOND && times[1] < 21 * SECOND, "{times:?}");
    assert!(times[2] - times[1] >= 20 * SECOND && times[3] - times[2] < 2 * SECOND, "{times:?}");
    // A longer one than a call waits for would end the wait.
    let long = [state_answer("queued"), busy(503), busy(429)];
    let mut long: Vec<_> = long.map(|answer| answer.retry_after(86_400 * SECOND)).into();
    long.push(state_answer("completed"));
    let polls = Polls::new(long);
    let mut watch = polls.client().generations().watch("job-1");
    assert_eq!(states(&mut watch).await, ["queued", "completed"]);
    assert!((180.0..181.0).contains(&polls.times()[3].as_secs_f64()), "{:?}", polls.times());
}

#[tokio::test(start_paused = true)]
async fn a_transient_error_and_an_unreadable_response_do_not_end_it_and_can_be_seen() {
    let maintenance = r#"{"data":null,"error":"maintenance"}"#;
    for trouble in [
        busy(503),
        Answer::disconnect(),
        Answer::raw(200, "text/html", "<html>"),
        Answer::raw(200, "application/json", maintenance),
    ] {
        let polls = Polls::new(vec![state_answer("queued"), trouble, state_answer("completed")]);
        let mut watch = polls.client().generations().watch("job-1");
        watch.next().await.unwrap().unwrap();
        assert!(watch.last_error().is_none());
        let change = tokio::time::timeout(Duration::from_millis(251), watch.next()).await;
        assert!(change.is_err() && polls.times().len() == 2);
        assert!(watch.last_error().is_some());
        assert_eq!(watch.last_status().unwrap().state.as_str(), "queued");
        assert_eq!(states(&mut watch).await, ["completed"]);
        assert!(watch.last_error().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_final_error_ends_it_at_once() {
    for status in [400, 401, 403] {
        let polls = Polls::new(vec![state_answer("queued"), busy(status), state_answer("queued")]);
        let mut watch = polls.client().generations().watch("job-1");
        watch.next().await.unwrap().unwrap();
        assert_eq!(watch.next().await.unwrap().unwrap_err().status().unwrap(), status);
        assert!(watch.next().await.is_none());
        assert_eq!(polls.times().len(), 2);
        let wait = Polls::new(vec![busy(status)]).client().generations().wait("job-1");
        assert_eq!(wait.await.unwrap_err().status().unwrap(), status);
    }
}

#[tokio::test(start_paused = true)]
async fn a_404_after_a_status_is_asked_again_twice() {
    let gone = || Answer::error(404, "no such job");
    let (queued, completed) = (|| state_answer("queued"), || state_answer("completed"));
    let polls = Polls::new(vec![queued(), gone(), gone(), queued(), gone(), gone(), completed()]);
    assert!(polls.client().generations().wait("job-1").await.is_ok());

    let polls = Polls::new(vec![queued(), state_answer("in_progress"), gone()]);
    let error = polls.client().generations().wait("job-1").await.unwrap_err();
    assert!(error.is_not_found(), "{error}");
    assert_eq!(error.last_status().map(|status| status.state.as_str()), Some("in_progress"));
    assert_eq!(polls.times().len(), 5);
    // Without a status, the job may never have been there.
    let polls = Polls::new(vec![gone(), completed()]);
    assert!(polls.client().generations().wait("job-1").await.unwrap_err().is_not_found());
}

#[tokio::test(start_paused = true)]
async fn every_error_of_a_wait_has_the_last_status() {
    let last = |error: Error| error.last_status().map(|status| status.state.to_string());
    for (trouble, expected) in [
        (busy(401), "queued"),
        (busy(400), "queued"),
        (busy(410), "queued"),
        (Answer::raw(302, "", "").header("location", "/elsewhere"), "queued"),
        (state_answer("failed"), "failed"),
    ] {
        let polls = || Polls::new(vec![state_answer("queued"), trouble.clone()]);
        let waited = polls().client().generations().wait("job-1").await;
        assert_eq!(last(waited.unwrap_err()).as_deref(), Some(expected), "{trouble:?}");
        let (polls, mut end) = (polls(), None);
        let mut watch = polls.client().generations().watch("job-1");
        while let Some(change) = watch.next().await {
            end = change.err();
        }
        let end = end.map(last);
        assert!(end.is_none_or(|end| end.as_deref() == Some(expected)), "{trouble:?}");
    }
    let script = Script::new();
    script.get(path::GENERATION_STATUS).always(state_answer("completed"));
    script.get(path::PROMPT).always(busy(403));
    let error = client(&script).generations().wait("job-1").await.unwrap_err();
    assert_eq!(last(error).as_deref(), Some("completed"));
}

#[tokio::test(start_paused = true)]
async fn the_timeout_says_that_a_state_is_unknown() {
    let text = async |state| {
        let polls = Polls::states(&[state]);
        let wait = polls.client().generations().wait("job-1").timeout(SECOND);
        wait.await.unwrap_err().to_string()
    };
    assert_eq!(
        text("queued").await,
        "the generation \"job-1\" was not finished within 1s; it was queued when last asked"
    );
    assert_eq!(
        text("canceled").await,
        "the generation \"job-1\" was not finished within 1s; it was canceled when last asked, a \
         state that this client does not know; if it is final, name it with `final_states` or \
         `success_states`"
    );
}

#[tokio::test(start_paused = true)]
async fn an_unknown_state_is_shown_and_polled_on() {
    let polls = Polls::states(&["warming_up", "cancelled", "completed"]);
    let mut watch = polls.client().generations().watch("job-1");
    assert_eq!(states(&mut watch).await, ["warming_up", "cancelled", "completed"]);
    // A response that names no state at all.
    let polls = Polls::new(vec![Answer::data(&json!({ "done": false })), state_answer("failed")]);
    let mut watch = polls.client().generations().watch("job-1");
    assert_eq!(states(&mut watch).await, ["unreadable", "failed"]);
}

#[tokio::test(start_paused = true)]
async fn the_timeout_is_exact_whatever_is_in_flight() {
    for (answers, last) in [
        (vec![state_answer("queued")], Some("queued")),
        (vec![state_answer("queued"), Answer::never()], Some("queued")),
        (vec![Answer::never()], None),
        (vec![state_answer("queued").retry_after(3600 * SECOND)], Some("queued")),
        (vec![state_answer("completed").after(11 * SECOND)], None),
    ] {
        let polls = Polls::new(answers);
        let start = Instant::now();
        let error = polls.client().generations().wait("job-1").timeout(10 * SECOND).await;
        let error = error.unwrap_err();
        assert_eq!(start.elapsed(), 10 * SECOND);
        assert!(error.is_wait_timeout() && !error.is_retryable() && !error.is_timeout());
        assert_eq!(error.job_id(), Some(&JobId::from("job-1")));
        assert_eq!(error.last_status().map(|status| status.state.to_string()).as_deref(), last);
    }
}

#[tokio::test(start_paused = true)]
async fn the_timeout_names_the_last_error() {
    let polls = Polls::new(vec![state_answer("queued"), busy(502)]);
    let error = polls.client().generations().wait("job-1").timeout(SECOND).await.unwrap_err();
    assert_eq!(error.last_status().unwrap().state.as_str(), "queued");
    let cause = error.source().unwrap().downcast_ref::<Error>().unwrap();
    assert_eq!(cause.status().unwrap(), 502);
}

#[tokio::test(start_paused = true)]
async fn the_timeout_is_ten_minutes_by_default_and_can_be_removed() {
    let start = Instant::now();
    let wait = Polls::states(&["queued"]).client().generations().wait("job-1");
    assert!(wait.await.unwrap_err().is_wait_timeout());
    assert_eq!(start.elapsed(), 600 * SECOND);

    let mut answers = vec![state_answer("queued"); 2000];
    answers.push(state_answer("completed"));
    let wait = Polls::new(answers).client().generations().wait("job-1");
    assert!(wait.timeout(Duration::MAX).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_job_that_failed_is_an_error_of_its_own() {
    let polls = Polls::states(&["queued", "failed"]);
    let error = polls.client().generations().wait("job-1").await.unwrap_err();
    insta::assert_snapshot!(error, @r#"the generation "job-1" failed: no paint left"#);
    assert_eq!((kinds(&error).as_str(), error.message()), ("job_failed", Some("no paint left")));
    assert_eq!(error.last_status().unwrap().state.as_str(), "failed");
    assert!(error.status().is_none() && error.source().is_none() && !error.is_retryable());

    let mut watch = Polls::states(&["failed"]).client().generations().watch("job-1");
    assert_eq!(states(&mut watch).await, ["failed"]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_calls_back_with_each_change() {
    let polls = Polls::states(&["queued", "queued", "completed"]);
    let mut seen = Vec::new();
    let wait = polls.client().generations().wait("job-1");
    let wait = wait.on_change(|status| seen.push(status.state.to_string()));
    assert_eq!(wait.await.unwrap().prompts[0].id, PromptId::new(7));
    assert_eq!(seen, ["queued", "completed"]);
}

#[tokio::test(start_paused = true)]
async fn dropping_it_stops_the_polling() {
    let polls = Polls::states(&["queued"]);
    let mut watch = polls.client().generations().watch("job-1");
    watch.next().await.unwrap().unwrap();
    assert!(tokio::time::timeout(3 * SECOND, watch.next()).await.is_err());
    drop(watch);
    let wait = polls.client().generations().wait("job-1").into_future();
    assert!(tokio::time::timeout(3 * SECOND, wait).await.is_err());
    let count = polls.times().len();
    tokio::time::sleep(3600 * SECOND).await;
    assert_eq!(polls.times().len(), count);
}

#[tokio::test]
async fn over_sockets_a_generation_is_waited_for_and_has_its_images() {
    let server = service(&["queued", "503", "in_progress", "completed"]).await;
    let client = over_http(server.uri());
    let finished = on_a_fast_clock(async {
        let job = client.generations().create("local/plasma", "A harbour").await?;
        client.generations().wait(&job).await
    });
    let finished = finished.await.unwrap();
    assert_eq!(finished.images().next().unwrap().url.as_str(), "https://cdn.example/a.png");
}

#[tokio::test]
async fn a_service_that_is_away_is_polled_until_the_timeout() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let client = over_http(format!("http://{address}"));
    let wait = client.generations().wait("job-1").timeout(20 * SECOND);
    let error = on_a_fast_clock(wait.into_future()).await.unwrap_err();
    assert!(error.is_wait_timeout() && error.last_status().is_none());
    let cause = error.source().unwrap().to_string();
    assert!(cause.contains("cannot connect to http://127.0.0.1:"), "{cause}");
}

#[tokio::test]
async fn watches_and_waits_can_be_spawned() {
    let server = service(&["completed"]).await;
    let client = over_http(server.uri());
    let (mut watch, wait) =
        (client.generations().watch("job-1"), client.generations().wait("job-1"));
    let both = tokio::spawn(async move { (watch.next().await.is_some(), wait.await.is_ok()) });
    assert_eq!(both.await.unwrap(), (true, true));
    let missing = answering(ResponseTemplate::new(404)).await;
    let client = over_http(missing.uri());
    let shown =
        format!("{:?} {:?}", client.generations().watch("job-1"), client.generations().wait("j"));
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn the_longest_poll_interval_bounds_the_first_one_too() {
    let polls = Polls::states(&["queued"]);
    let wait = polls.client().generations().wait("job-1");
    let wait = wait.max_poll_interval(Duration::from_millis(10)).timeout(2 * SECOND);
    assert!(wait.await.unwrap_err().is_wait_timeout());
    let times = polls.times();
    for (before, after) in times.iter().zip(&times[1..]) {
        assert!(*after - *before <= Duration::from_millis(11), "{before:?} {after:?}");
    }
    assert!(times.len() > 180, "{}", times.len());
}
