//! The client: what all calls of one account share, and its settings.

use std::env::{self, VarError};
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;

use crate::error::{Error, TimeLimit};
use crate::macros::{debug, settings};
use crate::send::config::{self, Config, Credentials};
use crate::send::policy::{RetryBudget, RetryPolicy};
use crate::send::throttle::{Pressure, Throttle};
use crate::send::timeout::Limits;
use crate::transport::{DefaultClient, HttpClient, Transport};

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

/// Settings of a [`Client`].
///
/// ```
/// let client = promptarium::Client::builder()
///     .base_url("https://prompts.example/api/v1")
///     .api_key("promptarium_live_a1_s3cret")
///     .overall_timeout(std::time::Duration::from_secs(30))
///     .build()?;
/// # Ok::<(), promptarium::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct ClientBuilder {
    base_url: Option<String>,
    api_key: Option<Result<Credentials, &'static str>>,
    user_agent: Option<String>,
    limits: Limits,
    max_response_size: u64,
    retry: RetryPolicy,
    budget: RetryBudget,
    http_client: Option<HttpClient>,
}

impl ClientBuilder {
    fn new() -> Self {
        Self {
            base_url: None,
            api_key: None,
            user_agent: None,
            limits: Limits {
                connect: Duration::from_secs(10),
                idle: Duration::from_secs(20),
                first_byte: Duration::from_secs(20),
                attempt: Duration::from_secs(60),
                call: Duration::from_secs(120),
                call_setting: TimeLimit::Call,
                deadline: None,
            },
            max_response_size: 128 * 1024 * 1024,
            retry: RetryPolicy::new(),
            budget: RetryBudget::new(),
            http_client: None,
        }
    }

    /// A builder with the base URL from `PROMPTARIUM_BASE_URL` and the key from
    /// `PROMPTARIUM_API_KEY`. An error names the variable that is missing or invalid.
    pub fn from_env() -> Result<Self, Error> {
        let base_url = variable("PROMPTARIUM_BASE_URL", config::check_base_url)?;
        let api_key = variable("PROMPTARIUM_API_KEY", config::authorization)?;
        Ok(Self::new().base_url(base_url).api_key(api_key))
    }

    /// The root of the API, including `/api/v1`. Required.
    ///
    /// An absolute `http` or `https` URL without user name, query and fragment.
    pub fn base_url(mut self, base_url: impl AsRef<str>) -> Self {
        self.base_url = Some(base_url.as_ref().to_owned());
        self
    }

    /// The API key, including its prefix. Required.
    ///
    /// It is sent to URLs below the base URL only, and is in no `Debug` output and no error.
    pub fn api_key(mut self, api_key: impl AsRef<str>) -> Self {
        self.api_key = Some(config::authorization(api_key.as_ref()).map(Credentials::Fixed));
        self
    }

    /// Asks this function for the API key before each attempt of a call, for keys that are rotated.
    /// It should cache the key. An error of it fails the call with [`Error::is_config`].
    ///
    /// ```
    /// async fn current_key() -> std::io::Result<String> {
    ///     Ok("promptarium_live_a1_s3cret".to_owned())
    /// }
    /// let builder = promptarium::Client::builder().api_key_provider(current_key);
    /// ```
    pub fn api_key_provider<F, E>(
        mut self,
        provider: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<String, E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let provider = move || {
            let key = provider();
            Box::pin(async move { key.await.map_err(Into::into) }) as BoxFuture<'static, _>
        };
        self.api_key = Some(Ok(Credentials::Provider(Arc::new(provider))));
        self
    }

    settings! {
        /// How long opening a connection may take; 10 seconds by default. No effect with
        /// [`http_client`](Self::http_client) and [`transport`](Self::transport).
        connect_timeout(timeout: Duration) => limits.connect;
        /// How long no byte may be sent or received, including the wait for the first byte of the
        /// response; 20 seconds by default. Uploads and downloads have no other timeout by default;
        /// for bytes that were sent and may not be read yet, see
        /// [`UploadImage`](crate::request::UploadImage).
        idle_timeout(timeout: Duration) => limits.idle;
        /// How long one attempt of a call may take, with the response; 60 seconds by default.
        request_timeout(timeout: Duration) => limits.attempt;
        /// How long a call may take with all its attempts and the backoff between them; 2 minutes
        /// by default. [`Duration::MAX`] is no limit.
        overall_timeout(timeout: Duration) => limits.call;
        /// The largest response in bytes, 128 MiB by default; a larger one fails with
        /// [`Error::is_too_large`]. Assets have [their
        /// own](crate::request::DownloadAsset::max_size).
        max_response_size(bytes: u64) => max_response_size;
        /// How calls are retried; [`RetryPolicy::new`] otherwise.
        retry(policy: RetryPolicy) => retry;
    }

    /// The limit of the retries of all calls together; [`RetryBudget::new`] otherwise.
    pub fn retry_budget(mut self, budget: RetryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Appends this to `promptarium/VERSION` in the `User-Agent` header.
    pub fn user_agent(mut self, suffix: impl Into<String>) -> Self {
        self.user_agent = Some(suffix.into());
        self
    }

    /// Uses this HTTP client, with its proxies, certificates and connection pool.
    ///
    /// Build it with [`redirect::Policy::none`](reqwest::redirect::Policy::none), as calls fail if the
    /// client followed a redirect, with [`retry::never`](reqwest::retry::never), and with a
    /// [`pool_idle_timeout`](reqwest::ClientBuilder::pool_idle_timeout) shorter than the server's, which
    /// may close a connection just as a request is sent. Use it in one Tokio runtime only.
    pub fn http_client(self, client: reqwest::Client) -> Self {
        self.transport(client)
    }

    /// Uses this transport in place of an HTTP client.
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.http_client = Some(HttpClient::Custom(Arc::new(transport)));
        self
    }

    /// Checks the settings and creates the client. Sends nothing; fails with [`Error::is_config`],
    /// whose text repeats neither the key nor the base URL.
    pub fn build(self) -> Result<Client, Error> {
        let base_url = self.base_url.ok_or_else(|| Error::config("the base URL is not set"))?;
        let base_url = config::check_base_url(&base_url)
            .map_err(|problem| Error::config(format!("the base URL cannot be used: {problem}")))?;
        let credentials = self.api_key.ok_or_else(|| Error::config("the API key is not set"))?;
        let credentials = credentials.map_err(config::unusable_key)?;
        let user_agent = config::user_agent(self.user_agent.as_deref())?;
        let http_client = match self.http_client {
            Some(http_client) => http_client,
            None => {
                let Limits { connect, idle, .. } = self.limits;
                HttpClient::Default(Arc::new(DefaultClient::new(&base_url, connect, idle)?))
            }
        };
        Ok(Client(Arc::new(Config {
            base_url,
            credentials,
            user_agent,
            limits: self.limits,
            max_response_size: self.max_response_size,
            retry: self.retry,
            budget: self.budget,
            http_client,
            throttle: Arc::default(),
            completed_at: Arc::default(),
        })))
    }
}

debug!(
    ClientBuilder,
    |it| limits = it.limits,
    max_response_size = it.max_response_size,
    retry = it.retry,
    retry_budget = it.budget,
    user_agent = it.user_agent
);

fn variable<T>(
    name: &str,
    check: impl FnOnce(&str) -> Result<T, &'static str>,
) -> Result<String, Error> {
    let problem = match env::var(name) {
        Ok(value) => match check(&value) {
            Ok(_) => return Ok(value),
            Err(problem) => format!("cannot be used: {problem}"),
        },
        Err(VarError::NotPresent) => "is not set".to_owned(),
        Err(VarError::NotUnicode(_)) => "is not valid Unicode".to_owned(),
    };
    Err(Error::config(format!("the environment variable {name} {problem}")))
}
