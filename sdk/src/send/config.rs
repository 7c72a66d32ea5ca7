//! The settings of a client, checked before anything is sent, and the options of one call.
//!
//! No error repeats the key or the base URL: if the two are swapped, either is the secret.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_core::future::BoxFuture;
use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::policy::{RetryBudget, RetryPolicy};
use super::request::Request;
use super::throttle::Throttle;
use super::timeout::Limits;
use crate::error::{Cause, Error, Idempotency, TimeLimit};
use crate::time::Instant;
use crate::transport::HttpClient;

/// The settings of a client, and what its clones share.
#[derive(Clone)]
pub(crate) struct Config {
    pub(crate) base_url: Url,
    pub(crate) credentials: Credentials,
    pub(crate) user_agent: HeaderValue,
    pub(crate) limits: Limits,
    pub(crate) max_response_size: u64,
    pub(crate) retry: RetryPolicy,
    pub(crate) budget: RetryBudget,
    pub(crate) http_client: HttpClient,
    pub(crate) throttle: Arc<Throttle>,
    /// When a generation that this client waited for was last seen to be completed.
    pub(crate) completed_at: Arc<Mutex<Option<Instant>>>,
}

impl Config {
    pub(crate) fn completed(&self) {
        *self.completed_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether an asset may be the output of a just completed generation, which may come late.
    pub(crate) fn has_new_output(&self) -> bool {
        let at = *self.completed_at.lock().unwrap_or_else(PoisonError::into_inner);
        at.is_some_and(|at| at.elapsed() < NEW_OUTPUT)
    }
}

const NEW_OUTPUT: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub(crate) enum Credentials {
    Fixed(HeaderValue),
    Provider(Arc<KeyProvider>),
}

impl Credentials {
    /// Tells accounts apart, without the secret: the hash (FNV-1a) of the key up to its last `_`, or
    /// of all of it, in 32 bits. `None` if the key is not known in advance.
    #[cfg(feature = "durable")]
    pub(crate) fn account(&self) -> Option<String> {
        let Self::Fixed(header) = self else { return None };
        let key = header.to_str().ok()?;
        let named = key.rsplit_once('_').map_or(key, |(named, _)| named);
        let hash = |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        Some(format!("{:08x}", named.bytes().fold(0x811c_9dc5, hash)))
    }
}

pub(super) type KeyProvider = dyn Fn() -> BoxFuture<'static, Result<String, Cause>> + Send + Sync;

/// The `Authorization` header of an attempt.
pub(super) async fn provided_authorization(provider: &KeyProvider) -> Result<HeaderValue, Error> {
    let failed = |source| Error::config("the provider of the API key failed").because(source);
    let key = provider().await.map_err(failed)?;
    authorization(&key).map_err(|problem| {
        Error::config(format!("the API key of the provider cannot be used: {problem}"))
    })
}

pub(crate) fn check_base_url(text: &str) -> Result<Url, &'static str> {
    let mut url = Url::parse(text.trim()).map_err(|_| "it is not an absolute URL")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("its scheme is neither http nor https");
    }
    // The parser repairs a text without a host, and then finds one in the path.
    let rest = text.split_once("://").map_or("/", |(_, rest)| rest);
    if rest.starts_with(['/', '\\']) || text.trim().contains(char::is_control) {
        return Err("it is not an absolute URL");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it contains a user name or a password");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it contains a query or a fragment");
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

pub(crate) fn unusable_key(problem: &str) -> Error {
    Error::config(format!("the API key cannot be used: {problem}"))
}

/// The `Authorization` header, or why the key cannot be used.
pub(crate) fn authorization(api_key: &str) -> Result<HeaderValue, &'static str> {
    if api_key.trim().is_empty() {
        return Err("it is blank");
    }
    if !api_key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("it contains a space, a line break or another character that is not in a key");
    }
    bearer(api_key).ok_or("it contains a character that is not allowed in a header")
}

/// Marked as sensitive, so that `Debug` does not show it.
pub(crate) fn bearer(token: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

pub(crate) fn user_agent(suffix: Option<&str>) -> Result<HeaderValue, Error> {
    let own = concat!("promptarium/", env!("CARGO_PKG_VERSION"));
    let whole = suffix.map_or_else(|| own.to_owned(), |suffix| format!("{own} {suffix}"));
    HeaderValue::try_from(whole).map_err(|_| {
        Error::config("the user agent contains a character that is not allowed in a header")
    })
}

const RESERVED: [HeaderName; 6] =
    [AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING];

#[derive(Debug, Clone, Default)]
pub(crate) struct CallOptions {
    pub(crate) timeout: Option<Duration>,
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) retry: Option<RetryPolicy>,
    pub(crate) is_idempotent: bool,
    /// The end of a wait that the call is part of, and the timeout of the wait.
    pub(crate) deadline: Option<(Instant, Duration)>,
    pub(crate) headers: HeaderMap,
    /// What is wrong with a header; the error of the call when it is sent.
    invalid: Option<String>,
}

impl CallOptions {
    /// No error repeats the value, which may be secret.
    pub(crate) fn header(&mut self, name: &str, value: &str) {
        self.invalid = Some(match (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            (Err(_), _) => format!("{name:?} is not a valid header name"),
            (Ok(known), _) if RESERVED.contains(&known) => {
                format!("the header {known} is set by the client")
            }
            (Ok(known), Err(_)) => {
                format!("the value of the header {known} contains a character that is not allowed")
            }
            (Ok(known), Ok(mut value)) => {
                value.set_sensitive(true);
                self.headers.append(known, value);
                return;
            }
        });
    }

    pub(crate) fn without_retries(self) -> Self {
        Self { retry: Some(RetryPolicy::never()), ..self }
    }

    /// One that costs money is never repeated without a trace, whatever the caller says of it.
    pub(crate) const fn idempotency(&self, request: &Request) -> Idempotency {
        match &request.status {
            None if self.is_idempotent => Idempotency::SameResponse,
            Some(_) if self.is_idempotent => Idempotency::SameState,
            _ => request.idempotency,
        }
    }

    pub(crate) fn limits(&self, config: &Config) -> Limits {
        let mut limits = config.limits;
        if let Some(timeout) = self.timeout {
            (limits.call, limits.call_setting) = (timeout, TimeLimit::Whole);
        }
        limits.attempt = self.request_timeout.unwrap_or(limits.attempt);
        limits.idle = self.idle_timeout.unwrap_or(limits.idle);
        // A call that may take longer than usual may wait longer for the first byte.
        let longer = self.request_timeout.or(self.timeout).unwrap_or_default();
        limits.first_byte = limits.idle.max(longer);
        limits.deadline = self.deadline;
        limits
    }

    /// The same for the bytes of an upload or a download: an attempt may take as long as it
    /// needs, unless `request_timeout` of the call says otherwise.
    pub(crate) fn file_limits(&self, config: &Config) -> Limits {
        let attempt = self.request_timeout.unwrap_or(Duration::MAX);
        Limits { attempt, ..self.limits(config) }
    }

    pub(crate) fn policy<'a>(&'a self, config: &'a Config) -> &'a RetryPolicy {
        self.retry.as_ref().unwrap_or(&config.retry)
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.invalid.as_ref().map_or(Ok(()), |problem| Err(Error::input(problem.clone())))
    }
}
