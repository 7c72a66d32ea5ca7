//! The name of one request in answer, log and support mail.

use http::HeaderValue;
use http::header::GetAll;

/// A request id: the client's own if it sent a usable one, else a made one.
#[derive(Clone, Debug)]
pub(super) struct RequestId(HeaderValue);

const MOST_CHARS: usize = 128;

impl RequestId {
    /// Takes over an id of 1 to 128 letters, digits, `.`, `_` and `-`.
    pub(super) fn of(given: &GetAll<'_, HeaderValue>) -> Self {
        let mut given = given.iter();
        match (given.next(), given.next()) {
            (Some(id), None) if is_usable(id.as_bytes()) => Self(id.clone()),
            _ => Self::make(),
        }
    }

    fn make() -> Self {
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

    /// The id as a header of the answer.
    pub(super) fn into_header(self) -> HeaderValue {
        self.0
    }
}

fn is_usable(id: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=MOST_CHARS).contains(&id.len()) && id.iter().all(plain)
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
        RequestId::of(&headers.get_all("x-request-id")).as_str().to_owned()
    }

    #[test]
    fn a_usable_id_is_taken_over() {
        assert_eq!(id_of(&["a.B_c-9"]), "a.B_c-9");
        let longest = "x".repeat(128);
        assert_eq!(id_of(&[&longest]), longest);
    }

    #[test]
    fn anything_else_gets_a_fresh_one() {
        let too_long = "x".repeat(129);
        for given in [&[][..], &[""], &["a b"], &["a\"b"], &[&too_long], &["a", "b"]] {
            let id = id_of(given);
            assert_eq!(id.len(), 32, "{given:?}");
            assert_ne!(id, id_of(given));
        }
    }
}
