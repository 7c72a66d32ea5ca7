//! Whether the service carried out a call that failed.

use std::time::Duration;

use http::Method;
use promptarium::testing::{Answer, Script, builder, client, fixture};
use promptarium::{Client, Error, ImageContentType, Outcome, PromptId, RetryPolicy, VaultId};

const PROMPT: PromptId = PromptId::new(7);

fn cut_success() -> Answer {
    Answer::data(&fixture::prompt()).status(201).cut_at(9)
}

fn undecodable() -> Answer {
    Answer::raw(201, "text/html", "<p>created</p>")
}

fn redirect(status: u16) -> Answer {
    Answer::raw(status, "", "").header("location", "/api/v1/prompts/7")
}

/// Answers, each with what it says of a request that is not idempotent.
fn answers() -> Vec<(Answer, Outcome)> {
    let mut all = vec![
        (Answer::no_connection(), Outcome::NotDone),
        (Answer::disconnect(), Outcome::Unknown),
        (Answer::never(), Outcome::Unknown),
        (cut_success(), Outcome::Done),
        (Answer::data(&fixture::prompt()).stall_at(9), Outcome::Done),
        (undecodable(), Outcome::Done),
        (Answer::raw(201, "", ""), Outcome::Done),
        (Answer::raw(200, "", r#"{"data":null,"error":"no"}"#), Outcome::Unknown),
        (redirect(301), Outcome::Unknown),
        (redirect(303), Outcome::Unknown),
        (Answer::raw(302, "", ""), Outcome::Unknown),
    ];
    for status in [400, 401, 403, 404, 405, 409, 413, 422, 425, 429] {
        all.push((Answer::error(status, "no"), Outcome::NotDone));
    }
    for status in [408, 500, 501, 502, 503, 504, 505, 511, 520, 524, 599] {
        all.push((Answer::error(status, "oh"), Outcome::Unknown));
    }
    all
}

/// Checks the error of a call with one attempt, which may succeed if the body is empty.
async fn check_call<C, T>(answer: &Answer, expected: Outcome, make: impl Fn(&Client) -> C)
where
    C: IntoFuture<Output = Result<T, Error>>,
{
    let script = Script::new();
    script.any().always(answer.clone());
    let client = builder(&script).retry(RetryPolicy::never()).build().unwrap();
    match make(&client).await {
        Ok(_) => assert!(format!("{answer:?}").contains(r#"body: b"""#), "{answer:?}"),
        Err(error) => check(&error, expected),
    }
}

fn check(error: &Error, expected: Outcome) {
    assert_eq!(error.outcome(), expected, "{error}");
    assert_eq!(error.is_outcome_unknown(), expected != Outcome::NotDone, "{error}");
    let text = error.to_string();
    let shown = if text.contains("it is unknown whether the service carried it out") {
        Outcome::Unknown
    } else if text.contains("the service carried it out") {
        Outcome::Done
    } else {
        Outcome::NotDone
    };
    assert_eq!(shown, expected, "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_failed_change_tells_whether_it_was_carried_out() {
    for (answer, expected) in &answers() {
        let create = |client: &Client| client.prompts().create("t", "p");
        check_call(answer, *expected, create).await;
        check_call(answer, *expected, |client| client.prompts().update(PROMPT).title("t")).await;
        check_call(answer, *expected, |client| client.prompts().delete(PROMPT)).await;
        check_call(answer, *expected, |client| client.vaults().create("Harbours")).await;
        check_call(answer, *expected, |client| client.vaults().fork(VaultId::new(3))).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_can_be_repeated_without_effect_has_no_outcome_to_worry_about() {
    for (answer, _) in &answers() {
        let none = Outcome::NotDone;
        let contents = |client: &Client| client.vault(VaultId::new(3));
        check_call(answer, none, |client| client.prompts().get(PROMPT)).await;
        check_call(answer, none, |client| client.prompts().list()).await;
        check_call(answer, none, |client| contents(client).pin(21.into())).await;
        check_call(answer, none, |client| contents(client).unpin(21.into())).await;
        check_call(answer, none, |client| client.uploads().slot(ImageContentType::Png, 9)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_outcome_is_that_of_all_attempts() {
    let cases = [
        (vec![Answer::disconnect(), Answer::no_connection()], Outcome::Unknown),
        (vec![Answer::disconnect(), Answer::error(404, "gone")], Outcome::Unknown),
        (vec![Answer::error(502, "oh"), Answer::error(429, "slow down")], Outcome::Unknown),
        (vec![Answer::no_connection(), Answer::error(404, "gone")], Outcome::NotDone),
        (vec![Answer::error(429, "slow down"), Answer::no_connection()], Outcome::NotDone),
        (vec![Answer::disconnect(), cut_success()], Outcome::Done),
    ];
    for (answers, expected) in cases {
        let script = Script::new();
        let last = answers.last().unwrap().clone();
        let mut entry = script.delete("/prompts/7");
        for answer in answers {
            entry = entry.answer(answer);
        }
        entry.always(last);
        let error = client(&script).prompts().delete(PROMPT).await.unwrap_err();
        assert!(error.attempts() >= 2);
        check(&error, expected);
    }
    // A request that was not sent in the end may have been sent before.
    let script = Script::new();
    script.delete("/prompts/7").answer(Answer::disconnect()).always(Answer::no_connection());
    let error = client(&script).prompts().delete(PROMPT).await.unwrap_err();
    insta::assert_snapshot!(error, @"DELETE /prompts/{promptId}: cannot connect to https://prompts.example: scripted by a test (after 3 attempts, it is unknown whether the service carried it out)");
}

#[tokio::test(start_paused = true)]
async fn a_failed_raw_call_has_the_outcome_of_its_method() {
    for (answer, expected) in answers() {
        // A raw call returns any success as it is.
        let script = Script::new();
        script.any().always(answer);
        let client = builder(&script).retry(RetryPolicy::never()).build().unwrap();
        let raw = |method| client.request(method, "/x").timeout(Duration::from_secs(9));
        for method in [Method::POST, Method::PATCH, Method::PUT, Method::DELETE] {
            if let Err(error) = raw(method).await {
                check(&error, expected);
            }
        }
        for call in [raw(Method::GET), raw(Method::POST).idempotent()] {
            if let Err(error) = call.await {
                check(&error, Outcome::NotDone);
            }
        }
    }
}
