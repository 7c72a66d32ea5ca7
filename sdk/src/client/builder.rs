//! The settings of a client, one method each.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::config::{self, Config, Limits};
use super::error::TimeLimit;
use super::retry::{RetryBudget, RetryPolicy};
use super::transport::Transport;
use super::{Client, Error};

/// Settings of a [`Client`].
///
/// ```
/// use std::time::Duration;
/// use promptarium::Client;
///
/// let client = Client::builder()
///     .base_url("https://prompts.example/api/v1/")
///     .api_key("promptarium_live_a1_s3cret")
///     .connect_timeout(Duration::from_secs(3))
///     .request_timeout(Duration::from_secs(10))
///     .overall_timeout(Duration::from_secs(30))
///     .user_agent("my-app/2.1")
///     .build()?;
/// # Ok::<(), promptarium::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct ClientBuilder {
    base_url: Option<String>,
    api_key: Option<String>,
    user_agent: Option<String>,
    limits: Limits,
    max_response_size: u64,
    retry: RetryPolicy,
    budget: RetryBudget,
    transport: Option<Arc<dyn Transport>>,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        Self {
            base_url: None,
            api_key: None,
            user_agent: None,
            limits: Limits {
                connect: Self::DEFAULT_CONNECT_TIMEOUT,
                idle: Self::DEFAULT_IDLE_TIMEOUT,
                first_byte: Self::DEFAULT_IDLE_TIMEOUT,
                attempt: Self::DEFAULT_REQUEST_TIMEOUT,
                call: Self::DEFAULT_OVERALL_TIMEOUT,
                call_setting: TimeLimit::Call,
            },
            max_response_size: Self::DEFAULT_MAX_RESPONSE_SIZE,
            retry: RetryPolicy::new(),
            budget: RetryBudget::default(),
            transport: None,
        }
    }
}

impl ClientBuilder {
    /// How long opening a connection may take unless told otherwise: 10 seconds.
    pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

    /// How long nothing may move in either direction unless told otherwise: 20
    /// seconds.
    pub const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(20);

    /// How long one attempt at a call may take, from connecting to the last byte of
    /// the answer, unless told otherwise: 60 seconds.
    pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

    /// How long a call may take unless told otherwise, with all its attempts and the
    /// delays between them: 2 minutes.
    pub const DEFAULT_OVERALL_TIMEOUT: Duration = Duration::from_secs(120);

    /// Bytes of an answer that are read unless told otherwise: 128 MiB.
    pub const DEFAULT_MAX_RESPONSE_SIZE: u64 = 128 * 1024 * 1024;

    /// The root of the API, up to and including `/api/v1` (`EN-01`). Required.
    ///
    /// An absolute `http` or `https` address without user name, query and fragment;
    /// a slash at the end makes no difference.
    pub fn base_url(mut self, base_url: impl AsRef<str>) -> Self {
        self.base_url = Some(base_url.as_ref().to_owned());
        self
    }

    /// The whole API key, its prefix included (`KE-02`). Required.
    ///
    /// It goes to the base URL and nowhere else, and shows in no `Debug` and no
    /// error.
    pub fn api_key(mut self, api_key: impl Into<String>) -> Self {
        self.api_key = Some(api_key.into());
        self
    }

    /// How long opening a connection may take;
    /// [`DEFAULT_CONNECT_TIMEOUT`](Self::DEFAULT_CONNECT_TIMEOUT) otherwise.
    ///
    /// No effect with [`http_client`](Self::http_client) and
    /// [`transport`](Self::transport), which bring their own.
    pub const fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.limits.connect = timeout;
        self
    }

    /// How long nothing may move in either direction, the wait for the beginning of an
    /// answer included; [`DEFAULT_IDLE_TIMEOUT`](Self::DEFAULT_IDLE_TIMEOUT) otherwise.
    /// It holds for uploads and assets too, which have no other limit by themselves.
    pub const fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.limits.idle = timeout;
        self.limits.first_byte = timeout;
        self
    }

    /// How long one attempt at a call may take, from connecting to the last byte of
    /// the answer; [`DEFAULT_REQUEST_TIMEOUT`](Self::DEFAULT_REQUEST_TIMEOUT)
    /// otherwise.
    pub const fn request_timeout(mut self, timeout: Duration) -> Self {
        self.limits.attempt = timeout;
        self
    }

    /// How long a call may take with all its attempts and the delays between them;
    /// [`DEFAULT_OVERALL_TIMEOUT`](Self::DEFAULT_OVERALL_TIMEOUT) otherwise, and
    /// [`Duration::MAX`] for as long as it needs.
    pub const fn overall_timeout(mut self, timeout: Duration) -> Self {
        self.limits.call = timeout;
        self
    }

    /// Bytes of an answer that are read at most; a longer one is
    /// [`Error::is_too_large`]. [`DEFAULT_MAX_RESPONSE_SIZE`](Self::DEFAULT_MAX_RESPONSE_SIZE)
    /// otherwise. Assets have a limit of their own
    /// ([`max_size`](crate::call::GetAsset::max_size)).
    pub const fn max_response_size(mut self, bytes: u64) -> Self {
        self.max_response_size = bytes;
        self
    }

    /// How calls are tried again; [`RetryPolicy::new`] otherwise.
    pub const fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// What all calls together may spend on trying again; [`RetryBudget::default`]
    /// otherwise.
    pub fn retry_budget(mut self, budget: RetryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Says who is calling, after `promptarium/VERSION`, in the `User-Agent` header.
    pub fn user_agent(mut self, suffix: impl Into<String>) -> Self {
        self.user_agent = Some(suffix.into());
        self
    }

    /// Sends through this client, with its proxies, certificates and connection
    /// pool.
    ///
    /// Build it with [`redirect::Policy::none`](reqwest::redirect::Policy::none): the
    /// answer of a request it redirected is refused, but only after it was sent on. And
    /// with [`retry::never`](reqwest::retry::never), since this crate decides what is
    /// sent again.
    pub fn http_client(self, client: reqwest::Client) -> Self {
        self.transport(client)
    }

    /// Sends through this in place of an HTTP client.
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    /// Checks the settings and makes the client. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_config`] for a setting that is missing or cannot be used. The
    /// text never repeats the key or the base URL.
    pub fn build(self) -> Result<Client, Error> {
        let base_url = self.base_url.ok_or_else(|| Error::config("the base URL is not set"))?;
        let base_url = config::check_base_url(&base_url)
            .map_err(|problem| Error::config(format!("the base URL cannot be used: {problem}")))?;
        let api_key = self.api_key.ok_or_else(|| Error::config("the API key is not set"))?;
        let authorization = config::authorization(&api_key)
            .map_err(|problem| Error::config(format!("the API key cannot be used: {problem}")))?;
        let user_agent = config::user_agent(self.user_agent.as_deref())?;
        let transport = match self.transport {
            Some(transport) => transport,
            None => Arc::new(config::http_client(self.limits.connect)?),
        };
        Ok(Client(Arc::new(Config {
            base_url,
            headers: config::headers(authorization, user_agent.clone()),
            user_agent,
            limits: self.limits,
            max_response_size: self.max_response_size,
            retry: self.retry,
            budget: self.budget,
            transport,
        })))
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("limits", &self.limits)
            .field("max_response_size", &self.max_response_size)
            .field("retry", &self.retry)
            .field("retry_budget", &self.budget)
            .field("user_agent", &self.user_agent)
            .finish_non_exhaustive()
    }
}
