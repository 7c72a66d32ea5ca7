//! Bytes to [`Ask`] and back: reading a request to its end, writing the answer.
//!
//! Differs in: any `Content-Type` is taken, 400 for a body that is too large
//! (S-67); bodies are chunked, spread over lines and plain ASCII with `\u`
//! escapes; a charset is named, and errors are `application/problem+json`; no
//! `x-request-id` (S-69), no `WWW-Authenticate` (S-52), no `Allow` (S-59).

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::Value;

use super::answer::{Outcome, Refusal, unreadable};

/// No valid body comes near this, with every character written as an escape.
const BODY_BYTES_MAX: usize = 512 * 1024;
/// Small, so that a client sees an answer in more than one piece.
const CHUNK_BYTES: usize = 700;

/// A request that was read to its end.
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: String,
    /// The value of `Authorization`, if it is text.
    pub(super) authorization: Option<String>,
    pub(super) body: Bytes,
}

/// Reads a whole request.
pub(super) async fn read(request: Request<Incoming>) -> Result<Ask, Refusal> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await;
    let authorization = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    Ok(Ask {
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        authorization: authorization.map(ToOwned::to_owned),
        method: head.method,
        body: body.map_err(|_| unreadable())?.to_bytes(),
    })
}

/// The response for an outcome.
pub(super) fn write(outcome: Outcome) -> Response<Chunks> {
    let (status, body, content_type) = match outcome {
        Ok(answer) => (answer.status, answer.envelope(), "application/json; charset=utf-8"),
        Err(refusal) => (refusal.status, refusal.envelope(), "application/problem+json"),
    };
    let mut response = Response::new(Chunks::new(&in_ascii(&body)));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// JSON over several lines, every character beyond ASCII as an escape. Such
/// characters occur within strings only, so that they can be replaced in the
/// text as a whole.
fn in_ascii(value: &Value) -> String {
    let mut text = String::from("\n");
    for char in format!("{value:#}").chars() {
        if char.is_ascii() {
            text.push(char);
            continue;
        }
        for unit in char.encode_utf16(&mut [0; 2]) {
            text.push_str(&format!("\\u{unit:04X}"));
        }
    }
    text.push_str("\r\n");
    text
}

/// A body of unannounced length.
pub(super) struct Chunks(VecDeque<Bytes>);

impl Chunks {
    fn new(text: &str) -> Self {
        Self(text.as_bytes().chunks(CHUNK_BYTES).map(Bytes::copy_from_slice).collect())
    }
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|chunk| Ok(Frame::data(chunk))))
    }
}
