//! Reads the body of a request, within limits of size, time and memory, where an endpoint needs it.

use std::cmp::Ordering;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, Stream, TryStreamExt};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Incoming};
use tokio::time::{Instant, timeout, timeout_at};

use crate::http::sole;
pub use crate::limits::{BODY_BYTES_MAX, BODY_SECONDS_MAX};
use crate::limits::{FORM_BYTES_MAX, UPLOAD_RATE_MIN};
use crate::quota::{ClientQuota, OverQuota, guarded};

/// Why a body could not be read. Sizes are those of an upload slot, times are seconds.
#[derive(Debug, thiserror::Error)]
pub enum BodyReadError {
    #[error("the request needs one header `Content-Type: {0}`")]
    OtherType(&'static str),
    /// The beginning of it.
    #[error("the body has `{0}: {1}`; send it without")]
    Encoded(&'static str, String),
    #[error("the body has more than {0} bytes")]
    TooLarge(usize),
    #[error("the body has more than the {0} bytes that were declared")]
    Longer(u64),
    #[error("the body has fewer than the {0} bytes that were declared")]
    Shorter(u64),
    #[error("the body did not arrive within {0} seconds")]
    TooSlow(u64),
    #[error("the body broke off")]
    Broken(#[source] hyper::Error),
    #[error(transparent)]
    Quota(#[from] OverQuota),
}

/// The type of a body, and the most bytes it may have.
pub(crate) struct BodyKind(&'static str, usize);

/// EN-02.
pub(crate) const JSON: BodyKind = BodyKind("application/json", BODY_BYTES_MAX);
pub(crate) const FORM: BodyKind = BodyKind("application/x-www-form-urlencoded", FORM_BYTES_MAX);

/// A form that anybody can send.
pub(crate) const OPEN_FORM: BodyKind = BodyKind("application/x-www-form-urlencoded", 4 * 1024);

/// Reads a whole body. If it is declared too large, or there is no memory for it, nothing is read.
pub(crate) async fn read(
    body: &mut Incoming,
    headers: &HeaderMap,
    memory: ClientQuota<'_>,
    BodyKind(of, most): BodyKind,
) -> Result<Bytes, BodyReadError> {
    check_encoding(headers)?;
    let essence = content_type(headers).and_then(|value| value.split(|byte| *byte == b';').next());
    if !essence.is_some_and(|text| text.trim_ascii().eq_ignore_ascii_case(of.as_bytes())) {
        return Err(BodyReadError::OtherType(of));
    }
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if declared > most {
        return Err(BodyReadError::TooLarge(most));
    }
    let mut reservation = memory.reserve(declared)?;
    let mut bytes = Vec::with_capacity(declared);
    let mut data = body.into_data_stream();
    let read = async {
        // Pieces are copied: each of them holds a whole buffer of the connection.
        while let Some(piece) = data.try_next().await.map_err(BodyReadError::Broken)? {
            let size = bytes.len() + piece.len();
            if size > most {
                return Err(BodyReadError::TooLarge(most));
            }
            if size > bytes.capacity() {
                // A chunked body. Its reservation doubles, so that few bytes are copied again.
                let capacity = size.max(2 * bytes.capacity()).min(most);
                reservation.grow_to(capacity)?;
                bytes.reserve_exact(capacity - bytes.len());
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(())
    };
    let read = timeout(Duration::from_secs(BODY_SECONDS_MAX), read).await;
    read.map_err(|_| BodyReadError::TooSlow(BODY_SECONDS_MAX))??;
    Ok(guarded(bytes, reservation))
}

/// Reads and discards the rest in the background, within limits. Closing a socket with unread bytes
/// resets the connection, and the client could lose the response.
pub(crate) fn discard(body: Incoming) {
    if body.is_end_stream() {
        return;
    }
    let mut rest = Limited::new(body, 64 * 1024 * 1024);
    let discarded = async move {
        while let Ok(Some(Ok(_))) = timeout(Duration::from_secs(3), rest.frame()).await {}
    };
    tokio::spawn(timeout(Duration::from_secs(BODY_SECONDS_MAX), discarded));
}

/// The pieces of a body of exactly `size` bytes. If another size is declared, nothing is read.
pub(crate) fn exact(
    body: &mut Incoming,
    size: u64,
) -> Result<impl Stream<Item = Result<Bytes, BodyReadError>>, BodyReadError> {
    match body.size_hint().exact().map(|declared| declared.cmp(&size)) {
        Some(Ordering::Greater) => return Err(BodyReadError::Longer(size)),
        Some(Ordering::Less) => return Err(BodyReadError::Shorter(size)),
        _ => {}
    }
    let seconds = BODY_SECONDS_MAX + size / UPLOAD_RATE_MIN;
    let deadline = Instant::now() + Duration::from_secs(seconds);
    Ok(stream::try_unfold((body.into_data_stream(), size), move |(mut data, left)| async move {
        let next = timeout_at(deadline, data.try_next()).await;
        let next = next.map_err(|_| BodyReadError::TooSlow(seconds))?;
        let Some(bytes) = next.map_err(BodyReadError::Broken)? else {
            return if left > 0 { Err(BodyReadError::Shorter(size)) } else { Ok(None) };
        };
        let left = left.checked_sub(bytes.len() as u64).ok_or(BodyReadError::Longer(size))?;
        Ok(Some((bytes, (data, left))))
    }))
}

/// Bodies are taken as they are. hyper removes the coding `chunked`, and no other.
pub(crate) fn check_encoding(headers: &HeaderMap) -> Result<(), BodyReadError> {
    let text = |coding: &HeaderValue| String::from_utf8_lossy(coding.as_bytes()).into_owned();
    for (header, name, plain) in [
        (CONTENT_ENCODING, "Content-Encoding", "identity"),
        (TRANSFER_ENCODING, "Transfer-Encoding", "chunked"),
    ] {
        let mut codings = headers.get_all(header).iter().map(text);
        if let Some(other) = codings.find(|coding| !coding.eq_ignore_ascii_case(plain)) {
            return Err(BodyReadError::Encoded(name, other.chars().take(40).collect()));
        }
    }
    Ok(())
}

pub(crate) fn content_type(headers: &HeaderMap) -> Option<&[u8]> {
    Some(sole(headers, &CONTENT_TYPE)?.as_bytes().trim_ascii())
}
