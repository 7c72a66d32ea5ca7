//! Which blob store an operator wants, and opening it: `memory:`, `file:PATH` or
//! `s3://BUCKET/PREFIX`. S3 is configured further by the usual variables `AWS_…`.

use std::path::PathBuf;

use super::Blobs;
use crate::store::Cause;

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
            Some(("s3", rest)) if rest.starts_with("//") => parse_s3(&rest[2..]),
            _ => Err("must be memory:, file:PATH or s3://BUCKET/PREFIX"),
        }
    }
}

fn parse_s3(text: &str) -> Result<BlobSetting, &'static str> {
    let (bucket, prefix) = text.split_once('/').unwrap_or((text, ""));
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    let is_plain = |word: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        !word.is_empty() && word.chars().all(allowed) && !matches!(word, "." | "..")
    };
    if !is_plain(bucket) || !(prefix.is_empty() || prefix.split('/').all(is_plain)) {
        return Err("needs a bucket and a prefix of letters, digits, `.`, `_`, `-` and single \
                    slashes after s3://; keys and endpoint go into AWS_... variables");
    }
    Ok(BlobSetting::S3 { bucket: bucket.into(), prefix: prefix.into() })
}

impl BlobSetting {
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
