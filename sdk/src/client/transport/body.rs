//! The bodies of requests and answers, over whatever carries them.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use http_body::Body;

use super::{Cause, Failure};

type Boxed<E> = Pin<Box<dyn Body<Data = Bytes, Error = E> + Send + Sync>>;

/// The body of a request: bytes, or pieces that come one by one.
pub struct OutgoingBody(Kind);

enum Kind {
    Empty,
    Whole(Bytes),
    Pieces(Boxed<Cause>),
}

impl OutgoingBody {
    pub(in crate::client) const EMPTY: Self = Self(Kind::Empty);

    pub(in crate::client) const fn whole(bytes: Bytes) -> Self {
        Self(Kind::Whole(bytes))
    }

    pub(in crate::client) fn pieces<B>(body: B) -> Self
    where
        B: Body<Data = Bytes, Error: Into<Cause>> + Send + Sync + 'static,
    {
        Self(Kind::Pieces(Box::pin(Uniform(Box::pin(body)))))
    }

    /// All of it.
    ///
    /// # Errors
    ///
    /// That of the source of the pieces, when the sending was given up half way.
    pub async fn collect(self) -> Result<Bytes, Failure> {
        let mut body = match self.0 {
            Kind::Empty => return Ok(Bytes::new()),
            Kind::Whole(bytes) => return Ok(bytes),
            Kind::Pieces(body) => body,
        };
        let mut whole = BytesMut::new();
        while let Some(piece) = next(&mut body).await.map_err(Failure::exchanging)? {
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }

    /// As reqwest takes it; `None` for no body at all.
    pub(super) fn for_reqwest(self) -> Option<reqwest::Body> {
        match self.0 {
            Kind::Empty => None,
            Kind::Whole(bytes) => Some(bytes.into()),
            Kind::Pieces(body) => Some(reqwest::Body::wrap(body)),
        }
    }
}

impl fmt::Debug for OutgoingBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingBody").finish_non_exhaustive()
    }
}

/// A body whose errors are of one type.
struct Uniform<B>(Pin<Box<B>>);

impl<B: Body<Data = Bytes, Error: Into<Cause>>> Body for Uniform<B> {
    type Data = Bytes;
    type Error = Cause;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Cause>>> {
        self.0.as_mut().poll_frame(cx).map(|frame| frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.0.size_hint()
    }
}

/// The body of an answer.
pub struct IncomingBody(Source);

enum Source {
    Whole(Option<Bytes>),
    Pieces(Boxed<Failure>),
    Reqwest(Box<reqwest::Response>),
}

impl IncomingBody {
    /// A body that is there already.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        Self(Source::Whole(Some(bytes.into())))
    }

    /// A body that comes piece by piece, and may fail on the way.
    pub fn pieces(body: impl Body<Data = Bytes, Error = Failure> + Send + Sync + 'static) -> Self {
        Self(Source::Pieces(Box::pin(body)))
    }

    pub(super) fn of_reqwest(response: reqwest::Response) -> Self {
        Self(Source::Reqwest(Box::new(response)))
    }

    /// Where it comes from, if that is known.
    pub(super) fn url(&self) -> Option<&url::Url> {
        match &self.0 {
            Source::Reqwest(response) => Some(response.url()),
            _ => None,
        }
    }

    /// The length, if it is known.
    pub(in crate::client) fn length(&self) -> Option<u64> {
        match &self.0 {
            Source::Whole(bytes) => Some(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Source::Pieces(body) => body.size_hint().exact(),
            Source::Reqwest(response) => response.content_length(),
        }
    }

    /// The next piece; `None` when there is no more.
    pub(in crate::client) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        match &mut self.0 {
            Source::Whole(bytes) => Ok(bytes.take()),
            Source::Pieces(body) => next(body).await,
            Source::Reqwest(response) => response.chunk().await.map_err(Failure::of_reqwest),
        }
    }
}

impl fmt::Debug for IncomingBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IncomingBody").finish_non_exhaustive()
    }
}

/// The next piece of data; trailers say nothing here.
async fn next<E>(body: &mut Boxed<E>) -> Result<Option<Bytes>, E> {
    loop {
        match poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
            None => return Ok(None),
            Some(Err(error)) => return Err(error),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}
