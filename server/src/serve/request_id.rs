//! The id of one request, in the response and in the log.

use http::HeaderValue;
use http::header::GetAll;

use crate::limits::REQUEST_ID_CHARS_MAX;

/// A request id: the client's own if it is usable, otherwise a random one.
#[derive(Clone, Debug)]
pub(super) struct RequestId(HeaderValue);

impl RequestId {
    /// Uses a client's id of 1 to 128 letters, digits, `.`, `_` and `-`. Anything else could
    /// break a log line.
    pub(super) fn from_headers(given: &GetAll<'_, HeaderValue>) -> Self {
        let mut given = given.iter();
        match (given.next(), given.next()) {
            (Some(id), None) if is_usable(id.as_bytes()) => Self(id.clone()),
            _ => Self::random(),
        }
    }

    fn random() -> Self {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 32];
        for (pair, byte) in text.chunks_exact_mut(2).zip(rand::random::<[u8; 16]>()) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        Self(HeaderValue::from_bytes(&text).unwrap_or_else(|_| HeaderValue::from_static("none")))
    }

    /// The id as text.
    pub(super) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// The id as a header of the response.
    pub(super) fn into_header(self) -> HeaderValue {
        self.0
    }
}

fn is_usable(id: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=REQUEST_ID_CHARS_MAX).contains(&id.len()) && id.iter().all(plain)
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn id_of(given: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for given in given {
            headers.append("x-request-id", HeaderValue::from_str(given).unwrap());
        }
        RequestId::from_headers(&headers.get_all("x-request-id")).as_str().to_owned()
    }

    #[test]
    fn a_usable_id_is_kept() {
        assert_eq!(id_of(&["a.B_c-9"]), "a.B_c-9");
        let longest = "x".repeat(128);
        assert_eq!(id_of(&[&longest]), longest);
    }

    #[test]
    fn anything_else_is_replaced_by_a_random_id() {
        let too_long = "x".repeat(129);
        for given in [&[][..], &[""], &["a b"], &["a\"b"], &[&too_long], &["a", "b"]] {
            let id = id_of(given);
            assert_eq!(id.len(), 32, "{given:?}");
            assert_ne!(id, id_of(given));
        }
    }
}
