//! Which redirects are followed, and where to.

use http::header::LOCATION;
use http::{HeaderMap, Method, StatusCode};
use url::Url;

/// Redirects of one request that are followed.
const REDIRECTS_MAX: u32 = 5;

/// The URL that a response redirects to. `None` without a valid `Location`.
pub(super) fn location(from: &Url, headers: &HeaderMap) -> Option<Url> {
    let mut to = from.join(headers.get(LOCATION)?.to_str().ok()?).ok()?;
    to.set_fragment(None);
    Some(to)
}

/// Whether the status redirects the request to `Location`.
pub(super) const fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// The URL that a call of the API is redirected to, or why it is not: the API key is sent to URLs
/// below the base URL only.
pub(super) fn of_call(
    method: &Method,
    base_url: &Url,
    to: Option<Url>,
    redirects: u32,
) -> Result<Url, &'static str> {
    let to = to.filter(is_web).ok_or("it is not an http or https URL")?;
    if to.origin() != base_url.origin() {
        return Err("the API key is not sent to another origin");
    }
    let root = base_url.path().trim_end_matches('/');
    if !to.path().strip_prefix(root).is_some_and(|rest| rest.starts_with('/')) {
        return Err("the API key is not sent to URLs outside of the base URL");
    }
    if *method != Method::GET {
        return Err("only GET requests are redirected");
    }
    limited(to, redirects)
}

/// The URL that a download is redirected to, or why it is not. There is no key to protect.
pub(super) fn of_asset(from: &Url, to: Option<Url>, redirects: u32) -> Result<Url, &'static str> {
    let to = to.filter(is_web).ok_or("it is not an http or https URL")?;
    if from.scheme() == "https" && to.scheme() != "https" {
        return Err("it leads from https to http");
    }
    limited(to, redirects)
}

pub(super) fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

fn limited(to: Url, redirects: u32) -> Result<Url, &'static str> {
    if redirects < REDIRECTS_MAX { Ok(to) } else { Err("there were 5 redirects before") }
}
