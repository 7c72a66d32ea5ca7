//! The pages. [`routes`] names the path of each handler.
//!
//! A page loads no scripts or styles from elsewhere and works without scripts.

mod account;
mod chosen;
mod forms;
mod generate;
mod jobs;
mod keys;
mod layout;
mod nearest;
mod parts;
mod pictures;
mod prelude;
mod prompt;
mod prompts;
mod public;
pub(crate) mod routes;
mod sessions;
mod uploads;
mod vaults;
mod visit;
#[cfg(feature = "webhooks")]
mod webhooks;

use http::header::{ACCEPT, REFERER};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{Extensions, HeaderValue, Method};
use maud::html;
use quick_cache::sync::Cache;

use self::layout::{Page, redirect};
use self::parts::address;
use self::visit::{Replays, Visit};
use crate::api::{HandlerResult, Pages};
use crate::domain::{SecretToken, SessionRecord};
use crate::http::auth::AuthError;
use crate::http::browser::Site;
use crate::http::error::{ApiError, Problem};
use crate::http::response::{self, Response};
use crate::http::sole;
use crate::limits::SESSION_MAX;
use crate::store::StoreError;

pub(crate) const PAGES: Pages = Pages { or_sign_in, asks_for_page, failure };

/// Without a session, or with a key in its place, a page of the dashboard leads to the sign-in, and
/// that back to the page, or to the page of the form that was sent.
fn or_sign_in(site: &Site, parts: &Parts, outcome: HandlerResult) -> HandlerResult {
    match outcome {
        Err(
            ApiError::Auth(AuthError::NoSession | AuthError::KeyForSession)
            | ApiError::Store(StoreError::KeyRevoked),
        ) => {
            let next = match parts.method {
                // A proxy has removed the root.
                Method::GET => parts.uri.path_and_query().map(PathAndQuery::as_str),
                _ => sole(&parts.headers, &REFERER)
                    .and_then(|page| site.page_of(page.to_str().ok()?)),
            };
            let next = next.unwrap_or_default().trim_start_matches('/');
            redirect(site, &address("sign-in", [("next", next)]), None)
        }
        outcome => outcome,
    }
}

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
fn asks_for_page(parts: &Parts) -> bool {
    let accepted = parts.headers.get_all(ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let mut ranges = accepted.flat_map(|line| line.split(','));
    let is_page = |range: &str| {
        range.split(';').next().is_some_and(|of| of.trim().eq_ignore_ascii_case("text/html"))
    };
    matches!(parts.method, Method::GET | Method::HEAD)
        && !parts.uri.path().starts_with("/api/")
        && ranges.any(is_page)
}

/// What the pages of one server share.
pub(crate) fn share(extensions: &mut Extensions) {
    extensions.insert(Replays::new(Cache::new(4_096)));
}

/// A page to return to, without the root of the site. A text that a browser could take for an address
/// of another site is none.
fn return_page(text: &str) -> Option<&str> {
    const BYTES_MAX: usize = 2_000;
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_page = is_plain && text.len() <= BYTES_MAX && !text.starts_with('/');
    Some(text).filter(|_| is_page)
}

/// The failure of a request for a page.
fn failure(
    problem: Problem,
    site: &Site,
    session: Option<&SessionRecord>,
    request_id: &str,
) -> Response {
    let title = match problem.status.as_u16() {
        401 => "Not signed in",
        403 => "Not allowed",
        404 => "Not found",
        500.. => "The server could not do this",
        _ => "This did not work",
    };
    let content = html! {
        div .card {
            p .problem { (problem.text) "." }
            p .soft { "Request id: " code { (request_id) } }
        }
        @if session.is_none() { p { a href=(site.page("sign-in")) { "Sign in" } } }
    };
    let page = Page { session, ..Page::open(site, title) };
    let mut response = page.response(problem.status, &content);
    response::add_headers(&mut response, problem);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::PublicUrl;

    #[test]
    fn only_a_page_of_this_site_is_returned_to() {
        for page in ["", "prompts", "prompts/5?done=x&q=a%20b", "v/alice/sky#top", "vaults/1//2"] {
            assert_eq!(return_page(page), Some(page), "{page}");
        }
        for other in [
            "/",
            "//evil.example",
            "/\\evil.example",
            "\\evil.example",
            "prompts\\..",
            "a b",
            "a\tb",
            "a\r\nset-cookie:b",
            "\u{fc}",
            &"x".repeat(2_001),
        ] {
            assert_eq!(return_page(other), None, "{other:?}");
        }
    }

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
