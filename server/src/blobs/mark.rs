//! The mark of a store: the object `.promptarium`, whose text tells one folder or bucket from
//! another. The database knows the mark of the store with its files, so that no server starts with
//! another one.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use futures::FutureExt;
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt, PutMode, PutOptions};

use super::staging::{Staging, blocking, random_id, remove_old_files};
use super::{BlobError, BlobOpenError, Blobs, MARK, in_time, key};
use crate::domain::{AssetName, Media};
use crate::error_chain::error_chain;
use crate::limits::BLOBS_OPEN_TIMEOUT;
use crate::store::Cause;
use crate::store::postgres::PostgresStore;

impl Blobs {
    /// Checks that files can be put into the store once and read, marks it, and finds out what it
    /// answers where there is no file.
    ///
    /// # Errors
    /// If they cannot, or the store does not answer.
    pub(crate) async fn verify(&self) -> Result<(), BlobOpenError> {
        if matches!(self.staging, Staging::Memory) {
            return Ok(());
        }
        // The library panics on values that no header can have.
        let verifying = AssertUnwindSafe(self.verify_store()).catch_unwind();
        let verifying = async {
            verifying.await.unwrap_or_else(|_| Err(BlobError::text("a variable AWS_... is wrong")))
        };
        in_time(BLOBS_OPEN_TIMEOUT, verifying).await.map_err(|error: BlobError| {
            self.refused(&format!("files cannot be put there and read: {}", error.text))
        })
    }

    async fn verify_store(&self) -> Result<(), BlobError> {
        if let Staging::Folder(root) = self.staging.clone() {
            self.probe().await?;
            blocking(move || Ok(remove_old_files(&root)?)).await?;
        }
        let before = self.mark().await;
        // A store that ignores the condition gets the mark again that it has.
        let text = before.as_ref().ok().cloned().flatten();
        let text = text.unwrap_or_else(|| random_id().into());
        for last in [false, true] {
            let options = PutOptions::from(PutMode::Create);
            match self.store.put_opts(&Path::from(MARK), text.clone().into(), options).await {
                Err(Error::AlreadyExists { .. }) => break,
                Ok(_) if last => {
                    let text = "it ignores `If-None-Match: *`, without which an upload could \
                                replace a file; use a store with conditional writes";
                    return Err(BlobError::text(text));
                }
                Ok(_) => {}
                Err(error) => return Err(permission("write (s3:PutObject)", error)),
            }
        }
        self.mark().await?;
        match self.store.head(&key(&AssetName::random(Media::Png))).await {
            Err(Error::PermissionDenied { .. }) => {
                self.health.hides_absence.store(true, Ordering::Relaxed);
            }
            Ok(_) | Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    async fn mark(&self) -> Result<Option<Bytes>, BlobError> {
        match self.store.get(&Path::from(MARK)).await {
            Ok(mark) => Ok(Some(mark.bytes().await?)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(permission("read (s3:GetObject)", error)),
        }
    }

    /// Checks that this is the store with the files of the database. The database remembers it at
    /// the first start, and where it is at each start.
    ///
    /// # Errors
    /// If it is another one.
    pub(crate) async fn check_mark(&self, database: &PostgresStore) -> Result<(), BlobOpenError> {
        match self.other_place(database).await {
            Ok(None) => Ok(()),
            Ok(Some(place)) => Err(self.refused(&format!(
                "the files of this database are in {place}. Start with that --blob-store, or move \
                 all of it here, its file {MARK} too; see docs/backup.md"
            ))),
            Err(error) => Err(self.refused(&error_chain(&*error))),
        }
    }

    /// Where the files of the database are, if not here. The database has the id and the place of
    /// their store.
    async fn other_place(&self, database: &PostgresStore) -> Result<Option<String>, Cause> {
        if matches!(self.staging, Staging::Memory) {
            return Ok(None);
        }
        let mark = self.mark().await?.unwrap_or_default();
        let mark = String::from_utf8_lossy(&mark);
        let id = mark.split_whitespace().next().unwrap_or_default();
        let own = format!("{id} {}", self.place);
        let known = database.blob_store(own.as_bytes(), None).await?;
        let text = String::from_utf8_lossy(&known);
        match text.split_once(' ') {
            Some((other, place)) if other != id => return Ok(Some(place.to_owned())),
            Some((_, place)) if *place == *self.place => return Ok(None),
            Some(_) => {}
            // Of the ninth migration: a file that must be there.
            None => {
                if let Some(name) = AssetName::parse(&text)
                    && self.size_of(&name).await?.is_none()
                {
                    return Ok(Some("another folder or bucket".to_owned()));
                }
            }
        }
        database.blob_store(own.as_bytes(), Some(&known)).await?;
        Ok(None)
    }

    fn refused(&self, why: &str) -> BlobOpenError {
        BlobOpenError(format!("{}: {why}", self.place))
    }
}

/// Names the permission that is missing, if that is the reason.
fn permission(missing: &str, error: Error) -> BlobError {
    let denied = matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. });
    let error = BlobError::from(error);
    match denied {
        true => BlobError::text(format!("the key may not {missing}: {}", error.text)),
        false => error,
    }
}
