//! The module in a build without the feature `s3`.

use super::{BlobOpenError, Blobs};

pub(super) fn open(
    _bucket: &str,
    _prefix: &str,
    _variables: impl Iterator<Item = (String, String)>,
) -> Result<Blobs, BlobOpenError> {
    Err(BlobOpenError("this program was built without the feature `s3`".to_owned()))
}
