//! What a report shows of bytes: lines with everything unprintable escaped, and a
//! shell line that sends them again, as curl would remedy half of them.

use std::fmt::Write as _;

use bytes::Bytes;
use url::Url;

use crate::secret::Secrets;

/// How much of what was sent a report shows, in characters.
const SHOWN: usize = 2000;
/// Longer requests are left out of the shell line, in bytes.
const SHELL_BYTES_MAX: usize = 4096;

/// What was sent on a connection so far, secrets and all.
#[derive(Clone)]
pub(crate) struct SentBytes {
    base: Url,
    bytes: Bytes,
}

impl SentBytes {
    pub(crate) fn new(base: &Url, bytes: &[u8]) -> Self {
        Self { base: base.clone(), bytes: Bytes::copy_from_slice(bytes) }
    }

    /// As a report shows it.
    pub(crate) fn shown(&self, secrets: &Secrets) -> String {
        let address = host(&self.base);
        let tls = if self.base.scheme() == "https" { " with TLS" } else { "" };
        let lines = cut(secrets.redact(escaped(&self.bytes)), self.bytes.len());
        format!("bytes to {address}{tls}\n{lines}")
    }

    /// A line that sends it again.
    pub(crate) fn shell(&self, secrets: &Secrets) -> String {
        shell(secrets, &self.program(), &self.bytes)
    }

    /// The program that takes bytes to the target.
    fn program(&self) -> String {
        let (host, port) = authority(&self.base);
        match self.base.scheme() {
            "http" => format!("nc {} {port}", unbracketed(&host)),
            _ => format!("openssl s_client -quiet -connect {host}:{port}"),
        }
    }
}

/// The value of `Host` for an address.
pub(crate) fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Host and port of an address.
pub(crate) fn authority(url: &Url) -> (String, u16) {
    let host = url.host_str().unwrap_or_default().to_owned();
    (host, url.port_or_known_default().unwrap_or(80))
}

/// An IPv6 address without its brackets.
pub(crate) fn unbracketed(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Lines as lines; what is no printable ASCII as an escape.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\r' if rest.first() == Some(&b'\n') => {
                text.push('\n');
                rest = &rest[1..];
            }
            b'\\' => text.push('\\'),
            _ => text.extend(byte.escape_ascii().map(char::from)),
        }
    }
    // Quotes need no escape here.
    text.replace("\\\"", "\"").replace("\\'", "'")
}

fn cut(text: String, bytes: usize) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}… ({bytes} bytes in all)", &text[..at]),
        None => text,
    }
}

/// A `printf` for a POSIX shell into the program. Values of `Authorization` are put
/// in by the shell, from the variables that hold the keys.
fn shell(secrets: &Secrets, program: &str, sent: &[u8]) -> String {
    if sent.len() > SHELL_BYTES_MAX {
        return format!("({} bytes, too many for a shell line, to `{program}`)", sent.len());
    }
    let (mut format, mut values) = (String::new(), String::new());
    for (at, line) in sent.split(|byte| *byte == b'\n').enumerate() {
        if at > 0 {
            format.push_str("\\n");
        }
        let name = b"authorization:";
        let is_key = line.len() > name.len() && line[..name.len()].eq_ignore_ascii_case(name);
        match std::str::from_utf8(line) {
            Ok(text) if is_key => {
                let (start, value) = text.split_at(name.len());
                let (value, end) = match value.strip_suffix('\r') {
                    Some(value) => (value, "\\r"),
                    None => (value, ""),
                };
                let _ = write!(format, "{start}%s{end}");
                let _ = write!(values, " \"{}\"", secrets.in_shell(value));
            }
            _ => literal(&mut format, &target_free(secrets, line)),
        }
    }
    format!("printf '{format}'{values} | {program}")
}

/// A key anywhere else is redacted.
fn target_free(secrets: &Secrets, line: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(line) {
        Ok(text) => secrets.redact(text).into_bytes(),
        // Not text as a whole; a key in it would be.
        Err(_) => secrets.redact(String::from_utf8_lossy(line)).into_bytes(),
    }
}

/// For a format of `printf` in single quotes.
fn literal(format: &mut String, bytes: &[u8]) {
    for byte in bytes {
        match byte {
            b'%' => format.push_str("%%"),
            b'\r' => format.push_str("\\r"),
            b' '..=b'~' if !matches!(byte, b'\'' | b'\\') => format.push(char::from(*byte)),
            _ => {
                let _ = write!(format, "\\{byte:03o}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SentBytes, escaped, shell};
    use crate::secret::Secrets;

    const KEY: &str = "acme_live_a1_0123456789abcdefghijklmnopqrstuv";

    #[test]
    fn what_cannot_be_printed_is_escaped() {
        assert_eq!(escaped(b"A: \x00\xff'\"\\\r\nB\rC\n"), "A: \\x00\\xff'\"\\\nB\\rC\\n");
    }

    #[test]
    fn a_key_shows_in_neither_form() {
        let secrets = Secrets::new([("MAIN", KEY)].into_iter());
        let base = "https://host:8443/api/v1".parse().unwrap();
        let sent =
            format!("GET /{KEY}?{KEY} HTTP/1.1\r\nX: {KEY}\r\nAuthorization : {KEY}\r\n\r\n");
        let mut sent = sent.into_bytes();
        sent.push(0xff);
        let sent = SentBytes::new(&base, &sent);
        for text in [sent.shown(&secrets), sent.shell(&secrets)] {
            assert!(!text.contains("0123456789"), "{text}");
        }
        assert!(sent.shell(&secrets).ends_with("| openssl s_client -quiet -connect host:8443"));
    }

    #[test]
    fn a_shell_line_holds_every_byte_but_the_key() {
        let secrets = Secrets::new([("MAIN", KEY)].into_iter());
        let sent =
            format!("GET /% HTTP/1.1\r\nAuthorization: Bearer {KEY}\r\nA: '\x01\\\r\n\r\n{KEY}");
        assert_eq!(
            shell(&secrets, "nc host 80", sent.as_bytes()),
            "printf 'GET /%% HTTP/1.1\\r\\nAuthorization:%s\\r\\nA: \\047\\001\\134\\r\\n\\r\\n[key]' \
             \" Bearer ${MAIN}\" | nc host 80"
        );
    }
}
