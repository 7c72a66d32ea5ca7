//! Responses: the envelope around what an endpoint returns (EN-03, EN-04, EN-05).
//!
//! `error` decides status and text of a failure, `api::view` the form of a resource.

mod body;
mod listing;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use hyper::body::Body as _;
use serde::{Serialize, Serializer};

pub use self::body::ResponseBody;
pub(crate) use self::body::ResponseBodyError;
pub(crate) use self::listing::listing;
use crate::http::error::ApiError;
use crate::http::path::RequestTarget;
use crate::http::validate::FieldErrors;

/// A response with a body in memory or a streamed one.
pub type Response = http::Response<ResponseBody>;

/// The content type of every response but metrics and assets.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A view could not be written as JSON, which is a bug.
pub(crate) type SerializeError = serde_json::Error;

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

#[derive(Serialize)]
struct ErrorEnvelope<'a> {
    data: (),
    error: &'a str,
    #[serde(serialize_with = "details")]
    details: &'a FieldErrors,
}

fn details<S: Serializer>(errors: &&FieldErrors, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(errors.iter())
}

/// One resource or a whole list. `size_bytes` estimates the JSON's size: a good estimate saves
/// copies.
pub(crate) fn data<T: Serialize>(
    status: StatusCode,
    data: &T,
    size_bytes: usize,
) -> Result<Response, SerializeError> {
    let envelope = Envelope { data, error: (), pagination: None };
    Ok(json(status, encode(&envelope, size_bytes)?))
}

/// A page of a list, with the cursor of the next page if there is one (EN-07).
pub(crate) fn page<T: Serialize>(
    data: &T,
    next_cursor: Option<&str>,
    size_bytes: usize,
) -> Result<Response, SerializeError> {
    let envelope = Envelope { data, error: (), pagination: Some(Pagination { next_cursor }) };
    Ok(json(StatusCode::OK, encode(&envelope, size_bytes)?))
}

fn encode<T: Serialize>(
    envelope: &Envelope<'_, T>,
    size_bytes: usize,
) -> Result<Bytes, SerializeError> {
    const ENVELOPE_BYTES: usize = 96;
    let mut json = Vec::with_capacity(size_bytes + ENVELOPE_BYTES);
    serde_json::to_writer(&mut json, envelope)?;
    Ok(json.into())
}

/// A response of JSON.
pub(crate) fn json(status: StatusCode, json: impl Into<ResponseBody>) -> Response {
    let mut response = Response::new(json.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// The failure of a request in its envelope (ER-01).
pub(crate) fn failure(error: &ApiError, target: RequestTarget) -> Response {
    const NO_TEXT: &[u8] = br#"{"data":null,"error":"the failure has no text","details":{}}"#;
    let problem = error.problem(target);
    let envelope = ErrorEnvelope { data: (), error: &problem.text, details: &problem.details };
    // Strings can always be written.
    let body = serde_json::to_vec(&envelope).map_or(Bytes::from_static(NO_TEXT), Bytes::from);
    let mut response = json(problem.status, body);
    if problem.status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some((name, value)) = problem.header {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Metrics in the text format of Prometheus.
pub(crate) fn metrics(text: String) -> Response {
    let mut response = json(StatusCode::OK, Bytes::from(text));
    let plain = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}

/// A response without a body.
pub(crate) fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(ResponseBody::full(Bytes::new()));
    *response.status_mut() = status;
    response
}

/// The same response to `HEAD`: without its body, but with its length. Over HTTP/2 hyper would
/// send the body.
pub(crate) fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(length @ 1..) = body.size_hint().exact() {
        parts.headers.entry(CONTENT_LENGTH).or_insert(length.into());
    }
    Response::from_parts(parts, ResponseBody::full(Bytes::new()))
}
