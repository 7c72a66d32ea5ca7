//! A request as text, line by line, in which every line may be wrong.

use http::Method;
use url::Url;

use crate::exchange::host;
use crate::target::Target;

/// A request to be put together. It begins as a good one without a body: a request
/// line, `Host`, and the key of the account under test.
#[derive(Clone, Debug)]
#[must_use]
pub struct RawRequest {
    first: Vec<u8>,
    lines: Vec<Vec<u8>>,
}

impl RawRequest {
    /// A good request for a path below the base URL.
    pub(crate) fn new(target: &Target, method: &Method, path: &str) -> Self {
        let url = &target.config.base_url;
        let first = format!("{method} {} HTTP/1.1", place(url, path)).into_bytes();
        let key = &target.config.api_key;
        let lines = vec![
            format!("Host: {}", host(url)).into_bytes(),
            format!("Authorization: Bearer {key}").into_bytes(),
        ];
        Self { first, lines }
    }

    /// Another first line.
    pub fn first(self, line: impl Into<Vec<u8>>) -> Self {
        Self { first: line.into(), ..self }
    }

    /// A further line of the head, as it is.
    pub fn line(mut self, line: impl Into<Vec<u8>>) -> Self {
        self.lines.push(line.into());
        self
    }

    /// Without the lines that begin so.
    pub fn without(mut self, name: &str) -> Self {
        self.lines.retain(|line| !line.starts_with(name.as_bytes()));
        self
    }

    /// The head with its empty line.
    pub fn head(&self) -> Vec<u8> {
        let mut head = self.first.clone();
        for line in &self.lines {
            head.extend_from_slice(b"\r\n");
            head.extend_from_slice(line);
        }
        head.extend_from_slice(b"\r\n\r\n");
        head
    }

    /// With a part of the first line exchanged.
    pub fn replace(self, from: &str, to: &str) -> Self {
        let first = String::from_utf8_lossy(&self.first).replacen(from, to, 1);
        self.first(first)
    }

    /// The head, and these bytes behind it.
    pub fn body(&self, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        [&self.head(), bytes.as_ref()].concat()
    }

    /// Head and JSON body, the latter under its type and length.
    pub fn json(self, body: &str) -> Vec<u8> {
        let length = format!("Content-Length: {}", body.len());
        self.line("Content-Type: application/json").line(length).body(body)
    }
}

/// A path below the base URL as it stands in a request line.
pub(super) fn place(url: &Url, path: &str) -> String {
    format!("{}{path}", url.path().trim_end_matches('/'))
}
