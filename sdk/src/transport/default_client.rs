//! The client's own HTTP client: its settings, and a connection pool for each Tokio runtime.

// As in reqwest, the TLS of the operating system takes precedence.
#[cfg(all(any(feature = "rustls", feature = "rustls-no-provider"), not(feature = "native-tls")))]
mod tls;

use std::env;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, Method, Response};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use tokio::runtime::{Handle, Id};
use url::{Host, Url};

use super::{Body, FinalUrl, of_reqwest};
use crate::error::{Error, Failure};

/// Shorter than the keep-alive of usual servers (Node.js: 5 seconds). A request that is sent while
/// the server closes its connection fails, and one that is not idempotent is not retried.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// For more runtimes than most machines have cores, since some servers have one for each.
const POOLS_MAX: usize = 128;

/// A connection is driven by the runtime that opened it. In another runtime it would stop while the
/// first one rests, and fail when that one ends.
pub(crate) struct DefaultClient {
    connect_timeout: Duration,
    idle_timeout: Duration,
    excluded: Vec<(String, Option<u16>)>,
    pools: Mutex<Vec<(Key, Pool)>>,
}

/// The runtime, and whether it is for hosts that are not reached through a proxy.
type Key = (Option<Id>, bool);

#[derive(Clone)]
struct Pool {
    client: reqwest::Client,
    https_problem: Option<String>,
}

impl DefaultClient {
    pub(crate) fn new(
        base_url: &Url,
        connect_timeout: Duration,
        idle_timeout: Duration,
    ) -> Result<Self, Error> {
        let (excluded, pools) = (excluded(), Mutex::default());
        let client = Self { connect_timeout, idle_timeout, excluded, pools };
        match client.pool(client.is_direct(base_url))?.https_problem {
            Some(problem) if base_url.scheme() == "https" => {
                Err(Error::set_up("HTTP client", problem))
            }
            _ => Ok(client),
        }
    }

    /// The client of the current runtime, for a request to this URL.
    pub(super) fn for_url(&self, url: &Url) -> Result<reqwest::Client, Failure> {
        let is_direct = self.is_direct(url);
        let key = (Handle::try_current().ok().map(|handle| handle.id()), is_direct);
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let known = pools.iter().find(|(of, _)| *of == key).map(|(_, pool)| pool.clone());
        let pool = match known {
            Some(pool) => pool,
            None => {
                let pool = self.pool(is_direct).map_err(Failure::connecting)?;
                if pools.len() == POOLS_MAX {
                    // Most are of runtimes that have ended.
                    pools.clear();
                }
                pools.push((key, pool.clone()));
                pool
            }
        };
        match pool.https_problem {
            Some(problem) if url.scheme() == "https" => Err(Failure::connecting(problem)),
            _ => Ok(pool.client),
        }
    }

    /// Neither redirects nor retries: both are done by `send`, which protects the key and knows
    /// which requests are idempotent.
    fn pool(&self, is_direct: bool) -> Result<Pool, Error> {
        let builder = reqwest::Client::builder();
        #[cfg(any(
            not(any(feature = "rustls", feature = "rustls-no-provider")),
            feature = "native-tls"
        ))]
        let https_problem = None;
        #[cfg(all(
            any(feature = "rustls", feature = "rustls-no-provider"),
            not(feature = "native-tls")
        ))]
        let (builder, https_problem) = tls::set(builder)?;
        // Another crate of the program may have switched reqwest's feature on.
        #[cfg(not(feature = "http2"))]
        let builder = builder.http1_only();
        let builder = if is_direct { builder.no_proxy() } else { builder };
        // The system knows whether bytes that were sent are received.
        #[cfg(any(target_os = "android", target_os = "linux"))]
        let builder = builder.tcp_user_timeout(self.idle_timeout);
        let client = builder
            .connect_timeout(self.connect_timeout)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .build()
            .map_err(|error| Error::set_up("HTTP client", error.without_url()))?;
        Ok(Pool { client, https_problem })
    }

    /// Whether no proxy is used for this URL, beside the hosts that reqwest knows of.
    fn is_direct(&self, url: &Url) -> bool {
        let is_excluded = |(domain, port): &(String, Option<u16>)| {
            let rest = url.host_str().and_then(|host| host.strip_suffix(&**domain));
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
                && port.is_none_or(|port| Some(port) == url.port_or_known_default())
        };
        is_loopback(url) || self.excluded.iter().any(is_excluded)
    }
}

/// The domains in `NO_PROXY`, with the port if one is named. reqwest knows neither ports, nor `*.` in
/// front of a domain, nor spaces between them.
fn excluded() -> Vec<(String, Option<u16>)> {
    let variables = ["NO_PROXY", "no_proxy"].into_iter().filter_map(|name| env::var(name).ok());
    let list = variables.into_iter().find(|list| !list.is_empty()).unwrap_or_default();
    let list = list.to_ascii_lowercase();
    let entries = list.split([',', ' ']).map(|entry| entry.trim_start_matches(['*', '.']));
    let entries = entries.filter(|entry| !entry.is_empty());
    let entry = |entry: &str| match entry.rsplit_once(':').map(|(it, port)| (it, port.parse())) {
        Some((host, Ok(port))) => (host.to_owned(), Some(port)),
        _ => (entry.to_owned(), None),
    };
    entries.map(entry).collect()
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

pub(crate) async fn execute(
    client: &reqwest::Client,
    method: Method,
    url: &Url,
    headers: HeaderMap,
    body: Body,
) -> Result<Response<Body>, Failure> {
    let mut request = reqwest::Request::new(method, url.clone());
    *request.headers_mut() = headers;
    if !body.is_end_stream() {
        *request.body_mut() = Some(reqwest::Body::wrap(body));
    }
    let response = client.execute(request).await.map_err(of_reqwest)?;
    let final_url = FinalUrl::of(&response, url);
    let mut response =
        Response::from(response).map(|body: reqwest::Body| Body::new(body.map_err(of_reqwest)));
    final_url.map(|url| response.extensions_mut().insert(url));
    Ok(response)
}
