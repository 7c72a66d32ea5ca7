//! Random requests are judged as the crate `standardwebhooks` judges them.

use http::{HeaderMap, HeaderName, HeaderValue};
use promptarium::{Timestamp, WebhookError, WebhookSecret};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use standardwebhooks::Webhook;

const NAMES: [&str; 3] = ["webhook-id", "webhook-timestamp", "webhook-signature"];

/// What is done to a request after it was signed.
#[derive(Clone, Debug)]
enum Damage {
    None,
    Remove(usize),
    /// This byte of a header or of the body becomes another one.
    Change(usize, usize, u8),
    Replace(usize, String),
    /// The header comes twice, first with this value.
    Twice(usize, String),
    Age(i64),
    OtherKey,
}

const PARTS: [&str; 12] = ["v1,", "v1a,", " ", "=", "0", "-", "+1", "é", "\t", "AAAA", ",", "v1"];

fn damage() -> impl Strategy<Value = Damage> {
    let text = || vec(select(&PARTS[..]), 0..4).prop_map(|parts| parts.concat());
    prop_oneof![
        3 => Just(Damage::None),
        1 => (0..3_usize).prop_map(Damage::Remove),
        4 => (0..4_usize, any::<usize>(), any::<u8>()).prop_map(|(a, b, c)| Damage::Change(a, b, c)),
        2 => (0..3_usize, text()).prop_map(|(at, text)| Damage::Replace(at, text)),
        1 => (0..3_usize, text()).prop_map(|(at, text)| Damage::Twice(at, text)),
        2 => select(&[-400, -298, 298, 303, 100_000][..]).prop_map(Damage::Age),
        1 => Just(Damage::OtherKey),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10_000, failure_persistence: None, ..Default::default()
    })]

    #[test]
    fn both_accept_and_both_refuse(
        key in vec(any::<u8>(), 1..80),
        id in "[a-zA-Z0-9_.~ -]{0,40}",
        body in prop_oneof![any::<String>(), Just(r#"{"type":"a","timestamp":"2026-01-01T00:00:00Z","data":1}"#.to_owned())],
        damage in damage(),
    ) {
        let text = format!("whsec_{}", data_encoding::BASE64.encode(&key));
        let (ours, theirs) = (WebhookSecret::new(&*text).unwrap(), Webhook::new(&text).unwrap());
        let now = Timestamp::now();
        let age = if let Damage::Age(age) = damage { age } else { 0 };
        let sent = Timestamp::from_second(now.as_second() - age).unwrap();
        let mut body = body.into_bytes();
        let signer = match damage {
            Damage::OtherKey => WebhookSecret::new("whsec_b3RoZXI=").unwrap(),
            _ => ours.clone(),
        };
        let mut values = signer.sign(&id, sent, &body).map(|(_, value)| value.into_bytes());
        // Theirs signs the same.
        let signature = theirs.sign(&id, sent.as_second(), &body).unwrap();
        if !matches!(damage, Damage::OtherKey) {
            prop_assert_eq!(signature.as_bytes(), &*values[2]);
        }
        let mut first = HeaderMap::new();
        match damage {
            Damage::Change(at, index, byte) => {
                let bytes = if at == 3 { &mut body } else { &mut values[at] };
                let index = index.checked_rem(bytes.len()).unwrap_or(0);
                bytes.iter_mut().skip(index).take(1).for_each(|of| *of = byte);
            }
            Damage::Replace(at, ref text) => values[at] = text.clone().into_bytes(),
            Damage::Twice(at, ref text) => {
                first.append(NAMES[at], HeaderValue::from_bytes(text.as_bytes()).unwrap());
            }
            _ => {}
        }
        let mut headers = first;
        for (at, (name, value)) in NAMES.iter().zip(&values).enumerate() {
            // A value that no request can have.
            let Ok(value) = HeaderValue::from_bytes(value) else { return Ok(()) };
            if !matches!(damage, Damage::Remove(removed) if removed == at) {
                headers.append(HeaderName::from_static(name), value);
            }
        }
        let theirs = theirs.verify(&body, &headers);
        let ours = ours.unwrap_at(&headers, &body, now);
        let is_verified = matches!(ours, Ok(_) | Err(WebhookError::Payload(_)));
        // Theirs refuses what is no UTF-8 before it looks at the signature.
        let is_text = std::str::from_utf8(&body).is_ok();
        prop_assert_eq!(is_verified && is_text, theirs.is_ok(), "{:?} {:?}", ours, theirs);
        prop_assert!(is_text || ours.is_err());
    }
}
