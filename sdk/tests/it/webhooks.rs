//! Webhooks: verification of events, and the calls that manage webhooks.

mod calls;
mod judged;
mod waiting;

use std::collections::HashMap;

use promptarium::testing::{fixture, webhook};
use promptarium::{Timestamp, WebhookError, WebhookEventType, WebhookSecret};

/// The example of the tests of Standard Webhooks, with the signature that its libraries expect.
const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const ID: &str = "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk";
const SENT: Timestamp = Timestamp::constant(1_649_367_553, 0);
const BODY: &[u8] = br#"{"email":"test@example.com","username":"test_user"}"#;
const SIGNATURE: &str = "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=";

fn secret() -> WebhookSecret {
    WebhookSecret::new(SECRET).unwrap()
}

/// What a secret says of the example's body with these headers.
fn judged(headers: &[(&str, &str)], now: Timestamp) -> Result<(), WebhookError> {
    match secret().unwrap_at(headers.iter().copied(), BODY, now) {
        // The example has no event in it.
        Err(WebhookError::Payload(_)) => Ok(()),
        outcome => outcome.map(|_| panic!("the example is no event")),
    }
}

const GOOD: [(&str, &str); 3] =
    [("webhook-id", ID), ("webhook-timestamp", "1649367553"), ("webhook-signature", SIGNATURE)];

#[test]
fn the_signature_is_that_of_the_published_example() {
    let [id, time, signature] = secret().sign(ID, SENT, BODY);
    assert_eq!([(id.0, &*id.1), (time.0, &*time.1), (signature.0, &*signature.1)], GOOD);
    judged(&GOOD, SENT).unwrap();
}

#[test]
fn names_of_headers_may_have_any_case_and_other_headers_stand_beside() {
    let [id, time, signature] = GOOD;
    let headers = [("Host", "a.example"), ("Webhook-ID", id.1), ("WEBHOOK-timestamp", time.1)];
    judged(&[&headers[..], &[("Webhook-Signature", signature.1)]].concat(), SENT).unwrap();
}

#[test]
fn one_valid_signature_among_others_and_unknown_versions_is_enough() {
    let other = "v1,Mm7xgUVICxZfQ3bgf0h0Dof65L/IFx+PnZvnDWPCX6Q=";
    let [id, time, _] = GOOD;
    for (signatures, is_valid) in [
        (format!("{other} {SIGNATURE}"), true),
        (format!("v2,abc v1a,=== {SIGNATURE}"), true),
        (other.to_owned(), false),
        (SIGNATURE.replace("v1,", "v2,"), false),
        (SIGNATURE.replace("v1,", ""), false),
        ("v1,".to_owned(), false),
        (SIGNATURE.replace('=', ""), false),
        (String::new(), false),
    ] {
        let outcome = judged(&[id, time, ("webhook-signature", &signatures)], SENT);
        assert_eq!(outcome.is_ok(), is_valid, "{signatures}");
        if let Err(error) = outcome {
            assert!(matches!(error, WebhookError::Signature), "{signatures}: {error:?}");
        }
    }
}

#[test]
fn five_minutes_of_difference_are_allowed_and_a_second_more_is_not() {
    for (seconds, is_valid) in [(300, true), (-300, true), (301, false), (-301, false)] {
        let now = Timestamp::from_second(SENT.as_second() + seconds).unwrap();
        let outcome = judged(&GOOD, now);
        assert_eq!(outcome.is_ok(), is_valid, "{seconds}: {outcome:?}");
        assert!(is_valid || matches!(outcome, Err(WebhookError::Time(age)) if age == seconds));
    }
}

#[test]
fn a_missing_or_unreadable_header_is_named() {
    for (at, name) in ["webhook-id", "webhook-timestamp", "webhook-signature"].iter().enumerate() {
        let mut headers = GOOD.to_vec();
        headers.remove(at);
        let error = judged(&headers, SENT).unwrap_err();
        assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
        headers.push((name, "é"));
        assert!(matches!(judged(&headers, SENT), Err(WebhookError::Header(n)) if n == *name));
    }
    let headers = [GOOD[0], ("webhook-timestamp", "today"), GOOD[2]];
    let error = judged(&headers, SENT).unwrap_err();
    assert!(matches!(error, WebhookError::Header("webhook-timestamp")), "{error:?}");
}

#[test]
fn each_of_several_secrets_is_accepted_and_signs() {
    let other = WebhookSecret::new("whsec_bmV3IHNlY3JldA==").unwrap();
    let both = WebhookSecret::new(format!("{} {SECRET}", other.expose())).unwrap();
    let (headers, body) = webhook(&fixture::webhook_event(), &both);
    assert_eq!(headers[2].1.split(' ').count(), 2);
    for secret in [&other, &secret(), &both] {
        secret.unwrap(headers.clone(), &body).unwrap();
    }
    let (headers, body) = webhook(&fixture::webhook_event(), &other);
    both.unwrap(headers.clone(), &body).unwrap();
    assert!(matches!(secret().unwrap(headers, body), Err(WebhookError::Signature)));
}

#[test]
fn a_text_that_is_no_secret_is_refused_and_a_secret_is_not_shown() {
    for text in ["", " ", "whsec_", "whsec_ ", "whsec_a", "whsec_é", "whsec_YQ== whsec_"] {
        assert!(matches!(WebhookSecret::new(text), Err(WebhookError::Secret)), "{text}");
    }
    assert_eq!(secret().expose(), SECRET);
    assert_eq!(format!("{:?}", secret()), "WebhookSecret(…)");
    // Without the prefix, as some libraries have it.
    WebhookSecret::new(&SECRET[6..]).unwrap();
}

#[test]
fn an_event_has_the_status_and_the_images_of_its_generation() {
    let event = fixture::webhook_event();
    let (headers, body) = webhook(&event, &secret());
    let received = secret().unwrap(headers, body).unwrap();
    assert_eq!((&received.id, &received.kind), (&event.id, &event.kind));
    assert_eq!((&received.generation, &received.images), (&event.generation, &event.images));
    assert_eq!(received.data["promptId"], 7);
}

#[test]
fn an_unknown_event_is_kept_with_its_data() {
    let body =
        r#"{"type":"vault.shared","timestamp":"2026-03-01T11:00:00Z","data":{"id":3},"more":1}"#;
    let headers = HashMap::from(secret().sign(ID, SENT, body.as_bytes()));
    let event = secret().unwrap_at(&headers, body, SENT).unwrap();
    assert_eq!(event.kind, "vault.shared");
    assert_eq!((event.generation, event.data["id"].as_i64()), (None, Some(3)));
    for time in ["2026-03-01T11:00:00Z", "2026-03-01 12:00:00.0000000000+01:00", "2026-03-01T11:00"]
    {
        let test = format!(r#"{{"type":"webhook.test","timestamp":"{time}","data":{{}}}}"#);
        let headers = secret().sign(ID, SENT, test.as_bytes());
        let test = secret().unwrap_at(headers, test, SENT).unwrap();
        assert_eq!((test.kind, test.timestamp), (WebhookEventType::Test, event.timestamp));
    }
}
