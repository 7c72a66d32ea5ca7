//! Memory for large bodies, in blocks of one size that are used again.
//!
//! An allocator keeps much of what was freed, for each of its arenas anew: bodies
//! of ten mebibytes from many threads were seen to take twice what was in use.
//! Blocks of one size fit wherever one has been, so that there are never more of
//! them than were needed at one time. A few stay when nothing is under way.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Buf, Bytes};
use tokio::sync::OwnedSemaphorePermit;

/// The size of a block.
pub(super) const BLOCK_BYTES: usize = 256 * 1024;

/// So many blocks stay for the next body, as many as the largest upload takes:
/// the kernel gives fresh memory page by page, which takes many times as long as
/// copying ten mebibytes into it.
const KEPT: usize = 40;

/// Blocks that are not in use.
#[derive(Debug, Default)]
pub(super) struct Blocks(Mutex<Shelf>);

#[derive(Debug, Default)]
struct Shelf {
    free: Vec<Vec<u8>>,
    in_use: usize,
}

/// A block, being filled or full. It goes back when it is dropped, and the part
/// of the budget that it belongs to with the last block of it.
pub(super) struct Block {
    bytes: Vec<u8>,
    blocks: Arc<Blocks>,
    _part: Arc<OwnedSemaphorePermit>,
}

impl Blocks {
    /// An empty block.
    pub(super) fn take(self: &Arc<Self>, part: &Arc<OwnedSemaphorePermit>) -> Block {
        let mut shelf = self.shelf();
        shelf.in_use += 1;
        let used = shelf.free.pop();
        drop(shelf);
        Block {
            bytes: used.unwrap_or_else(|| Vec::with_capacity(BLOCK_BYTES)),
            blocks: self.clone(),
            _part: part.clone(),
        }
    }

    /// While there are blocks in use the others stay; the last one takes with it
    /// all that are too many.
    fn put_back(&self, mut block: Vec<u8>) {
        block.clear();
        let mut shelf = self.shelf();
        shelf.in_use -= 1;
        shelf.free.push(block);
        let idle = if shelf.in_use == 0 && shelf.free.len() > KEPT {
            shelf.free.split_off(KEPT)
        } else {
            Vec::new()
        };
        drop(shelf);
        drop(idle);
    }

    /// Nothing can fail while it is locked.
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Block {
    /// Takes over from `bytes` what fits.
    pub(super) fn fill(&mut self, bytes: &mut Bytes) {
        let fitting = bytes.len().min(BLOCK_BYTES - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..fitting]);
        bytes.advance(fitting);
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() == BLOCK_BYTES
    }

    /// What is in it.
    pub(super) fn freeze(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Block {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.blocks.put_back(std::mem::take(&mut self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::*;

    fn part_of(budget: &Arc<Semaphore>) -> Arc<OwnedSemaphorePermit> {
        Arc::new(budget.clone().try_acquire_owned().unwrap())
    }

    #[test]
    fn a_block_is_used_again() {
        let (blocks, budget) = (Arc::new(Blocks::default()), Arc::new(Semaphore::new(1)));
        let part = part_of(&budget);
        let (mut one, two) = (blocks.take(&part), blocks.take(&part));
        let mut bytes = Bytes::from(vec![7; BLOCK_BYTES + 1]);
        one.fill(&mut bytes);
        assert!(one.is_full() && bytes.len() == 1);
        let place = one.bytes.as_ptr();
        drop(one);
        let again = blocks.take(&part);
        assert!(again.bytes.as_ptr() == place && again.bytes.is_empty());
        drop((again, two));
    }

    #[test]
    fn a_few_stay_when_the_last_comes_back() {
        let (blocks, budget) = (Arc::new(Blocks::default()), Arc::new(Semaphore::new(1)));
        let part = part_of(&budget);
        let last = blocks.take(&part);
        drop((0..KEPT + 5).map(|_| blocks.take(&part)).collect::<Vec<_>>());
        assert_eq!(blocks.shelf().free.len(), KEPT + 5);
        drop(last);
        assert_eq!(blocks.shelf().free.len(), KEPT);
    }

    #[test]
    fn the_budget_is_free_again_with_the_last_piece() {
        let (blocks, budget) = (Arc::new(Blocks::default()), Arc::new(Semaphore::new(1)));
        let part = part_of(&budget);
        let pieces = [blocks.take(&part).freeze(), blocks.take(&part).freeze()];
        drop(part);
        let [one, two] = pieces;
        let kept = two.clone();
        drop((one, two));
        assert_eq!(budget.available_permits(), 0);
        drop(kept);
        assert_eq!(budget.available_permits(), 1);
    }
}
