//! One call: put together piece by piece, then sent once.

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;

use super::{Exchange, Reply, Wire};
use crate::Failure;

/// A target that never stops answering must not fill our memory.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// A call to be sent.
#[must_use = "a call does nothing until it is sent"]
pub struct Call {
    wire: Wire,
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Option<Bytes>,
    unsendable: Option<String>,
}

impl Call {
    pub(super) fn new(wire: Wire, method: Method, path: &str) -> Self {
        let (path, headers) = (path.to_owned(), HeaderMap::new());
        Self { wire, method, path, headers, body: None, unsendable: None }
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
        self.body = Some(Bytes::from(body.into()));
        self
    }

    /// Sends it and reads the whole answer. A request once begun is carried
    /// through even if the scenario is given up meanwhile, for only the answer
    /// tells what there is to clean up.
    ///
    /// # Errors
    /// If there is no whole answer.
    pub async fn send(self) -> Result<Reply, Failure> {
        let flight = self.wire.case.flight();
        let sent = tokio::spawn(async move {
            let reply = self.carry_out().await;
            drop(flight);
            reply
        });
        sent.await.unwrap_or_else(|error| {
            Err(Failure::error("the request to be carried out", error.to_string()))
        })
    }

    async fn carry_out(mut self) -> Result<Reply, Failure> {
        if let Some(reason) = self.unsendable {
            return Err(Failure::error("a request that can be sent", reason));
        }
        self.authorize()?;
        let Self { wire, method, path, headers, body, .. } = self;
        let target = wire.case.target();
        let url = format!("{}{path}", target.base_url());
        let mut exchange = Exchange::new(&target.secrets, &method, &url, &headers, body.as_deref());
        let mut request = target.http.request(method.clone(), &url).headers(headers);
        if let Some(body) = body {
            request = request.body(body);
        }
        match answer(request).await {
            Ok((status, headers, body)) => {
                exchange.answered(&target.secrets, status, &headers, &body);
                let reply = Reply::new(status, headers, body, exchange);
                wire.note_what_was_made(&method, &path, &reply);
                Ok(reply)
            }
            Err(got) => {
                let failure = Failure::error(format!("an answer to {method} {path}"), got);
                Err(failure.on(&exchange.into()))
            }
        }
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

type Answer = (StatusCode, HeaderMap, Bytes);

/// The whole answer, or in words why there is none.
async fn answer(request: reqwest::RequestBuilder) -> Result<Answer, String> {
    let mut response = request.send().await.map_err(in_words)?;
    let (status, headers) = (response.status(), response.headers().clone());
    let mut body = BytesMut::new();
    while let Some(piece) = response.chunk().await.map_err(in_words)? {
        if body.len() + piece.len() > ANSWER_BYTES_MAX {
            return Err(format!("a body of more than {ANSWER_BYTES_MAX} bytes"));
        }
        body.extend_from_slice(&piece);
    }
    Ok((status, headers, body.freeze()))
}

/// The error and all its causes; the first alone says little.
fn in_words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
