//! The settings of a client, checked before anything is sent.
//!
//! No error repeats the key or the base URL: if the two are swapped, either is the secret.

use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use tokio::time::Instant;
use url::Url;

use super::Error;
use super::error::TimeLimit;
use super::retry::{RetryBudget, RetryPolicy};
use super::transport::HttpClient;

pub(super) struct Config {
    pub(super) base_url: Url,
    /// The headers of every call, including the key.
    pub(super) headers: HeaderMap,
    pub(super) user_agent: HeaderValue,
    pub(super) limits: Limits,
    pub(super) max_response_size: u64,
    pub(super) retry: RetryPolicy,
    pub(super) budget: RetryBudget,
    pub(super) http_client: HttpClient,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) connect: Duration,
    pub(super) idle: Duration,
    /// As `idle`, for the beginning of the response.
    pub(super) first_byte: Duration,
    pub(super) attempt: Duration,
    pub(super) call: Duration,
    /// The setting that `call` comes from.
    pub(super) call_setting: TimeLimit,
}

pub(super) fn headers(authorization: HeaderValue, user_agent: HeaderValue) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(5);
    headers.insert(AUTHORIZATION, authorization);
    headers.insert(USER_AGENT, user_agent);
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers
}

pub(super) fn check_base_url(text: &str) -> Result<Url, &'static str> {
    let mut url = Url::parse(text.trim()).map_err(|_| "it is not an absolute URL")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("its scheme is neither http nor https");
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

/// The `Authorization` header, marked as sensitive so that `Debug` does not show it.
pub(super) fn authorization(api_key: &str) -> Result<HeaderValue, &'static str> {
    if api_key.trim().is_empty() {
        return Err("it is blank");
    }
    if !api_key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("it contains a space, a line break or another character that is not in a key");
    }
    let mut value = HeaderValue::try_from(format!("Bearer {api_key}"))
        .map_err(|_| "it contains a character that is not allowed in a header")?;
    value.set_sensitive(true);
    Ok(value)
}

pub(super) fn user_agent(suffix: Option<&str>) -> Result<HeaderValue, Error> {
    let own = concat!("promptarium/", env!("CARGO_PKG_VERSION"));
    let whole = suffix.map_or_else(|| own.to_owned(), |suffix| format!("{own} {suffix}"));
    HeaderValue::try_from(whole).map_err(|_| {
        Error::config("the user agent contains a character that is not allowed in a header")
    })
}

/// Neither redirects nor retries: both are done by `send`, which protects the key and knows which
/// requests are idempotent.
pub(super) fn http_client(connect_timeout: Duration) -> Result<reqwest::Client, Error> {
    // Without a provider reqwest panics.
    #[cfg(all(feature = "rustls-no-provider", not(feature = "rustls")))]
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        return Err(Error::config(
            "no crypto provider for TLS is installed; call `CryptoProvider::install_default` of \
             rustls before the first client is built",
        ));
    }
    let builder = reqwest::Client::builder();
    // Another crate of the program may have switched reqwest's feature on.
    #[cfg(not(feature = "http2"))]
    let builder = builder.http1_only();
    builder
        .connect_timeout(connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .build()
        .map_err(|source| Error::set_up("HTTP client", source.without_url()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Elapsed;

/// Runs `work` until `end`; without one there is no time limit.
pub(super) async fn until<T>(
    end: Option<Instant>,
    work: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    match end {
        Some(end) => tokio::time::timeout_at(end, work).await.map_err(|_| Elapsed),
        None => Ok(work.await),
    }
}
