//! Concurrent requests of one key in one statement: equal reads, reads by ids, and writes of rows.
//!
//! A request is sent at once, alone, unless [`AT_ONCE_MAX`] requests of the same key are on their
//! way. Then it waits until fewer are, and is sent with all others that wait. No value is older
//! than the request for it: a batch is sent after all of its requests have begun.
//!
//! A batch that waited has a task of its own, which no client that hangs up can stop. A request
//! that is dropped while it waits is never sent.

use std::collections::HashMap;
use std::hash::Hash;
use std::mem;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::retry::{no_outcome, silent, was_refused};
use crate::error_chain::error_chain;
use crate::store::{Cause, Result, StoreError, time_budget};

/// Requests of one key on their way when the next one has to wait. With more, a statement carries
/// fewer requests; with fewer, few requests wait for one another.
pub(super) const AT_ONCE_MAX: usize = 2;
pub(super) const REQUESTS_MAX: usize = 32;
/// Bytes of the requests in one batch, unless it is one request.
pub(super) const BYTES_MAX: usize = 1024 * 1024;

/// Requests of the keys `K`, each with an input and an output. Clones share the batches.
#[derive(Clone)]
pub(super) struct Batcher<K, I, O> {
    queues: Arc<Mutex<HashMap<K, Queue<I, O>>>>,
    send: Arc<Sending<K, I, O>>,
    writes: bool,
}

type Sending<K, I, O> = dyn Fn(K, Vec<I>) -> BoxFuture<'static, Result<Vec<O>>> + Send + Sync;

struct Queue<I, O> {
    /// Requests that are on their way.
    sent: usize,
    waiting: Vec<Waiting<I, O>>,
}

struct Waiting<I, O> {
    input: I,
    bytes: usize,
    outcome: oneshot::Sender<Result<O>>,
}

pub(super) trait Value: Clone + Send + 'static {}
impl<T: Clone + Send + 'static> Value for T {}

impl<K: Value + Eq + Hash, I: Value, O: Value> Batcher<K, I, O> {
    /// `send` sends inputs, and has their outputs in the same order.
    pub(super) fn new<C, F>(
        writes: bool,
        context: &C,
        send: impl Fn(C, K, Vec<I>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        C: Value + Sync,
        F: Future<Output = Result<Vec<O>>> + Send + 'static,
    {
        let context = context.clone();
        let send = Arc::new(move |key, inputs| send(context.clone(), key, inputs).boxed());
        Self { queues: Arc::default(), send, writes }
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.queues.lock().is_empty()
    }

    /// The output of this input, which has so many bytes.
    pub(super) async fn run(&self, key: K, bytes: usize, input: I) -> Result<O> {
        let waiting = {
            let mut queues = self.queues.lock();
            let new = || Queue { sent: 0, waiting: Vec::new() };
            let queue = queues.entry(key.clone()).or_insert_with(new);
            if queue.sent < AT_ONCE_MAX {
                queue.sent += 1;
                None
            } else {
                let (outcome, receiver) = oneshot::channel();
                queue.waiting.push(Waiting { input: input.clone(), bytes, outcome });
                Some(receiver)
            }
        };
        let Some(receiver) = waiting else {
            let _running = Running { batcher: self.clone(), key: key.clone(), requests: 1 };
            return only((self.send)(key, vec![input]).await);
        };
        let (began, limit) = (Instant::now(), time_budget::left());
        let waited = timeout(limit, receiver).await;
        time_budget::spend(began.elapsed());
        let none = |cause| Err(no_outcome(self.writes, cause));
        match waited {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => none("the task of a batch ended".into()),
            Err(_) => none(silent(limit)),
        }
    }

    /// The next batch of a key, after one with so many requests; empty if none may be sent.
    fn next(&self, key: &K, ended: usize) -> Vec<Waiting<I, O>> {
        let mut queues = self.queues.lock();
        let Some(queue) = queues.get_mut(key) else { return Vec::new() };
        queue.sent -= ended;
        if queue.sent >= AT_ONCE_MAX {
            return Vec::new();
        }
        queue.waiting.retain(|request| !request.outcome.is_closed());
        let rest = queue.waiting.split_off(batch_len(&queue.waiting));
        let batch = mem::replace(&mut queue.waiting, rest);
        queue.sent += batch.len();
        if queue.sent == 0 {
            queues.remove(key);
        }
        batch
    }
}

/// A batch on its way. When it is dropped, the next one of its key is sent.
struct Running<K: Value + Eq + Hash, I: Value, O: Value> {
    batcher: Batcher<K, I, O>,
    key: K,
    requests: usize,
}

impl<K: Value + Eq + Hash, I: Value, O: Value> Drop for Running<K, I, O> {
    fn drop(&mut self) {
        let batch = self.batcher.next(&self.key, self.requests);
        if let (false, Ok(runtime)) = (batch.is_empty(), Handle::try_current()) {
            let (batcher, key) = (self.batcher.clone(), self.key.clone());
            let next = Self { batcher, key, requests: batch.len() };
            runtime.spawn(next.send(batch));
        }
    }
}

impl<K: Value + Eq + Hash, I: Value, O: Value> Running<K, I, O> {
    /// Sends a batch, and each request alone if that changed nothing and one may be at fault.
    async fn send(self, batch: Vec<Waiting<I, O>>) {
        let (Batcher { send, writes, .. }, key) = (self.batcher.clone(), self.key.clone());
        let inputs = batch.iter().map(|request| request.input.clone()).collect();
        let mut outputs = send(key.clone(), inputs).await.map(Vec::into_iter);
        drop(self);
        let are_alone = matches!(&outputs, Err(fault @ StoreError::Internal(_))
            if batch.len() > 1 && (!writes || was_refused(fault)));
        for request in batch {
            let outcome = match &mut outputs {
                // Nobody waits for it any more.
                Err(_) if request.outcome.is_closed() => continue,
                _ if are_alone => only(send(key.clone(), vec![request.input]).await),
                Ok(outputs) => outputs.next().ok_or_else(no_output),
                Err(failure) => Err(copy(failure)),
            };
            // An error means that its request was cancelled.
            let _ = request.outcome.send(outcome);
        }
    }
}

fn copy(failure: &StoreError) -> StoreError {
    let text = |cause: &Cause| error_chain(&**cause).into();
    match failure {
        StoreError::KeyRevoked => StoreError::KeyRevoked,
        StoreError::NotFound => StoreError::NotFound,
        StoreError::UnknownVault => StoreError::UnknownVault,
        StoreError::Unavailable(cause) => StoreError::Unavailable(text(cause)),
        StoreError::Full(cause) => StoreError::Full(text(cause)),
        StoreError::OutcomeUnknown(cause) => StoreError::OutcomeUnknown(text(cause)),
        StoreError::Internal(cause) => StoreError::Internal(text(cause)),
        other => StoreError::OutcomeUnknown(error_chain(other).into()),
    }
}

pub(super) fn only<O>(outputs: Result<Vec<O>>) -> Result<O> {
    outputs?.pop().ok_or_else(no_output)
}

fn no_output() -> StoreError {
    StoreError::Internal("a request has no output".into())
}

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
