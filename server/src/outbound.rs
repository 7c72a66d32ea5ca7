//! Outbound HTTP: requests to the provider and downloads of its outputs.
//!
//! Every request has a time limit and every response a size limit. Redirects are not followed,
//! and proxies and cookies are not used. [`AddressPolicy`] limits the addresses to connect to.

pub(crate) mod address;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::time::timeout;
use url::{Host, Url};

use self::address::PolicyResolver;
pub(crate) use self::address::{AddressPolicy, BoxError};
use crate::limits::{OUTBOUND_CONNECT_TIMEOUT, OUTBOUND_IDLE_TIMEOUT};

const USER_AGENT: &str = concat!("promptarium-server/", env!("CARGO_PKG_VERSION"));

/// An HTTP/1.1 client with TLS. Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub(crate) struct Outbound {
    client: Client,
    tls: ClientConfig,
    policy: AddressPolicy,
}

/// Limits of one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// From the call to the last byte of the response.
    pub time: Duration,
    /// Maximum size of the response body.
    pub bytes: usize,
}

/// Why there is no response. The texts contain no URLs and no headers.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// Usually no trusted certificates are installed.
    #[error("TLS cannot be set up with the certificates of this system")]
    Tls(#[source] rustls::Error),
    /// Nothing was sent.
    #[error("the address is not an http or https URL")]
    Address,
    /// [`AddressPolicy::Public`] refused the host. Nothing was sent.
    #[error("{0} is not a public address")]
    NotPublic(String),
    /// Nothing was sent.
    #[error("no connection to {0}")]
    Connect(String, #[source] BoxError),
    /// The request may have arrived.
    #[error("the connection to {0} broke")]
    Broken(String, #[source] BoxError),
    /// The request may have arrived.
    #[error("no response within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// The response is longer than its limit.
    #[error("the response has more than {0} bytes")]
    TooLarge(usize),
}

impl OutboundError {
    /// Whether the other side certainly received nothing of the request.
    pub const fn nothing_was_sent(&self) -> bool {
        !matches!(self, Self::Broken(..) | Self::TimedOut(_) | Self::TooLarge(_))
    }
}

impl Outbound {
    /// A client that trusts the certificates of the system.
    ///
    /// # Errors
    /// [`OutboundError::Tls`] if they cannot be loaded.
    pub(crate) fn new(policy: AddressPolicy) -> Result<Self, OutboundError> {
        let tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(BuilderVerifierExt::with_platform_verifier)
            .map_err(OutboundError::Tls)?
            .with_no_client_auth();
        Ok(Self::build(&tls, policy, |builder| builder))
    }

    /// A client with another policy and with connections of its own.
    #[must_use]
    pub(crate) fn with_policy(&self, policy: AddressPolicy) -> Self {
        Self::build(&self.tls, policy, |builder| builder)
    }

    /// A client that opens a connection for each request. A request that must not be sent twice
    /// then never meets a pooled connection that the other side is just closing.
    #[must_use]
    pub(crate) fn with_new_connections(&self) -> Self {
        Self::build(&self.tls, self.policy, |builder| builder.pool_max_idle_per_host(0))
    }

    /// A client for the S3 library, which has limits of its own.
    pub(crate) fn for_s3(&self, https_only: bool, read_timeout: Duration) -> Client {
        let set =
            |builder: ClientBuilder| builder.https_only(https_only).read_timeout(read_timeout);
        Self::build(&self.tls, self.policy, set).client
    }

    #[expect(clippy::expect_used, reason = "only invalid settings fail, and these are constant")]
    fn build(
        tls: &ClientConfig,
        policy: AddressPolicy,
        set: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Self {
        let builder = Client::builder()
            .tls_backend_preconfigured(tls.clone())
            .dns_resolver(PolicyResolver(policy))
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .http1_only()
            .user_agent(USER_AGENT)
            .connect_timeout(OUTBOUND_CONNECT_TIMEOUT)
            .pool_idle_timeout(OUTBOUND_IDLE_TIMEOUT);
        let client = set(builder).build().expect("valid settings");
        Self { client, tls: tls.clone(), policy }
    }

    /// Sends a request and reads the whole response.
    ///
    /// # Errors
    /// Any [`OutboundError`] but `Tls`.
    pub(crate) async fn fetch(
        &self,
        request: Request<Bytes>,
        limits: Limits,
    ) -> Result<Response<Bytes>, OutboundError> {
        let (head, body) = request.into_parts();
        let (url, host) = self.check(&head.uri)?;
        let mut request = reqwest::Request::new(head.method, url);
        *request.headers_mut() = head.headers;
        *request.body_mut() = Some(body.into());
        let exchange = async {
            let response = self.client.execute(request).await;
            let response = response.map_err(|error| send_error(host.clone(), error))?;
            if response.content_length().is_some_and(|declared| declared > limits.bytes as u64) {
                return Err(OutboundError::TooLarge(limits.bytes));
            }
            let (head, body) = Response::<reqwest::Body>::from(response).into_parts();
            match Limited::new(body, limits.bytes).collect().await {
                Ok(body) => Ok(Response::from_parts(head, body.to_bytes())),
                Err(error) if error.is::<LengthLimitError>() => {
                    Err(OutboundError::TooLarge(limits.bytes))
                }
                Err(error) => Err(OutboundError::Broken(host, error)),
            }
        };
        timeout(limits.time, exchange).await.unwrap_or(Err(OutboundError::TimedOut(limits.time)))
    }

    /// The URL and its host. An IP address is checked here, because no resolver sees it.
    fn check(&self, uri: &Uri) -> Result<(Url, String), OutboundError> {
        let url = Url::parse(&uri.to_string()).map_err(|_| OutboundError::Address)?;
        let host = url.host().filter(|_| matches!(url.scheme(), "http" | "https"));
        let (host, allowed) = match host.ok_or(OutboundError::Address)? {
            Host::Domain(name) => (name.to_owned(), true),
            Host::Ipv4(address) => (address.to_string(), self.policy.allows(address.into())),
            Host::Ipv6(address) => (address.to_string(), self.policy.allows(address.into())),
        };
        if allowed { Ok((url, host)) } else { Err(OutboundError::NotPublic(host)) }
    }
}

/// Leaves out the URL of the request, which may contain secrets.
fn send_error(host: String, error: reqwest::Error) -> OutboundError {
    if PolicyResolver::refused(&error) {
        OutboundError::NotPublic(host)
    } else if error.is_connect() {
        OutboundError::Connect(host, error.without_url().into())
    } else {
        OutboundError::Broken(host, error.without_url().into())
    }
}

#[cfg(test)]
mod tests;
