//! What a client is set up with, checked once, before anything is sent.
//!
//! No text from here repeats the key or the base URL it was given: the two are
//! easily swapped, and then either of them is the secret.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use url::Url;

use super::{Client, Error};

const BASE_URL_VARIABLE: &str = "PROMPTARIUM_BASE_URL";
const API_KEY_VARIABLE: &str = "PROMPTARIUM_API_KEY";

/// What every request of a client is made and sent with.
pub(super) struct Config {
    pub(super) base_url: Url,
    pub(super) authorization: HeaderValue,
    pub(super) user_agent: HeaderValue,
    pub(super) request_timeout: Duration,
    pub(super) http: reqwest::Client,
}

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
///     .user_agent("my-app/2.1")
///     .build()?;
/// # Ok::<(), promptarium::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct ClientBuilder {
    base_url: Option<String>,
    api_key: Option<String>,
    connect_timeout: Duration,
    request_timeout: Duration,
    user_agent: Option<String>,
    http: Option<reqwest::Client>,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        Self {
            base_url: None,
            api_key: None,
            connect_timeout: Self::DEFAULT_CONNECT_TIMEOUT,
            request_timeout: Self::DEFAULT_REQUEST_TIMEOUT,
            user_agent: None,
            http: None,
        }
    }
}

impl ClientBuilder {
    /// How long opening a connection may take unless told otherwise: 10 seconds.
    pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

    /// How long one request may take, from connecting to the last byte of the
    /// answer, unless told otherwise: 30 seconds.
    pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

    /// Starts from `PROMPTARIUM_BASE_URL` and `PROMPTARIUM_API_KEY`.
    ///
    /// # Errors
    ///
    /// [`Error::is_config`], naming the variable that is missing, blank or not
    /// Unicode.
    pub fn from_env() -> Result<Self, Error> {
        Self::from_variables(|name| {
            std::env::var_os(name).map(|value| value.into_string().map_err(drop))
        })
    }

    /// `read` gives a variable's text, or `Err` when it is not Unicode.
    fn from_variables(read: impl Fn(&str) -> Option<Result<String, ()>>) -> Result<Self, Error> {
        let value = |name: &str| match read(name) {
            None => Err(Error::config(format!("the environment variable {name} is not set"))),
            Some(Err(())) => {
                Err(Error::config(format!("the environment variable {name} is not valid Unicode")))
            }
            Some(Ok(text)) => Ok(text),
        };
        let named = |name: &str, problem: &str| {
            Error::config(format!("the environment variable {name} cannot be used: {problem}"))
        };
        let base_url = value(BASE_URL_VARIABLE)?;
        check_base_url(&base_url).map_err(|problem| named(BASE_URL_VARIABLE, problem))?;
        let api_key = value(API_KEY_VARIABLE)?;
        authorization(&api_key).map_err(|problem| named(API_KEY_VARIABLE, problem))?;
        Ok(Self::default().base_url(base_url).api_key(api_key))
    }

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
    /// No effect with [`http_client`](Self::http_client), which brings its own.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long one request may take, from connecting to the last byte of the
    /// answer; [`DEFAULT_REQUEST_TIMEOUT`](Self::DEFAULT_REQUEST_TIMEOUT) otherwise.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
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
    /// answer of a request it redirected is refused, but only after it was sent on.
    pub fn http_client(mut self, client: reqwest::Client) -> Self {
        self.http = Some(client);
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
        let base_url = check_base_url(&base_url)
            .map_err(|problem| Error::config(format!("the base URL cannot be used: {problem}")))?;
        let api_key = self.api_key.ok_or_else(|| Error::config("the API key is not set"))?;
        let authorization = authorization(&api_key)
            .map_err(|problem| Error::config(format!("the API key cannot be used: {problem}")))?;
        let http = match self.http {
            Some(client) => client,
            None => http_client(self.connect_timeout)?,
        };
        Ok(Client(Arc::new(Config {
            base_url,
            authorization,
            user_agent: user_agent(self.user_agent.as_deref())?,
            request_timeout: self.request_timeout,
            http,
        })))
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("connect_timeout", &self.connect_timeout)
            .field("request_timeout", &self.request_timeout)
            .field("user_agent", &self.user_agent)
            .finish_non_exhaustive()
    }
}

/// The base URL, its path without a slash at the end.
fn check_base_url(text: &str) -> Result<Url, &'static str> {
    let mut url = Url::parse(text.trim()).map_err(|_| "it is not an absolute URL")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("its scheme is neither http nor https");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it holds a user name or a password");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it holds a query or a fragment");
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

/// The `Authorization` header, marked so that nothing on the way prints it.
fn authorization(api_key: &str) -> Result<HeaderValue, &'static str> {
    if api_key.trim().is_empty() {
        return Err("it is blank");
    }
    if !api_key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("it holds a space, a line break or another character no key has");
    }
    let mut value = HeaderValue::try_from(format!("Bearer {api_key}"))
        .map_err(|_| "it holds a character no header can hold")?;
    value.set_sensitive(true);
    Ok(value)
}

fn user_agent(suffix: Option<&str>) -> Result<HeaderValue, Error> {
    let own = concat!("promptarium/", env!("CARGO_PKG_VERSION"));
    let whole = suffix.map_or_else(|| own.to_owned(), |suffix| format!("{own} {suffix}"));
    HeaderValue::try_from(whole)
        .map_err(|_| Error::config("the user agent holds a character no header can hold"))
}

/// Redirects stay with the caller: following one would take the key, or a changed
/// method, to a place nobody named. Sending again is decided in one place only,
/// and that is not this one.
fn http_client(connect_timeout: Duration) -> Result<reqwest::Client, Error> {
    reqwest::Client::builder()
        .connect_timeout(connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .build()
        .map_err(Error::set_up)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(base_url: Option<&str>, api_key: Option<&str>) -> Result<ClientBuilder, Error> {
        ClientBuilder::from_variables(|name| {
            let value = if name == BASE_URL_VARIABLE { base_url } else { api_key };
            value.map(|text| Ok(text.to_owned()))
        })
    }

    #[test]
    fn the_environment_is_named_in_every_complaint() {
        let text = |base_url, api_key| from(base_url, api_key).unwrap_err().to_string();
        let url = Some("http://h/api/v1");
        assert_eq!(text(None, None), "the environment variable PROMPTARIUM_BASE_URL is not set");
        assert_eq!(text(url, None), "the environment variable PROMPTARIUM_API_KEY is not set");
        assert_eq!(
            text(url, Some(" ")),
            "the environment variable PROMPTARIUM_API_KEY cannot be used: it is blank"
        );
        assert_eq!(
            text(Some("h/api"), Some("k")),
            "the environment variable PROMPTARIUM_BASE_URL cannot be used: it is not an absolute URL"
        );
        let undecodable = ClientBuilder::from_variables(|_| Some(Err(()))).unwrap_err();
        assert_eq!(
            undecodable.to_string(),
            "the environment variable PROMPTARIUM_BASE_URL is not valid Unicode"
        );
    }

    #[test]
    fn the_environment_makes_a_client() {
        let client = from(Some("http://h/api/v1"), Some("k")).unwrap().build().unwrap();
        assert_eq!(client.base_url(), "http://h/api/v1");
    }
}
