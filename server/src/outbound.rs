//! Outbound HTTP: requests to the provider and downloads of its outputs.
//!
//! Every request that reads a whole response has a time and a size limit. Redirects are not followed,
//! and proxies and cookies are not used. [`AddressPolicy`] limits the addresses to connect to.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::stream::{BoxStream, StreamExt, TryStreamExt};
use http::Response;
use http::header::CONTENT_LENGTH;
use http_body_util::BodyExt;
pub(crate) use reqwest::Request as OutboundRequest;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use tokio::net::lookup_host;
use tokio::time::timeout;
use url::{Host, Url};

use crate::limits::{
    OUTBOUND_CONNECT_TIMEOUT, OUTBOUND_IDLE_TIMEOUT, QUEUE_RESPONSE_BYTES_MAX, S3_READ_TIMEOUT,
};
use crate::quota::{self, Permit, Quota};

type BoxError = Box<dyn Error + Send + Sync>;

const USER_AGENT: &str = concat!("promptarium-server/", env!("CARGO_PKG_VERSION"));

/// An HTTP/1.1 client with TLS. Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub(crate) struct Outbound {
    client: Client,
    policy: AddressPolicy,
}

/// Limits of one request: time to the last byte of the response, and size of its body.
#[derive(Clone, Debug)]
pub(crate) struct ResponseLimits {
    pub time: Duration,
    pub bytes: usize,
    /// For what a response has beyond [`QUEUE_RESPONSE_BYTES_MAX`].
    pub memory: Option<Quota>,
}

/// What a response takes of the quota; in its extensions.
#[derive(Clone, Debug, Default)]
#[expect(dead_code, reason = "the last clone gives back its part when it is dropped")]
pub(crate) struct ResponsePermit(Option<Arc<Permit>>);

/// Why there is no response. The texts contain no URLs and no headers.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutboundError {
    /// Usually no trusted certificates are installed.
    #[error("TLS cannot be set up with the certificates of this system")]
    Tls(#[source] reqwest::Error),
    #[error("the address is not an http or https URL")]
    Address,
    #[error("{0} is not a public address")]
    NotPublic(String),
    #[error("no connection to {0}")]
    Connect(String, #[source] BoxError),
    #[error("the connection to {0} broke")]
    Broken(String, #[source] BoxError),
    #[error("no response within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    #[error("the response has more than {0} bytes")]
    TooLarge(usize),
    #[error("too many large responses arrive at once")]
    TooMany,
}

impl OutboundError {
    /// Whether the other side certainly received nothing of the request.
    pub(crate) const fn nothing_was_sent(&self) -> bool {
        !matches!(self, Self::Broken(..) | Self::TimedOut(_) | Self::TooLarge(_) | Self::TooMany)
    }
}

/// What all clients have in common.
fn builder(policy: AddressPolicy) -> ClientBuilder {
    Client::builder()
        .dns_resolver(PolicyResolver(policy))
        .redirect(Policy::none())
        .no_proxy()
        .referer(false)
        .http1_only()
        .user_agent(USER_AGENT)
        .connect_timeout(OUTBOUND_CONNECT_TIMEOUT)
        .pool_idle_timeout(OUTBOUND_IDLE_TIMEOUT)
}

/// A further client, after [`Outbound::new`] has built one with the same TLS settings.
#[expect(clippy::expect_used, reason = "only TLS settings can fail, and these have worked")]
fn build_again(builder: ClientBuilder) -> Client {
    builder.build().expect("valid settings")
}

impl Outbound {
    /// A client that trusts the certificates of the system.
    pub(crate) fn new(policy: AddressPolicy) -> Result<Self, OutboundError> {
        let client = builder(policy).build().map_err(OutboundError::Tls)?;
        Ok(Self { client, policy })
    }

    /// A client with another policy and its own connections.
    pub(crate) fn with_policy(&self, policy: AddressPolicy) -> Self {
        Self { client: build_again(builder(policy)), policy }
    }

    /// A client that opens a connection for each request. A request that must not be sent twice
    /// then never meets a pooled connection that the other side is just closing.
    pub(crate) fn with_new_connections(&self) -> Self {
        let builder = builder(self.policy).pool_max_idle_per_host(0);
        Self { client: build_again(builder), policy: self.policy }
    }

    /// A client for the S3 library, which has limits of its own.
    pub(crate) fn for_s3(&self, https_only: bool) -> Client {
        let builder = builder(self.policy).https_only(https_only);
        build_again(builder.read_timeout(S3_READ_TIMEOUT))
    }

    /// Sends a request and reads the whole response.
    pub(crate) async fn fetch(
        &self,
        request: OutboundRequest,
        limits: &ResponseLimits,
    ) -> Result<Response<Bytes>, OutboundError> {
        let exchange = async {
            let (head, mut body) = self.open(request).await?.into_parts();
            let declared = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
            if declared.and_then(|length| length.parse().ok()) > Some(limits.bytes) {
                return Err(OutboundError::TooLarge(limits.bytes));
            }
            let mut bytes = BytesMut::new();
            let permit =
                limits.memory.as_ref().map(|quota| quota.of(quota::Client::Server).reserve(0));
            let mut permit = permit.transpose().map_err(|_| OutboundError::TooMany)?;
            while let Some(piece) = body.next().await.transpose()? {
                if bytes.len() + piece.len() > limits.bytes {
                    return Err(OutboundError::TooLarge(limits.bytes));
                }
                if let Some(permit) = &mut permit {
                    // It grows as the response arrives, so that slow ones hold little.
                    let more = (bytes.len() + piece.len()).saturating_sub(QUEUE_RESPONSE_BYTES_MAX);
                    permit.grow_to(more).map_err(|_| OutboundError::TooMany)?;
                }
                bytes.extend_from_slice(&piece);
            }
            let mut response = Response::from_parts(head, bytes.freeze());
            response.extensions_mut().insert(ResponsePermit(permit.map(Arc::new)));
            Ok(response)
        };
        timeout(limits.time, exchange).await.unwrap_or(Err(OutboundError::TimedOut(limits.time)))
    }

    /// Sends a request and returns the response with its body still to come. It has no limits.
    pub(crate) async fn open(
        &self,
        request: OutboundRequest,
    ) -> Result<Response<BoxStream<'static, Result<Bytes, OutboundError>>>, OutboundError> {
        let host = self.check(request.url())?;
        let response = self.client.execute(request).await;
        let response = response.map_err(|error| send_error(host.clone(), error))?;
        Ok(Response::<reqwest::Body>::from(response).map(|body| {
            let broken = move |error| OutboundError::Broken(host.clone(), Box::new(error));
            body.into_data_stream().map_err(broken).boxed()
        }))
    }

    /// The host of a URL. An IP address is checked here, because no resolver sees it.
    fn check(&self, url: &Url) -> Result<String, OutboundError> {
        let host = url.host().filter(|_| matches!(url.scheme(), "http" | "https"));
        let address = match host.ok_or(OutboundError::Address)? {
            Host::Domain(name) => return Ok(name.to_owned()),
            Host::Ipv4(address) => IpAddr::V4(address),
            Host::Ipv6(address) => IpAddr::V6(address),
        };
        let host = address.to_string();
        if self.policy.allows(address) { Ok(host) } else { Err(OutboundError::NotPublic(host)) }
    }
}

/// Leaves out the URL of the request, which may contain secrets.
fn send_error(host: String, error: reqwest::Error) -> OutboundError {
    let mut causes = std::iter::successors(error.source(), |cause| (*cause).source());
    if causes.any(<dyn Error>::is::<NoAllowedAddress>) {
        OutboundError::NotPublic(host)
    } else if error.is_connect() {
        OutboundError::Connect(host, error.without_url().into())
    } else {
        OutboundError::Broken(host, error.without_url().into())
    }
}

/// Which addresses a client may connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressPolicy {
    /// Public addresses only. A request whose address a caller chose must not reach what only
    /// this server can reach: this machine, its network, the metadata service of a cloud.
    Public,
    /// Every address; for URLs that the operator configured.
    Any,
}

impl AddressPolicy {
    fn allows(self, address: IpAddr) -> bool {
        self == Self::Any
            || match address.to_canonical() {
                IpAddr::V4(address) => is_public_v4(address),
                IpAddr::V6(address) => is_public_v6(address),
            }
    }
}

/// Checks after the resolution, so that a name that changes its address gains nothing.
struct PolicyResolver(AddressPolicy);

#[derive(Debug, thiserror::Error)]
#[error("the name has no public address")]
struct NoAllowedAddress;

impl Resolve for PolicyResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.0;
        Box::pin(async move {
            let found = lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<_> = found.filter(|address| policy.allows(address.ip())).collect();
            if allowed.is_empty() {
                return Err(NoAllowedAddress.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Without the special-purpose addresses of the IANA registry (RFC 6890 and later).
fn is_public_v4(address: Ipv4Addr) -> bool {
    !matches!(
        address.octets(),
        [0 | 10 | 127 | 224..=255, ..]
            | [100, 64..=127, ..]
            | [169, 254, ..]
            | [172, 16..=31, ..]
            | [192, 168, ..]
            | [192, 0, 0 | 2, _]
            | [192, 88, 99, _]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
    )
}

/// Only `2000::/3` is allocated, and parts of it embed IPv4 addresses or are reserved.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let embedded =
        |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        // NAT64.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(embedded(high, low)),
        // 6to4.
        [0x2002, high, low, ..] => is_public_v4(embedded(high, low)),
        // Teredo and other protocol assignments; documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests;
