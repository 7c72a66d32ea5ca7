//! Headers of requests that must not be repeated.

use http::{HeaderMap, HeaderName, HeaderValue};

/// The value of a header, if there is one.
///
/// # Errors
/// There is more than one.
pub(crate) fn at_most_one<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a HeaderValue>, Repeated> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_none() { Ok(first) } else { Err(Repeated) }
}

/// The only value of a header. `None` if there is none or more than one.
pub(crate) fn sole<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    at_most_one(headers, name).ok().flatten()
}

/// A header has more than one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeated;

#[cfg(test)]
mod tests {
    use http::header::{ACCEPT, HOST};

    use super::*;

    #[test]
    fn a_repeated_header_has_no_sole_value() {
        let mut headers = HeaderMap::new();
        for (name, value) in [(HOST, "a"), (ACCEPT, "b"), (ACCEPT, "c")] {
            headers.append(name, HeaderValue::from_static(value));
        }
        assert_eq!(at_most_one(&headers, &ACCEPT), Err(Repeated));
        assert_eq!(sole(&headers, &ACCEPT), None);
        assert_eq!(sole(&headers, &HOST).unwrap(), "a");
        headers.clear();
        assert_eq!(at_most_one(&headers, &HOST), Ok(None));
    }
}
