//! Repairs JSON with text that is not Unicode, such as text that was cut within a character.

use std::borrow::Cow;

/// The body with U+FFFD for each escape of a surrogate without its partner and for invalid UTF-8;
/// `None` if it has neither.
pub(crate) fn repaired(body: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(body);
    let mut is_changed = matches!(text, Cow::Owned(_));
    let mut body = text.into_owned().into_bytes();
    let mut rest = &mut *body;
    while let Some(start) = rest.iter().position(|byte| *byte == b'\\') {
        let (_, escape) = rest.split_at_mut(start);
        let length = match (surrogate(escape), escape.get(6..).and_then(surrogate)) {
            (Some(Half::High), Some(Half::Low)) => 12,
            (Some(_), _) => {
                is_changed = true;
                if let Some(code) = escape.get_mut(2..6) {
                    code.copy_from_slice(b"fffd");
                }
                6
            }
            // Of an escaped backslash, both.
            (None, _) => 2,
        };
        rest = escape.get_mut(length..).unwrap_or_default();
    }
    is_changed.then_some(body)
}

#[derive(Clone, Copy)]
enum Half {
    High,
    Low,
}

/// The half of a character that the text starts with, as an escape.
fn surrogate(text: &[u8]) -> Option<Half> {
    let [b'\\', b'u', b'd' | b'D', half, a, b, ..] = text else { return None };
    let is_hex = a.is_ascii_hexdigit() && b.is_ascii_hexdigit();
    match half.to_ascii_lowercase() {
        b'8'..=b'9' | b'a'..=b'b' if is_hex => Some(Half::High),
        b'c'..=b'f' if is_hex => Some(Half::Low),
        _ => None,
    }
}

/// The body without a UTF-8 byte order mark.
pub(crate) fn without_bom(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)
}
