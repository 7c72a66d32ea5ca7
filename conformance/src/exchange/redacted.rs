//! One request and its reply as a report shows them: secrets redacted, long
//! bodies cut. Made when a failure goes into a report and not before, for most
//! exchanges are never looked at.

use std::fmt;
use std::fmt::Write as _;

use http::header::{AUTHORIZATION, COOKIE, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Method};

use super::{Request, Response};
use crate::secret::Secrets;
use crate::shell::quoted;

/// How much of a body a report shows, in characters.
const SHOWN: usize = 2000;
/// How much of a body is looked at to show so much of it, in bytes.
const LOOKED_AT: usize = 64 << 10;
/// Larger bodies are left out of the shell line.
const CURL_BODY_BYTES_MAX: usize = 512 << 10;

/// A request and its reply as text, without secrets.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Exchange {
    request: String,
    reply: String,
    curl: String,
    last: bool,
}

impl Exchange {
    pub(super) fn of(request: &Request, response: Option<&Response>, secrets: &Secrets) -> Self {
        let reply = match response {
            Some(Response { status, headers, body }) => {
                let rest = head_and_body(secrets, headers, Some(body));
                secrets.redact(format!("{status}\n{rest}"))
            }
            None => "(no answer)".to_owned(),
        };
        let Request { method, url, headers, body, bytes } = request;
        if let Some(bytes) = bytes {
            let (request, curl) = (bytes.shown(secrets), bytes.shell(secrets));
            return Self { request, reply, curl, last: false };
        }
        let body = body.as_deref();
        let request = format!("{method} {url}\n{}", head_and_body(secrets, headers, body));
        let curl = curl(secrets, method, url, headers, body);
        Self { request: secrets.redact(request), reply, curl, last: false }
    }

    /// The same, as the last one of a scenario whose failure is about no single exchange.
    pub(crate) fn into_last(self) -> Self {
        Self { last: true, ..self }
    }

    /// Whether it is only the last of the scenario: the failure is about more than
    /// one exchange, or about none.
    pub fn is_last(&self) -> bool {
        self.last
    }

    /// A shell line that sends the request again; keys are named by their
    /// environment variables.
    pub fn curl(&self) -> &str {
        &self.curl
    }

    /// Request line and status.
    pub fn summary(&self) -> String {
        let first = |text: &'_ str| text.lines().next().unwrap_or_default().to_owned();
        format!("{} → {}", first(&self.request), first(&self.reply))
    }

    /// The request, head and body.
    pub fn request(&self) -> &str {
        &self.request
    }

    /// The reply, head and body.
    pub fn response(&self) -> &str {
        &self.reply
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.last {
            writeln!(f, "the last exchange:")?;
        }
        for line in self.request.lines() {
            writeln!(f, "> {line}")?;
        }
        for line in self.reply.lines() {
            writeln!(f, "< {line}")?;
        }
        write!(f, "again: {}", self.curl)
    }
}

fn head_and_body(secrets: &Secrets, headers: &HeaderMap, body: Option<&[u8]>) -> String {
    let mut text = String::new();
    for (name, value) in headers {
        let secret = [AUTHORIZATION, COOKIE, SET_COOKIE].contains(name);
        let value = if secret { "[redacted]".to_owned() } else { lossy(value) };
        let _ = writeln!(text, "{name}: {value}");
    }
    if let Some(body) = body {
        let _ = write!(text, "\n{}", shown(secrets, body));
    }
    text
}

fn lossy(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

/// Redacted before it is cut, for half a key at the cut would slip through. What
/// is cut off before that is far behind.
fn shown(secrets: &Secrets, body: &[u8]) -> String {
    let start = &body[..body.len().min(LOOKED_AT)];
    if std::str::from_utf8(start).is_err_and(|error| error.error_len().is_some()) {
        return format!("({} bytes that are no text)", body.len());
    }
    let text = secrets.redact(String::from_utf8_lossy(start));
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}… ({} bytes in all)", &text[..cut], body.len()),
        None => text,
    }
}

fn curl(
    secrets: &Secrets,
    method: &Method,
    url: &str,
    headers: &HeaderMap,
    body: Option<&[u8]>,
) -> String {
    let mut line = format!("curl -i -X {method} {}", quoted(&secrets.redact(url)));
    for (name, value) in headers {
        let value = lossy(value);
        if name == AUTHORIZATION {
            // In double quotes, so that the shell puts the key in.
            let _ = write!(line, " -H \"{name}: {}\"", secrets.in_shell(&value));
        } else if name == COOKIE {
            line.push_str(" -H 'cookie: [redacted]'");
        } else {
            let header = format!("{name}: {}", secrets.redact(value));
            let _ = write!(line, " -H {}", quoted(&header));
        }
    }
    match body {
        None => {}
        Some(body) => match std::str::from_utf8(body) {
            Ok(text) if body.len() <= CURL_BODY_BYTES_MAX => {
                let _ = write!(line, " --data-raw {}", quoted(&secrets.redact(text)));
            }
            _ => {
                let _ = write!(line, " --data-binary @body # {} bytes", body.len());
            }
        },
    }
    line
}
