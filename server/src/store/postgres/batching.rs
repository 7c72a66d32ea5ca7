//! Concurrent requests of one key that go out as one statement: equal reads, reads of single
//! values by their ids, and writes of single rows.
//!
//! A request is sent at once, alone, unless [`BATCHES_MAX`] batches of the same key are on their
//! way. Then it waits for one of them to end, and goes out together with all others that wait. So
//! no request waits for company, and no value is older than the request for it: a batch is sent
//! after all of its requests have begun.
//!
//! Reads whose batch fails or is dropped are sent again by another. Writes are not: they have the
//! outcome of their batch, which a task of its own sends. Only after a batch that was rolled back
//! each of them is sent alone.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::retry::silent;
use crate::store::{Result, StoreError, time_budget};

/// Batches of one key that are on their way at once.
pub(super) const BATCHES_MAX: usize = 2;
/// Requests in one batch.
pub(super) const REQUESTS_MAX: usize = 32;
/// Bytes of the requests in one batch, unless it is one request.
pub(super) const BYTES_MAX: usize = 1024 * 1024;

/// Requests of the keys `K`. Each has an input `I`, and gets an answer `A` if another one sends it.
/// Clones share the batches.
pub(super) struct Batcher<K: Copy + Eq + Hash, I, A>(Queues<K, I, A>);

type Queues<K, I, A> = Arc<Mutex<HashMap<K, Queue<K, I, A>>>>;

/// The requests of one key.
struct Queue<K: Copy + Eq + Hash, I, A> {
    /// Batches that are on their way.
    running: usize,
    waiting: Vec<Request<K, I, A>>,
}

pub(super) struct Request<K: Copy + Eq + Hash, I, A> {
    pub(super) input: I,
    bytes: usize,
    pub(super) dispatch: oneshot::Sender<Dispatch<K, I, A>>,
}

/// What a request that waits gets.
pub(super) enum Dispatch<K: Copy + Eq + Hash, I, A> {
    Answered(A),
    Send(Batch<K, I, A>),
}

/// A batch for the request that holds it to send. When it is dropped, the next batch is dispatched.
pub(super) struct Batch<K: Copy + Eq + Hash, I, A> {
    queues: Queues<K, I, A>,
    key: K,
    /// The other requests of this batch that have no answer yet.
    pub(super) others: Vec<Request<K, I, A>>,
}

impl<K: Copy + Eq + Hash, I, A> Batcher<K, I, A> {
    pub(super) fn new() -> Self {
        Self(Arc::default())
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// A batch of this request alone at once, or later an answer or a batch with others.
    pub(super) async fn dispatch(
        &self,
        key: K,
        bytes: usize,
        input: impl FnOnce() -> I,
    ) -> Result<Dispatch<K, I, A>> {
        let mut dispatch = {
            let mut queues = self.0.lock();
            let queue = queues.entry(key).or_insert(Queue { running: 0, waiting: Vec::new() });
            if queue.running < BATCHES_MAX {
                queue.running += 1;
                let queues = self.0.clone();
                return Ok(Dispatch::Send(Batch { queues, key, others: Vec::new() }));
            }
            let (dispatch, receiver) = oneshot::channel();
            queue.waiting.push(Request { input: input(), bytes, dispatch });
            receiver
        };
        let (began, limit) = (Instant::now(), time_budget::left());
        let outcome = timeout(limit, &mut dispatch).await;
        time_budget::spend(began.elapsed());
        let Ok(outcome) = outcome else {
            // From now on nobody can send it; it may have been sent just before.
            dispatch.close();
            return dispatch.try_recv().map_err(|_| StoreError::Unavailable(silent(limit)));
        };
        outcome.map_err(|_| StoreError::Internal("a request was not dispatched".into()))
    }
}

impl<K: Copy + Eq + Hash, I, A> Clone for Batcher<K, I, A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: Copy + Eq + Hash, I, A> Drop for Batch<K, I, A> {
    fn drop(&mut self) {
        let mut queues = self.queues.lock();
        let Entry::Occupied(mut entry) = queues.entry(self.key) else { return };
        let queue = entry.get_mut();
        // Those that this batch could not answer are the first of the next one.
        let mut waiting = mem::take(&mut self.others);
        waiting.append(&mut queue.waiting);
        waiting.retain(|request| !request.dispatch.is_closed());
        queue.waiting = waiting.split_off(batch_len(&waiting));
        let mut requests = waiting.into_iter();
        let Some(first) = requests.next() else {
            queue.running -= 1;
            if queue.running == 0 {
                entry.remove();
            }
            return;
        };
        let (shared, key) = (self.queues.clone(), self.key);
        let batch = Batch { queues: shared, key, others: requests.collect() };
        let refused = first.dispatch.send(Dispatch::Send(batch));
        // If that request was cancelled, its batch comes back, and dropping it dispatches the next
        // one. That takes the lock again, so it is released before.
        drop(queues);
        drop(refused);
    }
}

/// How many of those that wait go out in one batch.
fn batch_len<K: Copy + Eq + Hash, I, A>(waiting: &[Request<K, I, A>]) -> usize {
    let mut bytes = 0;
    let fits = waiting.iter().take(REQUESTS_MAX).take_while(|request| {
        bytes += request.bytes;
        bytes <= BYTES_MAX
    });
    fits.count().max(1).min(waiting.len())
}
