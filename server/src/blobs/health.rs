//! Whether the store works: at the start, for `/readyz`, and while something waits for it.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt, PutMode, PutOptions};
use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{Instant, timeout};

use super::staging::{Staging, blocking, check_writable};
use super::{BlobError, BlobOpenError, Blobs, PutError, found, in_time};
use crate::limits::{
    BLOBS_CHECK_EVERY, BLOBS_OPEN_TIMEOUT, S3_PROBE_TIMEOUT, S3_PUT_PROBE_INTERVAL,
};

/// The empty object that the start puts into a bucket and that is asked for from then on.
const PROBE: &str = ".promptarium";

/// What is known of the health of a store.
#[derive(Clone, Default)]
pub(super) struct Health {
    /// When the store worked last.
    last: Arc<Mutex<Option<Instant>>>,
    /// One check at a time: those of a folder that hangs would each block a thread.
    checking: Arc<AsyncMutex<()>>,
}

impl Blobs {
    /// Checks that files can be put into a bucket and read. A folder was checked when it was opened.
    ///
    /// # Errors
    /// If they cannot, or the store does not answer.
    pub(crate) async fn verify_bucket(&self) -> Result<(), BlobOpenError> {
        if !matches!(self.staging, Staging::TempFile(_)) {
            return Ok(());
        }
        let checking = async {
            let options = PutOptions::from(PutMode::Create);
            match self.store.put_opts(&Path::from(PROBE), "".into(), options).await {
                // Of this or another server at an earlier start.
                Ok(_) | Err(Error::AlreadyExists { .. }) => self.probe().await,
                Err(error) => Err(error.into()),
            }
        };
        in_time(BLOBS_OPEN_TIMEOUT, checking).await.map_err(|error: BlobError| {
            BlobOpenError(format!("nothing can be put into the bucket and read: {}", error.text))
        })
    }

    /// Checks that the store works now, or did a moment ago.
    pub(crate) async fn check(&self) -> Result<(), BlobError> {
        let Health { last, checking } = self.health.clone();
        if last.lock().is_some_and(|last| last.elapsed() < BLOBS_CHECK_EVERY) {
            return Ok(());
        }
        // Held by the check itself, which runs on when its caller stops waiting.
        let guard = checking.lock_owned().await;
        match &self.staging {
            Staging::Folder(root) => {
                let root = root.clone();
                let check = move || {
                    let _guard = guard;
                    Ok::<_, BlobError>(check_writable(&root)?)
                };
                blocking(check).await?;
            }
            Staging::Memory | Staging::TempFile(_) => self.probe().await?,
        }
        *last.lock() = Some(Instant::now());
        Ok(())
    }

    /// Asks an object store for one small answer.
    async fn probe(&self) -> Result<(), BlobError> {
        match found(self.store.head(&Path::from(PROBE)).await)? {
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
