//! Requests of browsers: the session cookie, and requests that another site has caused.
//!
//! A browser attaches the cookie to requests from any site. `SameSite=Lax` keeps it from most of
//! them; the check of where a request comes from does not depend on it.

use http::header::{ACCEPT, AUTHORIZATION, COOKIE, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use crate::domain::{PublicUrl, SecretToken, SessionRecord};
use crate::http::auth::AuthError;
use crate::http::error::ApiError;
use crate::http::headers::sole;
use crate::limits::SESSION_MAX;
use crate::store::Store;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The service as browsers see it.
#[derive(Clone, Debug)]
pub struct Site {
    /// Scheme, host and port, in the form of the header `Origin`.
    origin: Box<str>,
    /// Path of the public URL, with a slash at its end.
    root: Box<str>,
    cookie: &'static str,
    cookie_attributes: &'static str,
}

impl Site {
    pub(crate) fn new(public: &PublicUrl) -> Self {
        let url = public.url();
        let (cookie, cookie_attributes) = match url.scheme() {
            // The prefix makes browsers refuse the cookie from other hosts and over HTTP.
            "https" => {
                ("__Host-promptarium_session", "; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=")
            }
            _ => ("promptarium_session", "; Path=/; HttpOnly; SameSite=Lax; Max-Age="),
        };
        Self {
            origin: url.origin().ascii_serialization().into(),
            root: format!("{}/", url.path().trim_end_matches('/')).into(),
            cookie,
            cookie_attributes,
        }
    }

    /// Whether clients reach the service by HTTPS only.
    pub(crate) fn is_https(&self) -> bool {
        self.origin.starts_with("https:")
    }

    /// The address of a page of this site, without scheme and host.
    pub(crate) fn page(&self, name: &str) -> String {
        format!("{}{name}", self.root)
    }

    /// Refuses a request that could change something and that a page of another site may have
    /// caused. Where the browser says nothing of the page, the request is refused too.
    pub(crate) fn check_source(
        &self,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<(), ApiError> {
        let reads = matches!(*method, Method::GET | Method::HEAD);
        let is_own = match sole(headers, &FETCH_SITE) {
            Some(site) => site == "same-origin",
            None if headers.contains_key(&FETCH_SITE) => false,
            None => sole(headers, &ORIGIN).is_some_and(|origin| origin == &*self.origin),
        };
        if reads || is_own { Ok(()) } else { Err(ApiError::CrossSite) }
    }

    /// The session that the cookie of a request belongs to. A request with an API key is refused,
    /// whatever else it has (KE-05).
    pub(crate) async fn session(
        &self,
        headers: &HeaderMap,
        store: &dyn Store,
    ) -> Result<SessionRecord, AuthError> {
        if headers.contains_key(AUTHORIZATION) {
            return Err(AuthError::KeyForSession);
        }
        let token = self.token(headers).ok_or(AuthError::NoSession)?;
        store.find_session(token.digest()).await?.ok_or(AuthError::NoSession)
    }

    /// The session of a request that its source allows.
    pub(crate) async fn authenticate(
        &self,
        parts: &Parts,
        store: &dyn Store,
    ) -> Result<SessionRecord, ApiError> {
        let session = self.session(&parts.headers, store).await?;
        self.check_source(&parts.method, &parts.headers)?;
        Ok(session)
    }

    /// The value of the only session cookie. Of two it would not be clear which one counts: a
    /// neighbouring host can add a cookie.
    fn token(&self, headers: &HeaderMap) -> Option<SecretToken> {
        let lines = headers.get_all(COOKIE).iter();
        let pairs = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
        let mut values = pairs.filter_map(|pair| {
            pair.trim_ascii().strip_prefix(self.cookie.as_bytes())?.strip_prefix(b"=")
        });
        let value = values.next().filter(|_| values.next().is_none())?;
        SecretToken::read(std::str::from_utf8(value).ok()?)
    }

    /// `Set-Cookie` for a new session.
    pub(crate) fn cookie_of(&self, token: &SecretToken) -> Result<HeaderValue, http::Error> {
        self.set_cookie(token.expose(), SESSION_MAX.as_secs())
    }

    /// `Set-Cookie` that removes the cookie.
    pub(crate) fn no_cookie(&self) -> Result<HeaderValue, http::Error> {
        self.set_cookie("", 0)
    }

    fn set_cookie(&self, value: &str, seconds: u64) -> Result<HeaderValue, http::Error> {
        let Self { cookie, cookie_attributes, .. } = self;
        let mut value =
            HeaderValue::try_from(format!("{cookie}={value}{cookie_attributes}{seconds}"))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

/// Whether a person may see the response in a browser. Everything below `/api` is for programs.
pub(crate) fn asks_for_page(parts: &Parts) -> bool {
    let accepted = parts.headers.get_all(ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let ranges = accepted.flat_map(|line| line.split(','));
    let mut types = ranges.filter_map(|range| range.split(';').next());
    matches!(parts.method, Method::GET | Method::HEAD)
        && !parts.uri.path().starts_with("/api/")
        && types.any(|media| media.trim().eq_ignore_ascii_case("text/html"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(public: &str) -> Site {
        Site::new(&PublicUrl::parse(public).unwrap())
    }

    /// Headers of lines such as `origin: null`.
    fn headers(lines: &[&'static str]) -> HeaderMap {
        let pairs = lines.iter().map(|line| line.split_once(": ").unwrap());
        pairs
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn a_request_that_changes_something_must_come_from_a_page_of_the_same_origin() {
        let site = site("https://prompts.example/behind/");
        for (lines, allowed) in [
            (&["sec-fetch-site: same-origin"][..], true),
            (&["origin: https://prompts.example"], true),
            (&["sec-fetch-site: same-origin", "origin: null"], true),
            (&[], false),
            (&["sec-fetch-site: cross-site"], false),
            (&["sec-fetch-site: same-site"], false),
            (&["sec-fetch-site: none"], false),
            (&["sec-fetch-site: Same-Origin"], false),
            (&["sec-fetch-site: "], false),
            (&["sec-fetch-site: same-origin", "sec-fetch-site: same-origin"], false),
            (&["sec-fetch-site: cross-site", "origin: https://prompts.example"], false),
            (&["sec-fetch-site: none", "origin: https://prompts.example"], false),
            (&["origin: null"], false),
            (&["origin: http://prompts.example"], false),
            (&["origin: https://prompts.example:8443"], false),
            (&["origin: https://prompts.example/"], false),
            (&["origin: https://prompts.example.evil.example"], false),
            (&["origin: https://evil.example"], false),
            (&["origin: https://prompts.example", "origin: https://evil.example"], false),
            (&["referer: https://prompts.example/behind/"], false),
        ] {
            let headers = headers(lines);
            for method in [Method::POST, Method::DELETE, Method::PUT, Method::OPTIONS] {
                assert_eq!(
                    site.check_source(&method, &headers).is_ok(),
                    allowed,
                    "{method} {lines:?}"
                );
            }
            assert!(site.check_source(&Method::GET, &headers).is_ok(), "{lines:?}");
            assert!(site.check_source(&Method::HEAD, &headers).is_ok(), "{lines:?}");
        }
    }

    #[test]
    fn the_origin_of_a_public_url_has_no_default_port() {
        for (public, origin) in [
            ("http://h:80", "origin: http://h"),
            ("https://h:443/a", "origin: https://h"),
            ("http://[::1]:8080", "origin: http://[::1]:8080"),
        ] {
            assert!(
                site(public).check_source(&Method::POST, &headers(&[origin])).is_ok(),
                "{public}"
            );
        }
    }

    #[test]
    fn exactly_one_cookie_of_the_name_is_read() {
        let token = SecretToken::make();
        let good = format!("promptarium_session={}", token.expose());
        for (lines, found) in [
            (vec![good.clone()], true),
            (vec![format!("a=b; {good};c=\"d\"")], true),
            (vec!["a=\u{e9}".to_owned(), good.clone()], true),
            (vec![], false),
            (vec![format!("{good}; {good}")], false),
            (vec![good.clone(), good.clone()], false),
            (vec![good.clone(), "promptarium_session=".to_owned()], false),
            (vec![format!("x{good}")], false),
            (vec![format!("__Host-{good}")], false),
            (vec![good.replace("session=", "session =")], false),
            (vec![good.replace('=', "=\"") + "\""], false),
            (vec![good.to_uppercase()], false),
            (vec![format!("{good}A")], false),
        ] {
            let values = lines.iter().map(|line| HeaderValue::from_bytes(line.as_bytes()).unwrap());
            let headers: HeaderMap = values.map(|value| (COOKIE, value)).collect();
            let read = site("http://h").token(&headers).map(|token| token.digest());
            assert_eq!(read, found.then(|| token.digest()), "{lines:?}");
        }
    }

    #[test]
    fn over_https_the_cookie_is_bound_to_the_host() {
        let cookie = |public| site(public).no_cookie().unwrap();
        assert_eq!(
            cookie("https://h/a"),
            "__Host-promptarium_session=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0"
        );
        assert_eq!(
            cookie("http://h"),
            "promptarium_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"
        );
    }
}
