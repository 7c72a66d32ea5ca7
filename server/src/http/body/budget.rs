//! How much memory the bodies of uploads may take together.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::http::body::blocks::{Block, Blocks};
use crate::http::body::{BODY_SECONDS_MAX, BodyReadError};

/// A budget of bytes. Who finds it spent waits, in the order of coming. Cheap to
/// clone; clones share the budget.
#[derive(Clone, Debug)]
pub struct Budget {
    free: Arc<Semaphore>,
    total: u32,
    blocks: Arc<Blocks>,
}

/// A part of the budget, given back when it is dropped and no block of it is in
/// use any more.
#[derive(Debug)]
pub struct Held {
    part: Arc<OwnedSemaphorePermit>,
    blocks: Arc<Blocks>,
}

impl Budget {
    /// What a server has unless it is told otherwise: 128 MiB.
    pub const BYTES: u32 = 128 * 1024 * 1024;

    /// A budget of so many bytes.
    pub fn new(bytes: u32) -> Self {
        let free = Arc::new(Semaphore::new(bytes as usize));
        Self { free, total: bytes, blocks: Arc::default() }
    }

    /// Takes a part of the budget. More than the whole of it counts as all of it.
    ///
    /// # Errors
    /// [`BodyReadError::NoMemory`] if it does not become free in time.
    pub async fn hold(&self, bytes: u64) -> Result<Held, BodyReadError> {
        let wanted = u32::try_from(bytes).unwrap_or(u32::MAX).min(self.total);
        let waiting = self.free.clone().acquire_many_owned(wanted);
        match timeout(Duration::from_secs(BODY_SECONDS_MAX), waiting).await {
            Ok(Ok(permit)) => Ok(Held { part: Arc::new(permit), blocks: self.blocks.clone() }),
            // The semaphore is never closed: the time is up.
            _ => Err(BodyReadError::NoMemory),
        }
    }
}

impl Held {
    /// A block to be filled with what the budget was held for.
    pub(super) fn block(&self) -> Block {
        self.blocks.take(&self.part)
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(Self::BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_finds_it_spent_waits_for_a_while() {
        let budget = Budget::new(100);
        let first = budget.hold(60).await.unwrap();
        let second = budget.hold(40).await.unwrap();
        assert!(matches!(budget.hold(1).await, Err(BodyReadError::NoMemory)));
        let third = tokio::spawn({
            let budget = budget.clone();
            async move { budget.hold(50).await }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(second);
        assert!(!third.is_finished());
        drop(first);
        assert!(third.await.unwrap().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn more_than_there_is_waits_for_all() {
        let budget = Budget::new(100);
        let little = budget.hold(1).await.unwrap();
        assert!(budget.hold(1_000).await.is_err());
        drop(little);
        assert!(budget.hold(1_000).await.is_ok());
    }
}
