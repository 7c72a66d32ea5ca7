//! Which store of files an operator wants: `memory:`, `file:PATH` or
//! `s3://BUCKET/PREFIX`.

use std::path::PathBuf;

/// Where files are to be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BlobSetting {
    /// In memory, until the process ends.
    #[default]
    Memory,
    /// In this folder; a relative one counts from where the program was started.
    Folder(PathBuf),
    /// In an S3-compatible store, which the variables `AWS_…` describe further.
    S3 {
        /// The bucket.
        bucket: Box<str>,
        /// What all names in the bucket begin with; may be empty.
        prefix: Box<str>,
    },
}

/// The text names no store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlobSettingFault {
    /// It begins with none of the three words.
    #[error("must be memory:, file:PATH or s3://BUCKET/PREFIX")]
    Kind,
    /// Nothing follows `file:`.
    #[error("needs a path after file:")]
    NoPath,
    /// No bucket follows `s3://`, or it can be none.
    #[error("needs the name of a bucket after s3://, of letters, digits, `.`, `_` and `-`")]
    Bucket,
    /// Something follows the bucket that can be no prefix.
    #[error(
        "needs a prefix of letters, digits, `.`, `_`, `-` and single slashes after the bucket; \
         keys and endpoint go into AWS_... variables"
    )]
    Prefix,
}

impl BlobSetting {
    /// Reads a setting.
    ///
    /// # Errors
    /// If it is none. The error does not repeat it: a key may have slipped into it.
    pub fn parse(text: &str) -> Result<Self, BlobSettingFault> {
        if let Some(path) = text.strip_prefix("file:") {
            let path = (!path.is_empty()).then(|| path.into());
            return path.map(Self::Folder).ok_or(BlobSettingFault::NoPath);
        }
        match text.strip_prefix("s3://") {
            Some(rest) => s3(rest),
            None if text == "memory:" => Ok(Self::Memory),
            None => Err(BlobSettingFault::Kind),
        }
    }
}

fn s3(text: &str) -> Result<BlobSetting, BlobSettingFault> {
    let (bucket, prefix) = text.split_once('/').unwrap_or((text, ""));
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    let plain = |word: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        !word.is_empty() && word.chars().all(known) && !matches!(word, "." | "..")
    };
    if !plain(bucket) {
        return Err(BlobSettingFault::Bucket);
    }
    if !prefix.is_empty() && !prefix.split('/').all(plain) {
        return Err(BlobSettingFault::Prefix);
    }
    Ok(BlobSetting::S3 { bucket: bucket.into(), prefix: prefix.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(bucket: &str, prefix: &str) -> BlobSetting {
        BlobSetting::S3 { bucket: bucket.into(), prefix: prefix.into() }
    }

    #[test]
    fn each_kind_is_read() {
        for (text, setting) in [
            ("memory:", BlobSetting::Memory),
            ("file:./data/blobs", BlobSetting::Folder("./data/blobs".into())),
            ("file:/var/lib/a b", BlobSetting::Folder("/var/lib/a b".into())),
            ("s3://pictures", bucket("pictures", "")),
            ("s3://pictures/", bucket("pictures", "")),
            ("s3://my.pictures/a/b/", bucket("my.pictures", "a/b")),
        ] {
            assert_eq!(BlobSetting::parse(text), Ok(setting), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        use BlobSettingFault::{Bucket, Kind, NoPath, Prefix};
        for (text, fault) in [
            ("", Kind),
            ("memory", Kind),
            ("memory:x", Kind),
            ("/var/lib", Kind),
            ("https://bucket", Kind),
            ("file:", NoPath),
            ("s3://", Bucket),
            ("s3:///prefix", Bucket),
            ("s3://key:secret@bucket", Bucket),
            ("s3://bucket/a//b", Prefix),
            ("s3://bucket/../b", Prefix),
            ("s3://bucket/a?key=b", Prefix),
        ] {
            assert_eq!(BlobSetting::parse(text), Err(fault), "{text}");
        }
    }
}
