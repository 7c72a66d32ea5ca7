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

/// Whether a call of the API may be redirected to this URL, or why not: the API key is sent to
/// URLs below the base URL only.
pub(super) fn check_call(
    method: &Method,
    base_url: &Url,
    to: Option<&Url>,
    redirects: u32,
) -> Result<(), &'static str> {
    let to = to.filter(|to| is_web(to)).ok_or(NOT_WEB)?;
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
    check_count(redirects)
}

/// Whether a download may be redirected to this URL, or why not. There is no key to protect.
pub(super) fn check_asset(
    from: &Url,
    to: Option<&Url>,
    redirects: u32,
) -> Result<(), &'static str> {
    let to = to.filter(|to| is_web(to)).ok_or(NOT_WEB)?;
    if from.scheme() == "https" && to.scheme() != "https" {
        return Err("it leads from https to http");
    }
    check_count(redirects)
}

pub(super) fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

const NOT_WEB: &str = "it is not an http or https URL";

const fn check_count(redirects: u32) -> Result<(), &'static str> {
    if redirects < REDIRECTS_MAX { Ok(()) } else { Err("there were 5 redirects before") }
}
