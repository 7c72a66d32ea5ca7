//! One call: put together piece by piece, then sent once.

use std::convert::Infallible;
use std::error::Error as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt};
use http::header::{AUTHORIZATION, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_body::Frame;
use http_body_util::StreamBody;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::{Body, RequestBuilder};
use serde_json::Value;

use super::{ApiResponse, Wire};
use crate::exchange::{RawExchange, Request, Response};
use crate::failure::{Failure, Result};
use crate::target::must_work;
use crate::trace::{self, OWN_KEY};

/// A target that never stops answering must not fill our memory.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// How often a `GET` is sent again after the answer of a gateway, and when.
const GATEWAY_RETRIES: u32 = 3;
const GATEWAY_PAUSE: Duration = Duration::from_millis(200);
/// How long one call waits in all. After that a 429 is the answer.
const RETRY_FOR: Duration = Duration::from_secs(120);
/// The first wait where the target names none; it doubles with each.
const FIRST: Duration = Duration::from_millis(100);
/// How long one call that races others is sent again after 409 and 503.
const CONTENTION: Duration = Duration::from_secs(8);
/// The longest wait where the target names none.
const LONGEST: Duration = Duration::from_secs(3);

/// A call to be sent.
#[must_use = "a call does nothing until it is sent"]
pub struct Call {
    wire: Wire,
    method: Method,
    url: String,
    /// The path below the base URL; `None` for an address that the service gave.
    path: Option<String>,
    headers: HeaderMap,
    body: Option<Body>,
    /// The body as a report shows it, unless it is sent in pieces.
    shown_body: Option<Bytes>,
    unsendable: Option<String>,
}

impl Call {
    pub(crate) fn new(wire: Wire, method: Method, url: String, path: Option<String>) -> Self {
        let (headers, body, shown_body, unsendable) = (HeaderMap::new(), None, None, None);
        Self { wire, method, url, path, headers, body, shown_body, unsendable }
    }

    /// Adds a header; a second one of the same name is sent too. `authorization` replaces the key.
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let value = HeaderValue::from_bytes(value.as_ref());
        match (HeaderName::from_bytes(name.as_bytes()), value) {
            (Ok(name), Ok(value)) => drop(self.headers.append(name, value)),
            // Not the value, which may be a key.
            _ => self.unsendable = Some(format!("a header {name} that HTTP does not allow")),
        }
        self
    }

    /// A JSON body with its content type.
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// Any body under any content type.
    pub fn body(self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.header("content-type", content_type).untyped_body(body)
    }

    /// A body without a content type.
    pub fn untyped_body(self, body: impl Into<Vec<u8>>) -> Self {
        let body = Bytes::from(body.into());
        Self { body: Some(body.clone().into()), shown_body: Some(body), ..self }
    }

    /// A body in pieces, sent as they come: without a length, unless a header says one. If the
    /// pieces end before it, the request breaks off.
    pub fn pieces(self, pieces: impl Stream<Item = Bytes> + Send + Sync + 'static) -> Self {
        let frames = pieces.map(|piece| Ok::<_, Infallible>(Frame::data(piece)));
        Self { body: Some(Body::wrap(StreamBody::new(frames))), shown_body: None, ..self }
    }

    /// Sends it and reads the whole answer, again if the target says that it is busy (S-62). Fails
    /// if there is no whole answer. A request is carried through even if the scenario is cancelled
    /// meanwhile, as only the answer tells what there is to clean up.
    pub async fn send(self) -> Result<ApiResponse> {
        let in_flight = Arc::clone(&self.wire.ledger.in_flight).try_read_owned();
        let set_up = trace::is_set_up();
        let sent = tokio::spawn(async move {
            let reply = self.perform(set_up).await;
            drop(in_flight);
            reply
        });
        sent.await.unwrap_or_else(|error| {
            Err(Failure::error("the request to be carried out", error.to_string()))
        })
    }

    async fn perform(mut self, set_up: bool) -> Result<ApiResponse> {
        if let Some(reason) = self.unsendable {
            return Err(Failure::error("a request that can be sent", reason));
        }
        self.wire.target.options().allow(&self.method)?;
        if self.path.is_none() {
            must_work(&self.wire.target.capabilities.storage)?;
        }
        let by = match (&self.path, self.wire.key()?) {
            _ if self.headers.contains_key(AUTHORIZATION) => OWN_KEY,
            (None, _) => "",
            (Some(_), None) => self.wire.auth.into(),
            (Some(_), Some(key)) => {
                let value = HeaderValue::try_from(format!("Bearer {key}"));
                let unfit = |_| Failure::error("a key that fits a header", "a key that does not");
                self.headers.insert(AUTHORIZATION, value.map_err(unfit)?);
                self.wire.auth.into()
            }
        };
        let Self { wire, method, url, path, headers, body, shown_body, .. } = self;
        let call = wire.target.http.request(method.clone(), &url).headers(headers.clone());
        let call = body.into_iter().fold(call, RequestBuilder::body);
        let url = match url.split_once('?') {
            // The query of an address that the service gave may be its signature.
            Some((start, _)) if path.is_none() => format!("{start}?[redacted]"),
            _ => url,
        };
        let request =
            Arc::new(Request { method, url, headers, body: shown_body, bytes: None, by, set_up });
        wire.ledger.steps.record(RawExchange { request: Arc::clone(&request), response: None });
        match answer(&wire, &request.method, call).await {
            Ok(response) => {
                let reply = ApiResponse::new(Arc::clone(&request), Arc::new(response));
                if let Ok(json) = reply.json() {
                    wire.target.secrets.learn(json);
                }
                wire.ledger.steps.record(reply.exchange());
                if let Some(path) = &path {
                    wire.target.note(request.call(wire.target.base_url()), reply.status_code());
                    wire.track_created(&request, path, &reply);
                }
                Ok(reply)
            }
            Err(got) => {
                let expected = format!("an answer to {} {}", request.method, request.url);
                Err(Failure::error(expected, got).on(RawExchange { request, response: None }))
            }
        }
    }
}

/// The whole answer of a target that has time for the request, or in words why there is none. What
/// only reads is sent again where a gateway answered in place of the target.
async fn answer(
    wire: &Wire,
    method: &Method,
    mut request: RequestBuilder,
) -> Result<Response, String> {
    let mut retries = Retries::new(wire.contention);
    let mut reads = if *method == Method::GET { GATEWAY_RETRIES } else { 0 };
    loop {
        let again = request.try_clone();
        wire.ledger.add_wait(wire.target.pace.turn().await);
        let begun = Instant::now();
        let response = whole(request.send().await.map_err(in_words)?).await?;
        let of_gateway = response.is_of_gateway();
        wire.target.pace.count(begun.elapsed(), of_gateway);
        let wait = match retries.wait(response.status, &response.headers) {
            None if of_gateway && reads > 0 => {
                reads -= 1;
                Some(GATEWAY_PAUSE)
            }
            wait => wait,
        };
        let Some((again, wait)) = again.zip(wait) else { return Ok(response) };
        if response.status == StatusCode::TOO_MANY_REQUESTS {
            wire.target.pace.pause(wait);
        }
        wire.ledger.add_wait(wait);
        tokio::time::sleep(wait).await;
        request = again;
    }
}

async fn whole(mut response: reqwest::Response) -> Result<Response, String> {
    let (status, headers) = (response.status(), response.headers().clone());
    let mut body = BytesMut::new();
    while let Some(piece) = response.chunk().await.map_err(in_words)? {
        if body.len() + piece.len() > ANSWER_BYTES_MAX {
            return Err(format!("a body of more than {ANSWER_BYTES_MAX} bytes"));
        }
        body.extend_from_slice(&piece);
    }
    Ok(Response { status, headers, body: body.freeze() })
}

/// The error and its causes, without the address.
fn in_words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let (mut text, mut next) = (error.to_string(), error.source());
    while let Some(cause) = next {
        // Some have the text of their cause.
        if !text.contains(&cause.to_string()) {
            text = format!("{text}: {cause}");
        }
        next = cause.source();
    }
    text
}

/// The remaining retries of one call. 429 says that nothing was done, and the target is asked again
/// after as long as it says (S-62). 409 and 503 are retried only where calls race for one thing, and
/// for a short time. A body in pieces cannot be sent again.
struct Retries {
    left: Duration,
    contention_left: Duration,
    pause: Duration,
}

impl Retries {
    fn new(contention: bool) -> Self {
        let contention_left = if contention { CONTENTION } else { Duration::ZERO };
        Self { left: RETRY_FOR, contention_left, pause: FIRST }
    }

    /// How long to wait before the call is sent again; `None` if this answer is final.
    fn wait(&mut self, status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
        let left = match status {
            StatusCode::TOO_MANY_REQUESTS => &mut self.left,
            StatusCode::CONFLICT | StatusCode::SERVICE_UNAVAILABLE => &mut self.contention_left,
            _ => return None,
        };
        // Jitter keeps calls that met once from meeting again.
        let jitter = || self.pause.mul_f64(rand::random_range(0.5..1.5));
        let wait = asked_for(headers, Timestamp::now()).unwrap_or_else(jitter);
        if wait > *left {
            return None;
        }
        // `Retry-After: 0` must not be retried for ever.
        *left = left.saturating_sub(wait.max(FIRST));
        self.pause = (self.pause * 2).min(LONGEST);
        Some(wait)
    }
}

/// What `Retry-After` asks for: seconds, or a date; one that is over is no wait.
fn asked_for(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Duration, HeaderMap, RETRY_AFTER, asked_for};

    #[test]
    fn retry_after_is_a_number_of_seconds_or_a_date() {
        let now = "2025-03-01T09:30:00Z".parse().unwrap();
        for (text, seconds) in [
            ("0", Some(0)),
            (" 7 ", Some(7)),
            ("Sat, 01 Mar 2025 09:30:12 GMT", Some(12)),
            ("Sat, 01 Mar 2025 09:29:12 GMT", Some(0)),
            ("", None),
            ("soon", None),
            ("-1", None),
            ("1.5", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
            assert_eq!(asked_for(&headers, now), seconds.map(Duration::from_secs), "{text:?}");
        }
        assert_eq!(asked_for(&HeaderMap::new(), now), None);
    }
}
