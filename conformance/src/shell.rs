//! Lines for a POSIX shell that reports print: they send a request again.

use std::fmt::Write as _;

use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderMap, Method};
use url::Url;

use crate::secret::Secrets;

/// Larger bodies are left out of a line for curl.
const CURL_BODY_BYTES_MAX: usize = 512 << 10;
/// Longer requests are left out of a line for `printf`.
const PRINTF_BYTES_MAX: usize = 4096;

/// In single quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Host and port of an address, an IPv6 address without its brackets.
pub(crate) fn host_and_port(url: &Url) -> (&str, u16) {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    (host, url.port_or_known_default().unwrap_or(80))
}

/// A line for curl. Keys are put in by the shell, from the variables that hold them.
pub(crate) fn curl(
    secrets: &Secrets,
    method: &Method,
    url: &str,
    headers: &HeaderMap,
    body: Option<&[u8]>,
) -> String {
    let mut line = format!("curl -i -X {method} {}", quoted(&secrets.redact(url)));
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        let _ = match *name {
            AUTHORIZATION => write!(line, " -H \"{name}: {}\"", secrets.in_shell(&value)),
            COOKIE => write!(line, " -H 'cookie: [redacted]'"),
            _ => write!(line, " -H {}", quoted(&format!("{name}: {}", secrets.redact(value)))),
        };
    }
    let Some(body) = body else { return line };
    let _ = match std::str::from_utf8(body) {
        Ok(text) if body.len() <= CURL_BODY_BYTES_MAX => {
            write!(line, " --data-raw {}", quoted(&secrets.redact(text)))
        }
        _ => write!(line, " --data-binary @body # {} bytes", body.len()),
    };
    line
}

/// A line with `printf` that sends bytes to the address, as curl would correct half of what
/// raw requests test. Values of `Authorization` are put in by the shell, other keys are redacted.
pub(crate) fn printf(secrets: &Secrets, base: &Url, sent: &[u8]) -> String {
    let (host, port) = host_and_port(base);
    let program = match base.scheme() {
        "http" => format!("nc {host} {port}"),
        _ => format!("openssl s_client -quiet -connect {}:{port}", base.host_str().unwrap_or(host)),
    };
    if sent.len() > PRINTF_BYTES_MAX {
        return format!("({} bytes, too many for a shell line, to `{program}`)", sent.len());
    }
    let (mut format, mut values) = (String::new(), String::new());
    for (at, line) in sent.split(|byte| *byte == b'\n').enumerate() {
        format.push_str(if at > 0 { "\\n" } else { "" });
        let header = std::str::from_utf8(line).ok().and_then(|text| text.split_once(':'));
        match header.filter(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            Some((name, value)) if !value.is_empty() => {
                let (value, end) = value.strip_suffix('\r').map_or((value, ""), |it| (it, "\\r"));
                let _ = write!(format, "{name}:%s{end}");
                let _ = write!(values, " \"{}\"", secrets.in_shell(value));
            }
            _ => push_literal(&mut format, &secrets.redact(String::from_utf8_lossy(line))),
        }
    }
    format!("printf '{format}'{values} | {program}")
}

/// Adds text to a format of `printf` in single quotes.
fn push_literal(format: &mut String, text: &str) {
    for byte in text.bytes() {
        let _ = match byte {
            b'%' => write!(format, "%%"),
            b'\r' => write!(format, "\\r"),
            b' '..=b'~' if !matches!(byte, b'\'' | b'\\') => write!(format, "{}", char::from(byte)),
            _ => write!(format, "\\{byte:03o}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{Secrets, printf};

    #[test]
    fn a_printf_line_holds_every_byte_but_the_key() {
        let key = "acme_live_a1_0123456789abcdefghijklmnopqrstuv";
        let secrets = Secrets::new([("MAIN", key)].into_iter());
        let sent =
            format!("GET /% HTTP/1.1\r\nAuthorization: Bearer {key}\r\nA: '\x01\\\r\n\r\n{key}");
        assert_eq!(
            printf(&secrets, &"http://host/api/v1".parse().unwrap(), sent.as_bytes()),
            "printf 'GET /%% HTTP/1.1\\r\\nAuthorization:%s\\r\\nA: \\047\\001\\134\\r\\n\\r\\n[key]' \
             \" Bearer ${MAIN}\" | nc host 80"
        );
    }
}
