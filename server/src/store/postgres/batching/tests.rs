//! Requests that wait, are sent together, fail, and are dropped.

use std::sync::Arc;

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, yield_now};
use tokio::time::Instant;

use super::{AT_ONCE_MAX, BYTES_MAX, Batcher, REQUESTS_MAX};
use crate::limits::REQUEST_DATABASE_TIMEOUT;
use crate::store::{Result, StoreError};

/// The output of a request is ten times its input. A batch with [`BAD`] fails.
struct Requests {
    batcher: Batcher<u8, i64, i64>,
    sender: Arc<Sender>,
}

struct Sender {
    sent: Mutex<Vec<Vec<i64>>>,
    /// A permit for each batch that may end.
    ends: Semaphore,
    /// The failure of all batches from now on.
    failure: Mutex<Option<fn() -> StoreError>>,
}

const BAD: i64 = 13;

async fn send(sender: Arc<Sender>, _key: u8, inputs: Vec<i64>) -> Result<Vec<i64>> {
    sender.sent.lock().push(inputs.clone());
    sender.ends.acquire().await.unwrap().forget();
    let failure = *sender.failure.lock();
    match failure {
        Some(failure) => Err(failure()),
        None if inputs.contains(&BAD) => Err(StoreError::Internal("bad".into())),
        None => Ok(inputs.iter().map(|input| 10 * input).collect()),
    }
}

impl Requests {
    fn new(writes: bool) -> Self {
        let (sent, failure) = (Mutex::default(), Mutex::default());
        let sender = Arc::new(Sender { sent, ends: Semaphore::new(0), failure });
        Self { batcher: Batcher::new(writes, &sender, send), sender }
    }

    async fn start(&self, input: i64, bytes: usize) -> JoinHandle<Result<i64>> {
        let batcher = self.batcher.clone();
        let request = tokio::spawn(async move { batcher.run(1, bytes, input).await });
        yield_now().await;
        request
    }

    /// Two requests that are on their way, and these that wait.
    async fn waiting(&self, inputs: &[i64]) -> Vec<JoinHandle<Result<i64>>> {
        let mut requests = Vec::new();
        for input in [1, 2].iter().chain(inputs) {
            requests.push(self.start(*input, 1).await);
        }
        assert_eq!(self.sent(0), [[1], [2]]);
        requests
    }

    /// The inputs of the batches from this one on.
    fn sent(&self, from: usize) -> Vec<Vec<i64>> {
        self.sender.sent.lock()[from..].to_vec()
    }

    async fn end(&self, batches: usize) {
        self.sender.ends.add_permits(batches);
        for _ in 0..10 {
            yield_now().await;
        }
    }
}

async fn outputs(requests: Vec<JoinHandle<Result<i64>>>) -> Vec<Option<i64>> {
    let outcomes = join_all(requests).await.into_iter();
    outcomes.map(|outcome| outcome.ok().and_then(Result::ok)).collect()
}

#[tokio::test(start_paused = true)]
async fn requests_that_wait_are_sent_together_and_each_gets_its_own_output() {
    let requests = Requests::new(true);
    let all = requests.waiting(&[5, 4, 5]).await;
    requests.end(1).await;
    assert_eq!(requests.sent(2), [[5, 4, 5]]);
    requests.end(2).await;
    assert_eq!(outputs(all).await, [10, 20, 50, 40, 50].map(Some));
    assert!(requests.batcher.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_batch_has_a_limited_number_of_requests_and_of_bytes() {
    let requests = Requests::new(true);
    let mut all = requests.waiting(&[]).await;
    for input in 0..=REQUESTS_MAX {
        all.push(requests.start(input as i64 + 20, 1).await);
    }
    for (input, bytes) in [(3, BYTES_MAX + 1), (4, BYTES_MAX), (5, 1)] {
        all.push(requests.start(input, bytes).await);
    }
    for _ in 0..all.len() {
        requests.end(1).await;
    }
    let lengths: Vec<_> = requests.sent(AT_ONCE_MAX).iter().map(Vec::len).collect();
    assert_eq!(lengths, [REQUESTS_MAX, 1, 1, 1, 1]);
    assert!(outputs(all).await.iter().all(Option::is_some));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_hangs_up_stops_no_other_request_and_one_that_waits_is_never_sent() {
    let requests = Requests::new(true);
    let mut all = requests.waiting(&[3, 4, 5]).await;
    all[3].abort();
    // Alone on its way, so it ends, and the next batch is sent.
    all[0].abort();
    requests.end(0).await;
    assert_eq!(requests.sent(2), [[3, 5]]);
    all[2].abort();
    requests.end(3).await;
    assert_eq!(all.pop().unwrap().await.unwrap().unwrap(), 50);
    assert_eq!(requests.sent(0).len(), 3);
    assert!(requests.batcher.is_idle());
}

#[tokio::test(start_paused = true)]
async fn after_a_fault_each_request_of_a_batch_is_sent_alone_and_only_the_bad_one_fails() {
    let requests = Requests::new(false);
    let all = requests.waiting(&[3, BAD, 4]).await;
    requests.end(6).await;
    assert_eq!(outputs(all).await, [Some(10), Some(20), Some(30), None, Some(40)]);
    assert_eq!(requests.sent(3), [[3], [BAD], [4]]);
}

#[tokio::test(start_paused = true)]
async fn every_other_failure_is_that_of_each_request_and_none_is_sent_again() {
    let failures: [fn() -> StoreError; 4] = [
        || StoreError::KeyRevoked,
        || StoreError::NotFound,
        || StoreError::Unavailable("away".into()),
        || StoreError::OutcomeUnknown("away".into()),
    ];
    for failure in failures {
        let requests = Requests::new(true);
        let all = requests.waiting(&[3, 4]).await;
        requests.end(2).await;
        *requests.sender.failure.lock() = Some(failure);
        requests.end(1).await;
        for request in all.into_iter().skip(2) {
            let error = request.await.unwrap().unwrap_err();
            assert_eq!(error.to_string(), failure().to_string());
        }
        assert_eq!(requests.sent(2), [[3, 4]]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waited_as_long_as_it_may_is_never_sent() {
    let requests = Requests::new(true);
    let mut all = requests.waiting(&[]).await;
    let began = Instant::now();
    let late = requests.start(3, 1).await.await.unwrap();
    assert!(matches!(late, Err(StoreError::Unavailable(_))));
    assert_eq!(began.elapsed(), REQUEST_DATABASE_TIMEOUT);
    all.push(requests.start(4, 1).await);
    requests.end(3).await;
    assert_eq!(outputs(all).await, [10, 20, 40].map(Some));
    assert_eq!(requests.sent(2), [[4]]);
}

#[tokio::test(start_paused = true)]
async fn the_outcome_of_a_batch_that_does_not_end_in_time_is_unknown_if_it_writes() {
    for writes in [false, true] {
        let requests = Requests::new(writes);
        let all = requests.waiting(&[3, 4]).await;
        requests.end(1).await;
        for request in all.into_iter().skip(2) {
            let outcome = request.await.unwrap();
            assert_eq!(matches!(outcome, Err(StoreError::OutcomeUnknown(_))), writes);
            assert_eq!(matches!(outcome, Err(StoreError::Unavailable(_))), !writes);
        }
    }
}
