//! Sends the bytes of an upload to the storage, without the API key.

use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body::{Frame, SizeHint};
use tokio::sync::mpsc;
use url::Url;

use super::source::Opened;
use crate::call::Context;
use crate::error::{Error, Route};
use crate::model::UploadSlot;
use crate::send::config::bearer;
use crate::send::incoming::{Incoming, check_asset};
use crate::send::reply::{repeats, repeats_query};
use crate::send::timeout::Running;
use crate::time::{Sleep, sleep};
use crate::transport::{Body, Failure};

const CHUNKS_QUEUED: usize = 1;

impl Context {
    /// Uploads all bytes of `source` to `slot` after `hold`, in which the storage may refuse the
    /// head of the request. The bytes are read in this future and not in a task, so dropping it
    /// cancels the upload.
    pub(super) async fn put_bytes(
        &self,
        slot: &UploadSlot,
        source: &mut Opened,
        hold: Duration,
        on_sent: &mut (dyn FnMut(u64) + Send),
    ) -> Result<StatusCode, Error> {
        let (mut url, mut redirects) = (slot.upload_url.expose().clone(), 0);
        let (response, is_complete) = loop {
            source.rewind().await?;
            on_sent(0);
            let (response, is_complete) = self.put(slot, &url, source, hold, on_sent).await?;
            let (status, is_replayable) = (response.head.status, source.is_replayable());
            let next = response.redirect(redirects, |to| match status.as_u16() {
                307 | 308 if is_replayable => check_asset(&url, to),
                307 | 308 => Err("the reader of the upload can be read only once"),
                _ => Err("only 307 and 308 ask for the same request"),
            })?;
            let Some(next) = next else { break (response, is_complete) };
            (url, redirects) = (next, redirects + 1);
        };
        // The body of a success is not read.
        let status = response.head.status;
        if status.is_success() {
            let early = || response.fail(Error::answered_early(status));
            return is_complete.then_some(status).ok_or_else(early);
        }
        let urls = [slot.upload_url.expose().clone(), response.url.clone()];
        let reply = response.refusal().await;
        let withheld = urls.iter().any(|url| repeats_query(&reply.body, url))
            || repeats(&String::from_utf8_lossy(&reply.body), slot.token.expose());
        Err(reply.refused_as(withheld))
    }

    /// Sends one request. Returns the response, and whether all bytes were sent before it.
    async fn put(
        &self,
        slot: &UploadSlot,
        url: &Url,
        source: &mut Opened,
        hold: Duration,
        on_sent: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(Incoming, bool), Error> {
        let route = Route::new(Method::PUT, Route::UPLOAD);
        let fail = |error: Error| error.of(route.clone(), None);
        let late = |limit| fail(Error::timed_out(url, limit, None));
        let (limits, size) = (self.options.file_limits(&self.client.0), source.size);
        let running = Running::new(limits, None);
        let (chunks, queue) = mpsc::channel(CHUNKS_QUEUED);
        let hold = Box::pin(sleep(hold.min(limits.idle / 2)));
        let body = Body::new(Queue { hold, chunks: queue, left: size });
        let headers = self.upload_headers(slot, url, size)?;
        let mut sending = pin!(self.client.0.http_client.send(Method::PUT, url, headers, body));
        let mut reading = pin!(async {
            while let Some(chunk) = source.next().await? {
                let running = running.after_sending(source.sent());
                match running.step(chunks.send(chunk)).await {
                    Ok(Ok(())) => on_sent(source.sent()),
                    // The connection takes no more bytes; the response says why.
                    Ok(Err(_)) => pending().await,
                    Err(limit) => return Err(late(limit)),
                }
            }
            Ok(())
        });
        let early = poll_fn(|cx| match reading.as_mut().poll(cx) {
            Poll::Ready(read) => Poll::Ready(read.map(|()| None)),
            Poll::Pending => sending.as_mut().poll(cx).map(|response| Ok(Some(response))),
        });
        let early = early.await?;
        let is_complete = early.is_none();
        let response = match early {
            Some(response) => response,
            None => running.after_sending(size).head(sending).await.map_err(late)?,
        };
        let response = response.map_err(|failure| fail(Error::upload_cut(url, failure)))?;
        let response = Incoming::new(route.clone(), url.clone(), response, running);
        response.check_url()?;
        Ok((response, is_complete))
    }

    /// The token is for the host of the slot only.
    fn upload_headers(&self, slot: &UploadSlot, to: &Url, size: u64) -> Result<HeaderMap, Error> {
        let invalid = |what| Error::input(format!("the {what} of the slot cannot be sent"));
        let token = bearer(slot.token.expose()).ok_or_else(|| invalid("token"))?;
        let content_type = HeaderValue::try_from(slot.content_type.as_str())
            .map_err(|_| invalid("content type"))?;
        let mut headers = HeaderMap::new();
        if to.origin() == slot.upload_url.expose().origin() {
            headers.insert(AUTHORIZATION, token);
        }
        headers.insert(CONTENT_TYPE, content_type);
        headers.insert(CONTENT_LENGTH, size.into());
        headers.insert(USER_AGENT, self.client.0.user_agent.clone());
        headers.extend(self.options.headers.clone());
        Ok(headers)
    }
}

/// The body of the request: chunks from a queue.
struct Queue {
    hold: Pin<Box<Sleep>>,
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
        cx: &mut std::task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        if !self.hold.is_elapsed() {
            ready!(self.hold.as_mut().poll(cx));
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
