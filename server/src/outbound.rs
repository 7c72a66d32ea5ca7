//! Calls to other services: the one HTTP client the server has.
//!
//! A call has a time limit, an answer has a size limit, redirects are answers
//! like any other and are never followed, and proxies are not used. Which
//! addresses may be connected to is fixed with the client ([`Reach`]). What is
//! said over it is left to the callers.

pub mod address;
mod dial;

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::USER_AGENT;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper::body::{Body as _, Incoming};
use hyper_rustls::ConfigBuilderExt;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use tokio::time::timeout;

use dial::{DialError, Dialer};

/// Any error, for bodies that are made elsewhere.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// What is sent.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Idle connections are given up after this long: most servers wait longer, so
/// that we seldom write into one that the other side is closing.
const IDLE: Duration = Duration::from_secs(20);

const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("promptarium-server/", env!("CARGO_PKG_VERSION")));

/// Where a client may connect to. It is the address itself that is looked at,
/// after names were resolved, so a name that changes its meaning gains nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Addresses of the public Internet, see [`address::is_public`].
    Public,
    /// Every address; for what the operator configured.
    Anywhere,
}

/// A client over HTTP/1.1, with or without TLS. Cheap to clone; clones share
/// their connections.
#[derive(Clone)]
pub struct Outbound {
    client: Client<Dialer, Body>,
    tls: Arc<ClientConfig>,
    reach: Reach,
}

/// How much an answer may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From the call to the last byte of the answer.
    pub time: Duration,
    /// The longest body.
    pub bytes: usize,
}

/// Why there is no answer. The texts hold hosts, but no paths, queries or headers.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// TLS could not be set up, for want of trusted certificates.
    #[error("no TLS: the system's certificates cannot be used")]
    Tls(#[source] rustls::Error),
    /// It is no `http` or `https` address with a host. Nothing was sent.
    #[error("it is no http or https address")]
    Address,
    /// The address is out of reach for this client. Nothing was sent.
    #[error("{0} is not a public address")]
    NotPublic(String),
    /// There was no connection. Nothing was sent.
    #[error("no connection")]
    Connect(#[source] BoxError),
    /// The connection broke. The request may have arrived.
    #[error("the connection broke")]
    Broken(#[source] BoxError),
    /// The time was up. The request may have arrived.
    #[error("no answer within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// The answer is longer than it may be.
    #[error("the answer is longer than {0} bytes")]
    TooLarge(usize),
}

impl OutboundError {
    /// Whether the other side certainly has nothing of the request.
    pub const fn nothing_was_sent(&self) -> bool {
        match self {
            Self::Tls(_) | Self::Address | Self::NotPublic(_) | Self::Connect(_) => true,
            Self::Broken(_) | Self::TimedOut(_) | Self::TooLarge(_) => false,
        }
    }

    /// The text with those of its causes; for the log.
    pub fn in_full(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

impl Outbound {
    /// A client with the certificates that the system trusts.
    ///
    /// # Errors
    /// [`OutboundError::Tls`] if the system has none that can be read.
    pub fn new(reach: Reach) -> Result<Self, OutboundError> {
        let tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(ConfigBuilderExt::try_with_platform_verifier)
            .map_err(OutboundError::Tls)?
            .with_no_client_auth();
        Ok(Self::assemble(Arc::new(tls), reach, usize::MAX))
    }

    /// A client of its own with another reach, and with no connections yet.
    #[must_use]
    pub fn with_reach(&self, reach: Reach) -> Self {
        Self::assemble(Arc::clone(&self.tls), reach, usize::MAX)
    }

    /// A client of its own that connects anew for each call. A call that must not
    /// be made twice then never meets a connection that is just being closed.
    #[must_use]
    pub fn with_new_connections(&self) -> Self {
        Self::assemble(Arc::clone(&self.tls), self.reach, 0)
    }

    fn assemble(tls: Arc<ClientConfig>, reach: Reach, idle_per_host: usize) -> Self {
        // Requests that hyper gives back untouched because an idle connection was
        // closed are sent again on another one (the builder's default): not a byte
        // of them was written.
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(idle_per_host)
            .build(Dialer::new(reach, &tls));
        Self { client, tls, reach }
    }

    /// Sends a request and gives the answer once its head is there, with a body
    /// still to be read. `limit` is the time to the head.
    ///
    /// # Errors
    /// Any of [`OutboundError`] but `Tls` and `TooLarge`.
    pub async fn send(
        &self,
        mut request: Request<Body>,
        limit: Duration,
    ) -> Result<Response<Incoming>, OutboundError> {
        check(request.uri())?;
        request.headers_mut().entry(USER_AGENT).or_insert(AGENT);
        match timeout(limit, self.client.request(request)).await {
            Ok(answer) => answer.map_err(explain),
            Err(_) => Err(OutboundError::TimedOut(limit)),
        }
    }

    /// Sends a request and gives the whole answer.
    ///
    /// # Errors
    /// Any of [`OutboundError`] but `Tls`.
    pub async fn fetch(
        &self,
        request: Request<Bytes>,
        limits: Limits,
    ) -> Result<Response<Bytes>, OutboundError> {
        let request = request.map(|bytes| Full::new(bytes).map_err(BoxError::from).boxed_unsync());
        let whole = async {
            let (head, body) = self.send(request, limits.time).await?.into_parts();
            Ok(Response::from_parts(head, gather(body, limits.bytes).await?))
        };
        timeout(limits.time, whole).await.unwrap_or(Err(OutboundError::TimedOut(limits.time)))
    }
}

impl std::fmt::Debug for Outbound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbound").field("reach", &self.reach).finish_non_exhaustive()
    }
}

fn check(uri: &Uri) -> Result<(), OutboundError> {
    let web = matches!(uri.scheme_str(), Some("http" | "https"));
    let host = uri.host().is_some_and(|host| !host.is_empty());
    if web && host { Ok(()) } else { Err(OutboundError::Address) }
}

/// Reads a body to its end, unless it is longer than `most` bytes.
async fn gather(mut body: Incoming, most: usize) -> Result<Bytes, OutboundError> {
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if declared > most {
        return Err(OutboundError::TooLarge(most));
    }
    let mut bytes = BytesMut::with_capacity(declared);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| OutboundError::Broken(error.into()))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > most {
            return Err(OutboundError::TooLarge(most));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

fn explain(error: ClientError) -> OutboundError {
    if !error.is_connect() {
        return OutboundError::Broken(error.into());
    }
    let mut cause: Option<&(dyn StdError + 'static)> = Some(&error);
    while let Some(at) = cause {
        if let Some(DialError::NotPublic(host)) = at.downcast_ref() {
            return OutboundError::NotPublic(host.clone());
        }
        cause = at.source();
    }
    OutboundError::Connect(error.into())
}

#[cfg(test)]
mod tests;
