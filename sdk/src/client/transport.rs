//! How bytes get to a server and back: one exchange, nothing decided.
//!
//! A [`Transport`] does not know what a call is, sends nothing twice and keeps no
//! time; whether a call is sent again, and for how long it is waited for, is
//! decided above it. By default it is a [`reqwest::Client`]; a test may bring one
//! that needs no network.

mod body;
mod over_reqwest;

use std::fmt;

use futures_core::future::BoxFuture;
use http::{HeaderMap, Method, StatusCode};
use url::Url;

pub use body::{IncomingBody, OutgoingBody};

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Sends one request and gives its answer.
///
/// An implementation follows no redirect and sends nothing twice. Dropping the
/// future gives the exchange up.
///
/// ```
/// use futures::future::BoxFuture;
/// use promptarium::transport::{Failure, Incoming, Outgoing, Transport};
///
/// /// Answers every request with the same prompt.
/// struct Canned;
///
/// impl Transport for Canned {
///     fn send(&self, _: Outgoing) -> BoxFuture<'static, Result<Incoming, Failure>> {
///         Box::pin(async { Ok(Incoming::new(200, r#"{"data":[],"error":null}"#)) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), promptarium::Error> {
/// let client = promptarium::Client::builder()
///     .base_url("https://prompts.example/api/v1")
///     .api_key("promptarium_live_a1_s3cret")
///     .transport(Canned)
///     .build()?;
/// assert!(client.vaults().list().await?.is_empty());
/// # Ok(())
/// # }
/// ```
pub trait Transport: Send + Sync + 'static {
    /// Sends the request, and gives the answer as soon as its head is there.
    ///
    /// # Errors
    ///
    /// A [`Failure`] that says whether the request may have been carried out.
    fn send(&self, request: Outgoing) -> BoxFuture<'static, Result<Incoming, Failure>>;
}

/// A request, ready to be sent. Its headers hold the API key or an upload's token,
/// so `Debug` does not show them.
#[non_exhaustive]
pub struct Outgoing {
    /// The method.
    pub method: Method,
    /// The whole address, without a user name and a password.
    pub url: Url,
    /// All headers but those that belong to the connection.
    pub headers: HeaderMap,
    /// The body, which may be empty.
    pub body: OutgoingBody,
}

impl Outgoing {
    pub(super) fn new(method: Method, url: Url, headers: HeaderMap, body: OutgoingBody) -> Self {
        Self { method, url: without_user(url), headers, body }
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An address that authorises by itself does so in its query.
        f.debug_struct("Outgoing")
            .field("method", &self.method)
            .field("origin", &self.url.origin().ascii_serialization())
            .field("path", &self.url.path())
            .finish_non_exhaustive()
    }
}

/// The head of an answer, and its body as far as it has come. `Debug` shows of its
/// headers the names only: a `Location` may be a signed address, and a cookie a secret.
#[non_exhaustive]
pub struct Incoming {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// Where the answer is from, if the transport followed a redirect. The client
    /// refuses such an answer.
    pub redirected_to: Option<Url>,
    /// The body.
    pub body: IncomingBody,
}

impl Incoming {
    /// An answer that is there as a whole. What is no status counts as 500.
    pub fn new(status: u16, body: impl Into<bytes::Bytes>) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let (headers, body) = (HeaderMap::new(), IncomingBody::whole(body));
        Self { status, headers, redirected_to: None, body }
    }

    /// Where the answer is from, if that is not where the request was sent.
    pub(super) fn elsewhere(&self, sent_to: &Url) -> Option<&Url> {
        let from = self.redirected_to.as_ref().or_else(|| self.body.url());
        from.filter(|from| *from != sent_to && **from != without_user(sent_to.clone()))
    }
}

/// An address as it is sent. A user name and a password in it go nowhere, but crates
/// below would show them in their logs.
fn without_user(mut url: Url) -> Url {
    // An address that can hold neither has none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.headers.keys().collect();
        let from = self.redirected_to.as_ref().map(|url| url.origin().ascii_serialization());
        f.debug_struct("Incoming")
            .field("status", &self.status)
            .field("headers", &headers)
            .field("redirected_to", &from)
            .finish_non_exhaustive()
    }
}

/// Why an exchange failed, and how far it had come.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct Failure {
    phase: Phase,
    timed_out: bool,
    #[source]
    source: Cause,
}

/// How far an exchange had come when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Connecting,
    Exchanging,
}

impl Failure {
    /// No connection came about, so the request was certainly not carried out.
    pub fn connecting(source: impl Into<Cause>) -> Self {
        Self { phase: Phase::Connecting, timed_out: false, source: source.into() }
    }

    /// The connection failed after the request was, or may have been, sent.
    pub fn exchanging(source: impl Into<Cause>) -> Self {
        Self { phase: Phase::Exchanging, timed_out: false, source: source.into() }
    }

    /// The same failure, because a time limit of the transport ran out.
    #[must_use]
    pub const fn by_timeout(mut self) -> Self {
        self.timed_out = true;
        self
    }

    /// Whether the request was certainly not sent.
    #[must_use]
    pub fn is_connecting(&self) -> bool {
        self.phase == Phase::Connecting
    }

    /// Whether a time limit of the transport ran out.
    #[must_use]
    pub const fn is_timeout(&self) -> bool {
        self.timed_out
    }

    const fn text(&self) -> &'static str {
        match (self.phase, self.timed_out) {
            (Phase::Connecting, false) => "no connection came about",
            (Phase::Connecting, true) => "connecting took too long",
            (Phase::Exchanging, false) => "the exchange broke off",
            (Phase::Exchanging, true) => "the exchange took too long",
        }
    }
}
