//! Requests of pages of other origins (CORS): which responses a browser lets them read.
//!
//! The address of an asset, or the token of an upload slot, is the right to use it, so any origin
//! may. For the API it is a setting. Credentials are never allowed, so that no session
//! works across origins: pages send an API key or a token.

use std::str::FromStr;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ALLOW,
    ORIGIN, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method};
use url::Url;

use crate::http::sole;

/// An origin, or `*` for all, whose pages may use the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CorsOrigin(HeaderValue);

impl FromStr for CorsOrigin {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_origin = |url: Url| url.origin().ascii_serialization() == text;
        let is_valid = text == "*" || !text.contains('*') && Url::parse(text).is_ok_and(is_origin);
        let value = HeaderValue::from_str(text).ok().filter(|_| is_valid).map(Self);
        value.ok_or("is not an origin; use SCHEME://HOST[:PORT] as browsers send it, or *")
    }
}

/// The path prefixes that pages of any origin may use.
const PUBLIC: [&str; 2] = ["/assets/", "/storage/"];

const EXPOSED: HeaderValue = HeaderValue::from_static(
    "x-request-id, retry-after, ratelimit, ratelimit-policy, www-authenticate, traceresponse, \
     etag, accept-ranges, content-range, content-length",
);
/// `*` would not allow `authorization`.
const ALLOWED: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, x-request-id, traceparent, tracestate, range, if-range, \
     if-none-match",
);
/// Browsers do not keep the answer to a preflight request for longer.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");
const ANY: HeaderValue = HeaderValue::from_static("*");

/// Adds the headers of CORS to the response to a request. `origins` may use the API.
pub(crate) fn add_headers(origins: &[CorsOrigin], parts: &Parts, headers: &mut HeaderMap) {
    let path = parts.uri.path();
    let allowed = if PUBLIC.iter().any(|prefix| path.starts_with(prefix)) {
        ANY
    } else if !origins.is_empty() && path.starts_with("/api/") {
        headers.append(VARY, HeaderValue::from_static("origin"));
        let origin = sole(&parts.headers, &ORIGIN);
        let is_it = |allowed: &&CorsOrigin| allowed.0 == ANY || Some(&allowed.0) == origin;
        let Some(CorsOrigin(allowed)) = origins.iter().find(is_it) else { return };
        allowed.clone()
    } else {
        return;
    };
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    let asks = parts.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    if parts.method == Method::OPTIONS && asks {
        let allow = headers.get(ALLOW).cloned();
        headers.extend(allow.map(|allow| (ACCESS_CONTROL_ALLOW_METHODS, allow)));
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED);
        headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_written_as_browsers_send_it() {
        for good in ["*", "https://a.example", "http://localhost:3000", "http://[::1]:8080"] {
            assert!(good.parse::<CorsOrigin>().is_ok(), "{good}");
        }
        let bad = "|null|a.example|https://a.example/|https://A.example|https://a.example:443|\
                   https://*.example|file:///a|https://u@a.example|** |https://a.example/b";
        for bad in bad.split('|') {
            assert!(bad.parse::<CorsOrigin>().is_err(), "{bad}");
        }
    }
}
