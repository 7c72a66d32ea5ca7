use std::net::Ipv4Addr;

use futures::FutureExt;
use futures::future::join_all;
use tokio::task::yield_now;

use super::*;

const ONE: AccountId = AccountId(1);
const OTHER: AccountId = AccountId(2);
const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_secs(1);

fn quota(total: usize, share: usize) -> Quota {
    Quota::new("seats", "the seats", total, share)
}

fn held(quota: &Quota) -> (usize, usize) {
    let usage = quota.usage();
    (usage.used, usage.waiting)
}

#[test]
fn a_client_gets_its_share_and_the_others_get_theirs() {
    let quota = quota(200, 100);
    let (one, other) = (quota.of(ONE), quota.of(OTHER));
    let first = one.reserve(60).unwrap();
    let second = one.reserve(40).unwrap();
    assert_eq!(one.reserve(1).unwrap_err(), OverQuota::Account("the seats"));
    let third = other.reserve(100).unwrap();
    assert_eq!(quota.of(AccountId(3)).reserve(1).unwrap_err(), OverQuota::Server("the seats"));
    drop(first);
    assert_eq!(one.reserve(61).unwrap_err(), OverQuota::Account("the seats"));
    assert!(one.reserve(60).is_ok());
    drop((second, third));
    let usage = quota.usage();
    assert_eq!((usage.used, usage.total, usage.refused), (0, 200, 3));
    for account in 0..1000 {
        one.reserve(1).unwrap();
        quota.of(AccountId(account)).reserve(1).unwrap();
    }
    assert!(quota.0.clients.lock().len() < 100, "the others are forgotten");
}

#[test]
fn networks_of_ipv6_and_mapped_addresses_of_ipv4_count_as_one() {
    for (one, other, same) in [
        ("2001:db8::1", "2001:db8::ffff:1", true),
        ("2001:db8::1", "2001:db8:0:1::1", false),
        ("::ffff:192.0.2.1", "192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false),
    ] {
        let client = |text: &str| Client::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(client(one) == client(other), same, "{one} {other}");
    }
}

#[test]
fn a_permit_grows_within_the_share_and_is_held_until_the_last_clone_of_its_bytes_is_dropped() {
    let quota = quota(400, 100);
    let mut permit = quota.of(IpAddr::from(Ipv4Addr::LOCALHOST)).reserve(0).unwrap();
    permit.grow_to(100).unwrap();
    permit.grow_to(50).unwrap();
    assert_eq!(permit.grow_to(101), Err(OverQuota::Address("the seats")));
    let bytes = guarded(b"hello".to_vec(), permit);
    let clone = bytes.slice(1..2);
    drop(bytes);
    assert_eq!((&*clone, held(&quota).0), (&b"e"[..], 100));
    drop(clone);
    assert_eq!(held(&quota).0, 0);
}

#[tokio::test(start_paused = true)]
async fn who_waits_too_long_is_refused_and_forgotten() {
    let quota = quota(2, 1);
    let permit = quota.acquire(ONE, 1, LONG).await.unwrap();
    assert_eq!(quota.acquire(ONE, 1, SHORT).await.unwrap_err(), OverQuota::Account("the seats"));
    let other = quota.acquire(OTHER, 1, LONG).await.unwrap();
    let third = quota.acquire(AccountId(3), 1, SHORT).await;
    assert_eq!(third.unwrap_err(), OverQuota::Server("the seats"));
    assert_eq!(held(&quota), (2, 0));
    drop((permit, other));
    assert_eq!(held(&quota), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_client_with_many_requests_delays_only_its_own() {
    let quota = quota(2, 1);
    let first = quota.acquire(ONE, 1, LONG).await.unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    // The first account has three more requests before others have their first.
    let waiting = [1, 1, 1, 2, 3].map(|account| {
        let (quota, order) = (quota.clone(), order.clone());
        tokio::spawn(async move {
            let _permit = quota.acquire(AccountId(account), 1, LONG).await.unwrap();
            order.lock().push(account);
        })
    });
    while held(&quota).1 > 3 || order.lock().len() < 2 {
        yield_now().await;
    }
    assert_eq!(*order.lock(), [2, 3]);
    drop(first);
    join_all(waiting).await;
    assert_eq!(*order.lock(), [2, 3, 1, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn nobody_overtakes_a_large_request_that_waits_for_all_of_its_share() {
    let quota = quota(10, 8);
    let small = quota.acquire(ONE, 4, LONG).await.unwrap();
    // More than a share is the share.
    let mut large = Box::pin(quota.acquire(OTHER, 9, LONG));
    assert!(large.as_mut().now_or_never().is_none());
    let mut third = Box::pin(quota.acquire(AccountId(3), 1, LONG));
    assert!(third.as_mut().now_or_never().is_none());
    assert_eq!(held(&quota), (10, 2), "what is free is its already");
    // What it waits for no longer is there for others.
    drop(large);
    let third = third.await.unwrap();
    let large = quota.acquire(OTHER, 8, LONG);
    drop((small, third));
    assert_eq!(large.await.unwrap().of_all.num_permits(), 8);
}
