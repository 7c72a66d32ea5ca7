//! The module in a build without the feature `s3`.

use super::Blobs;
use crate::store::Cause;

pub(super) fn open(
    _bucket: &str,
    _prefix: &str,
    _variables: impl Iterator<Item = (String, String)>,
) -> Result<Blobs, Cause> {
    Err("--blob-store: this program was built without the feature `s3`".into())
}
