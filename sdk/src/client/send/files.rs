//! Uploads bytes to a storage and downloads assets, from any host and without the API key.

use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use http_body::{Frame, SizeHint};
use tokio::sync::mpsc;
use url::Url;

use super::incoming::{Incoming, MaxSize, check_asset, is_web};
use crate::client::config::bearer;
use crate::client::reply::{encoded, repeats};
use crate::client::request::Route;
use crate::client::timeout::{Running, TimedOut};
use crate::client::trace::Span;
use crate::client::transport::{Body, Failure};
use crate::client::uploads::Chunks;
use crate::client::{Client, Error};
use crate::model::UploadSlot;

const CHUNKS_QUEUED: usize = 1;

impl Client {
    /// Uploads all bytes of `source` to `slot`; `on_sent` gets the number of bytes handed to the
    /// connection. Returns the status of the success.
    ///
    /// The bytes are read in this future and not in a task, so dropping it cancels the upload.
    pub(in crate::client) async fn put_bytes(
        &self,
        slot: &UploadSlot,
        source: Chunks<'_>,
        on_sent: &mut (dyn FnMut(u64) + Send),
    ) -> Result<StatusCode, Error> {
        let route = Route::new(Method::PUT, Route::UPLOAD);
        let url = slot.upload_url.expose();
        let fail = |error: Error| error.of(route.clone(), None);
        let running = Running::idle_only(self.0.limits);
        let (chunks, queue) = mpsc::channel(CHUNKS_QUEUED);
        let body = Queue { chunks: queue, left: source.size() };
        let (headers, body) = (self.upload_headers(slot, body.left)?, Body::new(body));
        let mut sending = pin!(self.0.http_client.send(Method::PUT, url, headers, body));
        let mut reading = pin!(read_all(source, chunks, &running, on_sent));

        let mut complete = false;
        let first = poll_fn(|cx| {
            if let Poll::Ready(outcome) = reading.as_mut().poll(cx) {
                return Poll::Ready(First::Read(outcome));
            }
            sending.as_mut().poll(cx).map(First::Answered)
        });
        let response = match first.await {
            First::Answered(response) => response,
            First::Read(Err(ReadError::Source(error))) => return Err(error),
            First::Read(Err(ReadError::TimedOut(limit))) => {
                return Err(fail(limit.error(url, None)));
            }
            First::Read(Ok(())) => {
                complete = true;
                running.exchange(url, sending).await
            }
        };
        let response = response.map_err(fail)?;
        // The body of a success is not read.
        let max = MaxSize { bytes: 0, setting: "" };
        let response = Incoming::new(route, url.clone(), response, running, max);
        self.outcome(response, complete, slot).await
    }

    fn upload_headers(&self, slot: &UploadSlot, size: u64) -> Result<HeaderMap, Error> {
        let invalid = |what| Error::input(format!("the {what} of the slot cannot be sent"));
        let token = bearer(slot.token.expose()).ok_or_else(|| invalid("token"))?;
        let content_type = HeaderValue::try_from(slot.content_type.as_str())
            .map_err(|_| invalid("content type"))?;
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, token);
        headers.insert(CONTENT_TYPE, content_type);
        headers.insert(CONTENT_LENGTH, size.into());
        headers.insert(USER_AGENT, self.0.user_agent.clone());
        Ok(headers)
    }

    async fn outcome(
        &self,
        response: Incoming,
        complete: bool,
        slot: &UploadSlot,
    ) -> Result<StatusCode, Error> {
        response.check_url()?;
        let status = response.head.status;
        if status.is_success() {
            let early = || response.fail(Error::answered_early(status));
            return if complete { Ok(status) } else { Err(early()) };
        }
        let reply = response.refusal().await;
        let withheld = repeats_query(&reply.body, slot.upload_url.expose())
            || repeats(&String::from_utf8_lossy(&reply.body), slot.token.expose());
        Err(reply.refused_as(withheld))
    }
}

/// What happens first: the end of reading, or a response.
enum First {
    Read(Result<(), ReadError>),
    Answered(Result<Response<Body>, Error>),
}

enum ReadError {
    Source(Error),
    TimedOut(TimedOut),
}

async fn read_all(
    mut source: Chunks<'_>,
    chunks: mpsc::Sender<Bytes>,
    running: &Running,
    on_sent: &mut (dyn FnMut(u64) + Send),
) -> Result<(), ReadError> {
    while let Some(chunk) = source.next().await.map_err(ReadError::Source)? {
        match running.step(chunks.send(chunk)).await {
            Ok(Ok(())) => on_sent(source.sent()),
            // The connection takes no more bytes; the response says why.
            Ok(Err(_)) => pending().await,
            Err(limit) => return Err(ReadError::TimedOut(limit)),
        }
    }
    Ok(())
}

/// The body of the request: chunks from a queue.
struct Queue {
    chunks: mpsc::Receiver<Bytes>,
    left: u64,
}

/// Reading stopped before the last byte, which closes the connection.
#[derive(Debug, thiserror::Error)]
#[error("the upload was cancelled")]
struct Cancelled;

impl http_body::Body for Queue {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let Some(chunk) = ready!(self.chunks.poll_recv(cx)) else {
            return Poll::Ready(Some(Err(Failure::exchanging(Cancelled))));
        };
        self.left = self.left.saturating_sub(chunk.len() as u64);
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

impl Client {
    /// Requests the asset at this URL and receives the head of the response. Redirects are
    /// followed, since there is no key that they could leak.
    pub(in crate::client) async fn open_asset(
        &self,
        url: &str,
        max_size: u64,
        span: &Span,
    ) -> Result<Incoming, Error> {
        let route = Route::new(Method::GET, Route::ASSET);
        let invalid = || Error::input("the URL of the asset is not an absolute http or https URL");
        let mut url = Url::parse(url).ok().filter(is_web).ok_or_else(invalid)?;
        let running = Running::idle_only(self.0.limits);
        let max = MaxSize { bytes: max_size, setting: "max_size" };
        let mut redirects = 0;
        let asset = loop {
            let attempt = span.attempt(&route, &url, redirects + 1);
            let response = attempt.around(self.get_once(&url, &running)).await;
            attempt.ended(response.as_ref().map(Response::status));
            let response = response.map_err(|error| error.of(route.clone(), None))?;
            let asset = Incoming::new(route.clone(), url, response, running, max);
            match asset.redirect(|from, to| check_asset(from, to, redirects))? {
                Some(next) => url = next,
                None => break asset,
            }
            redirects += 1;
        };
        if !asset.head.status.is_success() {
            let url = asset.url.clone();
            let reply = asset.refusal().await;
            let withheld = repeats_query(&reply.body, &url);
            return Err(reply.refused_as(withheld));
        }
        if let Some(error) = encoded(asset.head.status, &asset.head.headers) {
            return Err(asset.fail(error));
        }
        asset.check_length()?;
        Ok(asset)
    }

    async fn get_once(&self, url: &Url, running: &Running) -> Result<Response<Body>, Error> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, self.0.user_agent.clone());
        let sending = self.0.http_client.send(Method::GET, url, headers, Body::default());
        running.exchange(url, sending).await
    }
}

/// Whether a response repeats a query parameter, which may be a signature. Some storages quote the
/// request that they refuse.
fn repeats_query(body: &[u8], url: &Url) -> bool {
    let text = String::from_utf8_lossy(body);
    let as_sent = url.query().into_iter().flat_map(|query| query.split(['&', '=']));
    let meant = url.query_pairs().map(|(_, value)| value.into_owned());
    as_sent.map(str::to_owned).chain(meant).any(|secret| repeats(&text, &secret))
}
