//! Reading a body whose size was declared beforehand.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use tokio::time::{Instant, timeout_at};

use crate::http::body::{BODY_SECONDS_MAX, BodyReadError, RequestBody};
use crate::limits::UPLOAD_RATE_MIN;

/// A body that is read piece by piece and checked for its exact size.
#[derive(Debug)]
pub struct ExactBody<'a> {
    body: &'a mut RequestBody,
    size: u64,
    left: u64,
    seconds: u64,
    deadline: Instant,
}

impl RequestBody {
    /// Starts reading a body of exactly `size` bytes. A body without a declared length is
    /// accepted if it turns out to have this size.
    ///
    /// # Errors
    /// If the headers declare another size. Nothing is read then.
    pub fn read_exactly(
        &mut self,
        headers: &HeaderMap,
        size: u64,
    ) -> Result<ExactBody<'_>, BodyReadError> {
        // hyper has checked the form of the header.
        let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        match declared.and_then(|text| text.trim().parse::<u64>().ok()) {
            Some(declared) if declared > size => return Err(BodyReadError::Longer(size)),
            Some(declared) if declared < size => return Err(BodyReadError::Shorter(size)),
            _ => {}
        }
        let seconds = BODY_SECONDS_MAX + size / UPLOAD_RATE_MIN;
        let deadline = Instant::now() + Duration::from_secs(seconds);
        Ok(ExactBody { body: self, size, left: size, seconds, deadline })
    }
}

impl ExactBody<'_> {
    /// The next piece; `None` after exactly the declared number of bytes.
    ///
    /// # Errors
    /// If the body is longer, shorter, too slow or broken.
    pub async fn next(&mut self) -> Result<Option<Bytes>, BodyReadError> {
        let next = timeout_at(self.deadline, self.body.next()).await;
        let Some(bytes) = next.map_err(|_| BodyReadError::TooSlow(self.seconds))?? else {
            return if self.left > 0 { Err(BodyReadError::Shorter(self.size)) } else { Ok(None) };
        };
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or(BodyReadError::Longer(self.size))?;
        Ok(Some(bytes))
    }
}
