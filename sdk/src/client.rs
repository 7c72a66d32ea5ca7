//! The client: what all calls of one account share.

mod builder;

use std::sync::Arc;

pub use builder::ClientBuilder;

use crate::error::Error;
use crate::macros::debug;
use crate::send::config::{self, Config, Credentials};
use crate::send::throttle::{Pressure, Throttle};

/// A client of one deployment of the API with one API key.
///
/// Cheap to clone; clones share connections, settings, the retry budget and the rate limit. Calls
/// need a Tokio runtime, or the feature [`blocking`](crate#features).
///
/// # Rate limits
///
/// After a response 429 with `Retry-After` all clones pause together; see the
/// [guide](crate::guide#retries-and-rate-limits). [`pressure`](Self::pressure) shows the state.
///
/// # Connections
///
/// These hold for the client's own HTTP client; [`ClientBuilder::http_client`] takes another one.
///
/// - Idle connections are closed after 4 seconds, before servers that keep them for 5 seconds
///   (Node.js) close them.
/// - Each Tokio runtime has its own connections, so a client may be kept in a `static` and used
///   from several runtimes, for example by `#[tokio::test]` functions.
/// - The proxies of the environment are used (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, also SOCKS;
///   `NO_PROXY`, also with ports), for calls, downloads and uploads. Each request to the loopback
///   interface is sent without a proxy. A proxy for plain `http://` URLs sees the API key.
/// - `https://` uses the certificate store of the operating system, which is read once for the
///   process. Without one, an `http://` base URL works, and `https://` fails with an error.
/// - It speaks HTTP/1.1, and HTTP/2 with the feature `http2`. A request that an HTTP/2 server
///   certainly did not process (`REFUSED_STREAM`, or a `GOAWAY` without an error) is retried,
///   whatever its method, also by a [`ClientBuilder::http_client`].
/// - After `fork()` the child process must make a new runtime; blocking calls do so by themselves.
///   Forking while another thread makes a call is not supported.
#[derive(Clone)]
pub struct Client(pub(crate) Arc<Config>);

impl Client {
    /// A client with default settings. `base_url` is the root of the API, `/api/v1` included. Sends
    /// nothing; fails with [`Error::is_config`] if the base URL or the key cannot be used.
    ///
    /// ```
    /// use promptarium::Client;
    ///
    /// let client = Client::new("https://prompts.example/api/v1", "promptarium_live_a1_s3cret")?;
    /// assert_eq!(client.base_url(), "https://prompts.example/api/v1");
    ///
    /// assert!(Client::new("prompts.example", "promptarium_live_a1_s3cret").is_err());
    /// # Ok::<(), promptarium::Error>(())
    /// ```
    pub fn new(base_url: impl AsRef<str>, api_key: impl AsRef<str>) -> Result<Self, Error> {
        ClientBuilder::new().base_url(base_url).api_key(api_key).build()
    }

    /// A client with default settings from the variables `PROMPTARIUM_BASE_URL` and
    /// `PROMPTARIUM_API_KEY`.
    pub fn from_env() -> Result<Self, Error> {
        ClientBuilder::from_env()?.build()
    }

    /// A builder with default settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// A client with another API key that shares connections, settings and the retry budget with
    /// this one, for example for the tenants of a server. The rate limit is that of the key.
    pub fn with_api_key(&self, api_key: impl AsRef<str>) -> Result<Self, Error> {
        let key = config::authorization(api_key.as_ref()).map_err(config::unusable_key)?;
        let credentials = Credentials::Fixed(key);
        let throttle = Arc::new(Throttle::default());
        Ok(Self(Arc::new(Config { credentials, throttle, ..(*self.0).clone() })))
    }

    /// The root of the API, without a trailing slash.
    pub fn base_url(&self) -> &str {
        self.0.base_url.as_str().trim_end_matches('/')
    }

    /// How the service limits the rate of this client and its clones now, for logs and displays.
    pub fn pressure(&self) -> Pressure {
        self.0.throttle.pressure(self.0.budget.left())
    }
}

debug!(Client, |it| base_url = it.base_url());
