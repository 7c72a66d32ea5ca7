//! Parses JSON with the mistakes of services that have one meaning only: a byte order mark, and text
//! that is not Unicode, such as text that was cut within a character.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

pub(crate) fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, serde_json::Error> {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    serde_json::from_slice(json).or_else(|error| match repaired(json) {
        Some(repaired) => serde_json::from_slice(&repaired).map_err(|_| error),
        None => Err(error),
    })
}

/// The body with U+FFFD for each escape of a surrogate without its partner and for invalid UTF-8;
/// `None` if it has neither.
fn repaired(body: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(body);
    let mut is_changed = matches!(text, Cow::Owned(_));
    let mut body = text.into_owned().into_bytes();
    let mut rest = &mut *body;
    while let Some(start) = rest.iter().position(|byte| *byte == b'\\') {
        let (_, escape) = rest.split_at_mut(start);
        let length = match (code(escape), escape.get(6..).and_then(code)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                is_changed = true;
                if let Some(digits) = escape.get_mut(2..6) {
                    digits.copy_from_slice(b"fffd");
                }
                6
            }
            // Of an escaped backslash, both.
            _ => 2,
        };
        rest = escape.get_mut(length..).unwrap_or_default();
    }
    is_changed.then_some(body)
}

/// The UTF-16 code of the escape that the text starts with.
fn code(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(br"\u")?.get(..4)?;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}
