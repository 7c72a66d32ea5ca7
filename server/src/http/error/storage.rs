//! Failures of uploads and assets.

use http::header::CONTENT_RANGE;
use http::{HeaderValue, StatusCode};

use crate::blobs::BlobError;
use crate::blobs::upload_slot::SlotError;
use crate::http::error::{Problem, plain};

/// Why a file was not taken, or not given (S-43, S-45).
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// Nobody may upload with this.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// The header announces another type than the slot's.
    #[error("the upload needs one header `Content-Type: {0}`, the type that was declared")]
    OtherType(&'static str),
    /// The slot has had its upload (UP-14).
    #[error("this upload address has been used; ask for a new slot")]
    Used,
    /// No byte of the range that was asked for is in the file, which has so many.
    #[error("the range is outside the {0} bytes of the asset")]
    OutOfRange(u64),
    /// The store of files failed.
    #[error(transparent)]
    Failed(#[from] BlobError),
}

impl StorageError {
    pub(super) fn problem(&self) -> Problem {
        let text = self.to_string();
        match self {
            Self::Slot(_) => plain(StatusCode::UNAUTHORIZED, text),
            Self::OtherType(_) => plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, text),
            Self::Used => plain(StatusCode::BAD_REQUEST, text),
            Self::OutOfRange(size) => Problem {
                header: HeaderValue::from_str(&format!("bytes */{size}"))
                    .ok()
                    .map(|value| (CONTENT_RANGE, value)),
                ..plain(StatusCode::RANGE_NOT_SATISFIABLE, text)
            },
            Self::Failed(error) if error.is_full() => plain(
                StatusCode::SERVICE_UNAVAILABLE,
                "the storage of files has no space left; nothing was kept",
            ),
            Self::Failed(_) => plain(
                StatusCode::SERVICE_UNAVAILABLE,
                "the storage of files does not work at the moment; try again in a while",
            ),
        }
    }
}
