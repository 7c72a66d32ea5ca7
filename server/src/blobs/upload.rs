//! Uploads: bytes are kept out of sight as they arrive, then published in one step.
//!
//! An upload takes constant memory: what exceeds its buffer goes to a temporary file. A folder
//! store gives this file its final name. For other stores the file is read back once it is
//! complete: whole under a quota of bytes in memory, or in parts if it is large, which only an
//! output is.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use bytes::Bytes;
use object_store::{Attribute, Attributes};
use tokio::task::spawn_blocking;

use super::folder::TempFile;
use super::{BlobError, Blobs, Place, in_time, key};
use crate::domain::AssetName;
use crate::limits::{
    BLOBS_TIMEOUT, S3_PART_BYTES, S3_UPLOAD_WAIT, S3_WHOLE_BYTES_MAX, UPLOAD_BUFFER_BYTES,
};
use crate::quota::{Client, Permit};

/// A file that is being uploaded. Dropping it discards what has been written.
pub struct Upload {
    blobs: Blobs,
    /// What has been written.
    size: u64,
    buffer: Vec<u8>,
    file: Option<TempFile>,
}

impl Blobs {
    /// Starts an upload. Not more than its buffer is in memory, even if the store is.
    pub fn upload(&self) -> Upload {
        let buffer = Vec::with_capacity(UPLOAD_BUFFER_BYTES);
        Upload { blobs: self.clone(), size: 0, buffer, file: None }
    }

    /// Waits until this many bytes may be in memory on their way to S3.
    async fn permit(&self, bytes: u64) -> Result<Option<Permit>, BlobError> {
        let Some(quota) = self.quota() else { return Ok(None) };
        let permit = quota.acquire(Client::Server, bytes as usize, S3_UPLOAD_WAIT).await;
        permit.map(Some).map_err(|over| BlobError::text(over.to_string()))
    }
}

impl Upload {
    /// Adds bytes.
    pub async fn write(&mut self, mut bytes: &[u8]) -> Result<(), BlobError> {
        self.size += bytes.len() as u64;
        loop {
            let free = UPLOAD_BUFFER_BYTES - self.buffer.len();
            let (fitting, rest) = bytes.split_at(bytes.len().min(free));
            self.buffer.extend_from_slice(fitting);
            if rest.is_empty() {
                return Ok(());
            }
            self.read(|_| Ok(())).await?;
            bytes = rest;
        }
    }

    /// Empties the buffer into the file, and reads what has been written, on a thread for blocking
    /// work. Nothing is written after it has moved the position.
    pub async fn read<T: Send + 'static>(
        &mut self,
        read: impl FnOnce(&mut File) -> io::Result<T> + Send + 'static,
    ) -> Result<T, BlobError> {
        self.with_file(move |file| read(&mut file.file)).await
    }

    async fn with_file<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut TempFile) -> io::Result<T> + Send + 'static,
    ) -> Result<T, BlobError> {
        let root = self.blobs.root();
        let (file, mut buffer) = (self.file.take(), std::mem::take(&mut self.buffer));
        let done = blocking(move || {
            let mut file = file.map_or_else(|| TempFile::new(root.as_deref()), Ok)?;
            file.file.write_all(&buffer)?;
            buffer.clear();
            let value = work(&mut file)?;
            Ok((file, buffer, value))
        });
        let (file, buffer, value) = in_time(BLOBS_TIMEOUT, done).await?;
        (self.file, self.buffer) = (Some(file), buffer);
        Ok(value)
    }

    /// Publishes the file, if its name is free; returns whether it was. After an error nothing is
    /// visible.
    pub async fn finish(mut self, name: &AssetName) -> Result<bool, BlobError> {
        let (blobs, size) = (self.blobs.clone(), self.size);
        if let Place::Folder(root) = &blobs.place {
            let target = root.join(key(name).as_ref());
            return self.with_file(move |file| file.publish(&target)).await;
        }
        if size > S3_WHOLE_BYTES_MAX {
            return self.put_parts(name).await;
        }
        let _permit = blobs.permit(size).await?;
        let bytes = match self.file {
            None => self.buffer.into_boxed_slice().into(),
            Some(_) => self.part(0, size).await?,
        };
        blobs.put_object(name, bytes).await
    }

    /// Puts a large file in parts. Unlike a whole one it would replace a file of its name that
    /// was stored meanwhile; only the output of one job can, and it is the same.
    async fn put_parts(mut self, name: &AssetName) -> Result<bool, BlobError> {
        let (blobs, size) = (self.blobs.clone(), self.size);
        if blobs.size_of(name).await?.is_some() {
            return Ok(false);
        }
        let of_type = (Attribute::ContentType, name.media().content_type());
        let options = Attributes::from_iter([of_type]).into();
        let mut upload = blobs.store.put_multipart_opts(&key(name), options).await?;
        let sent = async {
            for start in (0..size).step_by(S3_PART_BYTES as usize) {
                let _permit = blobs.permit(S3_PART_BYTES).await?;
                let part = self.part(start, S3_PART_BYTES).await?;
                upload.put_part(part.into()).await?;
            }
            upload.complete().await?;
            Ok::<_, BlobError>(true)
        };
        let sent = sent.await;
        if sent.is_err() {
            // If this fails too, the store keeps the parts; see docs/configure.md.
            let _ = upload.abort().await;
        }
        sent
    }

    /// Bytes of the file, at most `most`.
    async fn part(&mut self, start: u64, most: u64) -> Result<Bytes, BlobError> {
        let read = move |file: &mut File| {
            let mut bytes = Vec::with_capacity(most as usize);
            file.seek(io::SeekFrom::Start(start))?;
            file.take(most).read_to_end(&mut bytes)?;
            Ok(bytes.into())
        };
        self.read(read).await
    }
}

/// Runs file operations on a thread for blocking work.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BlobError> + Send + 'static,
) -> Result<T, BlobError> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::from(error).into()))
}
