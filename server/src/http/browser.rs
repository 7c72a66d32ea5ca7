//! Requests of browsers: the session cookie, and requests that another site has caused.
//!
//! A browser attaches the cookie to requests from any site. `SameSite=Lax` keeps it from most of
//! them; the check of the source does not depend on it.

use http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Method};
use url::{Origin, Url};

use crate::domain::{PublicUrl, SecretToken, SessionRecord};
use crate::http::auth::AuthError;
use crate::http::error::ApiError;
use crate::http::sole;
use crate::store::Store;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

#[derive(Clone, Debug)]
pub struct Site {
    /// Scheme, host and port, in the form of the header `Origin`.
    pub(crate) origin: Box<str>,
    /// Path of the public URL, with a slash at its end.
    pub(crate) root: Box<str>,
    /// Names of the session cookie. Cookies ignore ports, so servers of one host overwrite the
    /// first. The second has port and path, and is the one that counts.
    pub(crate) cookies: [Box<str>; 2],
    pub(crate) cookie_attributes: &'static str,
    /// Whether the data are lost at the stop.
    pub(crate) is_in_memory: bool,
}

impl Site {
    pub(crate) fn new(public: &PublicUrl) -> Self {
        let url = public.url();
        let port = url.port_or_known_default().unwrap_or_default();
        // The prefix makes browsers refuse the cookie from other hosts and over HTTP.
        let (prefix, cookie_attributes) = match url.scheme() {
            "https" => ("__Host-", "; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age="),
            _ => ("", "; Path=/; HttpOnly; SameSite=Lax; Max-Age="),
        };
        let cookie = format!("{prefix}promptarium_session");
        let path = url.path().trim_end_matches('/');
        let of_path = path.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        Self {
            origin: url.origin().ascii_serialization().into(),
            root: format!("{path}/").into(),
            cookies: [cookie.as_str().into(), format!("{cookie}_{port}{of_path}").into()],
            cookie_attributes,
            is_in_memory: false,
        }
    }

    /// Refuses what may be a change, unless the browser says that a page of this site sent it.
    pub(crate) fn check_source(&self, parts: &Parts) -> Result<(), ApiError> {
        let Parts { method, headers, .. } = parts;
        let is_own = match sole(headers, &FETCH_SITE) {
            Some(site) => site == "same-origin",
            None if headers.contains_key(&FETCH_SITE) => false,
            None => sole(headers, &ORIGIN).is_some_and(|origin| origin == &*self.origin),
        };
        if is_own || matches!(*method, Method::GET | Method::HEAD) {
            return Ok(());
        }
        Err(ApiError::CrossSite(self.refusal(parts).into()))
    }

    /// Why a request is refused for its source: a page of another site, or a wrong public URL.
    fn refusal(&self, parts: &Parts) -> String {
        let own = &*self.origin;
        let text = |name| sole(&parts.headers, &name).and_then(|value| value.to_str().ok());
        let origin = text(ORIGIN).and_then(|origin| Some(Url::parse(origin).ok()?.origin()));
        let origin = origin.filter(Origin::is_tuple).map(|origin| origin.ascii_serialization());
        let origin = origin.filter(|origin| origin != own);
        let host = parts.uri.authority().map(Authority::as_str).or_else(|| text(HOST));
        match origin {
            Some(opened) if opened.split_once("://").map(|(_, of)| of) == host => format!(
                "this page was opened at {opened}, but the address of this server is {own}; \
                 open it there, or start the server with `--public-url {opened}`"
            ),
            other => format!(
                "{} may have caused this request; it takes `Sec-Fetch-Site: same-origin`, or \
                 `Origin: {own}`, which is the address of this server, set by `--public-url`",
                other.as_deref().unwrap_or("another site"),
            ),
        }
    }

    /// The session of the cookie of a request without an API key (KE-05).
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

    /// The value of the only session cookie of a name: a neighbouring host can add a second one.
    fn token(&self, headers: &HeaderMap) -> Option<SecretToken> {
        let values = |cookie: &str| {
            let lines = headers.get_all(COOKIE).iter();
            let pairs = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
            let values = pairs.filter_map(|pair| {
                pair.trim_ascii().strip_prefix(cookie.as_bytes())?.strip_prefix(b"=")
            });
            values.collect::<Vec<_>>()
        };
        let mut found = self.cookies.iter().rev().map(|cookie| values(cookie));
        let [value] = found.find(|values| !values.is_empty())?[..] else { return None };
        SecretToken::read(std::str::from_utf8(value).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn site(public: &str) -> Site {
        Site::new(&PublicUrl::parse(public).unwrap())
    }

    /// A request with headers such as `origin: null`.
    fn request(method: Method, lines: &[&str]) -> Parts {
        let headers = lines.iter().map(|line| line.split_once(": ").unwrap());
        let request = http::Request::builder().method(method);
        let request = headers.fold(request, |request, (name, value)| request.header(name, value));
        request.body(()).unwrap().into_parts().0
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
            (&["sec-fetch-site: Same-Origin"], false),
            (&["sec-fetch-site: same-origin", "sec-fetch-site: same-origin"], false),
            (&["sec-fetch-site: cross-site", "origin: https://prompts.example"], false),
            (&["origin: null"], false),
            (&["origin: https://prompts.example:8443"], false),
            (&["origin: https://prompts.example/"], false),
            (&["origin: https://prompts.example.evil.example"], false),
            (&["origin: https://prompts.example", "origin: https://evil.example"], false),
        ] {
            use Method as M;
            for method in [M::GET, M::HEAD, M::POST, M::DELETE, M::PUT, M::OPTIONS] {
                let allowed = allowed || [M::GET, M::HEAD].contains(&method);
                let source = site.check_source(&request(method, lines));
                assert_eq!(source.is_ok(), allowed, "{source:?} {lines:?}");
            }
        }
        let parts = request(Method::POST, &["origin: https://h"]);
        assert!(self::site("https://h:443/a").check_source(&parts).is_ok());
    }

    #[test]
    fn servers_of_one_host_have_a_cookie_each() {
        let own = |public: &str| site(public).cookies[1].clone();
        assert_eq!(&*own("https://h/tools/a"), "__Host-promptarium_session_443_tools_a");
        assert_eq!(&*own("http://h:80/"), "promptarium_session_80");
        assert_ne!(own("https://h/a/"), own("https://h/b/"));
    }

    #[test]
    fn exactly_one_cookie_of_the_name_is_read() {
        let token = SecretToken::make();
        // `S` is the name of the cookie, `T` its token; `|` separates headers.
        for (lines, found) in [
            ("S_80=T", true),
            ("S=other; S_80=T", true),
            ("S_80=T|S_80=T", false),
            ("S=T|S_80=T|S_80=T", false),
            ("S=T|S_80=", false),
            ("S=T", true),
            ("a=b; S=T;c=\"d\"", true),
            ("a=\u{e9}|S=T", true),
            ("a=b", false),
            ("S=T; S=T", false),
            ("S=T|S=", false),
            ("xS=T", false),
            ("__Host-S=T", false),
            ("S=\"T\"", false),
        ] {
            let lines = lines.replace('S', "promptarium_session").replace('T', token.expose());
            let values = lines.split('|').map(|line| HeaderValue::from_bytes(line.as_bytes()));
            let headers: HeaderMap = values.map(|value| (COOKIE, value.unwrap())).collect();
            let read = site("http://h").token(&headers).map(|token| token.digest());
            assert_eq!(read, found.then(|| token.digest()), "{lines}");
        }
    }

    #[test]
    fn a_refusal_names_the_address_that_was_opened_only_if_it_is_not_the_servers() {
        const OWN: &str = "http://127.0.0.1:8080";
        for (lines, beginning) in [
            (&["host: lan:80", "origin: http://lan:80/"][..], "http://lan may have caused"),
            (&["host: lan:8080", "origin: http://lan:8080"], "this page was opened at http://lan:"),
            (&["host: h", "origin: https://evil.example/a"], "https://evil.example may have"),
            (&["host: 10.0.0.2:8080"], "another site may have caused"),
            (&["host: 127.0.0.1:8080", "origin: null"], "another site may have caused"),
            (&["sec-fetch-site: cross-site"], "another site may have caused"),
        ] {
            let refusal = site(OWN).check_source(&request(Method::POST, lines));
            let text = refusal.unwrap_err().to_string();
            assert!(text.starts_with(beginning) && text.contains(OWN), "{lines:?}: {text}");
        }
    }
}
