//! Queueing a generation: never twice, also when responses are lost.

use insta::assert_snapshot;
use promptarium::request::CreateGeneration;
use promptarium::{Error, GenerationJob, JobId, Outcome, RetryPolicy};

use super::*;
use crate::errors::kinds;
use crate::stub::{client as over_http, outcome};

/// A service that answers the first `POST /generations` like this and queues the others, with the
/// answer to each question for the status.
fn service_that(first: Answer, status: impl Fn() -> Answer + Send + Sync + 'static) -> Script {
    let script = Script::new();
    script.post(path::GENERATIONS).answer(first).always_with(job);
    script.get(path::GENERATION_STATUS).always_with(move |_| status());
    script
}

fn job(seen: &SeenRequest) -> Answer {
    Answer::data(&json!({ "success": true, "clientJobId": seen.json()["clientJobId"] }))
}

fn no_such_job() -> Answer {
    Answer::error(404, "no such job")
}

fn posts(script: &Script) -> usize {
    script.calls().iter().filter(|call| *call == "POST /generations").count()
}

async fn create(client: &Client) -> Result<GenerationJob, Error> {
    client.generations().create("local/plasma", "A harbour").client_job_id("job-1").await
}

/// The failures after which the service may have queued the job, each with its name.
fn lost_answers() -> Vec<(&'static str, Answer)> {
    let accepted = Answer::data(&json!({ "clientJobId": "job-1" })).status(202);
    let see = |status| Answer::raw(status, "", "").header("location", "/api/v1/elsewhere");
    vec![
        ("408", Answer::error(408, "too slow")),
        ("500", Answer::error(500, "after the job was queued")),
        ("501", Answer::error(501, "part of it")),
        ("502", Answer::error(502, "bad gateway")),
        ("503 with Retry-After", Answer::error(503, "busy").retry_after(SECOND)),
        ("504", Answer::error(504, "gateway timeout")),
        ("520", Answer::raw(520, "text/html", "<h1>web server error</h1>")),
        ("524", Answer::raw(524, "text/html", "<h1>a timeout occurred</h1>")),
        ("599", Answer::error(599, "?")),
        ("302", Answer::raw(302, "", "")),
        ("303 to the status", see(303)),
        ("307", see(307)),
        ("connection lost", Answer::disconnect()),
        ("timeout", Answer::never()),
        ("cut 202", accepted.clone().cut_at(5)),
        ("stalled 202", accepted.stall_at(5)),
        ("202 with HTML", Answer::raw(202, "text/html", "<p>queued</p>")),
        ("202 without a body", Answer::raw(202, "", "")),
        ("200 with an error", Answer::raw(200, "application/json", r#"{"data":null,"error":"?"}"#)),
        ("200 with null", Answer::data(&Value::Null)),
        ("202 without success", Answer::data(&json!({ "success": false })).status(202)),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_job_that_the_service_has_is_not_queued_again_when_the_response_is_lost() {
    for (name, lost) in lost_answers() {
        let script = service_that(lost, || state_answer("queued"));
        let job = create(&client(&script)).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(job.client_job_id.as_str(), "job-1", "{name}");
        assert_eq!(
            script.calls(),
            ["POST /generations", "GET /generations/job-1/status"],
            "{name}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_the_service_never_shows_is_not_sent_again_and_its_outcome_is_unknown() {
    for (name, lost) in lost_answers() {
        let script = service_that(lost, no_such_job);
        let error = create(&client(&script)).await.unwrap_err();
        assert_eq!(posts(&script), 1, "{name}: {:?}", script.calls());
        assert!(script.calls().len() > 3, "{name}: 404 was believed: {:?}", script.calls());
        assert!(error.is_outcome_unknown(), "{name}: {error}");
        assert_eq!(error.job_id(), Some(&JobId::from("job-1")), "{name}");
        let text = error.to_string();
        assert!(text.contains("job \"job-1\""), "{name}: {text}");
        assert!(
            text.contains("it is unknown whether the service carried it out")
                || text.contains("the service carried it out"),
            "{name}: {text}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_the_service_stores_late_is_never_paid_twice() {
    // Seconds after the request, of which the response is waited for 20.
    for stored_after in [20, 25, 35, 39, 41, 100] {
        let start = Instant::now();
        let late = move || match start.elapsed() > stored_after * SECOND {
            true => state_answer("queued"),
            false => no_such_job(),
        };
        let script = service_that(Answer::never(), late);
        let outcome = create(&client(&script)).await;
        assert_eq!(posts(&script), 1);
        match outcome {
            Ok(job) => assert_eq!(job.client_job_id.as_str(), "job-1"),
            Err(error) => {
                assert!(error.is_outcome_unknown() && stored_after > 25, "{stored_after}: {error}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_status_is_asked_for_as_long_as_the_response_was_waited_for() {
    type Make = fn(CreateGeneration) -> CreateGeneration;
    let calls: [(Make, f64); 4] = [
        // The default of `idle_timeout`.
        (|call| call, 20.0),
        (|call| call.idle_timeout(3 * SECOND), 3.0),
        (|call| call.request_timeout(SECOND), 1.0),
        (|call| call.timeout(SECOND / 2), 0.5),
    ];
    for (set, window) in calls {
        for (lost, waited) in [(Answer::error(500, "oh"), 0.0), (Answer::never(), window)] {
            let script = service_that(lost, no_such_job);
            let call = set(client(&script).generations().create("local/plasma", "A harbour"));
            let start = Instant::now();
            let error = call.await.unwrap_err();
            assert!(error.is_outcome_unknown());
            let asked = start.elapsed().as_secs_f64() - waited;
            assert!((asked - window).abs() < 0.01, "{asked} of {window}");
            let questions = script.calls().len() - 1;
            assert!((1..=20).contains(&questions), "{questions}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_hangs_or_fails_for_a_moment_is_asked_again() {
    for trouble in [
        Answer::error(503, "busy"),
        Answer::error(429, "slow down").retry_after(SECOND),
        Answer::disconnect(),
        Answer::no_connection(),
        Answer::raw(200, "text/html", "<html>"),
        Answer::data(&json!({ "clientJobId": "another", "status": "queued" })),
    ] {
        let script = Script::new();
        script.post(path::GENERATIONS).answer(Answer::error(500, "oh"));
        let status = script.get(path::GENERATION_STATUS).answer(trouble).answer(no_such_job());
        status.answer(state_answer("queued"));
        create(&client(&script)).await.unwrap();
        script.verify().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_question_ends_the_asking() {
    for status in [400, 401, 403] {
        let script =
            service_that(Answer::error(500, "oh"), move || Answer::error(status, "not you"));
        let error = create(&client(&script)).await.unwrap_err();
        assert!(error.is_outcome_unknown() && error.status().unwrap() == 500, "{error}");
        assert_eq!(script.calls(), ["POST /generations", "GET /generations/job-1/status"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_request_queued_nothing_and_is_not_asked_for() {
    for status in [400, 401, 402, 403, 404, 409, 413, 422] {
        let script = service_that(Answer::error(status, "no"), || state_answer("queued"));
        let error = create(&client(&script)).await.unwrap_err();
        assert_eq!((error.status().unwrap().as_u16(), error.outcome()), (status, Outcome::NotDone));
        assert_eq!(error.job_id().unwrap().as_str(), "job-1");
        assert_eq!(script.calls(), ["POST /generations"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_not_sent_or_is_rate_limited_is_sent_again_without_asking() {
    for failed in [
        Answer::no_connection(),
        Answer::error(429, "slow down"),
        Answer::error(429, "slow down").retry_after(3 * SECOND),
    ] {
        let script = service_that(failed, no_such_job);
        create(&client(&script)).await.unwrap();
        assert_eq!(script.calls(), ["POST /generations", "POST /generations"]);
        assert_eq!(script.requests()[1].json()["clientJobId"], "job-1");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_is_an_error_that_names_the_job() {
    for answer in [Answer::error(401, "no"), Answer::disconnect(), no_such_job(), Answer::never()] {
        let script = service_that(Answer::error(503, "busy"), move || answer.clone());
        let error = create(&client(&script)).await.unwrap_err();
        insta::allow_duplicates! {
            assert_snapshot!(error, @r#"POST /generations: 503 Service Unavailable: busy (it is unknown whether the service carried it out, job "job-1")"#);
        }
        assert!(error.is_outcome_unknown());
        assert_eq!(error.job_id().unwrap().as_str(), "job-1");
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_is_asked_for_also_without_retries() {
    let script = service_that(Answer::disconnect(), || state_answer("queued"));
    let client = builder(&script).retry(RetryPolicy::never()).build().unwrap();
    create(&client).await.unwrap();
    assert_eq!(script.calls(), ["POST /generations", "GET /generations/job-1/status"]);
}

#[tokio::test(start_paused = true)]
async fn the_time_for_the_questions_is_as_long_as_the_timeout_of_the_call() {
    let script = service_that(Answer::never(), no_such_job);
    let call = client(&script).generations().create("local/plasma", "A harbour");
    let start = Instant::now();
    let error = call.timeout(5 * SECOND).await.unwrap_err();
    assert!(error.is_timeout() && error.is_outcome_unknown(), "{error}");
    assert_eq!(start.elapsed(), 10 * SECOND);
}

#[tokio::test]
async fn a_job_has_an_id_before_it_is_sent_and_the_same_when_it_is_sent_again() {
    let server = service(&["queued"]).await;
    let create = over_http(server.uri()).generations().create("local/plasma", "A harbour");
    let id = create.job_id().clone();
    let parts: Vec<_> = id.as_str().split('-').map(str::len).collect();
    assert_eq!((parts, id.as_str().as_bytes()[14]), (vec![8, 4, 4, 4, 12], b'4'));

    assert_eq!(create.clone().await.unwrap().client_job_id, id);
    assert_eq!(create.await.unwrap().client_job_id, id);
    let other = over_http(server.uri()).generations().create("local/plasma", "A harbour");
    assert_ne!(*other.job_id(), id);
}

#[tokio::test]
async fn a_response_without_fields_that_the_client_does_not_need_is_a_job() {
    let bodies = [json!({}), json!("queued"), json!({ "clientJobId": 7, "statusUrl": null })];
    for data in bodies {
        let answer = ResponseTemplate::new(202).set_body_json(envelope(&data));
        let job = outcome(answer, |client| {
            client.generations().create("local/plasma", "A harbour").client_job_id("job-1")
        });
        let job = job.await.unwrap();
        assert_eq!((job.client_job_id.as_str(), job.status_url), ("job-1", None));
    }
}

#[tokio::test]
async fn arguments_are_checked_before_anything_is_sent() {
    let error = outcome(ResponseTemplate::new(500), |client| {
        client.generations().create("m", "p").parameters(json!([1])).parameter("seed", 7)
    });
    let error = error.await.unwrap_err();
    assert_snapshot!(error, @"the parameters of a generation are not a JSON object");
    assert_eq!(kinds(&error), "input");
    for id in ["", ".", ".."] {
        let asked = outcome(ResponseTemplate::new(500), |client| client.generations().status(id));
        let error = asked.await.unwrap_err();
        assert_eq!(error.to_string(), format!("the job id \"{id}\" cannot be part of a URL"));
        assert_eq!(kinds(&error), "input");
    }
}

#[tokio::test(start_paused = true)]
async fn a_generation_that_the_caller_calls_idempotent_is_sent_again_and_its_outcome_is_told() {
    let script = service_that(Answer::disconnect(), no_such_job);
    let create = || client(&script).generations().create("local/plasma", "A harbour");
    assert!(create().client_job_id("job-1").idempotent().await.is_ok());
    assert_eq!(posts(&script), 2);
    let script = Script::new();
    script.post(path::GENERATIONS).always(Answer::disconnect());
    script.get(path::GENERATION_STATUS).always(no_such_job());
    let create = client(&script).generations().create("local/plasma", "A harbour");
    let error = create.idempotent().await.unwrap_err();
    assert_eq!((posts(&script), error.outcome()), (3, Outcome::Unknown), "{error}");
}
