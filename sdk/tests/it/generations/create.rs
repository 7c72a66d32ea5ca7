//! Queueing a generation: never twice, also when responses are lost.

use std::sync::{Arc, Mutex};

use insta::assert_snapshot;
use promptarium::RetryPolicy;

use super::*;
use crate::errors::kinds;
use crate::stub::{client as over_http, outcome};

/// A service that queues jobs and loses responses as scripted.
fn losing(lost: Answer, knows_the_job: bool) -> (Script, Arc<Mutex<u32>>) {
    let script = Script::new();
    let queued = Arc::new(Mutex::new(0));
    let counted = queued.clone();
    script.post(path::GENERATIONS).always_with(move |seen| {
        *counted.lock().unwrap() += 1;
        if *counted.lock().unwrap() == 1 { lost.clone() } else { job(seen) }
    });
    script.get(path::GENERATION_STATUS).always_with(move |_| {
        if knows_the_job { state_answer("queued") } else { Answer::error(404, "no such job") }
    });
    (script, queued)
}

fn job(seen: &SeenRequest) -> Answer {
    Answer::data(&json!({ "success": true, "clientJobId": seen.json()["clientJobId"] }))
}

fn lost_answers() -> Vec<Answer> {
    let mut lost: Vec<_> =
        [502, 503, 504].iter().map(|status| Answer::error(*status, "busy")).collect();
    lost.push(Answer::disconnect());
    lost.push(Answer::never());
    lost.push(Answer::data(&json!({ "clientJobId": "job-1" })).cut_at(5));
    lost
}

#[tokio::test(start_paused = true)]
async fn a_job_that_the_service_has_is_not_queued_again_when_the_response_is_lost() {
    for lost in lost_answers() {
        let (script, queued) = losing(lost, true);
        let create = client(&script).generations().create("local/plasma", "A harbour");
        let job = create.client_job_id("job-1").await.unwrap();
        assert_eq!((job.client_job_id.as_str(), *queued.lock().unwrap()), ("job-1", 1));
        assert_eq!(script.calls(), ["POST /generations", "GET /generations/job-1/status"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_the_service_does_not_have_is_sent_again_with_the_same_id() {
    for lost in lost_answers() {
        let (script, _) = losing(lost, false);
        let create = client(&script).generations().create("local/plasma", "A harbour");
        let id = create.job_id().clone();
        assert_eq!(create.await.unwrap().client_job_id, id);
        let posts: Vec<_> =
            script.requests().into_iter().filter(|seen| seen.method == "POST").collect();
        assert_eq!(posts.len(), 2);
        assert!(posts.iter().all(|seen| seen.json()["clientJobId"] == json!(id)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_not_sent_or_is_rate_limited_is_sent_again_without_asking() {
    for failed in [Answer::no_connection(), Answer::error(429, "slow down")] {
        let (script, _) = losing(failed, false);
        client(&script).generations().create("local/plasma", "A harbour").await.unwrap();
        assert_eq!(script.calls(), ["POST /generations", "POST /generations"]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_id_that_a_later_attempt_is_refused_for_is_asked_for() {
    let answers = [
        Answer::error(409, "this job exists"),
        Answer::error(400, "the job exists").field("clientJobId", "is taken"),
    ];
    for answer in answers {
        let script = Script::new();
        script.post(path::GENERATIONS).answer(Answer::disconnect()).answer(answer.clone());
        let status = script.get(path::GENERATION_STATUS).answer(Answer::error(404, "not yet"));
        status.answer(state_answer("queued"));
        client(&script).generations().create("local/plasma", "A harbour").await.unwrap();
        script.verify().unwrap();

        // The error of the first attempt is final.
        let script = Script::new();
        script.post(path::GENERATIONS).answer(answer);
        let create = client(&script).generations().create("local/plasma", "A harbour");
        let error = create.await.unwrap_err();
        assert!(!error.is_outcome_unknown(), "{error}");
        assert!(error.status().unwrap().is_client_error());
        script.verify().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_is_an_error_that_names_the_job() {
    let unknown: [fn(&Script); 4] = [
        |script| script.get(path::GENERATION_STATUS).always(Answer::error(401, "no")),
        |script| script.get(path::GENERATION_STATUS).always(Answer::disconnect()),
        |script| script.get(path::GENERATION_STATUS).always(Answer::error(404, "no such job")),
        |script| script.get(path::GENERATION_STATUS).always(Answer::never()),
    ];
    for tell in unknown {
        let script = Script::new();
        script.post(path::GENERATIONS).always(Answer::error(503, "busy"));
        tell(&script);
        let create = client(&script).generations().create("local/plasma", "A harbour");
        let error = create.client_job_id("job-1").await.unwrap_err();
        assert!(error.is_outcome_unknown(), "{error}");
        assert_eq!(error.job_id().unwrap().as_str(), "job-1");
        assert!(
            error.to_string().contains("it is not known whether the job was queued"),
            "{error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn without_retries_the_service_is_not_asked() {
    let (script, _) = losing(Answer::disconnect(), true);
    let client = builder(&script).retry(RetryPolicy::never()).build().unwrap();
    let error = client.generations().create("local/plasma", "A harbour").await.unwrap_err();
    assert!(error.is_outcome_unknown());
    assert_eq!(script.calls(), ["POST /generations"]);
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_the_call_bounds_all_of_it() {
    let (script, _) = losing(Answer::never(), false);
    let create = client(&script).generations().create("local/plasma", "A harbour");
    let start = Instant::now();
    let error = create.timeout(5 * SECOND).await.unwrap_err();
    assert!(error.is_timeout() && error.is_outcome_unknown(), "{error}");
    assert_eq!(start.elapsed(), 5 * SECOND);
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
