//! What only pages need of the site: their addresses, the cookies of a session, and which failures
//! are pages.

use http::header::ACCEPT;
use http::request::Parts;
use http::{HeaderValue, Method};

use crate::domain::SecretToken;
use crate::http::browser::Site;
use crate::limits::SESSION_MAX;

impl Site {
    /// The address of a page of this site, without scheme and host.
    pub(crate) fn page(&self, name: &str) -> String {
        format!("{}{name}", self.root)
    }

    /// The page of this site that a URL names, without the root. The fragment stays.
    pub(crate) fn page_of<'a>(&self, url: &'a str) -> Option<&'a str> {
        url.strip_prefix(&*self.origin)?.strip_prefix(&*self.root)
    }

    /// The headers `Set-Cookie` for a new session, or those that remove the cookies.
    pub(crate) fn set_cookies(
        &self,
        token: Option<&SecretToken>,
    ) -> Result<[HeaderValue; 2], http::Error> {
        let (value, seconds) =
            token.map_or(("", 0), |token| (token.expose(), SESSION_MAX.as_secs()));
        let set = |cookie: &str| {
            let attributes = self.cookie_attributes;
            let mut set = HeaderValue::try_from(format!("{cookie}={value}{attributes}{seconds}"))?;
            set.set_sensitive(true);
            Ok::<_, http::Error>(set)
        };
        let [first, second] = &self.cookies;
        Ok([set(first)?, set(second)?])
    }
}

/// Whether a person may see the response in a browser. Everything below `/api` is for programs.
pub(super) fn asks_for_page(parts: &Parts) -> bool {
    let accepted = parts.headers.get_all(ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let mut ranges = accepted.flat_map(|line| line.split(','));
    let is_page = |range: &str| {
        range.split(';').next().is_some_and(|of| of.trim().eq_ignore_ascii_case("text/html"))
    };
    matches!(parts.method, Method::GET | Method::HEAD)
        && !parts.uri.path().starts_with("/api/")
        && ranges.any(is_page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::PublicUrl;

    fn site(public: &str) -> Site {
        Site::new(&PublicUrl::parse(public).unwrap())
    }

    #[test]
    fn over_https_the_cookie_is_bound_to_the_host() {
        let cookies = |public| site(public).set_cookies(None).unwrap();
        assert_eq!(
            cookies("https://h/a"),
            [
                "__Host-promptarium_session=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0",
                "__Host-promptarium_session_443_a=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0"
            ]
        );
        let [_, own] = cookies("http://h:8081");
        assert_eq!(own, "promptarium_session_8081=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
    }
}
