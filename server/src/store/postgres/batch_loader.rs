//! Concurrent reads of single values by their ids that go out as one statement.
//!
//! A read is sent at once unless [`BATCHES_MAX`] batches of the same key are on their way. Then it
//! waits for one of them to end, and goes out together with all others that wait. So no read waits
//! for company, and no value is older than the request for it: a batch is sent after all of its
//! reads have begun.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::retry::within;
use crate::store::{Result, StoreError, time_budget};

/// Batches of one key that are on their way at once.
const BATCHES_MAX: usize = 2;
/// Reads in one batch.
const READS_MAX: usize = 32;

/// Values of type `V` by their ids, as the keys `K` see them. Clones share the batches.
pub(super) struct BatchLoader<K, V>(Arc<Mutex<HashMap<K, Queue<K, V>>>>)
where
    K: Copy + Eq + Hash;

/// The reads of one key.
struct Queue<K: Copy + Eq + Hash, V> {
    /// Batches that are on their way.
    running: usize,
    waiting: Vec<Read<K, V>>,
}

struct Read<K: Copy + Eq + Hash, V> {
    id: i64,
    turn: oneshot::Sender<Turn<K, V>>,
}

/// What a read that waits gets.
enum Turn<K: Copy + Eq + Hash, V> {
    Loaded(Option<V>),
    Send(Batch<K, V>),
}

/// A batch for the read with this id to send. When it is dropped, the next one has its turn.
struct Batch<K: Copy + Eq + Hash, V> {
    loader: BatchLoader<K, V>,
    key: K,
    id: i64,
    /// The other reads of this batch that have no value yet.
    others: Vec<Read<K, V>>,
}

impl<K: Copy + Eq + Hash, V: Clone> BatchLoader<K, V> {
    pub(super) fn new() -> Self {
        Self(Arc::default())
    }

    /// The value of this id; `None` if there is none. `send` loads the values of several ids: its
    /// read may have to do so for others. Its failure is the failure of this read only.
    pub(super) async fn load<F>(
        &self,
        key: K,
        id: i64,
        send: impl FnOnce(Vec<i64>) -> F,
    ) -> Result<Option<V>>
    where
        F: Future<Output = Result<Vec<(i64, V)>>>,
    {
        let batch = match self.begin(key, id) {
            Ok(batch) => batch,
            Err(turn) => {
                let began = Instant::now();
                let turn = within(time_budget::left(), turn).await;
                time_budget::spend(began.elapsed());
                match turn? {
                    Ok(Turn::Loaded(value)) => return Ok(value),
                    Ok(Turn::Send(batch)) => batch,
                    Err(_) => return Err(StoreError::Internal("a read lost its turn".into())),
                }
            }
        };
        batch.load(send).await
    }

    /// A batch of this read alone, or the turn of this read later.
    fn begin(&self, key: K, id: i64) -> Result<Batch<K, V>, oneshot::Receiver<Turn<K, V>>> {
        let mut queues = self.0.lock();
        let queue = queues.entry(key).or_insert(Queue { running: 0, waiting: Vec::new() });
        if queue.running < BATCHES_MAX {
            queue.running += 1;
            return Ok(Batch { loader: self.clone(), key, id, others: Vec::new() });
        }
        let (turn, receiver) = oneshot::channel();
        queue.waiting.push(Read { id, turn });
        Err(receiver)
    }
}

impl<K: Copy + Eq + Hash, V> Clone for BatchLoader<K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: Copy + Eq + Hash, V: Clone> Batch<K, V> {
    async fn load<F>(mut self, send: impl FnOnce(Vec<i64>) -> F) -> Result<Option<V>>
    where
        F: Future<Output = Result<Vec<(i64, V)>>>,
    {
        let mut ids = vec![self.id];
        ids.extend(self.others.iter().map(|read| read.id));
        ids.sort_unstable();
        ids.dedup();
        let loaded = send(ids).await?;
        let find = |id| loaded.iter().find(|(of, _)| *of == id).map(|(_, value)| value.clone());
        for read in mem::take(&mut self.others) {
            // Its request may have gone.
            let _ = read.turn.send(Turn::Loaded(find(read.id)));
        }
        Ok(find(self.id))
    }
}

impl<K: Copy + Eq + Hash, V> Drop for Batch<K, V> {
    fn drop(&mut self) {
        let mut queues = self.loader.0.lock();
        let Entry::Occupied(mut entry) = queues.entry(self.key) else { return };
        let queue = entry.get_mut();
        // Those that this batch could not load have their turn first.
        let mut waiting = mem::take(&mut self.others);
        waiting.append(&mut queue.waiting);
        waiting.retain(|read| !read.turn.is_closed());
        queue.waiting = waiting.split_off(waiting.len().min(READS_MAX));
        // A read that goes at this moment drops its batch later, so its lock is free by then.
        let mut reads = waiting.into_iter();
        let Some(first) = reads.next() else {
            queue.running -= 1;
            if queue.running == 0 {
                entry.remove();
            }
            return;
        };
        let (loader, key, id) = (self.loader.clone(), self.key, first.id);
        let batch = Batch { loader, key, id, others: reads.collect() };
        let refused = first.turn.send(Turn::Send(batch));
        drop(queues);
        // Gives the turn to the next one.
        drop(refused);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use futures::future::join_all;
    use tokio::sync::Semaphore;
    use tokio::task::{JoinHandle, yield_now};

    use super::*;

    /// Even ids have a value, ten times the id.
    struct Loads {
        loader: BatchLoader<u8, i64>,
        sent: Mutex<Vec<Vec<i64>>>,
        /// A permit for each batch that may end.
        ends: Semaphore,
        failures: AtomicUsize,
    }

    impl Loads {
        fn new() -> Arc<Self> {
            let (loader, sent) = (BatchLoader::new(), Mutex::default());
            Arc::new(Self { loader, sent, ends: Semaphore::new(0), failures: 0.into() })
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
                this.loader.load(1, id, send).await
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
        assert!(loads.loader.0.lock().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_has_a_limited_number_of_reads() {
        let loads = Loads::new();
        let mut reads = Vec::new();
        for id in 0..(READS_MAX + BATCHES_MAX) as i64 + 1 {
            reads.push(loads.start(2 * id).await);
        }
        loads.end().await;
        loads.end().await;
        let lengths: Vec<_> = loads.sent().iter().map(Vec::len).collect();
        assert_eq!(lengths, [1, 1, READS_MAX, 1]);
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
        assert!(loads.loader.0.lock().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_that_goes_before_its_turn_keeps_none_from_theirs() {
        let loads = Loads::new();
        let (first, second) = (loads.start(2).await, loads.start(4).await);
        let (third, fourth) = (loads.start(6).await, loads.start(8).await);
        third.abort();
        loads.ends.add_permits(3);
        for read in [first, second, fourth] {
            assert!(read.await.unwrap().unwrap().is_some());
        }
        assert_eq!(loads.sent(), [vec![2], vec![4], vec![8]]);
        assert!(loads.loader.0.lock().is_empty());
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
