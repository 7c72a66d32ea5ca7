//! Reads that go out as one statement.

use std::hash::Hash;
use std::mem;

use super::batching::{Batcher, Dispatch};
use crate::store::Result;

/// Reads of values `V` by their ids `I`. The answer is the value, if there is one.
pub(super) type BatchReader<K, I, V> = Batcher<K, I, Option<V>>;

impl<K: Copy + Eq + Hash, I: Copy + Ord, V: Clone> BatchReader<K, I, V> {
    /// The value of this id; `None` if there is none. `send` loads the values of several ids: its
    /// read may have to do so for others. Its failure is the failure of this read only.
    pub(super) async fn load<F>(
        &self,
        key: K,
        id: I,
        send: impl FnOnce(Vec<I>) -> F,
    ) -> Result<Option<V>>
    where
        F: Future<Output = Result<Vec<(I, V)>>>,
    {
        let mut batch = match self.dispatch(key, 0, || id).await? {
            Dispatch::Answered(value) => return Ok(value),
            Dispatch::Send(batch) => batch,
        };
        let mut ids = vec![id];
        ids.extend(batch.others.iter().map(|read| read.input));
        ids.sort_unstable();
        ids.dedup();
        let loaded = send(ids).await?;
        let find = |id| loaded.iter().find(|(of, _)| *of == id).map(|(_, value)| value.clone());
        for read in mem::take(&mut batch.others) {
            // An error means that its request was cancelled.
            let _ = read.dispatch.send(Dispatch::Answered(find(read.input)));
        }
        Ok(find(id))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use futures::future::join_all;
    use parking_lot::Mutex;
    use tokio::sync::Semaphore;
    use tokio::task::{JoinHandle, yield_now};
    use tokio::time::Instant;

    use super::super::batching::{BATCHES_MAX, REQUESTS_MAX};
    use super::*;
    use crate::store::StoreError;

    /// Even ids have a value, ten times the id.
    struct Loads {
        reader: BatchReader<u8, i64, i64>,
        sent: Mutex<Vec<Vec<i64>>>,
        /// A permit for each batch that may end.
        ends: Semaphore,
        failures: AtomicUsize,
    }

    impl Loads {
        fn new() -> Arc<Self> {
            let (reader, sent) = (BatchReader::new(), Mutex::default());
            Arc::new(Self { reader, sent, ends: Semaphore::new(0), failures: 0.into() })
        }

        async fn start(self: &Arc<Self>, id: i64) -> JoinHandle<Result<Option<i64>>> {
            let this = self.clone();
            let read = tokio::spawn(async move {
                let send = async |ids: Vec<i64>| {
                    this.sent.lock().push(ids.clone());
                    this.ends.acquire().await.unwrap().forget();
                    if this.failures.load(Relaxed) > 0 {
                        this.failures.fetch_sub(1, Relaxed);
                        return Err(StoreError::Unavailable("away".into()));
                    }
                    let even = ids.into_iter().filter(|id| id % 2 == 0);
                    Ok(even.map(|id| (id, 10 * id)).collect())
                };
                this.reader.load(1, id, send).await
            });
            yield_now().await;
            read
        }

        fn sent(&self) -> Vec<Vec<i64>> {
            self.sent.lock().clone()
        }

        async fn end(&self) {
            self.ends.add_permits(1);
            for _ in 0..5 {
                yield_now().await;
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn reads_that_wait_go_out_together_and_each_gets_its_value() {
        let loads = Loads::new();
        let mut reads = Vec::new();
        for id in [1, 2, 4, 3, 4, 6] {
            reads.push(loads.start(id).await);
        }
        assert_eq!(loads.sent(), [vec![1], vec![2]]);
        loads.end().await;
        assert_eq!(loads.sent(), [vec![1], vec![2], vec![3, 4, 6]]);
        loads.ends.add_permits(2);
        let values = join_all(reads).await.into_iter().map(|read| read.unwrap().unwrap());
        let expected = [None, Some(20), Some(40), None, Some(40), Some(60)];
        assert_eq!(values.collect::<Vec<_>>(), expected);
        assert!(loads.reader.is_idle());
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_has_a_limited_number_of_reads() {
        let loads = Loads::new();
        let mut reads = Vec::new();
        for id in 0..(REQUESTS_MAX + BATCHES_MAX) as i64 + 1 {
            reads.push(loads.start(2 * id).await);
        }
        loads.end().await;
        loads.end().await;
        let lengths: Vec<_> = loads.sent().iter().map(Vec::len).collect();
        assert_eq!(lengths, [1, 1, REQUESTS_MAX, 1]);
        loads.ends.add_permits(2);
        assert!(join_all(reads).await.into_iter().all(|read| read.unwrap().unwrap().is_some()));
    }

    #[tokio::test(start_paused = true)]
    async fn reads_whose_batch_is_dropped_or_fails_are_sent_by_another() {
        let loads = Loads::new();
        let first = loads.start(2).await;
        let other = loads.start(4).await;
        let (third, fourth) = (loads.start(6).await, loads.start(8).await);
        // The client of a request that is being served hangs up, and later that of the next.
        first.abort();
        loads.end().await;
        assert_eq!(loads.sent()[2..], [vec![6, 8]]);
        third.abort();
        for _ in 0..5 {
            yield_now().await;
        }
        assert_eq!(loads.sent()[3..], [vec![8]]);
        let fifth = loads.start(10).await;
        loads.failures.store(1, Relaxed);
        loads.end().await;
        assert!(fourth.await.unwrap().is_err());
        loads.ends.add_permits(2);
        assert_eq!(fifth.await.unwrap().unwrap(), Some(100));
        assert_eq!(other.await.unwrap().unwrap(), Some(40));
        assert!(loads.reader.is_idle());
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_read_that_waits_stops_no_other() {
        let loads = Loads::new();
        let (first, second) = (loads.start(2).await, loads.start(4).await);
        let (third, fourth) = (loads.start(6).await, loads.start(8).await);
        third.abort();
        loads.ends.add_permits(3);
        for read in [first, second, fourth] {
            assert!(read.await.unwrap().unwrap().is_some());
        }
        assert_eq!(loads.sent(), [vec![2], vec![4], vec![8]]);
        assert!(loads.reader.is_idle());
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_waits_no_longer_than_its_request_may() {
        let loads = Loads::new();
        let (_first, _second) = (loads.start(2).await, loads.start(4).await);
        let began = Instant::now();
        let third = loads.start(6).await.await.unwrap();
        assert!(matches!(third, Err(StoreError::Unavailable(_))));
        assert_eq!(began.elapsed(), crate::limits::REQUEST_DATABASE_TIMEOUT);
    }
}
