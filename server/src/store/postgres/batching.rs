//! Concurrent requests of one key that go out as one statement: equal reads, reads of single
//! values by their ids, and writes of single rows.
//!
//! A request is sent at once, alone, unless [`BATCHES_MAX`] batches of the same key are on their
//! way. Then it waits for one of them to end, and is sent together with all others that wait. So
//! no request waits for company, and no value is older than the request for it: a batch is sent
//! after all of its requests have begun.
//!
//! A batch of several has a task of its own, which no client that hangs up can stop. A request that
//! is dropped while it waits is never sent.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::retry::{silent, was_refused};
use crate::error_chain::error_chain;
use crate::store::{Cause, Result, StoreError, time_budget};

/// Batches of one key that are on their way at once.
pub(super) const BATCHES_MAX: usize = 2;
/// Requests in one batch.
pub(super) const REQUESTS_MAX: usize = 32;
/// Bytes of the requests in one batch, unless it is one request.
pub(super) const BYTES_MAX: usize = 1024 * 1024;

/// Requests of the keys `K`, each with an input and an output. Clones share the batches.
#[derive(Clone)]
pub(super) struct Batcher<K, I, O> {
    queues: Arc<Mutex<HashMap<K, Queue<I, O>>>>,
    /// Whether a batch that fails so has changed nothing, and the fault may be that of one of its
    /// requests. Then each of them is sent alone.
    may_be_of_one: fn(&StoreError) -> bool,
    /// The failure of a request that was sent and has no outcome.
    no_outcome: fn(Cause) -> StoreError,
}

/// The requests of one key.
struct Queue<I, O> {
    /// Batches that are on their way.
    running: usize,
    waiting: Vec<Waiting<I, O>>,
}

struct Waiting<I, O> {
    input: I,
    bytes: usize,
    send: Sending<I, O>,
    is_sent: Arc<AtomicBool>,
    outcome: oneshot::Sender<Outcome<O>>,
}

/// Sends inputs, and has their outputs.
type Sending<I, O> = Box<dyn FnOnce(Vec<I>) -> BoxFuture<'static, Result<Vec<O>>> + Send>;

/// `None` if the request is to be sent alone.
type Outcome<O> = Option<Result<O>>;

/// What a key of requests must be.
pub(super) trait Key: Copy + Eq + Hash + Send + 'static {}
impl<T: Copy + Eq + Hash + Send + 'static> Key for T {}

/// What an input and an output must be.
pub(super) trait Value: Clone + Send + 'static {}
impl<T: Clone + Send + 'static> Value for T {}

impl<K: Key, I: Value, O: Value> Batcher<K, I, O> {
    pub(super) fn of_reads() -> Self {
        let may_be_of_one = |error: &StoreError| matches!(error, StoreError::Internal(_));
        Self { queues: Arc::default(), may_be_of_one, no_outcome: StoreError::Unavailable }
    }

    pub(super) fn of_writes() -> Self {
        let (may_be_of_one, no_outcome) = (was_refused, StoreError::OutcomeUnknown);
        Self { queues: Arc::default(), may_be_of_one, no_outcome }
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.queues.lock().is_empty()
    }

    /// The output of this input, which has so many bytes. `send` sends one input or several, and
    /// has their outputs in the same order.
    pub(super) async fn run<F>(
        &self,
        key: K,
        bytes: usize,
        input: I,
        send: impl FnOnce(Vec<I>) -> F + Clone + Send + 'static,
    ) -> Result<O>
    where
        F: Future<Output = Result<Vec<O>>> + Send + 'static,
    {
        let (outcome, mut receiver) = oneshot::channel();
        let is_sent = Arc::<AtomicBool>::default();
        let waits = {
            let mut queues = self.queues.lock();
            let queue = queues.entry(key).or_insert(Queue { running: 0, waiting: Vec::new() });
            let waits = queue.running == BATCHES_MAX;
            if waits {
                let (input, send, is_sent) = (input.clone(), send.clone(), is_sent.clone());
                let send = Box::new(move |inputs| send(inputs).boxed());
                queue.waiting.push(Waiting { input, bytes, send, is_sent, outcome });
            } else {
                queue.running += 1;
            }
            waits
        };
        if !waits {
            let _running = Running { batcher: self.clone(), key };
            return only(send(vec![input]).await);
        }
        let (began, limit) = (Instant::now(), time_budget::left());
        let waited = timeout(limit, &mut receiver).await;
        time_budget::spend(began.elapsed());
        match waited {
            Ok(Ok(Some(output))) => output,
            Ok(Ok(None)) => only(send(vec![input]).await),
            Ok(Err(_)) => Err((self.no_outcome)("the task of a batch ended".into())),
            Err(_) => {
                // Nobody can send it any more when the lock is released.
                let _queues = self.queues.lock();
                receiver.close();
                let is_sent = is_sent.load(Relaxed);
                let failure = if is_sent { self.no_outcome } else { StoreError::Unavailable };
                Err(failure(silent(limit)))
            }
        }
    }

    /// The next batch of a key. Without one, the key has a batch less on its way.
    fn next(&self, key: K) -> Vec<Waiting<I, O>> {
        let mut queues = self.queues.lock();
        let Entry::Occupied(mut entry) = queues.entry(key) else { return Vec::new() };
        let queue = entry.get_mut();
        queue.waiting.retain(|request| !request.outcome.is_closed());
        let rest = queue.waiting.split_off(batch_len(&queue.waiting));
        let batch = mem::replace(&mut queue.waiting, rest);
        batch.iter().for_each(|request| request.is_sent.store(true, Relaxed));
        if batch.is_empty() {
            queue.running -= 1;
            if queue.running == 0 {
                entry.remove();
            }
        }
        batch
    }
}

/// A batch on its way. When it is dropped, the next one of its key is sent.
struct Running<K: Key, I: Value, O: Value> {
    batcher: Batcher<K, I, O>,
    key: K,
}

impl<K: Key, I: Value, O: Value> Drop for Running<K, I, O> {
    fn drop(&mut self) {
        let batch = self.batcher.next(self.key);
        if let (false, Ok(runtime)) = (batch.is_empty(), Handle::try_current()) {
            let next = Self { batcher: self.batcher.clone(), key: self.key };
            runtime.spawn(next.send(batch));
        }
    }
}

impl<K: Key, I: Value, O: Value> Running<K, I, O> {
    async fn send(self, batch: Vec<Waiting<I, O>>) {
        let Batcher { may_be_of_one, no_outcome, .. } = self.batcher;
        let (mut inputs, mut outcomes, mut sends) = (Vec::new(), Vec::new(), Vec::new());
        for Waiting { input, outcome, send, .. } in batch {
            inputs.push(input);
            outcomes.push(outcome);
            sends.push(send);
        }
        let Some(send) = sends.pop() else { return };
        let result = send(inputs).await;
        drop(self);
        let of_each: Vec<Outcome<O>> = match result {
            Ok(outputs) => outputs.into_iter().map(|output| Some(Ok(output))).collect(),
            Err(failure) if outcomes.len() == 1 => vec![Some(Err(failure))],
            Err(failure) if may_be_of_one(&failure) => outcomes.iter().map(|_| None).collect(),
            Err(failure) => {
                outcomes.iter().map(|_| Some(Err(copy(&failure, no_outcome)))).collect()
            }
        };
        for (outcome, of_one) in outcomes.into_iter().zip(of_each) {
            // An error means that its request was cancelled.
            let _ = outcome.send(of_one);
        }
    }
}

/// The only output.
fn only<O>(outputs: Result<Vec<O>>) -> Result<O> {
    outputs?.pop().ok_or_else(|| StoreError::Internal("a request has no output".into()))
}

/// The failure of a batch as that of one of its requests.
fn copy(failure: &StoreError, no_outcome: fn(Cause) -> StoreError) -> StoreError {
    let text = |cause: &Cause| error_chain(&**cause).into();
    match failure {
        StoreError::KeyRevoked => StoreError::KeyRevoked,
        StoreError::NotFound => StoreError::NotFound,
        StoreError::UnknownVault => StoreError::UnknownVault,
        StoreError::Unavailable(cause) => StoreError::Unavailable(text(cause)),
        StoreError::OutcomeUnknown(cause) => StoreError::OutcomeUnknown(text(cause)),
        other => no_outcome(error_chain(other).into()),
    }
}

/// How many of those that wait are sent in one batch.
fn batch_len<I, O>(waiting: &[Waiting<I, O>]) -> usize {
    let mut bytes = 0;
    let fits = waiting.iter().take(REQUESTS_MAX).take_while(|request| {
        bytes += request.bytes;
        bytes <= BYTES_MAX
    });
    fits.count().max(1).min(waiting.len())
}

#[cfg(test)]
mod tests;
