//! The parameters in a path, as they stand there.
//!
//! One that does not have the form its handler asks for names nothing that could
//! exist, which is for the handler to say once key and body are checked.

use std::borrow::Cow;

/// The most parameters that a path has.
const MOST: usize = 2;

/// The parameters of one path, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathParams<'a>([&'a str; MOST]);

impl<'a> PathParams<'a> {
    /// The id at this place. An id has one spelling: decimal digits without a
    /// sign or leading zeros.
    pub fn id(&self, at: usize) -> Option<i64> {
        let text = self.0.get(at)?;
        let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        if plain { text.parse().ok() } else { None }
    }

    /// The text at this place, with its percent-escapes undone. It is not empty;
    /// `None` if an escape is broken or what they stand for is not UTF-8.
    pub fn text(&self, at: usize) -> Option<Cow<'a, str>> {
        let text = *self.0.get(at)?;
        match text.split_once('%') {
            None if text.is_empty() => None,
            None => Some(Cow::Borrowed(text)),
            Some(_) => decoded(text).map(Cow::Owned),
        }
    }
}

impl<'a> FromIterator<&'a str> for PathParams<'a> {
    fn from_iter<I: IntoIterator<Item = &'a str>>(values: I) -> Self {
        let mut params = Self::default();
        for (place, value) in params.0.iter_mut().zip(values) {
            *place = value;
        }
        params
    }
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let byte =
            if byte == b'%' { digit(rest.next()?)? << 4 | digit(rest.next()?)? } else { byte };
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok()
}

fn digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use promptarium::{JobId, path};

    use super::*;

    fn params(text: &str) -> PathParams<'_> {
        [text].into_iter().collect()
    }

    #[test]
    fn only_plain_positive_integers_are_ids() {
        assert_eq!(params("1").id(0), Some(1));
        assert_eq!(params("9223372036854775807").id(0), Some(i64::MAX));
        for text in
            ["", "0", "-1", "+1", "01", "1.0", "1e2", "%31", "x", "9223372036854775808", "١"]
        {
            assert_eq!(params(text).id(0), None, "{text}");
        }
        assert_eq!((params("1").id(1), params("1").id(2)), (None, None));
    }

    #[test]
    fn a_text_comes_back_as_it_was_before_the_path_was_written() {
        for text in ["a", "a/../b?c#%", "%", "%25", "ü 漢\u{1}", "..", "a+b"] {
            let path = path::generation_status(&JobId::from(text));
            let segment = path.split('/').nth(2).unwrap();
            assert_eq!(params(segment).text(0).as_deref(), Some(text), "{path}");
        }
    }

    #[test]
    fn broken_escapes_are_no_text() {
        for text in ["", "%", "%2", "%zz", "%+1", "a%2", "%ff", "%c3"] {
            assert_eq!(params(text).text(0), None, "{text}");
        }
    }
}
