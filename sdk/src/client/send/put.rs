//! Sending the bytes of an upload to the storage, which is not the service: nothing
//! that belongs to the API goes there, the key least of all.

use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

use super::attempt::collect_start;
use super::limit::{Running, TimedOut};
use super::{repeats_query, request_id};
use crate::client::error::Refusal;
use crate::client::reply::{Reply, repeats};
use crate::client::request::Route;
use crate::client::transport::{Failure, Incoming, Outgoing, OutgoingBody};
use crate::client::uploads::Feed;
use crate::client::{Client, Error};
use crate::model::UploadSlot;

/// Pieces that wait for the connection to take them.
const WAITING_PIECES: usize = 1;

impl Client {
    /// Sends all of `feed` as the one upload that `slot` allows (`UP-10`), and tells how
    /// many bytes are on their way. Gives the status of the success.
    ///
    /// The feeding happens here and in no task, so that it ends when this is dropped.
    pub(in crate::client) async fn put_bytes(
        &self,
        slot: &UploadSlot,
        feed: Feed<'_>,
        on_sent: &mut (dyn FnMut(u64) + Send),
    ) -> Result<StatusCode, Error> {
        let route = Route::new(Method::PUT, "{uploadUrl}");
        let origin = || slot.upload_url.expose().origin().ascii_serialization();
        let running = Running::idle_only(self.0.limits);
        let (pieces, waiting) = mpsc::channel(WAITING_PIECES);
        let request = self.upload(slot, Waiting { pieces: waiting, left: feed.size() })?;
        let mut sending = pin!(self.0.transport.send(request));
        let mut feeding = pin!(feed_all(feed, pieces, &running, on_sent));

        let mut fed = false;
        let first = poll_fn(|cx| {
            if let Poll::Ready(outcome) = feeding.as_mut().poll(cx) {
                return Poll::Ready(First::Fed(outcome));
            }
            sending.as_mut().poll(cx).map(First::Answered)
        });
        let answered = match first.await {
            First::Answered(answered) => answered,
            First::Fed(Err(FeedError::Source(error))) => return Err(error),
            First::Fed(Err(FeedError::TimedOut(limit))) => {
                return Err(limit.error(origin(), None).of(route, None));
            }
            First::Fed(Ok(())) => {
                fed = true;
                let answered = running.first(sending).await;
                answered.map_err(|limit| limit.error(origin(), None).of(route.clone(), None))?
            }
        };
        let incoming =
            answered.map_err(|source| Error::failed(origin(), source).of(route.clone(), None))?;
        self.judge(incoming, fed, slot, route, &running).await
    }

    fn upload(&self, slot: &UploadSlot, body: Waiting) -> Result<Outgoing, Error> {
        let unfit = |what| Error::input(format!("the {what} of the slot cannot be sent"));
        let mut token = HeaderValue::try_from(format!("Bearer {}", slot.token.expose()))
            .map_err(|_| unfit("token"))?;
        token.set_sensitive(true);
        let content_type =
            HeaderValue::try_from(slot.content_type.as_str()).map_err(|_| unfit("content type"))?;
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, token);
        headers.insert(CONTENT_TYPE, content_type);
        headers.insert(CONTENT_LENGTH, body.left.into());
        headers.insert(USER_AGENT, self.0.user_agent.clone());
        let url = slot.upload_url.expose().clone();
        Ok(Outgoing::new(Method::PUT, url, headers, OutgoingBody::pieces(body)))
    }

    async fn judge(
        &self,
        incoming: Incoming,
        fed: bool,
        slot: &UploadSlot,
        route: Route,
        running: &Running,
    ) -> Result<StatusCode, Error> {
        if let Some(elsewhere) = incoming.elsewhere(slot.upload_url.expose()) {
            let error = Error::followed(incoming.status, elsewhere.as_str());
            return Err(error.of(route, request_id(&incoming.headers)));
        }
        let Incoming { status, headers, body, .. } = incoming;
        if status.is_success() {
            let early = Error::answered_early(status);
            return if fed { Ok(status) } else { Err(early.of(route, request_id(&headers))) };
        }
        let body = collect_start(body, running).await;
        let token = slot.token.expose();
        let withheld = repeats_query(&body, slot.upload_url.expose())
            || repeats(&String::from_utf8_lossy(&body), token);
        let reply = Reply::new(route, status, headers, body).with_retry_after();
        Err(if withheld { reply.refused_with(Refusal::Withheld) } else { reply.refused() })
    }
}

/// What comes first: the end of the bytes, or an answer before it.
#[expect(clippy::large_enum_variant, reason = "there is one, for as long as it is looked at")]
enum First {
    Fed(Result<(), FeedError>),
    Answered(Result<Incoming, Failure>),
}

enum FeedError {
    Source(Error),
    TimedOut(TimedOut),
}

async fn feed_all(
    mut feed: Feed<'_>,
    pieces: mpsc::Sender<Bytes>,
    running: &Running,
    on_sent: &mut (dyn FnMut(u64) + Send),
) -> Result<(), FeedError> {
    while let Some(piece) = feed.next().await.map_err(FeedError::Source)? {
        match running.step(pieces.send(piece)).await {
            Ok(Ok(())) => on_sent(feed.sent()),
            // The connection wants no more; why is for the answer to say.
            Ok(Err(_)) => pending().await,
            Err(limit) => return Err(FeedError::TimedOut(limit)),
        }
    }
    Ok(())
}

/// The body of the request: the pieces that were fed, and no end before the last.
struct Waiting {
    pieces: mpsc::Receiver<Bytes>,
    left: u64,
}

/// The feeding stopped half way; the connection ends, and nobody reads this.
#[derive(Debug, thiserror::Error)]
#[error("the upload was given up")]
struct GivenUp;

impl Body for Waiting {
    type Data = Bytes;
    type Error = GivenUp;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, GivenUp>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let Some(piece) = ready!(self.pieces.poll_recv(cx)) else {
            return Poll::Ready(Some(Err(GivenUp)));
        };
        self.left = self.left.saturating_sub(piece.len() as u64);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
