//! The memory of large responses.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of responses in memory. What a response has beyond `free` bytes takes a share as it
/// arrives, so that slow ones hold little.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    free: usize,
    bytes: Arc<Semaphore>,
}

/// What a response takes of a [`Budget`]; in the extensions of the response.
#[derive(Clone, Debug, Default)]
#[expect(dead_code, reason = "the last clone gives back its part when it is dropped")]
pub(crate) struct Share(Option<Arc<OwnedSemaphorePermit>>);

impl From<Option<OwnedSemaphorePermit>> for Share {
    fn from(share: Option<OwnedSemaphorePermit>) -> Self {
        Self(share.map(Arc::new))
    }
}

impl Budget {
    pub(crate) fn new(bytes: usize, free: usize) -> Self {
        Self { free, bytes: Arc::new(Semaphore::new(bytes)) }
    }

    #[cfg(test)]
    pub(crate) fn free_bytes(&self) -> usize {
        self.bytes.available_permits()
    }

    /// Extends the share of a response that has this many bytes; `None` if too little is left.
    pub(super) fn extend(
        &self,
        share: &mut Option<OwnedSemaphorePermit>,
        bytes: usize,
    ) -> Option<()> {
        let held = share.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = bytes.saturating_sub(self.free + held);
        let more = self.bytes.clone().try_acquire_many_owned(u32::try_from(more).ok()?).ok()?;
        match share {
            Some(share) => share.merge(more),
            None => *share = Some(more),
        }
        Some(())
    }
}
