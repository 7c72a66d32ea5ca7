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

/// The body without a UTF-8 byte order mark.
pub(crate) fn without_bom(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &[u8]) -> Option<String> {
        repaired(body).map(|body| String::from_utf8(body).unwrap())
    }

    #[test]
    fn half_of_a_surrogate_pair_is_replaced() {
        for (body, expected) in [
            (r#""a \ud83d""#, r#""a \ufffd""#),
            (r#""\uDE00 b""#, r#""\ufffd b""#),
            (r#""\uD83Dx\uDe00""#, r#""\ufffdx\ufffd""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\n\\\ud83d""#, r#""\ufffd\n\\\ufffd""#),
            (r#"{"a":"\ud83d","b":"\u0041"}"#, r#"{"a":"\ufffd","b":"\u0041"}"#),
        ] {
            assert_eq!(text(body.as_bytes()).as_deref(), Some(expected), "{body}");
            assert!(serde_json::from_str::<serde_json::Value>(body).is_err(), "{body}");
            assert!(serde_json::from_str::<serde_json::Value>(expected).is_ok(), "{expected}");
        }
    }

    #[test]
    fn other_text_remains() {
        for body in [
            r#""\ud83d\ude00 \uD83D\uDE00 😀""#,
            r#""\\ud83d""#,
            r#""\\\\ud83d \" \u00e9 \ufffd""#,
            r#""ud83d""#,
            r#""\ud8"#,
            r#""\ud83x""#,
            r"\",
            "",
        ] {
            assert_eq!(text(body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn invalid_utf_8_is_replaced() {
        assert_eq!(text(b"\"a\xff b\"").as_deref(), Some("\"a\u{fffd} b\""));
        assert_eq!(text(b"\"\xe2\x98\"").as_deref(), Some("\"\u{fffd}\""));
        assert_eq!(text(b"\"\xf0 \\ud83d\"").as_deref(), Some("\"\u{fffd} \\ufffd\""));
    }

    #[test]
    fn a_byte_order_mark_at_the_start_is_removed() {
        assert_eq!(without_bom(b"\xef\xbb\xbf{}"), b"{}");
        for body in [&b"{}\xef\xbb\xbf"[..], b"\xef\xbb", b""] {
            assert_eq!(without_bom(body), body);
        }
    }
}
