//! A request and its response: as they were, with all secrets ([`RawExchange`]), and as a report
//! shows them ([`Exchange`]). The first is cheap to keep, as most exchanges are never shown.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE, SET_COOKIE};
use http::{HeaderMap, Method, StatusCode};

use crate::secret::Secrets;

/// How much of a body a report shows, in characters.
const SHOWN: usize = 2000;
/// Larger bodies are left out of a line for curl.
const CURL_BODY_BYTES_MAX: usize = 512 << 10;
/// How much of a body is redacted to show so much of it, in bytes.
const REDACTED: usize = 64 << 10;

/// A request and its response, if there was one; its `Debug` shows nothing of it.
#[derive(Clone)]
pub struct RawExchange {
    pub(crate) request: Arc<Request>,
    pub(crate) response: Option<Arc<Response>>,
}

#[derive(Default)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The address as a report may show it.
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    /// `None` also for a streamed body, which is not kept.
    pub(crate) body: Option<Bytes>,
    /// What was sent on a raw socket, in place of a method, headers and a body.
    pub(crate) bytes: Option<Bytes>,
    /// Whose key it carries, in words; empty for that of the account under test.
    pub(crate) by: &'static str,
    /// Whether it only prepares what the scenario looks at.
    pub(crate) set_up: bool,
}

pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Response {
    /// 502, 503 or 504 without the envelope: of a proxy on the way to the service (S-59).
    pub(crate) fn is_of_gateway(&self) -> bool {
        let is_envelope = |body: &serde_json::Value| body.get("error").is_some();
        let json = serde_json::from_slice(&self.body);
        matches!(self.status.as_u16(), 502..=504) && !json.as_ref().is_ok_and(is_envelope)
    }
}

/// An exchange as text, without secrets.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Exchange {
    /// The request, head and body.
    pub request: String,
    /// The response, head and body.
    #[serde(rename = "reply")]
    pub response: String,
    /// A shell line that sends the request again, unless it is no request of an HTTP client or
    /// names something that is gone by then; keys are named by their environment variables.
    pub curl: Option<String>,
    /// Whether it is only the last one of a scenario whose failure is about no single exchange.
    pub last: bool,
}

impl Exchange {
    pub(crate) fn status(&self) -> Option<&str> {
        self.response.get(..3)
    }
}

impl Request {
    /// The method and the template of its path below the base URL, such as `GET /vaults/{vaultId}`.
    pub(crate) fn call(&self, base_url: &str) -> String {
        if self.bytes.is_some() {
            return "a message of raw bytes".to_owned();
        }
        let Some(path) = self.url.strip_prefix(base_url) else {
            return format!("{} on an address that the target gave", self.method);
        };
        let (mut call, mut before) = (format!("{} ", self.method), "");
        let segments = path.split('?').next().unwrap_or_default().split('/').skip(1);
        for (at, segment) in segments.enumerate() {
            let shown = match before {
                _ if at % 2 == 0 || before == "uploads" => segment,
                "vaults" => "{vaultId}",
                "prompts" if at > 1 => "{vaultPromptId}",
                "prompts" => "{promptId}",
                "generations" => "{clientJobId}",
                _ => "{id}",
            };
            let _ = write!(call, "/{shown}");
            before = segment;
        }
        call
    }

    pub(crate) fn shown_bytes(&self, secrets: &Secrets) -> Option<String> {
        let bytes = self.bytes.as_ref()?;
        let lines = truncated(&secrets.redact(escaped(bytes)), bytes.len());
        Some(format!("bytes to {}\n{lines}", self.url))
    }

    /// Whether it names one of these ids, or has an address that a report may not show whole.
    pub(crate) fn names_one_of(&self, ids: &[String], base_url: &str) -> bool {
        let Some(path) = self.url.strip_prefix(base_url) else { return true };
        let body = String::from_utf8_lossy(self.body.as_deref().unwrap_or_default());
        let is_part = |one: char| one.is_ascii_alphanumeric() || one == '-' || one == '_';
        let mut words = path.split(|one| !is_part(one)).chain(body.split(|one| !is_part(one)));
        words.any(|word| ids.iter().any(|id| id == word))
    }
}

impl RawExchange {
    /// What a scenario sent to this address on a socket of its own, and the response, if one came.
    pub fn of_bytes(
        url: &str,
        sent: impl Into<Bytes>,
        response: Option<http::Response<Bytes>>,
    ) -> Self {
        let request =
            Request { url: url.to_owned(), bytes: Some(sent.into()), ..Request::default() };
        let (response, request) = (response.map(http::Response::into_parts), Arc::new(request));
        let response = response.map(|(http::response::Parts { status, headers, .. }, body)| {
            Arc::new(Response { status, headers, body })
        });
        Self { request, response }
    }

    /// The status of the response.
    pub fn status(&self) -> Option<u16> {
        self.response.as_ref().map(|response| response.status.as_u16())
    }

    /// What a report may show of it. Redacting is slow, so it is done for failures only.
    pub(crate) fn redacted(&self, secrets: &Secrets) -> Exchange {
        let response = self.response.as_deref().map(|Response { status, headers, body }| {
            secrets.redact(format!("{status}\n{}", head_and_body(secrets, headers, Some(body))))
        });
        let response = response.unwrap_or_else(|| "(no answer)".to_owned());
        let Request { method, url, headers, body, .. } = &*self.request;
        let (request, curl) = match self.request.shown_bytes(secrets) {
            Some(bytes) => (bytes, None),
            None => {
                let rest = head_and_body(secrets, headers, body.as_deref());
                let request = secrets.redact(format!("{method} {url}\n{rest}"));
                (request, Some(curl(secrets, &self.request)))
            }
        };
        Exchange { request, response, curl, last: false }
    }
}

impl fmt::Debug for RawExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RawExchange")
    }
}

/// In single quotes for a POSIX shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A line for curl. Keys are put in by the shell, from the variables that hold them.
fn curl(secrets: &Secrets, Request { method, url, headers, body, .. }: &Request) -> String {
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

fn head_and_body(secrets: &Secrets, headers: &HeaderMap, body: Option<&[u8]>) -> String {
    let mut text = String::new();
    for (name, value) in headers {
        let value = match [AUTHORIZATION, COOKIE, SET_COOKIE].contains(name) {
            true => "[redacted]".into(),
            false => String::from_utf8_lossy(value.as_bytes()),
        };
        let _ = writeln!(text, "{name}: {value}");
    }
    if let Some(body) = body {
        let _ = write!(text, "\n{}", shown(secrets, body));
    }
    text
}

/// Redacted before it is truncated, as half a key at the cut would not be found.
pub(crate) fn shown(secrets: &Secrets, body: &[u8]) -> String {
    let start = &body[..body.len().min(REDACTED)];
    if std::str::from_utf8(start).is_err_and(|error| error.error_len().is_some()) {
        return format!("({} bytes that are no text)", body.len());
    }
    truncated(&secrets.redact(String::from_utf8_lossy(start)), body.len())
}

fn truncated(text: &str, bytes: usize) -> String {
    cut(text, SHOWN, &format!("… ({bytes} bytes in all)"))
}

/// A text of this length at most, and what stands for the rest.
pub(crate) fn cut(text: &str, length: usize, rest: &str) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => text[..end].to_owned() + rest,
        None => text.to_owned(),
    }
}

/// Lines as lines, and other bytes than printable ASCII as escapes.
fn escaped(bytes: &[u8]) -> String {
    let lines = bytes.escape_ascii().to_string().replace(r"\r\n", "\n");
    lines.replace(r#"\""#, "\"").replace(r"\'", "'").replace(r"\\", r"\")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn bytes_that_cannot_be_printed_are_escaped() {
        assert_eq!(escaped(b"A: \x00\xff'\"\\\r\nB\rC\n"), "A: \\x00\\xff'\"\\\nB\\rC\\n");
    }
}
