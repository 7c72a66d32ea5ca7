//! Writes that go out as one statement.

use std::hash::Hash;
use std::mem;

use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::batching::{Batch, Batcher, Dispatch};
use super::retry::silent;
use crate::error_chain::error_chain;
use crate::store::{Cause, Result, StoreError, time_budget};

/// Writes with an output `O`. The answer is that the write was sent.
pub(super) type BatchWriter<K, I, O> = Batcher<K, I, oneshot::Receiver<Written<O>>>;

/// The outcome of a write that was sent together with others. `None` if the database refused one of
/// them, which may be another one: then it carried out none of them.
type Written<O> = Option<Result<O>>;

impl<K, I, O> BatchWriter<K, I, O>
where
    K: Copy + Eq + Hash + Send + 'static,
    I: Send + 'static,
    O: Send + 'static,
{
    /// The output of this input, which has so many bytes. `alone` writes it. `merged` writes all
    /// that it gets and has their outputs in the same order, or `None` if it certainly wrote
    /// nothing, and the fault may be that of one of them.
    pub(super) async fn write<F, M>(
        &self,
        key: K,
        bytes: usize,
        input: impl Fn() -> I,
        alone: impl FnOnce() -> F,
        merged: impl FnOnce(Vec<I>) -> M,
    ) -> Result<O>
    where
        F: Future<Output = Result<O>>,
        M: Future<Output = Result<Option<Vec<O>>>> + Send + 'static,
    {
        let sent = match self.dispatch(key, bytes, &input).await? {
            Dispatch::Answered(sent) => sent,
            Dispatch::Send(batch) if batch.others.is_empty() => {
                let written = alone().await;
                drop(batch);
                return written;
            }
            Dispatch::Send(batch) => batch.write(input(), merged),
        };
        let (began, limit) = (Instant::now(), time_budget::left());
        let written = timeout(limit, sent).await;
        time_budget::spend(began.elapsed());
        match written {
            Ok(Ok(Some(written))) => written,
            Ok(Ok(None)) => alone().await,
            Ok(Err(_)) => Err(StoreError::OutcomeUnknown("the task of a write ended".into())),
            Err(_) => Err(StoreError::OutcomeUnknown(silent(limit))),
        }
    }
}

impl<K, I, O> Batch<K, I, oneshot::Receiver<Written<O>>>
where
    K: Copy + Eq + Hash + Send + 'static,
    I: Send + 'static,
    O: Send + 'static,
{
    /// Sends all writes in a task of its own, which no request that goes can stop.
    fn write<M>(
        mut self,
        input: I,
        merged: impl FnOnce(Vec<I>) -> M,
    ) -> oneshot::Receiver<Written<O>>
    where
        M: Future<Output = Result<Option<Vec<O>>>> + Send + 'static,
    {
        let (first, sent) = oneshot::channel();
        let (mut inputs, mut writes) = (vec![input], vec![first]);
        for other in mem::take(&mut self.others) {
            let (write, sent) = oneshot::channel();
            // If its request was cancelled, it is not sent.
            if other.dispatch.send(Dispatch::Answered(sent)).is_ok() {
                inputs.push(other.input);
                writes.push(write);
            }
        }
        let merged = merged(inputs);
        tokio::spawn(async move {
            let outcome = merged.await;
            drop(self);
            let outcomes: Vec<Written<O>> = match outcome {
                Ok(Some(outputs)) => outputs.into_iter().map(|output| Some(Ok(output))).collect(),
                Ok(None) => writes.iter().map(|_| None).collect(),
                Err(failure) => {
                    writes.iter().map(|_| Some(Err(failure_of_one(&failure)))).collect()
                }
            };
            for (write, outcome) in writes.into_iter().zip(outcomes) {
                // An error means that its request was cancelled.
                let _ = write.send(outcome);
            }
        });
        sent
    }
}

/// The failure of a batch as that of one of its writes.
fn failure_of_one(failure: &StoreError) -> StoreError {
    let text = |cause: &Cause| error_chain(&**cause).into();
    match failure {
        StoreError::KeyRevoked => StoreError::KeyRevoked,
        StoreError::Unavailable(cause) => StoreError::Unavailable(text(cause)),
        StoreError::OutcomeUnknown(cause) => StoreError::OutcomeUnknown(text(cause)),
        other => StoreError::OutcomeUnknown(error_chain(other).into()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::future::join_all;
    use parking_lot::Mutex;
    use tokio::sync::Semaphore;
    use tokio::task::{JoinHandle, yield_now};

    use super::super::batching::{BATCHES_MAX, BYTES_MAX, REQUESTS_MAX};
    use super::*;
    use crate::limits::REQUEST_DATABASE_TIMEOUT;

    /// The output of a write is ten times its input. The database refuses [`Self::BAD`].
    struct Writes {
        writer: BatchWriter<u8, i64, i64>,
        sent: Mutex<Vec<Vec<i64>>>,
        /// A permit for each batch that may end.
        ends: Semaphore,
        /// The failure of all batches from now on.
        failure: Mutex<Option<fn() -> StoreError>>,
    }

    impl Writes {
        const BAD: i64 = 13;

        fn new() -> Arc<Self> {
            let (writer, sent) = (BatchWriter::new(), Mutex::default());
            Arc::new(Self { writer, sent, ends: Semaphore::new(0), failure: Mutex::default() })
        }

        async fn start(self: &Arc<Self>, input: i64) -> JoinHandle<Result<i64>> {
            self.start_large(input, 1).await
        }

        async fn start_large(
            self: &Arc<Self>,
            input: i64,
            bytes: usize,
        ) -> JoinHandle<Result<i64>> {
            let this = self.clone();
            let write = tokio::spawn(async move {
                let alone = async || match this.clone().send(vec![input]).await? {
                    Some(outputs) => Ok(outputs[0]),
                    None => Err(StoreError::Internal("refused".into())),
                };
                let merged = |inputs| this.clone().send(inputs);
                this.writer.write(1, bytes, || input, alone, merged).await
            });
            yield_now().await;
            write
        }

        async fn send(self: Arc<Self>, inputs: Vec<i64>) -> Result<Option<Vec<i64>>> {
            self.sent.lock().push(inputs.clone());
            self.ends.acquire().await.unwrap().forget();
            if let Some(failure) = *self.failure.lock() {
                return Err(failure());
            }
            let good = !inputs.contains(&Self::BAD);
            Ok(good.then(|| inputs.iter().map(|input| 10 * input).collect()))
        }

        fn sent(&self) -> Vec<Vec<i64>> {
            self.sent.lock().clone()
        }

        async fn end(&self, batches: usize) {
            self.ends.add_permits(batches);
            for _ in 0..10 {
                yield_now().await;
            }
        }

        /// Two writes that are on their way, and these that wait.
        async fn waiting(self: &Arc<Self>, inputs: &[i64]) -> Vec<JoinHandle<Result<i64>>> {
            let mut writes = vec![self.start(1).await, self.start(2).await];
            for input in inputs {
                writes.push(self.start(*input).await);
            }
            assert_eq!(self.sent(), [[1], [2]]);
            writes
        }
    }

    async fn outputs(writes: Vec<JoinHandle<Result<i64>>>) -> Vec<Option<i64>> {
        let outcomes = join_all(writes).await.into_iter();
        outcomes.map(|outcome| outcome.ok().and_then(Result::ok)).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn writes_that_wait_go_out_together_and_each_gets_its_own_output() {
        let writes = Writes::new();
        let all = writes.waiting(&[5, 4, 5]).await;
        writes.end(1).await;
        assert_eq!(writes.sent()[2..], [[5, 4, 5]]);
        writes.end(2).await;
        assert_eq!(outputs(all).await, [10, 20, 50, 40, 50].map(Some));
        assert!(writes.writer.is_idle());
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_refused_batch_each_write_is_sent_alone_and_only_the_bad_one_fails() {
        let writes = Writes::new();
        let all = writes.waiting(&[3, Writes::BAD, 4]).await;
        writes.end(6).await;
        assert_eq!(outputs(all).await, [Some(10), Some(20), Some(30), None, Some(40)]);
        assert_eq!(writes.sent()[3..], [[3], [Writes::BAD], [4]]);
    }

    #[tokio::test(start_paused = true)]
    async fn no_write_of_a_batch_with_an_unknown_outcome_is_sent_again() {
        let writes = Writes::new();
        let mut all = writes.waiting(&[3, 4]).await;
        writes.end(2).await;
        *writes.failure.lock() = Some(|| StoreError::OutcomeUnknown("away".into()));
        writes.end(1).await;
        for write in all.split_off(2) {
            assert!(matches!(write.await.unwrap(), Err(StoreError::OutcomeUnknown(_))));
        }
        assert_eq!(writes.sent(), [vec![1], vec![2], vec![3, 4]]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_hangs_up_stops_no_batch_that_was_sent() {
        let writes = Writes::new();
        let mut all = writes.waiting(&[3, 4, 5]).await;
        all[3].abort();
        writes.end(1).await;
        assert_eq!(writes.sent()[2..], [[3, 5]]);
        all[2].abort();
        writes.end(2).await;
        assert_eq!(all.pop().unwrap().await.unwrap().unwrap(), 50);
        assert_eq!(writes.sent().len(), 3);
        assert!(writes.writer.is_idle());
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_has_a_limited_number_of_writes_and_of_bytes() {
        let writes = Writes::new();
        let mut all = writes.waiting(&[]).await;
        for input in 0..=REQUESTS_MAX {
            all.push(writes.start(input as i64 + 20).await);
        }
        for (input, bytes) in [(3, BYTES_MAX + 1), (4, BYTES_MAX), (5, 1)] {
            all.push(writes.start_large(input, bytes).await);
        }
        for _ in 0..all.len() {
            writes.end(1).await;
        }
        let lengths: Vec<_> = writes.sent()[BATCHES_MAX..].iter().map(Vec::len).collect();
        assert_eq!(lengths, [REQUESTS_MAX, 1, 1, 1, 1]);
        assert!(outputs(all).await.iter().all(Option::is_some));
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_that_waited_as_long_as_it_may_is_never_sent() {
        let writes = Writes::new();
        let mut all = writes.waiting(&[]).await;
        let began = Instant::now();
        let late = writes.start(3).await.await.unwrap();
        assert!(matches!(late, Err(StoreError::Unavailable(_))));
        assert_eq!(began.elapsed(), REQUEST_DATABASE_TIMEOUT);
        all.push(writes.start(4).await);
        writes.end(3).await;
        assert_eq!(outputs(all).await, [10, 20, 40].map(Some));
        assert_eq!(writes.sent(), [[1], [2], [4]]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_outcome_of_a_batch_that_does_not_end_in_time_is_unknown() {
        let writes = Writes::new();
        let mut all = writes.waiting(&[3, 4]).await;
        writes.end(1).await;
        for write in all.split_off(2) {
            assert!(matches!(write.await.unwrap(), Err(StoreError::OutcomeUnknown(_))));
        }
    }
}
