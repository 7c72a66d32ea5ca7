//! Whether the store works: for `/readyz`, and while something waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use object_store::path::Path;
use object_store::{Error, ObjectStoreExt};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::staging::Staging;
use super::{BlobError, Blobs, MARK, in_time};
use crate::limits::{BLOBS_CHECK_EVERY, S3_PROBE_TIMEOUT, S3_PUT_PROBE_INTERVAL};

/// What is known of a store.
#[derive(Clone, Default)]
pub(super) struct Health {
    /// When the store worked last. A check holds the lock.
    last: Arc<Mutex<Option<Instant>>>,
    /// It answers 403 where there is no object, as S3 does without the permission to list.
    pub(super) hides_absence: Arc<AtomicBool>,
}

impl Health {
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
        let this = self.clone();
        // The task has the lock and runs on when its caller stops waiting: several checks of a
        // folder that hangs would each block a thread.
        let check = tokio::spawn(async move {
            this.probe().await?;
            *last = Some(Instant::now());
            Ok(())
        });
        check.await.unwrap_or_else(|error| Err(BlobError::text(error.to_string())))
    }

    /// Writes a small file into a folder, or asks an object store for its mark.
    pub(super) async fn probe(&self) -> Result<(), BlobError> {
        let found = match &self.staging {
            Staging::Folder(root) => return self.check_folder(root.clone()).await,
            _ => self.health.found(self.store.head(&Path::from(MARK)).await)?,
        };
        if found.is_none() && matches!(self.staging, Staging::S3(_)) {
            return Err(BlobError::text("the bucket or its object .promptarium is not there"));
        }
        Ok(())
    }

    /// Waits for a put as long as the store responds to probes: a large file may take its time.
    pub(super) async fn put_with_probes<T>(
        &self,
        put: impl Future<Output = T>,
    ) -> Result<T, BlobError> {
        let mut put = std::pin::pin!(put);
        loop {
            if let Ok(outcome) = timeout(S3_PUT_PROBE_INTERVAL, put.as_mut()).await {
                return Ok(outcome);
            }
            in_time(S3_PROBE_TIMEOUT, self.probe()).await?;
        }
    }
}
