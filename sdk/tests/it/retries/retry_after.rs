//! `Retry-After` in all its forms, and how long it is waited for.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use promptarium::testing::{Answer, Script, client, fixture};
use promptarium::{Error, PromptId};
use tokio::time::Instant;

/// The formats of dates in RFC 9110: that of its own, of RFC 850, and of `asctime`.
const FORMATS: [&str; 3] =
    ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

fn date(format: &str, seconds_from_now: i64) -> String {
    let time = Timestamp::now() + SignedDuration::from_secs(seconds_from_now);
    time.strftime(format).to_string()
}

/// The seconds from a refusal with these headers to the second attempt, or the error if there is
/// none.
async fn delay(status: u16, headers: &[(&str, &str)]) -> Result<f64, Error> {
    let script = Script::new();
    let refused = headers
        .iter()
        .fold(Answer::error(status, "busy"), |answer, (name, value)| answer.header(name, value));
    script.get("/prompts/7").answer(refused).answer(Answer::data(&fixture::prompt()));
    let (client, start) = (client(&script), Instant::now());
    client.prompts().get(PromptId::new(7)).await?;
    Ok(start.elapsed().as_secs_f64())
}

/// Checks that both a busy and a rate limiting service are left alone for this time.
async fn is_waited_for(headers: &[(&str, &str)], shortest: f64, longest: f64) {
    for status in [503, 429] {
        let delay = delay(status, headers).await.unwrap();
        // Dates and the paused clock count whole units.
        assert!((shortest..=longest).contains(&delay), "{status} {headers:?}: {delay}");
    }
}

#[tokio::test(start_paused = true)]
async fn seconds_may_have_a_fraction() {
    is_waited_for(&[("retry-after", "0.6")], 0.6, 0.61).await;
    is_waited_for(&[("retry-after", "2.25")], 2.25, 2.26).await;
    is_waited_for(&[("retry-after", " 3 ")], 3.0, 3.01).await;
    is_waited_for(&[("retry-after-ms", "1500.5"), ("retry-after", "9")], 1.5, 1.51).await;
    for unreadable in ["", "soon", "1e3", "NaN"] {
        let both = [("retry-after-ms", unreadable), ("retry-after", "2")];
        is_waited_for(&both, 2.0, 2.01).await;
    }
}

#[tokio::test(start_paused = true)]
async fn dates_are_waited_for_in_the_three_formats_of_http() {
    for format in FORMATS {
        let value = date(format, 9);
        is_waited_for(&[("retry-after", &value)], 7.9, 9.1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_date_counts_from_the_date_of_the_same_response() {
    // The clock of the server is an hour ahead, or an hour behind.
    for skew in [3600, -3600] {
        for format in FORMATS {
            let (now, then) = (date(FORMATS[0], skew), date(format, skew + 2));
            is_waited_for(&[("date", &now), ("retry-after", &then)], 1.0, 3.01).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_delay_that_is_too_long_fails_the_call_at_once() {
    let far = "Fri, 31 Dec 9999 23:59:59 GMT";
    for value in ["60.001", "299.997", "3600", "18446744073709551616", &"9".repeat(400), far] {
        for status in [503, 429] {
            let start = Instant::now();
            let error = delay(status, &[("retry-after", value)]).await.unwrap_err();
            assert_eq!((error.attempts(), start.elapsed()), (1, Duration::ZERO), "{value}");
            assert!(error.retry_after().unwrap() > Duration::from_secs(60), "{error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_that_cannot_be_read_leaves_the_usual_backoff() {
    for value in ["soon", "", "1e3", "0x10", "inf", "Fri, 99 Dec 2026 23:59:59 GMT", "5, 6"] {
        let delay = delay(503, &[("retry-after", value)]).await.unwrap();
        assert!((0.099..=0.202).contains(&delay), "{value}: {delay}");
        // The header says that the same request may succeed later, also after this status.
        let delay = self::delay(404, &[("retry-after", value)]).await.unwrap();
        assert!((0.099..=0.202).contains(&delay), "{value}: {delay}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_negative_delay_and_a_date_in_the_past_are_no_delay() {
    for value in ["-1", "-0.5", "0", "Sun, 06 Nov 1994 08:49:37 GMT"] {
        let delay = delay(503, &[("retry-after", value)]).await.unwrap();
        assert!((0.099..=0.202).contains(&delay), "{value}: {delay}");
    }
}
