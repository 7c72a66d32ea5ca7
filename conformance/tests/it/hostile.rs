//! Targets that are no implementation at all. None may pass, hang the suite or
//! bring it down; a target that gives everybody the same answer passes nothing, whatever
//! single demand that answer happens to meet.

use promptarium_conformance::{ProbeError, probe};

use crate::prelude::*;

/// One that answers this to everything. The run begins also where the probe would refuse it.
async fn always(answer: Answer) -> Report {
    // Without any answer each scenario ends at its first call, so a part of them is enough.
    let filters: &[&str] = match answer {
        Answer::Json(..) | Answer::Html(..) | Answer::Redirect(_) => &[],
        _ => &["prompts.", "uploads.", "keys."],
    };
    let stub = Stub::always(answer).await;
    let mut config = keys::target(&stub.base_url).unwrap();
    // A tenth of what a user waits without any flag; no answer is worth more here.
    config.options = RunOptions { time_scale: 0.1, ..RunOptions::default() };
    config.timeout = Duration::from_secs(3);
    let mut run = Run::new(Target::new(config).unwrap().into(), chosen(filters));
    (run.jobs, run.check_sanity) = (64.try_into().unwrap(), true);
    let begun = Instant::now();
    let report = finish(run).await;
    assert!(begun.elapsed() < Duration::from_secs(60), "took {:?}", begun.elapsed());
    assert_eq!(report.verdict, Verdict::Failed);
    report
}

#[track_caller]
fn assert_nothing_passed(report: &Report) {
    // Some look at refusals, and such a target refuses nothing.
    let is_wrong = |record: &&Record| match record.outcome {
        Outcome::Passed => true,
        Outcome::Skipped => !record.reason.as_ref().unwrap().contains("was refused"),
        _ => false,
    };
    let wrong = report.records.iter().filter(is_wrong);
    let wrong: Vec<_> = wrong.map(|record| (record.id, &record.reason)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A test that a target with each of these answers for everything passes nothing.
macro_rules! nothing_passes {
    ($($name:ident: [$($answer:expr),+ $(,)?];)+) => {
        $(
            #[tokio::test]
            async fn $name() {
                for answer in [$($answer),+] {
                    assert_nothing_passed(&always(answer).await);
                }
            }
        )+
    };
}

fn json_of(status: u16, body: &Value) -> Answer {
    Answer::Json(status, body.to_string())
}

fn refusal(status: u16) -> Answer {
    json_of(status, &json!({ "data": null, "error": "no", "details": {} }))
}

/// What a reader of any resource finds its fields in.
fn plausible() -> Answer {
    let moment = "2026-01-02T03:04:05.678901Z";
    let data = json!({
        "id": 7, "title": "Dusk", "prompt": "A lighthouse", "promptType": "text",
        "platform": null, "status": "active", "images": [], "vaultIds": [],
        "createdAt": moment, "updatedAt": moment,
        "name": "Dusk", "description": null, "slug": "dusk", "visibility": "private",
        "accessType": null, "isLocked": false, "coverImageUrl": null, "isSystem": false,
        "promptCount": 0, "vaultPromptId": 7, "isPinned": false,
    });
    json_of(200, &json!({ "data": data, "error": null, "pagination": { "nextCursor": null } }))
}

/// A page of a list, and the last one.
fn empty_list() -> Answer {
    json_of(200, &json!({ "data": [], "error": null, "pagination": { "nextCursor": null } }))
}

nothing_passes! {
    an_empty_object_for_everything_fails: [json_of(200, &json!({}))];
    no_data_for_everything_fails: [json_of(200, &json!({ "data": null, "error": null }))];
    empty_data_for_everything_fails: [json_of(200, &json!({ "data": {}, "error": null }))];
    an_empty_list_for_everything_fails: [empty_list()];
    a_plausible_object_for_everything_fails: [plausible()];
    a_web_page_fails: [Answer::Html(200, "<html>hello</html>")];
    a_target_that_refuses_everyone_fails: [json_of(401, &json!({})), refusal(401)];
    a_target_that_finds_nothing_or_is_broken_fails: [refusal(400), refusal(404), refusal(500)];
    a_target_that_hangs_fails_in_bounded_time:
        [Answer::Hang, Answer::HangAfterHead, Answer::Drip];
    a_body_without_an_end_fails_in_bounded_time: [Answer::Endless];
    a_target_that_resets_connections_or_speaks_no_http_fails: [Answer::Reset, Answer::Garbage];
    a_target_that_redirects_to_itself_fails: [Answer::Redirect("/api/v1/vaults")];
}

#[tokio::test]
async fn the_probe_tells_a_wrong_address_from_one_where_nobody_is() {
    let look = async |answer: Answer| probe(&Stub::always(answer).await.target()).await;
    for answer in [Answer::Hang, Answer::Reset, Answer::Html(502, "Bad gateway")] {
        let found = look(answer).await;
        assert!(matches!(found, Err(ProbeError::Unreachable(_))), "{found:?}");
    }
    let elsewhere = [
        Answer::Html(200, "<html>"),
        Answer::Html(404, "nothing here"),
        Answer::nothing(401),
        Answer::Redirect("https://example.com/"),
    ];
    for answer in elsewhere {
        let found = look(answer).await;
        assert!(matches!(found, Err(ProbeError::Misconfigured(_))), "{found:?}");
    }
    for status in [200, 404, 500] {
        let found = look(Answer::nothing(status)).await;
        assert_eq!(found, Ok(()), "a faulty API is for the scenarios to judge");
    }
}
