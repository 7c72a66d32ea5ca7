//! Headers of requests that must not be repeated.

use http::{HeaderMap, HeaderName, HeaderValue};

/// The only value of a header. `None` if there is none or more than one.
pub(crate) fn sole<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}
