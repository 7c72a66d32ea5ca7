//! Which blob store an operator wants, and opening it: `memory:`, `file:PATH` or
//! `s3://BUCKET/PREFIX`. S3 is configured further by the usual variables `AWS_…`.
//!
//! At the start it is checked that the store works, and is the one with the files of the database.
//! The mark of a store is the object `.promptarium`, whose text tells one folder or bucket from
//! another. The database knows the mark of the store with its files, so that no server starts with
//! another one.

use std::io::Write as _;
use std::path::PathBuf;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode};

use super::files::{TempFile, blocking};
use super::{BlobError, Blobs, MARK, Place, in_time, random_id};
use crate::error_chain::error_chain;
use crate::limits::product::BLOBS_OPEN_TIMEOUT;
use crate::store::{AdminStore, Cause, Replace, Result};

/// Where files are to be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum BlobSetting {
    #[default]
    Memory,
    /// In this folder, relative to the working directory.
    Folder(PathBuf),
    S3 {
        bucket: Box<str>,
        /// Prefix of all object keys; may be empty.
        prefix: Box<str>,
    },
}

impl BlobSetting {
    /// Parses a setting. The error does not repeat it, because it may contain a key by mistake.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        match text.split_once(':') {
            Some(("memory", "")) => Ok(Self::Memory),
            Some(("file", "")) => Err("needs a path after file:"),
            Some(("file", path)) => Ok(Self::Folder(path.into())),
            Some(("s3", rest)) if rest.starts_with("//") => {
                let place = &rest[2..];
                let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
                let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
                let is_plain = |word: &str| {
                    let allowed = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
                    !word.is_empty() && word.chars().all(allowed) && !matches!(word, "." | "..")
                };
                if !is_plain(bucket) || !(prefix.is_empty() || prefix.split('/').all(is_plain)) {
                    return Err("needs a bucket and a prefix of letters, digits, `.`, `_`, `-` \
                                and single slashes after s3://; keys and endpoint go into \
                                AWS_... variables");
                }
                Ok(Self::S3 { bucket: bucket.into(), prefix: prefix.into() })
            }
            _ => Err("must be memory:, file:PATH or s3://BUCKET/PREFIX"),
        }
    }

    /// Opens the store. Whether it works, [`Blobs::verify`] finds out.
    pub(crate) fn open(&self) -> Result<Blobs, Cause> {
        match self {
            Self::Memory => Ok(Blobs::in_memory()),
            Self::Folder(path) => Blobs::in_folder(path),
            #[cfg(feature = "s3")]
            Self::S3 { bucket, prefix } => super::s3::open(
                bucket,
                prefix,
                std::env::vars_os().filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                }),
            ),
            #[cfg(not(feature = "s3"))]
            Self::S3 { .. } => Err("this program was built without the feature `s3`".into()),
        }
    }
}

impl Blobs {
    /// Checks that files can be put into the store once and read, and marks it.
    ///
    /// # Errors
    /// If they cannot, or the store does not answer.
    pub(crate) async fn verify(&self) -> Result<(), Cause> {
        if self.root().is_none() {
            // Uploads and outputs are written to a temporary file first.
            let refused = |error| self.refused(&format!("no temporary file: {error}; set TMPDIR"));
            TempFile::new(None).map_err(refused)?;
        }
        if matches!(self.place, Place::Memory) {
            return Ok(());
        }
        let verified = in_time(BLOBS_OPEN_TIMEOUT, self.verify_store()).await;
        let why = |error: BlobError| format!("files cannot be put there and read: {}", error.text);
        verified.map_err(|error| self.refused(&why(error)))
    }

    async fn verify_store(&self) -> Result<(), BlobError> {
        // A store that ignores the condition gets the mark again that it has.
        let mark = self.mark().await.ok().flatten().unwrap_or_else(|| random_id().into());
        if self.put_mark(mark.clone()).await? && self.put_mark(mark).await? {
            return Err(BlobError::text(
                "it ignores `If-None-Match: *`, without which an upload could replace a file; use \
                 a store with conditional writes",
            ));
        }
        self.mark().await.map(drop)
    }

    /// Puts it as files are put, if there is none; returns whether there was none.
    async fn put_mark(&self, mark: Bytes) -> Result<bool, BlobError> {
        if let Some(root) = self.root() {
            let put = move || {
                let mut file = TempFile::new(Some(&root))?;
                file.file.write_all(&mark)?;
                Ok(file.publish(&root.join(MARK))?)
            };
            return blocking(put).await;
        }
        let (location, options) = (Path::from(MARK), PutMode::Create.into());
        match self.store.put_opts(&location, mark.into(), options).await {
            Err(Error::AlreadyExists { .. }) => Ok(false),
            put => put.map(|_| true).map_err(|error| permission("write (s3:PutObject)", error)),
        }
    }

    async fn mark(&self) -> Result<Option<Bytes>, BlobError> {
        match self.store.get(&Path::from(MARK)).await {
            Ok(mark) => Ok(Some(mark.bytes().await?)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(permission("read (s3:GetObject)", error)),
        }
    }

    /// Checks that this is the store with the files of the database.
    ///
    /// # Errors
    /// If it is another one.
    pub(crate) async fn check_mark(&self, database: &dyn AdminStore) -> Result<(), Cause> {
        let Some(own) = self.description().await? else { return Ok(()) };
        let other = Self::other_store(database, &own).await;
        match other.map_err(|error| self.refused(&error_chain(&error)))? {
            None => Ok(()),
            Some(other) => Err(self.refused(&format!(
                "the files of this database are in {other}. Start with that --blob-store, or move \
                 all of it here, its file {MARK} too; see docs/backup.md"
            ))),
        }
    }

    /// The mark and the address, which the database remembers. `None` in memory.
    pub(crate) async fn description(&self) -> Result<Option<String>, Cause> {
        if matches!(self.place, Place::Memory) {
            return Ok(None);
        }
        let mark = self.mark().await.map_err(|error| self.refused(&error.text))?;
        let mark = mark.unwrap_or_default();
        let mark = String::from_utf8_lossy(&mark);
        let id = mark.split_whitespace().next().unwrap_or_default();
        Ok(Some(format!("{id} {}", self.address)))
    }

    /// Where the files of the database are, if not in the store of this description. The database
    /// remembers the first one, and its present address.
    pub(crate) async fn other_store(
        database: &dyn AdminStore,
        own: &str,
    ) -> Result<Option<String>> {
        let known = database.blob_store(own.as_bytes(), Replace::None).await?;
        let text = String::from_utf8_lossy(&known);
        let own_id = own.split(' ').next();
        match text.split_once(' ') {
            Some((id, address)) if Some(id) != own_id => return Ok(Some(address.to_owned())),
            _ if text != own => {
                database.blob_store(own.as_bytes(), Replace::Only(&known)).await?;
            }
            _ => {}
        }
        Ok(None)
    }

    fn refused(&self, why: &str) -> Cause {
        format!("{}: {why}", self.address).into()
    }
}

/// Names the permission that is missing, if that is the reason.
fn permission(missing: &str, error: Error) -> BlobError {
    let denied = matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. });
    let BlobError { text, full } = error.into();
    let text = if denied { format!("the key may not {missing}: {text}") } else { text };
    BlobError { text, full }
}
