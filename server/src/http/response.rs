//! Answers: the envelope around what an endpoint gives (EN-03, EN-04, EN-05).
//!
//! Which status and text a failure has is for `error` to say, and what a resource
//! looks like for `api::view`.

mod listing;
mod payload;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use hyper::body::Body as _;
use serde::{Serialize, Serializer};

pub use self::listing::{WriteEntry, listing};
pub use self::payload::{Payload, PayloadError};
use crate::http::error::{ApiError, Problem};
use crate::http::path::Asked;
use crate::http::validate::Refusals;

/// An answer, whole or streamed.
pub type Reply = Response<Payload>;

/// The content type of every answer but the metrics.
pub const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Something that could not be written as JSON; it takes a fault in a view.
pub type Unwritable = serde_json::Error;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a, T> {
    data: &'a T,
    error: (),
    #[serde(skip_serializing_if = "Option::is_none")]
    pagination: Option<Pagination<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Pagination<'a> {
    next_cursor: Option<&'a str>,
}

/// One resource or a whole list. `size_bytes` is a guess at the JSON's size: a
/// good one saves copies.
///
/// # Errors
/// If `data` cannot be written as JSON.
pub fn data<T: Serialize>(
    status: StatusCode,
    data: &T,
    size_bytes: usize,
) -> Result<Reply, Unwritable> {
    write(status, &Envelope { data, error: (), pagination: None }, size_bytes)
}

/// A success response whose JSON is encoded already.
pub fn written(json: Bytes) -> Reply {
    whole(StatusCode::OK, json)
}

/// A page of a list, with the cursor of the next one if there is one (EN-07).
///
/// # Errors
/// If `data` cannot be written as JSON.
pub fn page<T: Serialize>(
    data: &T,
    next_cursor: Option<&str>,
    size_bytes: usize,
) -> Result<Reply, Unwritable> {
    let pagination = Some(Pagination { next_cursor });
    write(StatusCode::OK, &Envelope { data, error: (), pagination }, size_bytes)
}

#[derive(Serialize)]
struct ErrorEnvelope<'a> {
    data: (),
    error: &'a str,
    #[serde(serialize_with = "details")]
    details: &'a Refusals,
}

fn details<S: Serializer>(refusals: &&Refusals, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(refusals.iter())
}

fn write<T: Serialize>(
    status: StatusCode,
    envelope: &Envelope<'_, T>,
    size_bytes: usize,
) -> Result<Reply, Unwritable> {
    const ENVELOPE_BYTES: usize = 96;
    let mut json = Vec::with_capacity(size_bytes + ENVELOPE_BYTES);
    serde_json::to_writer(&mut json, envelope)?;
    Ok(whole(status, json.into()))
}

/// A failure of a request in its envelope (ER-01).
pub fn failure(error: &ApiError, asked: Asked) -> Reply {
    let problem = error.problem(asked);
    let mut reply = whole(problem.status, failure_json(&problem));
    if problem.status == StatusCode::UNAUTHORIZED {
        reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some((name, value)) = problem.header {
        reply.headers_mut().insert(name, value);
    }
    reply
}

fn failure_json(problem: &Problem) -> Bytes {
    const UNSAID: &str = r#"{"data":null,"error":"the failure has no text","details":{}}"#;
    let envelope = ErrorEnvelope { data: (), error: &problem.text, details: &problem.details };
    // Strings alone can always be written.
    serde_json::to_vec(&envelope).map_or(Bytes::from_static(UNSAID.as_bytes()), Bytes::from)
}

/// A page of plain text, as Prometheus reads it.
pub fn plain_text(text: String) -> Reply {
    let mut reply = whole(StatusCode::OK, text.into());
    let plain = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    reply.headers_mut().insert(CONTENT_TYPE, plain);
    reply
}

/// An answer without a body.
pub fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Payload::whole(Bytes::new()));
    *reply.status_mut() = status;
    reply
}

/// The same answer to a `HEAD`: everything but the body, whose length is told. Over
/// HTTP/2 hyper would send the body of an answer that has one.
pub fn only_the_head(reply: Reply) -> Reply {
    let (mut parts, body) = reply.into_parts();
    if let Some(length @ 1..) = body.size_hint().exact() {
        parts.headers.entry(CONTENT_LENGTH).or_insert(length.into());
    }
    Response::from_parts(parts, Payload::whole(Bytes::new()))
}

/// An answer whose JSON is at hand.
fn whole(status: StatusCode, json: Bytes) -> Reply {
    reply(status, Payload::whole(json))
}

fn reply(status: StatusCode, payload: Payload) -> Reply {
    let mut reply = Response::new(payload);
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, JSON);
    reply
}
