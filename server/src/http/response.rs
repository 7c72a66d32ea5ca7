//! Responses: the envelope around what an endpoint returns (EN-03, EN-04, EN-05).

use std::fmt::Display;
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt, Collected, Either, Full, StreamBody};
use hyper::body::{Body as _, Frame};
use serde::Serialize;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::yield_now;

use crate::http::error::{ApiError, Problem};
use crate::http::json::{Object, WriteJson, write_value};
use crate::limits::{LISTING_CHUNK_BYTES, RESPONSE_BYTES_UNCOUNTED};
use crate::quota::{ClientQuota, OverQuota, Permit, guarded};
use crate::store::StoreError;

/// A streamed body failed, which cuts the connection. The cause is in the log.
#[derive(Debug, thiserror::Error)]
#[error("the response failed while it was sent")]
pub struct ResponseBodyError;

/// The body of a response: bytes in memory, or bytes that are produced while they are sent.
pub type ResponseBody =
    Either<Full<Bytes>, StreamBody<BoxStream<'static, Result<Frame<Bytes>, ResponseBodyError>>>>;

/// A response with a body in memory or a streamed one.
pub type Response = http::Response<ResponseBody>;

/// An envelope around what `write` appends. A page has the cursor of the next one, or null (EN-07).
fn envelope(
    status: StatusCode,
    write: impl FnOnce(&mut Vec<u8>),
    next_cursor: Option<Option<&str>>,
) -> Response {
    let mut bytes = Vec::with_capacity(1024);
    let mut envelope = Object::begin(&mut bytes);
    write(envelope.field("data"));
    envelope.field("error").extend_from_slice(b"null");
    if let Some(next) = next_cursor {
        let mut pagination = Object::begin(envelope.field("pagination"));
        pagination.value("nextCursor", &next);
        pagination.end();
    }
    envelope.end();
    with_json(status, bytes)
}

/// What has no record, and can be written without an error.
pub(crate) fn data(status: StatusCode, data: &impl Serialize) -> Response {
    envelope(status, |json| write_value(json, data), None)
}

pub(crate) fn record(status: StatusCode, record: &(impl WriteJson + ?Sized)) -> Response {
    envelope(status, |json| record.write_json(json), None)
}

pub(crate) fn page(records: &[impl WriteJson], next_cursor: Option<&str>) -> Response {
    envelope(StatusCode::OK, |json| records.write_json(json), Some(next_cursor))
}

fn with_json(status: StatusCode, bytes: impl Into<Bytes>) -> Response {
    with_type(status, "application/json", ResponseBody::Left(Full::new(bytes.into())))
}

pub(crate) fn with_type(status: StatusCode, of: &'static str, body: ResponseBody) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(of));
    response
}

pub(crate) fn no_body() -> ResponseBody {
    ResponseBody::Left(Full::default())
}

/// The response to a read with memory reserved for its body until it was sent. A streamed body
/// needs none. What a write has done cannot be refused any more.
pub(crate) fn within(
    memory: ClientQuota<'_>,
    method: &Method,
    response: Response,
) -> Result<Response, OverQuota> {
    let size = response.body().size_hint().lower() as usize;
    if size <= RESPONSE_BYTES_UNCOUNTED || !matches!(*method, Method::GET | Method::HEAD) {
        return Ok(response);
    }
    let permit = memory.reserve(size)?;
    Ok(response.map(|body| {
        // They are one piece, and ready.
        let bytes = body.collect().now_or_never().and_then(Result::ok);
        let bytes = bytes.map(Collected::to_bytes).unwrap_or_default();
        ResponseBody::Left(Full::new(guarded(bytes, permit)))
    }))
}

/// A file that is read while it is sent: a piece once the one before it was dropped, so a client
/// that does not read takes the memory of one. Collecting such a body without copies is a deadlock.
pub(crate) fn file<E: Display + Send + 'static>(
    pieces: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    reservation: Permit,
) -> ResponseBody {
    let turn = Arc::new(Semaphore::new(1));
    let begin = (Box::pin(pieces), reservation);
    stream(stream::try_unfold(begin, move |(mut pieces, reservation)| {
        let turn = turn.clone();
        async move {
            // It is never closed.
            let Ok(permit) = turn.acquire_owned().await else { return Ok(None) };
            let piece = pieces.try_next().await?;
            Ok::<_, E>(piece.map(|bytes| (guarded(bytes, permit), (pieces, reservation))))
        }
    }))
}

/// A body that is produced while it is sent. A failure cuts the connection: it must not look
/// complete.
pub(crate) fn stream<E: Display + 'static>(
    bytes: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
) -> ResponseBody {
    let frames = bytes.map_ok(Frame::data).map_err(|error| {
        tracing::error!(%error, "a response failed while it was sent");
        ResponseBodyError
    });
    Either::Right(StreamBody::new(frames.boxed()))
}

/// The failure of a request in its envelope (ER-01).
pub(crate) fn failure(problem: Problem) -> Response {
    let envelope = json!({ "data": null, "error": problem.text, "details": problem.details });
    let mut response = with_json(problem.status, envelope.to_string());
    add_headers(&mut response, problem);
    response
}

pub(crate) fn add_headers(response: &mut Response, problem: Problem) {
    if problem.status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some((name, value)) = problem.header {
        response.headers_mut().insert(name, value);
    }
}

/// The response to `HEAD`: without its body, which hyper would send, but with its length.
pub(crate) fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(length @ 1..) = body.size_hint().exact() {
        parts.headers.entry(CONTENT_LENGTH).or_insert(length.into());
    }
    Response::from_parts(parts, no_body())
}

/// A list of entries, each written while it is read from the store. Memory holds one chunk, and
/// `reservation` is for what the store holds. A list that fits into a chunk is sent with its
/// length. A failure after the first chunk cuts the connection.
pub(crate) async fn listing<T: WriteJson + Send + 'static>(
    mut entries: BoxStream<'static, Result<T, StoreError>>,
    reservation: Option<Permit>,
) -> Result<Response, ApiError> {
    let mut first = br#"{"data":["#.to_vec();
    if fill(&mut first, &mut entries).await? {
        return Ok(with_json(StatusCode::OK, first));
    }
    let rest = (entries, reservation, false);
    let rest = stream::try_unfold(rest, |(mut entries, reservation, ended)| async move {
        if ended {
            return Ok(None);
        }
        // Entries in memory and a socket that takes megabytes would keep the thread.
        yield_now().await;
        // The last entry of a chunk exceeds its size.
        let mut chunk = Vec::with_capacity(LISTING_CHUNK_BYTES + LISTING_CHUNK_BYTES / 4);
        let ended = fill(&mut chunk, &mut entries).await?;
        Ok(Some((Bytes::from(chunk), (entries, reservation, ended))))
    });
    let body = stream(stream::iter([Ok::<_, ApiError>(first.into())]).chain(rest));
    Ok(with_type(StatusCode::OK, "application/json", body))
}

/// Writes entries until the chunk is full or the list has ended; whether it has.
async fn fill<T: WriteJson>(
    chunk: &mut Vec<u8>,
    entries: &mut BoxStream<'static, Result<T, StoreError>>,
) -> Result<bool, ApiError> {
    while chunk.len() < LISTING_CHUNK_BYTES {
        let Some(entry) = entries.try_next().await? else {
            chunk.extend_from_slice(br#"],"error":null}"#);
            return Ok(true);
        };
        if !chunk.ends_with(b"[") {
            chunk.push(b',');
        }
        entry.write_json(chunk);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;
    use crate::quota::Quota;

    impl WriteJson for String {
        fn write_json(&self, json: &mut Vec<u8>) {
            json.extend_from_slice(self.as_bytes());
        }
    }

    /// The list of this many entries, after which the store fails.
    async fn failing_after(entries: usize) -> Result<Response, ApiError> {
        let texts = stream::iter(0..entries).map(|_| Ok("x".repeat(4_000)));
        let failure = stream::iter([Err(StoreError::KeyTaken)]);
        listing(texts.chain(failure).boxed(), None).await
    }

    #[test]
    fn a_large_body_has_its_reservation_until_it_is_dropped() {
        let memory = Quota::new("memory", "the memory", 400_000, 100_000);
        let used = || memory.usage().used;
        let response = |method: &Method, size| {
            let address = IpAddr::from(Ipv4Addr::LOCALHOST);
            within(memory.of(address), method, with_json(StatusCode::OK, vec![b'x'; size]))
        };
        let small = response(&Method::GET, RESPONSE_BYTES_UNCOUNTED).unwrap();
        let write = response(&Method::POST, 100_000).unwrap();
        assert_eq!(used(), 0);
        let large = response(&Method::GET, 100_000).unwrap();
        assert_eq!((used(), large.body().size_hint().exact()), (100_000, Some(100_000)));
        assert!(response(&Method::GET, RESPONSE_BYTES_UNCOUNTED + 1).is_err());
        // What hyper takes out of the body keeps the reservation.
        let bytes = large.into_body().collect().now_or_never().unwrap().unwrap().to_bytes();
        assert_eq!((bytes.len(), used()), (100_000, 100_000));
        drop((bytes, small, write));
        assert_eq!(used(), 0);
    }

    #[tokio::test]
    async fn a_failure_in_the_first_chunk_is_an_error_and_a_later_one_ends_the_body() {
        assert!(failing_after(0).await.is_err() && failing_after(8).await.is_err());
        let mut body = failing_after(9).await.unwrap().into_body();
        assert!(body.frame().await.unwrap().is_ok());
        assert!(body.frame().await.unwrap().is_err());
        assert!(body.frame().await.is_none());
    }

    #[tokio::test]
    async fn other_requests_have_their_turn_between_two_chunks() {
        let mut body = failing_after(30).await.unwrap().into_body();
        assert!(body.frame().now_or_never().is_some());
        assert!(body.frame().now_or_never().is_none());
        assert!(body.frame().await.unwrap().is_ok());
    }
}
