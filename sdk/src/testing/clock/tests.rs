//! The clock under tasks of every kind, in runtimes of one thread and of several.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::{NEVER, VirtualClock};
use crate::{Clock as _, Timestamp};

const SECOND: Duration = Duration::from_secs(1);

/// What `work` comes to, unless it takes longer than this.
async fn within<T>(
    clock: &VirtualClock,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Option<T> {
    let (mut work, mut over) = (pin!(work), clock.sleep(limit));
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
        Poll::Pending => over.as_mut().poll(cx).map(|()| None),
    })
    .await
}

fn on_several_threads<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
    runtime.block_on(work)
}

#[tokio::test]
async fn a_sleep_takes_its_time_and_no_other() {
    let (clock, start) = (VirtualClock::new(), Instant::now());
    clock.sleep(3600 * SECOND).await;
    clock.sleep(SECOND / 2).await;
    assert_eq!(clock.elapsed(), 3600 * SECOND + SECOND / 2);
    assert_eq!(clock.slept(), [3600 * SECOND, SECOND / 2]);
    assert!(start.elapsed() < 60 * SECOND);
}

#[tokio::test]
async fn the_nearer_of_two_ends_first_wherever_they_were_begun() {
    let clock = VirtualClock::new();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = JoinSet::new();
    for length in [3, 1, 2] {
        let (clock, order) = (clock.clone(), order.clone());
        tasks.spawn(async move {
            clock.sleep(length * SECOND).await;
            order.lock().unwrap().push((length, clock.elapsed()));
        });
    }
    tasks.join_all().await;
    assert_eq!(*order.lock().unwrap(), [(1, SECOND), (2, 2 * SECOND), (3, 3 * SECOND)]);
}

#[tokio::test]
async fn a_limit_does_not_run_out_before_a_nearer_answer() {
    let clock = VirtualClock::new();
    let answer = within(&clock, 10 * SECOND, clock.sleep(9 * SECOND)).await;
    assert!(answer.is_some() && clock.elapsed() == 9 * SECOND);
    let answer = within(&clock, 10 * SECOND, clock.sleep(11 * SECOND)).await;
    assert!(answer.is_none() && clock.elapsed() == 19 * SECOND);
    assert_eq!(clock.sleepers(), 0, "what was given up is gone");
    assert_eq!(clock.slept(), [9 * SECOND, 10 * SECOND]);
}

#[tokio::test]
async fn a_limit_waits_while_two_hand_on_to_each_other() {
    let clock = VirtualClock::new();
    let (to, mut heard) = mpsc::channel::<()>(1);
    let (back, mut from) = mpsc::channel(1);
    tokio::spawn(async move {
        while heard.recv().await.is_some() {
            back.send(()).await.unwrap();
        }
    });
    let answer = async {
        for _ in 0..20 {
            to.send(()).await.unwrap();
            from.recv().await;
        }
        clock.sleep(SECOND).await;
    };
    assert!(within(&clock, 2 * SECOND, answer).await.is_some());
    assert_eq!(clock.elapsed(), SECOND);
}

#[tokio::test]
async fn after_a_time_without_sleepers_it_goes_on() {
    let clock = VirtualClock::new();
    for n in 1..=3 {
        clock.sleep(SECOND).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(clock.elapsed(), n * SECOND);
    }
}

#[tokio::test]
async fn time_stands_still_as_long_as_somebody_is_awake() {
    let clock = VirtualClock::new();
    let work = async {
        for _ in 0..10_000 {
            clock.stir();
            tokio::task::yield_now().await;
        }
    };
    assert!(within(&clock, SECOND, work).await.is_some());
    assert_eq!(clock.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn forever_is_longer_than_everything_else() {
    let clock = VirtualClock::new();
    let years = NEVER - 3600 * SECOND;
    let answer = within(&clock, Duration::MAX, clock.sleep(years)).await;
    assert!(answer.is_some() && clock.elapsed() == years);
    // The limit is left behind by a moment that would be past the end of time.
    assert!(within(&clock, SECOND, clock.sleep(years)).await.is_none());
    assert!(within(&clock, SECOND, clock.sleep(Duration::MAX)).await.is_none());
    assert!(within(&clock, SECOND, pending::<()>()).await.is_none());
    assert_eq!(clock.elapsed(), years + 3 * SECOND);
}

#[tokio::test]
async fn a_sleep_that_is_kept_and_not_polled_holds_nobody_up() {
    let clock = VirtualClock::new();
    let mut kept = clock.sleep(SECOND);
    poll_fn(|cx| Poll::Ready(kept.as_mut().poll(cx).is_pending())).await;
    clock.sleep(5 * SECOND).await;
    assert_eq!(clock.elapsed(), 5 * SECOND);
    kept.await;
    assert_eq!(clock.elapsed(), 5 * SECOND, "it was over long ago");
    // The same beside another task, in which the nearest sleep is dropped.
    let mut kept = Some(clock.sleep(2 * SECOND));
    poll_fn(|cx| Poll::Ready(kept.as_mut().unwrap().as_mut().poll(cx).is_pending())).await;
    let other = clock.clone();
    let task = tokio::spawn(async move { other.sleep(4 * SECOND).await });
    clock.sleep(SECOND).await;
    drop(kept.take());
    task.await.unwrap();
    assert_eq!(clock.elapsed(), 9 * SECOND);
    assert_eq!(clock.slept(), [5, 1, 1, 4].map(|length| length * SECOND));
}

#[tokio::test]
async fn a_sleep_of_nothing_is_over_and_one_that_is_late_begins_when_it_was_made() {
    let clock = VirtualClock::new();
    clock.sleep(Duration::ZERO).await;
    let late = clock.sleep(2 * SECOND);
    clock.sleep(SECOND).await;
    late.await;
    assert_eq!(clock.elapsed(), 2 * SECOND);
}

#[tokio::test]
async fn time_can_be_moved_by_hand_too() {
    let clock = VirtualClock::by_hand();
    let mut sleep = clock.sleep(10 * SECOND);
    let mut is_over = || {
        let mut cx = Context::from_waker(Waker::noop());
        sleep.as_mut().poll(&mut cx).is_ready()
    };
    assert!(!is_over());
    clock.advance(9 * SECOND);
    tokio::task::yield_now().await;
    assert!(!is_over() && clock.sleepers() == 1 && clock.elapsed() == 9 * SECOND);
    clock.advance(SECOND);
    assert!(is_over() && clock.sleepers() == 0);
    clock.advance(Duration::MAX);
    clock.advance(Duration::MAX);
    assert_eq!(clock.elapsed(), NEVER);
}

#[test]
fn without_a_runtime_it_is_moved_by_hand() {
    let clock = VirtualClock::new();
    let mut sleep = clock.sleep(SECOND);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(sleep.as_mut().poll(&mut cx).is_pending());
    clock.advance(SECOND);
    assert!(sleep.as_mut().poll(&mut cx).is_ready());
}

#[test]
fn the_date_goes_with_it() {
    let clock = VirtualClock::by_hand();
    clock.advance(90 * SECOND);
    assert_eq!(clock.now(), "2026-03-01T12:01:30Z".parse::<Timestamp>().unwrap());
    clock.advance(Duration::MAX);
    assert!(clock.now() > "2900-01-01T00:00:00Z".parse::<Timestamp>().unwrap());
}

#[tokio::test]
async fn a_thousand_tasks_wake_in_their_order() {
    let clock = VirtualClock::new();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = JoinSet::new();
    for n in 0..1000_u32 {
        let (clock, order) = (clock.clone(), order.clone());
        // A permutation, so that none of the orders is that of their making.
        let length = (n * 377 % 1000 + 1) * SECOND;
        tasks.spawn(async move {
            clock.sleep(length).await;
            assert_eq!(clock.elapsed(), length);
            order.lock().unwrap().push(length);
        });
    }
    tasks.join_all().await;
    let order = order.lock().unwrap();
    assert!(order.is_sorted() && order.len() == 1000);
    assert_eq!(clock.elapsed(), 1000 * SECOND);
}

#[test]
fn on_several_threads_time_waits_for_every_task() {
    let clock = VirtualClock::new();
    on_several_threads(async {
        let mut tasks = JoinSet::new();
        for n in 0..50_u32 {
            let clock = clock.clone();
            tasks.spawn(async move {
                for step in 1..=20 {
                    clock.sleep((n + 1) * SECOND).await;
                    assert_eq!(clock.elapsed(), step * (n + 1) * SECOND);
                }
            });
        }
        tasks.join_all().await;
    });
    assert_eq!(clock.elapsed(), 1000 * SECOND);
}

#[test]
fn on_several_threads_work_of_another_task_takes_no_time() {
    on_several_threads(async {
        let clock = VirtualClock::new();
        let other = clock.clone();
        let busy = async move {
            // Longer than the clock looks around, and nothing it could see.
            std::thread::sleep(Duration::from_millis(100));
            other.sleep(SECOND).await;
        };
        let answer = within(&clock, 2 * SECOND, async { tokio::spawn(busy).await }).await;
        assert!(answer.is_some());
        assert_eq!(clock.elapsed(), SECOND);
    });
}

#[test]
fn on_several_threads_a_sleep_that_is_kept_and_not_polled_holds_nobody_up() {
    let clock = VirtualClock::new();
    on_several_threads(async {
        let mut kept = clock.sleep(9 * SECOND);
        poll_fn(|cx| Poll::Ready(kept.as_mut().poll(cx).is_pending())).await;
        for _ in 0..10 {
            clock.sleep(SECOND).await;
        }
        kept.await;
    });
    assert_eq!(clock.elapsed(), 10 * SECOND);
}

#[test]
fn it_outlives_its_runtime_and_serves_two_at_once() {
    let clock = VirtualClock::new();
    let runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (first, second) = (runtime(), runtime());
    // The driver stays behind in a runtime that is not run, with a sleep that stays open.
    let mut kept = clock.sleep(SECOND);
    first.block_on(poll_fn(|cx| Poll::Ready(kept.as_mut().poll(cx).is_pending())));
    second.block_on(clock.sleep(2 * SECOND));
    assert_eq!(clock.elapsed(), 2 * SECOND);
    first.block_on(&mut kept);
    first.block_on(clock.sleep(SECOND));
    drop(first);
    second.block_on(clock.sleep(SECOND));
    drop(second);
    runtime().block_on(clock.sleep(SECOND));
    assert_eq!(clock.elapsed(), 5 * SECOND);
}
