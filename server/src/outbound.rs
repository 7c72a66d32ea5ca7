//! Outbound HTTP: requests to the provider and downloads of its outputs.
//!
//! Every request that reads a whole response has a time and a size limit. Redirects are not followed,
//! and proxies and cookies are not used.

use std::error::Error;
use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::stream::{BoxStream, StreamExt, TryStreamExt};
use http::header::{ACCEPT_ENCODING, DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Response};
use http_body_util::BodyExt;
use jiff::fmt::rfc2822;
use reqwest::Client;
pub(crate) use reqwest::Request as OutboundRequest;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use tokio::net::lookup_host;
use tokio::time::timeout;
use url::{Host, Url};

use crate::error_chain::error_chain;
use crate::limits::product::{
    OUTBOUND_CONNECT_TIMEOUT, OUTBOUND_IDLE_TIMEOUT, QUEUE_RESPONSE_BYTES_MAX,
};
use crate::quota::{self, Permit, Quota};

/// An HTTP/1.1 client with TLS. Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub(crate) struct Outbound {
    client: Client,
    public_only: bool,
}

/// Why there is no response. The texts contain no URLs and no headers.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutboundError {
    /// The address is not one that may be requested.
    #[error("{0}")]
    Address(String),
    /// The other side certainly received nothing of the request.
    #[error("{0}")]
    NotSent(String),
    #[error("{0}")]
    Failed(String),
}

impl Outbound {
    /// A client that trusts the certificates of the system. With `public_only` it connects to public
    /// addresses only: a request whose address a caller chose must not reach what only this server
    /// can reach, such as this machine, its network, and the metadata service of a cloud. With 0 idle
    /// connections it opens one for each request, so a request that must not be sent twice never
    /// meets a pooled connection that the other side is just closing.
    pub(crate) fn new(public_only: bool, idle_max: usize) -> Result<Self, OutboundError> {
        let identity = HeaderValue::from_static("identity");
        let client = Client::builder()
            .dns_resolver(Resolver { public_only })
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .http1_only()
            .user_agent(concat!("promptarium-server/", env!("CARGO_PKG_VERSION")))
            // Without it any coding is acceptable (RFC 9110 12.5.3).
            .default_headers([(ACCEPT_ENCODING, identity)].into_iter().collect())
            .connect_timeout(OUTBOUND_CONNECT_TIMEOUT)
            .pool_idle_timeout(OUTBOUND_IDLE_TIMEOUT)
            .pool_max_idle_per_host(idle_max)
            .build();
        let client = client.map_err(|error| {
            let text = "TLS cannot be set up with the certificates of this system";
            OutboundError::NotSent(format!("{text}: {}", error_chain(&error)))
        })?;
        Ok(Self { client, public_only })
    }

    /// Sends a request and reads the whole response, in this time and of at most so many bytes. What
    /// it has beyond [`QUEUE_RESPONSE_BYTES_MAX`] takes a part of `memory`, for which the permit is.
    pub(crate) async fn fetch(
        &self,
        request: OutboundRequest,
        time: Duration,
        bytes_max: usize,
        memory: Option<&Quota>,
    ) -> Result<(Response<Bytes>, Option<Permit>), OutboundError> {
        let failed = |text: &str| OutboundError::Failed(text.to_owned());
        let too_many = |_| failed("too many large responses arrive at once");
        let exchange = async {
            let (head, mut body) = self.open(request).await?.into_parts();
            let permit = memory.map(|quota| quota.of(quota::Client::Server).reserve(0));
            let mut permit = permit.transpose().map_err(too_many)?;
            let mut bytes = BytesMut::new();
            while let Some(piece) = body.next().await.transpose()? {
                let size = bytes.len() + piece.len();
                if size > bytes_max {
                    return Err(failed(&format!("the response has more than {bytes_max} bytes")));
                }
                if let Some(permit) = &mut permit {
                    // It grows as the response arrives, so that slow ones hold little.
                    let more = size.saturating_sub(QUEUE_RESPONSE_BYTES_MAX);
                    permit.grow_to(more).map_err(too_many)?;
                }
                bytes.extend_from_slice(&piece);
            }
            Ok((Response::from_parts(head, bytes.freeze()), permit))
        };
        let late = |_| Err(failed(&format!("no response within {} s", time.as_secs_f32())));
        timeout(time, exchange).await.unwrap_or_else(late)
    }

    /// Sends a request and returns the response with its body still to come. It has no limits.
    pub(crate) async fn open(
        &self,
        request: OutboundRequest,
    ) -> Result<Response<BoxStream<'static, Result<Bytes, OutboundError>>>, OutboundError> {
        let host = self.check(request.url())?;
        let response = self.client.execute(request).await;
        let response = response.map_err(|error| send_error(&host, error))?;
        Ok(Response::<reqwest::Body>::from(response).map(|body| {
            body.into_data_stream().map_err(move |error| send_error(&host, error)).boxed()
        }))
    }

    /// The host of a URL. An IP address is checked here, because no resolver sees it.
    pub(crate) fn check(&self, url: &Url) -> Result<String, OutboundError> {
        let host = url.host().filter(|_| matches!(url.scheme(), "http" | "https"));
        let host = host.ok_or_else(|| OutboundError::Address("no http or https address".into()))?;
        let is_allowed = match host {
            Host::Domain(_) => true,
            Host::Ipv4(address) => !self.public_only || is_public(address.into()),
            Host::Ipv6(address) => !self.public_only || is_public(address.into()),
        };
        if is_allowed { Ok(host.to_string()) } else { Err(not_public(host)) }
    }
}

fn not_public(host: impl Display) -> OutboundError {
    OutboundError::Address(format!("{host} is not a public address"))
}

/// Leaves out the URL of the request, which may contain secrets.
fn send_error(host: &str, error: reqwest::Error) -> OutboundError {
    let mut causes = std::iter::successors(error.source(), |cause| (*cause).source());
    if causes.any(<dyn Error>::is::<NoAllowedAddress>) {
        return not_public(host);
    }
    let (is_connect, cause) = (error.is_connect(), error_chain(&error.without_url()));
    match is_connect {
        true => OutboundError::NotSent(format!("no connection to {host}: {cause}")),
        false => OutboundError::Failed(format!("the connection to {host} broke: {cause}")),
    }
}

/// Checks after the resolution, so that a name that changes its address gains nothing.
struct Resolver {
    public_only: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("the name has no public address")]
struct NoAllowedAddress;

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let public_only = self.public_only;
        Box::pin(async move {
            let found = lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<_> =
                found.filter(|address| !public_only || is_public(address.ip())).collect();
            if allowed.is_empty() {
                return Err(NoAllowedAddress.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// `Retry-After`: seconds, or a date, compared with the other side's own `Date`.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let after = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = after.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let time = |text: &str| rfc2822::DateTimeParser::new().parse_timestamp(text).ok();
    time(after)?.duration_since(time(text(DATE)?)?).try_into().ok()
}

fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        // Only `2000::/3` is allocated, and parts of it embed IPv4 addresses or are reserved.
        IpAddr::V6(address) => match address.segments() {
            // NAT64, and 6to4.
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
                is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
            }
            // Teredo and other protocol assignments; documentation.
            [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
            [first, ..] => first & 0xe000 == 0x2000,
        },
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

#[cfg(test)]
mod tests;
