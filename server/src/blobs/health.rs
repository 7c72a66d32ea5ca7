//! Whether the store works: for `/readyz`, and while something waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::staging::{Staging, blocking, check_writable};
use super::{BlobError, Blobs, MARK, PutError, in_time};
use crate::limits::{BLOBS_CHECK_EVERY, S3_PROBE_TIMEOUT, S3_PUT_PROBE_INTERVAL};

/// What is known of a store.
#[derive(Clone, Default)]
pub(super) struct Health {
    /// When the store worked last. A check holds the lock: several of a folder that hangs would
    /// each block a thread.
    last: Arc<Mutex<Option<Instant>>>,
    /// It answers 403 where there is no object, as S3 does without the permission to list.
    hides_absence: Arc<AtomicBool>,
}

impl Health {
    pub(super) fn set_hides_absence(&self) {
        self.hides_absence.store(true, Ordering::Relaxed);
    }

    /// Turns absence into `None`.
    pub(super) fn found<T>(&self, outcome: Result<T, Error>) -> Result<Option<T>, BlobError> {
        match outcome {
            Err(Error::NotFound { .. }) => Ok(None),
            Err(Error::PermissionDenied { .. }) if self.hides_absence.load(Ordering::Relaxed) => {
                Ok(None)
            }
            outcome => Ok(Some(outcome?)),
        }
    }
}

impl Blobs {
    /// Checks that the store works now, or did a moment ago.
    pub(crate) async fn check(&self) -> Result<(), BlobError> {
        let mut last = self.health.last.clone().lock_owned().await;
        if last.is_some_and(|last| last.elapsed() < BLOBS_CHECK_EVERY) {
            return Ok(());
        }
        let Staging::Folder(root) = self.staging.clone() else {
            self.probe().await?;
            *last = Some(Instant::now());
            return Ok(());
        };
        // It has the lock, and runs on when its caller stops waiting.
        let check = move || {
            check_writable(&root)?;
            *last = Some(Instant::now());
            Ok::<_, BlobError>(())
        };
        blocking(check).await
    }

    /// Asks an object store for one small answer.
    async fn probe(&self) -> Result<(), BlobError> {
        match self.health.found(self.store.head(&Path::from(MARK)).await)? {
            None if matches!(self.staging, Staging::TempFile(_)) => {
                Err(BlobError::text("the bucket or its object .promptarium is not there"))
            }
            _ => Ok(()),
        }
    }

    /// Waits for a put as long as the store responds to probes: a large file may take its time.
    pub(super) async fn put_with_probes<T>(
        &self,
        put: impl Future<Output = T>,
    ) -> Result<T, PutError> {
        let mut put = std::pin::pin!(put);
        loop {
            if let Ok(outcome) = timeout(S3_PUT_PROBE_INTERVAL, put.as_mut()).await {
                return Ok(outcome);
            }
            in_time(S3_PROBE_TIMEOUT, self.probe()).await?;
        }
    }
}

/// A stream that ends with an error if a piece does not come in time.
pub(super) fn pieces_in_time<T: Send + 'static>(
    limit: Duration,
    pieces: BoxStream<'static, Result<T, BlobError>>,
) -> BoxStream<'static, Result<T, BlobError>> {
    let next = move |mut pieces: BoxStream<'static, Result<T, BlobError>>| async move {
        let piece = in_time(limit, async { pieces.next().await.transpose() }).await?;
        Ok(piece.map(|piece| (piece, pieces)))
    };
    stream::try_unfold(pieces, next).boxed()
}
