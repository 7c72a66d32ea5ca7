//! Bytes to [`ApiRequest`] and back: reading a request to its end, writing the answer.

use std::convert::Infallible;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{
    AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, RETRY_AFTER,
    SET_COOKIE, WWW_AUTHENTICATE,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Version};

use super::answer::unreadable;
use super::prelude::*;

/// No valid body comes near this, with every character written as an escape.
const BODY_BYTES_MAX: usize = 3 << 20;
/// Small, so that a client sees an answer in more than one piece.
const CHUNK_BYTES: usize = 700;

pub(super) struct ApiRequest {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: String,
    /// The value of `Authorization`, if it is text.
    pub(super) authorization: Option<String>,
    pub(super) content_type: String,
    headers: HeaderMap,
    pub(super) body: Bytes,
}

impl ApiRequest {
    pub(super) fn has_authorization(&self) -> bool {
        self.headers.contains_key(AUTHORIZATION)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// An answer that is not in the envelope.
pub(super) struct Raw {
    pub(super) status: u16,
    pub(super) headers: Vec<(HeaderName, String)>,
    pub(super) body: Bytes,
}

impl Raw {
    pub(super) fn plain(status: u16, body: &'static str) -> Self {
        Self { status, headers: Vec::new(), body: body.into() }
    }

    pub(super) fn with(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Come again later: now, soon, or without a word when.
    pub(super) fn busy(count: u64) -> Self {
        let busy = Self::plain(429, "slow down");
        match count % 4 {
            0 => busy.with(RETRY_AFTER, "0"),
            1 => busy.with(RETRY_AFTER, "Thu, 01 Jan 1970 00:00:00 GMT"),
            2 => busy.with(RETRY_AFTER, "1"),
            _ => busy,
        }
    }

    /// What frameworks say by themselves.
    pub(super) fn page(status: u16) -> Self {
        let page = Self::plain(status, "<!doctype html><title>Error</title>");
        page.with(CONTENT_TYPE, "text/html")
    }
}

/// Whether the suite sends a request again when the server is busy: one whose body
/// comes in pieces, as that of an upload may, is sent once.
pub(super) fn may_come_again(request: &Request<Incoming>) -> bool {
    request.method() != Method::PUT
}

pub(super) async fn read(request: Request<Incoming>) -> Result<ApiRequest, Refusal> {
    let (head, body) = request.into_parts();
    if head.version == Version::HTTP_11 && !has_one_host(&head.headers) {
        return Err(unreadable());
    }
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await;
    let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
    Ok(ApiRequest {
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        authorization: text(AUTHORIZATION).map(ToOwned::to_owned),
        content_type: text(CONTENT_TYPE).unwrap_or_default().to_owned(),
        headers: head.headers.clone(),
        method: head.method,
        body: body.map_err(|_| unreadable())?.to_bytes(),
    })
}

/// HTTP/1.1 wants a request refused that has none, two or nonsense (S-80).
fn has_one_host(headers: &HeaderMap) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(byte);
    let hosts: Vec<_> = headers.get_all(HOST).iter().map(HeaderValue::as_bytes).collect();
    match hosts[..] {
        [host] => host.iter().all(fits) && (host.contains(&b'[') == host.contains(&b']')),
        _ => false,
    }
}

pub(super) fn write(choices: &Choices, outcome: Outcome) -> Response<Chunks> {
    let [of_success, of_error] = choices.wire.content_types;
    let (status, body, content_type) = match outcome {
        Ok(answer) => (answer.status, answer.envelope(choices), of_success),
        Err(refusal) => {
            let (status, body) = refusal.envelope(choices);
            (status, body, of_error)
        }
    };
    let body = match choices.wire.spread_out {
        true => pieces(&in_ascii(&body)),
        false if choices.bug == "wire.length-in-characters" => {
            let text = body.to_string();
            let length = text.chars().count();
            Full::from(Bytes::from(text).slice(..length)).boxed()
        }
        false => Full::from(body.to_string()).boxed(),
    };
    let mut response = respond(choices, status, body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

pub(super) fn write_raw(choices: &Choices, raw: Raw) -> Response<Chunks> {
    let mut response = respond(choices, raw.status, Full::new(raw.body).boxed());
    for (name, value) in raw.headers {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn respond(choices: &Choices, status: u16, body: Chunks) -> Response<Chunks> {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if choices.wire.hangs_up {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if choices.wire.more_headers {
        for (name, value) in [
            (SET_COOKIE, "session=none; HttpOnly"),
            (WWW_AUTHENTICATE, "Bearer realm=\"x\", error=\"invalid_token\""),
            (HeaderName::from_static("x-request-id"), "00000000-0000-0000-0000-000000000000"),
            (HeaderName::from_static("x-empty"), ""),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
    }
    response
}

/// JSON over several lines, every character beyond ASCII as an escape. Such
/// characters occur within strings only, so that they can be replaced in the
/// text as a whole.
fn in_ascii(value: &Value) -> String {
    let escape = |unit: &mut u16| format!("\\u{unit:04X}");
    let written = |char: char| match char.is_ascii() {
        true => char.to_string(),
        false => char.encode_utf16(&mut [0; 2]).iter_mut().map(escape).collect(),
    };
    format!("\n{}\r\n", format!("{value:#}").chars().map(written).collect::<String>())
}

/// A body in pieces, or of announced length if it is one piece.
pub(super) type Chunks = BoxBody<Bytes, Infallible>;

fn pieces(text: &str) -> Chunks {
    let pieces: Vec<_> = text.as_bytes().chunks(CHUNK_BYTES).map(Bytes::copy_from_slice).collect();
    let frames = pieces.into_iter().map(|piece| Ok(Frame::data(piece)));
    StreamBody::new(futures::stream::iter(frames)).boxed()
}
