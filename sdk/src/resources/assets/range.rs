//! Parts of an asset (RFC 9110, sections 13.1.5 and 14): pure functions of headers.

use std::time::SystemTime;

use http::header::{ACCEPT_RANGES, CONTENT_RANGE, DATE, ETAG, LAST_MODIFIED};
use http::response::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

/// What a response has of an asset.
pub(super) enum Part {
    /// The bytes from the one that was requested.
    Requested,
    /// All bytes, which is not what was requested.
    Whole,
    /// Other bytes, or those of another version of the asset.
    Other,
    /// There are no bytes from the one that was requested: the asset has no more.
    Complete,
    /// None: the status is an error.
    Nothing,
}

impl Part {
    /// What this response has, where the bytes from `position` of an asset were requested of which
    /// size and validator may be known. The caller wants those from `first`.
    pub(super) fn of(
        head: &Parts,
        first: u64,
        position: u64,
        size: Option<u64>,
        validator: Option<&Validator>,
    ) -> Self {
        match head.status {
            StatusCode::PARTIAL_CONTENT => {
                let Some((begin, total)) = content_range(&head.headers) else { return Self::Other };
                let changed = validator.is_some_and(|was| was.is_contradicted_by(&head.headers))
                    || size.zip(total).is_some_and(|(was, is)| was != is);
                if begin == position && !changed { Self::Requested } else { Self::Other }
            }
            StatusCode::RANGE_NOT_SATISFIABLE
                if unsatisfied(&head.headers) == Some(position)
                    && size.is_none_or(|size| size == position) =>
            {
                Self::Complete
            }
            StatusCode::RANGE_NOT_SATISFIABLE if position != first => Self::Other,
            status if !status.is_success() => Self::Nothing,
            _ if position == 0 => Self::Requested,
            _ => Self::Whole,
        }
    }
}

/// The header of a response by which a server tells whether the asset is still the same.
#[derive(Debug, Clone)]
pub(super) struct Validator {
    name: HeaderName,
    /// The value of `If-Range`.
    pub(super) value: HeaderValue,
}

impl Validator {
    /// `None` if the rest of the asset cannot be requested: ranges are not supported, or two
    /// versions of the asset may have the same headers.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let ranges = headers.get(ACCEPT_RANGES);
        if ranges.is_some_and(|ranges| ranges.as_bytes().eq_ignore_ascii_case(b"none")) {
            return None;
        }
        if let Some(tag) = headers.get(ETAG) {
            // A weak one begins with `W/`.
            let is_strong = tag.as_bytes().starts_with(b"\"");
            return is_strong.then(|| Self { name: ETAG, value: tag.clone() });
        }
        // Within the second in which it was modified, an asset may be modified again.
        let (value, modified) = (headers.get(LAST_MODIFIED)?, date(headers, &LAST_MODIFIED)?);
        (modified < date(headers, &DATE)?)
            .then(|| Self { name: LAST_MODIFIED, value: value.clone() })
    }

    /// Whether these headers are of another version of the asset.
    pub(super) fn is_contradicted_by(&self, headers: &HeaderMap) -> bool {
        headers.get(&self.name).is_some_and(|value| *value != self.value)
    }
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()
}

/// The size of an asset that has no byte of the range that was requested.
fn unsatisfied(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_RANGE)?.to_str().ok()?.trim().strip_prefix("bytes */")?.parse().ok()
}

/// The first byte that a part of an asset has, and the size of the asset if it is known. `None` if
/// the response does not have one range of bytes.
pub(super) fn content_range(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let (unit, range) = headers.get(CONTENT_RANGE)?.to_str().ok()?.trim().split_once(' ')?;
    let (bytes, size) = range.trim().split_once('/')?;
    let (first, last) = bytes.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let size = if size == "*" { None } else { Some(size.parse().ok()?) };
    (unit.eq_ignore_ascii_case("bytes") && first <= last && size.is_none_or(|size| last < size))
        .then_some((first, size))
}
