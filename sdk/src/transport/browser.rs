//! The HTTP client of a browser: `fetch`, which has its own connections, TLS and redirects.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http::header::{CONTENT_LENGTH, USER_AGENT};
use http::{HeaderMap, Method, Response};
use http_body::Frame;
use send_wrapper::SendWrapper;
use url::Url;

use super::{Body, FinalUrl, of_reqwest};
use crate::error::{Error, Failure};

pub(crate) struct DefaultClient(reqwest::Client);

impl DefaultClient {
    pub(crate) fn new(_: &Url, _: Duration, _: Duration) -> Result<Self, Error> {
        Ok(Self(reqwest::Client::new()))
    }

    pub(super) fn for_url(&self, _: &Url) -> Result<reqwest::Client, Failure> {
        Ok(self.0.clone())
    }
}

/// Sends one request, when all its bytes are there: `fetch` of most browsers takes no stream.
pub(crate) async fn execute(
    client: &reqwest::Client,
    method: Method,
    url: &Url,
    headers: HeaderMap,
    body: Body,
) -> Result<Response<Body>, Failure> {
    let mut request = reqwest::Request::new(method, url.clone());
    *request.headers_mut() = headers;
    // The browser sets them.
    for name in [CONTENT_LENGTH, USER_AGENT] {
        request.headers_mut().remove(name);
    }
    let bytes = body.collect().await?;
    if !bytes.is_empty() {
        *request.body_mut() = Some(bytes.into());
    }
    // Values of JavaScript belong to one thread, and there is no other.
    let received = SendWrapper::new(client.execute(request)).await.map_err(of_reqwest)?;
    let received = SendWrapper::new(received);
    let mut response = Response::new(());
    *response.status_mut() = received.status();
    response.headers_mut().clone_from(received.headers());
    FinalUrl::of(&received, url).map(|url| response.extensions_mut().insert(url));
    let chunks = Chunks(SendWrapper::new(Box::pin(received.take().bytes_stream())));
    Ok(response.map(|()| Body::new(chunks)))
}

struct Chunks(SendWrapper<Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>>>>>);

impl http_body::Body for Chunks {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let chunk = self.0.as_mut().poll_next(cx);
        chunk.map(|chunk| chunk.map(|chunk| chunk.map(Frame::data).map_err(of_reqwest)))
    }
}
