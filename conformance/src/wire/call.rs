//! One call: put together piece by piece, then sent once.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use http_body::Frame;
use http_body_util::StreamBody;
use serde_json::Value;

use super::{ApiResponse, Wire, busy};
use crate::Failure;
use crate::exchange::{RawExchange, Request, Response};
use crate::failure::in_full;
use crate::target::must_work;

/// A target that never stops answering must not fill our memory.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// A call to be sent.
#[must_use = "a call does nothing until it is sent"]
pub struct Call {
    wire: Wire,
    method: Method,
    address: Address,
    headers: HeaderMap,
    body: Body,
    unsendable: Option<String>,
}

/// Where a call goes.
enum Address {
    /// A path below the base URL.
    Below(String),
    /// An address that the service gave, wherever it is.
    Given(String),
}

enum Body {
    None,
    Whole(Bytes),
    Pieces(Pin<Box<dyn Stream<Item = Bytes> + Send + Sync>>),
}

impl Call {
    pub(super) fn below(wire: Wire, method: Method, path: &str) -> Self {
        Self::new(wire, method, Address::Below(path.to_owned()))
    }

    pub(super) fn given(wire: Wire, method: Method, address: &str) -> Self {
        Self::new(wire, method, Address::Given(address.to_owned()))
    }

    fn new(wire: Wire, method: Method, address: Address) -> Self {
        let headers = HeaderMap::new();
        Self { wire, method, address, headers, body: Body::None, unsendable: None }
    }

    /// Adds a header; a second one of the same name is sent too. One of the
    /// name `authorization` takes the place of the key.
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let name = HeaderName::from_bytes(name.as_bytes());
        match (name, HeaderValue::from_bytes(value.as_ref())) {
            (Ok(name), Ok(value)) => {
                self.headers.append(name, value);
            }
            (Err(_), _) => self.unsendable = Some("a header name HTTP does not allow".into()),
            (Ok(name), Err(_)) => self.unsendable = Some(format!("a value unfit for {name}")),
        }
        self
    }

    /// Adds all of these.
    pub(super) fn headers(mut self, headers: HeaderMap) -> Self {
        self.headers.extend(headers);
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
    pub fn untyped_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Body::Whole(Bytes::from(body.into()));
        self
    }

    /// A body in pieces, sent as they come: without a length, unless there is a
    /// header that says one. If the pieces end before it, the request breaks off.
    pub fn pieces(mut self, pieces: impl Stream<Item = Bytes> + Send + Sync + 'static) -> Self {
        self.body = Body::Pieces(Box::pin(pieces));
        self
    }

    /// Sends it and reads the whole answer, again if the target says that it is busy
    /// (S-62). A request once begun is carried
    /// through even if the scenario is given up meanwhile, for only the answer
    /// tells what there is to clean up.
    ///
    /// # Errors
    /// If there is no whole answer.
    pub async fn send(self) -> Result<ApiResponse, Failure> {
        let flight = self.wire.ledger.begin_request();
        let sent = tokio::spawn(async move {
            let reply = self.perform().await;
            drop(flight);
            reply
        });
        sent.await.unwrap_or_else(|error| {
            Err(Failure::error("the request to be carried out", error.to_string()))
        })
    }

    async fn perform(mut self) -> Result<ApiResponse, Failure> {
        if let Some(reason) = self.unsendable {
            return Err(Failure::error("a request that can be sent", reason));
        }
        self.wire.target.options().allow(&self.method)?;
        if matches!(self.address, Address::Given(_)) {
            must_work(&self.wire.target.capabilities.storage)?;
        }
        self.authorize()?;
        let Self { wire, method, address, headers, body, .. } = self;
        let target = &wire.target;
        let (url, shown) = address.in_full(target.base_url());
        let request = Request { method, url: shown, headers, body: body.whole(), bytes: None };
        let call =
            target.http.request(request.method.clone(), &url).headers(request.headers.clone());
        let request = Arc::new(request);
        wire.ledger.record(RawExchange { request: Arc::clone(&request), response: None });
        let retries = busy::Retries::new(wire.contention);
        match answer(body.put_on(call), retries).await {
            Ok(response) => {
                let json = serde_json::from_slice(&response.body).ok();
                if let Some(json) = &json {
                    target.secrets.learn(json);
                }
                let reply = ApiResponse::new(Arc::clone(&request), Arc::new(response), json);
                wire.ledger.record(reply.exchange());
                if let Address::Below(path) = &address {
                    wire.track_created(&request, path, &reply);
                }
                Ok(reply)
            }
            Err(got) => {
                let (method, url) = (&request.method, &request.url);
                let failure = Failure::error(format!("an answer to {method} {url}"), got);
                Err(failure.on(RawExchange { request, response: None }))
            }
        }
    }

    /// Says that a page of the target's own sends it, as browsers do.
    pub(crate) fn sent_by_own_page(self) -> Self {
        let origin = self.wire.target.config.base_url.origin().ascii_serialization();
        self.header("origin", origin).header("sec-fetch-site", "same-origin")
    }

    fn authorize(&mut self) -> Result<(), Failure> {
        if self.headers.contains_key(http::header::AUTHORIZATION) {
            return Ok(());
        }
        if let Some(key) = self.wire.key()? {
            let value = HeaderValue::try_from(format!("Bearer {key}"))
                .map_err(|_| Failure::error("a key that fits a header", "a key that does not"))?;
            self.headers.insert(http::header::AUTHORIZATION, value);
        }
        Ok(())
    }
}

impl Address {
    /// The whole address, and what a report may show of it: the query of a
    /// given one may be its signature.
    fn in_full(&self, base_url: &str) -> (String, String) {
        match self {
            Self::Below(path) => {
                let url = format!("{base_url}{path}");
                (url.clone(), url)
            }
            Self::Given(url) => {
                let shown = match url.split_once('?') {
                    Some((start, _)) => format!("{start}?[redacted]"),
                    None => url.clone(),
                };
                (url.clone(), shown)
            }
        }
    }
}

impl Body {
    /// As a report shows it; pieces are gone by then.
    fn whole(&self) -> Option<Bytes> {
        match self {
            Self::Whole(body) => Some(body.clone()),
            Self::None | Self::Pieces(_) => None,
        }
    }

    fn put_on(self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match self {
            Self::None => request,
            Self::Whole(body) => request.body(body),
            Self::Pieces(pieces) => {
                let frames = pieces.map(|piece| Ok::<_, Infallible>(Frame::data(piece)));
                request.body(reqwest::Body::wrap(StreamBody::new(frames)))
            }
        }
    }
}

/// The whole answer, or in words why there is none.
async fn answer(
    request: reqwest::RequestBuilder,
    retries: busy::Retries,
) -> Result<Response, String> {
    let mut response = accepted(request, retries).await.map_err(in_words)?;
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

/// The head of an answer of a target that has time for the request.
async fn accepted(
    mut request: reqwest::RequestBuilder,
    mut retries: busy::Retries,
) -> Result<reqwest::Response, reqwest::Error> {
    loop {
        let again = request.try_clone();
        let response = request.send().await?;
        let wait = retries.wait(response.status(), response.headers());
        let Some((again, wait)) = again.zip(wait) else { return Ok(response) };
        tokio::time::sleep(wait).await;
        request = again;
    }
}

fn in_words(error: reqwest::Error) -> String {
    in_full(&error.without_url())
}
