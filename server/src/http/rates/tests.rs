use std::time::Duration;

use http::HeaderMap;
use jiff::SignedDuration;

use super::*;
use crate::clock::ManualClock;
use crate::domain::{AccountId, KeyId, Scopes};

fn rates(limits: &str) -> (Rates, ManualClock) {
    let clock = ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap());
    let limits = limits.split(' ').map(|limit| limit.parse().unwrap()).collect();
    (Rates::new(limits, Clock::Manual(clock.clone())), clock)
}

fn caller(key: i64, account: i64) -> Caller {
    Caller { key: KeyId(key), account: AccountId(account), scopes: Scopes::ALL }
}

/// Seconds to wait, if the request is refused, and the header `RateLimit`.
fn count(rates: &Rates, caller: &Caller, route: &str) -> (Option<u32>, String) {
    let mut headers = Vec::new();
    let outcome = rates.count(caller, route, &mut headers);
    let headers = HeaderMap::from_iter(headers);
    let seconds = match outcome {
        Ok(()) => None,
        Err(ApiError::TooMany { seconds, .. }) => Some(seconds),
        Err(error) => panic!("{error:?}"),
    };
    (seconds, headers["ratelimit"].to_str().unwrap().to_owned())
}

#[test]
fn a_quota_is_exact_within_its_window_for_each_key_or_all_keys_of_an_account() {
    let (rates, clock) = rates("key:requests=3/60");
    let one = caller(1, 1);
    for left in [2, 1, 0] {
        let expected = format!("\"key-requests-60s\";r={left};t=60");
        assert_eq!(count(&rates, &one, "listPrompts"), (None, expected));
    }
    assert_eq!(count(&rates, &one, "listPrompts").0, Some(60));
    clock.advance(Duration::from_millis(59_500));
    assert_eq!(count(&rates, &one, "getPrompt").0, Some(1));
    assert_eq!(count(&rates, &caller(2, 1), "getPrompt").0, None, "another key");
    clock.advance(Duration::from_millis(500));
    assert_eq!(count(&rates, &one, "getPrompt").1, "\"key-requests-60s\";r=2;t=60");

    let (rates, _) = self::rates("account:requests=2/10");
    for (key, account, wait) in [(1, 1, None), (2, 1, None), (3, 1, Some(10)), (1, 2, None)] {
        assert_eq!(count(&rates, &caller(key, account), "listPrompts").0, wait, "{key} {account}");
    }
}

#[test]
fn a_request_that_one_limit_refuses_counts_in_none() {
    let (rates, clock) = rates("key:requests=2/60 key:generations=1/10 account:uploads=1/5");
    let one = caller(1, 1);
    let both = "\"key-requests-60s\";r=1;t=60, \"key-generations-10s\";r=0;t=10";
    assert_eq!(count(&rates, &one, "createGeneration"), (None, both.to_owned()));
    let mut headers = Vec::new();
    let _ = rates.count(&one, "createGeneration", &mut headers);
    let policy = "\"key-requests-60s\";q=2;w=60, \"key-generations-10s\";q=1;w=10";
    assert_eq!(HeaderMap::from_iter(headers)["ratelimit-policy"], policy);
    assert_eq!(count(&rates, &one, "generate"), (Some(10), both.to_owned()));
    clock.advance(Duration::from_secs(10));
    assert_eq!(count(&rates, &one, "createGeneration").0, None);
    assert_eq!(count(&rates, &one, "createUploadSlot").0, Some(50));
    assert_eq!([0; 2].map(|_| count(&rates, &one, PICTURE).0), [None, Some(5)]);
}

#[test]
fn windows_that_have_ended_are_removed_and_those_of_a_clock_that_is_set_back_begin_again() {
    let (rates, clock) = rates("key:requests=1/60");
    for key in 0..PRUNED_EVERY as i64 {
        count(&rates, &caller(key, 1), "listPrompts");
    }
    clock.advance(Duration::from_secs(60));
    assert_eq!(count(&rates, &caller(-1, 1), "listPrompts").0, None);
    assert_eq!(rates.open.lock().len(), 1);
    let later = Clock::Manual(clock).now() + SignedDuration::from_secs(3600);
    rates.open.lock().values_mut().for_each(|window| window.0 = later);
    assert_eq!(count(&rates, &caller(-1, 1), "listPrompts").0, None);
}

#[test]
fn other_texts_are_no_rate_limits() {
    let wrong = "|key|key:requests|key:requests=1|key:requests=0/60|key:requests=1/0|user:requests=1/1|\
                 key:reads=1/1|key:requests=1/1/1|key:requests=-1/1|key:requests=1/1000001";
    for text in wrong.split('|') {
        assert!(text.parse::<RateLimit>().is_err(), "{text}");
    }
}
