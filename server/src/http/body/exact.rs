//! Reading a body whose size was agreed beforehand.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use tokio::time::timeout;

use crate::http::body::blocks::{BLOCK_BYTES, Block};
use crate::http::body::budget::{Budget, Held};
use crate::http::body::{BODY_SECONDS_MAX, BodyReadError, RequestBody};

/// The slowest rate at which a large body may come, in bytes a second.
const RATE_MIN: u64 = 32 * 1024;

/// A whole body, and the memory it was promised.
#[derive(Debug)]
pub struct ExactBody {
    /// Its bytes, together exactly as many as were agreed.
    pub pieces: Vec<Bytes>,
    /// To be kept as long as they are on their way.
    pub held: Held,
}

impl RequestBody {
    /// Reads a body of exactly `size` bytes; a body without a declared length is
    /// taken if it turns out to have it. Memory is taken from the budget before
    /// the first byte is read.
    ///
    /// # Errors
    /// If the headers declare another size, and if what comes is longer, shorter,
    /// too slow or broken; if there is no memory for it. Nothing is read then
    /// beyond what shows it.
    pub async fn read_exactly(
        &mut self,
        headers: &HeaderMap,
        size: u64,
        budget: &Budget,
    ) -> Result<ExactBody, BodyReadError> {
        match declared_bytes(headers) {
            Some(declared) if declared > size => return Err(BodyReadError::Longer(size)),
            Some(declared) if declared < size => return Err(BodyReadError::Shorter(size)),
            _ => {}
        }
        let held = budget.hold(size).await?;
        let time = seconds_for(size);
        let pieces = timeout(Duration::from_secs(time), self.read_size(size, &held))
            .await
            .unwrap_or(Err(BodyReadError::TooSlow(time)))?;
        Ok(ExactBody { pieces, held })
    }

    /// What comes is copied: kept as it is, each piece would hold the whole of the
    /// buffer that it was read into.
    async fn read_size(&mut self, size: u64, held: &Held) -> Result<Vec<Bytes>, BodyReadError> {
        let mut into = Pieces::of(size, held);
        let mut left = size;
        while let Some(bytes) = self.next().await? {
            left = left.checked_sub(bytes.len() as u64).ok_or(BodyReadError::Longer(size))?;
            into.add(bytes);
        }
        if left > 0 { Err(BodyReadError::Shorter(size)) } else { Ok(into.finish()) }
    }
}

/// A body being put together.
enum Pieces<'a> {
    /// One that needs no block of its own.
    Small(BytesMut),
    /// Full blocks, and the one being filled.
    Large(Vec<Bytes>, Block, &'a Held),
}

impl<'a> Pieces<'a> {
    fn of(size: u64, held: &'a Held) -> Self {
        match usize::try_from(size) {
            Ok(size) if size <= BLOCK_BYTES => Self::Small(BytesMut::with_capacity(size)),
            _ => Self::Large(Vec::new(), held.block(), held),
        }
    }

    fn add(&mut self, mut bytes: Bytes) {
        match self {
            Self::Small(all) => all.extend_from_slice(&bytes),
            Self::Large(full, block, held) => {
                while !bytes.is_empty() {
                    if block.is_full() {
                        full.push(std::mem::replace(block, held.block()).freeze());
                    }
                    block.fill(&mut bytes);
                }
            }
        }
    }

    fn finish(self) -> Vec<Bytes> {
        match self {
            Self::Small(all) => vec![all.freeze()],
            Self::Large(mut full, block, _) => {
                full.push(block.freeze());
                full
            }
        }
    }
}

/// What any body has, and the time that the slowest rate takes for this one.
const fn seconds_for(size: u64) -> u64 {
    BODY_SECONDS_MAX + size / RATE_MIN
}

/// `None` where nothing is declared; hyper has checked the header's form.
fn declared_bytes(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}
