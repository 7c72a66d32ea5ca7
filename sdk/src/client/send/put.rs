//! Sending the bytes of an upload to the storage, which is not the service: nothing
//! that belongs to the API goes there, the key least of all.

use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, USER_AGENT};
use http::{HeaderValue, Method};
use http_body::{Body, Frame, SizeHint};
use reqwest::Response;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{Reply, collect_start, request_id};
use crate::client::error::Refusal;
use crate::client::request::Route;
use crate::client::uploads::Feed;
use crate::client::{Client, Error};
use crate::model::UploadSlot;

/// Pieces that wait for the connection to take them.
const WAITING_PIECES: usize = 1;

/// Texts shorter than this are no secrets.
const SECRET_CHARS_MIN: usize = 8;

impl Client {
    /// Sends all of `feed` as the one upload that `slot` allows (`UP-10`), and tells how
    /// many bytes are on their way.
    ///
    /// The feeding happens here and in no task, so that it ends when this is dropped.
    pub(in crate::client) async fn put(
        &self,
        slot: &UploadSlot,
        feed: Feed<'_>,
        told: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), Error> {
        let route = Route { method: Method::PUT, template: "{uploadUrl}" };
        let origin = slot.upload_url.expose().origin().ascii_serialization();
        let limit = self.0.request_timeout;
        let (pieces, waiting) = mpsc::channel(WAITING_PIECES);
        let request = self.upload(slot, Waiting { pieces: waiting, left: feed.size() })?;
        let mut sending = pin!(request.send());
        let mut feeding = pin!(feed_all(feed, pieces, limit, told));

        let mut fed = false;
        let first = poll_fn(|cx| {
            if let Poll::Ready(outcome) = feeding.as_mut().poll(cx) {
                return Poll::Ready(First::Fed(outcome));
            }
            sending.as_mut().poll(cx).map(First::Answered)
        });
        let answered = match first.await {
            First::Answered(answered) => answered,
            First::Fed(Err(Fault::Source(error))) => return Err(error),
            First::Fed(Err(Fault::Stalled)) => return Err(Error::stalled(origin).of(route, None)),
            First::Fed(Ok(())) => {
                fed = true;
                match timeout(limit, sending).await {
                    Ok(answered) => answered,
                    Err(_) => return Err(Error::stalled(origin).of(route, None)),
                }
            }
        };
        let response =
            answered.map_err(|source| Error::unsent(origin, source).of(route.clone(), None))?;
        judge(response, fed, slot, route, limit).await
    }

    fn upload(&self, slot: &UploadSlot, body: Waiting) -> Result<reqwest::RequestBuilder, Error> {
        let unfit = |what| Error::input(format!("the {what} of the slot cannot be sent"));
        let mut token = HeaderValue::try_from(format!("Bearer {}", slot.token.expose()))
            .map_err(|_| unfit("token"))?;
        token.set_sensitive(true);
        let content_type =
            HeaderValue::try_from(slot.content_type.as_str()).map_err(|_| unfit("content type"))?;
        Ok(self
            .0
            .http
            .put(slot.upload_url.expose().clone())
            .header(AUTHORIZATION, token)
            .header(CONTENT_TYPE, content_type)
            .header(CONTENT_LENGTH, body.left)
            .header(USER_AGENT, self.0.user_agent.clone())
            .body(reqwest::Body::wrap(body)))
    }
}

/// What comes first: the end of the bytes, or an answer before it.
enum First {
    Fed(Result<(), Fault>),
    Answered(Result<Response, reqwest::Error>),
}

enum Fault {
    Source(Error),
    Stalled,
}

async fn feed_all(
    mut feed: Feed<'_>,
    pieces: mpsc::Sender<Bytes>,
    limit: Duration,
    told: &mut (dyn FnMut(u64) + Send),
) -> Result<(), Fault> {
    while let Some(piece) = feed.next().await.map_err(Fault::Source)? {
        match timeout(limit, pieces.send(piece)).await {
            Ok(Ok(())) => told(feed.sent()),
            // The connection wants no more; why is for the answer to say.
            Ok(Err(_)) => pending().await,
            Err(_) => return Err(Fault::Stalled),
        }
    }
    Ok(())
}

async fn judge(
    response: Response,
    fed: bool,
    slot: &UploadSlot,
    route: Route,
    limit: Duration,
) -> Result<(), Error> {
    let (status, headers) = (response.status(), response.headers().clone());
    if response.url() != slot.upload_url.expose() {
        let error = Error::followed(status, response.url().as_str());
        return Err(error.of(route, request_id(&headers)));
    }
    if status.is_success() {
        let early = Error::answered_early(status);
        return if fed { Ok(()) } else { Err(early.of(route, request_id(&headers))) };
    }
    let body = collect_start(response, limit).await;
    let withheld = repeats_a_secret(&body, slot);
    let reply = Reply { route, status, headers, body, withheld };
    Err(if withheld { reply.refused_with(Refusal::Withheld) } else { reply.refused() })
}

/// Whether an answer repeats what authorises the upload. Some storages quote the
/// request they refuse.
fn repeats_a_secret(body: &[u8], slot: &UploadSlot) -> bool {
    let url = slot.upload_url.expose();
    let text = String::from_utf8_lossy(body);
    let as_sent = url.query().into_iter().flat_map(|query| query.split(['&', '=']));
    let meant = url.query_pairs().map(|(_, value)| value.into_owned());
    let mut secrets = as_sent.map(str::to_owned).chain(meant).chain([slot.token.expose().into()]);
    secrets.any(|secret: String| secret.len() >= SECRET_CHARS_MIN && text.contains(&secret))
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
