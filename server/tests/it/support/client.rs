//! A client that sends exactly what it is told and shows exactly what comes.

use promptarium_server::EmbeddedServer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::PATIENCE;

/// An answer of HTTP/1.1.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// The body as text, as far as it is text.
    pub(crate) body: String,
    pub(crate) bytes: Vec<u8>,
}

/// One connection.
pub(crate) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Connection {
    /// `address` is a host and a port, or a base URL.
    pub(crate) async fn open(address: &str) -> Self {
        let address = address.strip_prefix("http://").unwrap_or(address);
        let address = address.split('/').next().unwrap();
        Self { stream: TcpStream::connect(address).await.unwrap(), read: Vec::new() }
    }

    pub(crate) async fn to(server: &EmbeddedServer) -> Self {
        Self::open(server.base_url()).await
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        timeout(PATIENCE, self.stream.write_all(bytes.as_ref())).await.unwrap().unwrap();
    }

    /// The next answer; `None` if the connection ends first.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        timeout(PATIENCE, self.read_answer(true)).await.expect("an answer in time")
    }

    /// The next answer, to a request of the method HEAD.
    pub(crate) async fn answer_to_head(&mut self) -> Option<Answer> {
        timeout(PATIENCE, self.read_answer(false)).await.expect("an answer in time")
    }

    /// Whether the peer ends the connection with nothing more to say.
    pub(crate) async fn ends(&mut self) -> bool {
        let end = timeout(PATIENCE, self.stream.read_buf(&mut self.read)).await;
        let ended = matches!(end.expect("an end in time"), Ok(0) | Err(_));
        ended && self.read.is_empty()
    }

    async fn read_answer(&mut self, with_body: bool) -> Option<Answer> {
        let head = self.read_to(b"\r\n\r\n").await?;
        let mut lines = head.trim_end().lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let mut answer = Answer { status, headers, body: String::new(), bytes: Vec::new() };
        if with_body && answer.header("transfer-encoding").is_some() {
            answer.bytes = self.read_chunks().await?;
        } else if with_body {
            let length = answer.header("content-length").map_or("0", |length| length);
            answer.bytes = self.read_bytes(length.parse().ok()?).await?;
        }
        answer.body = String::from_utf8_lossy(&answer.bytes).into_owned();
        Some(answer)
    }

    async fn read_chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let length = self.read_to(b"\r\n").await?;
            let length = usize::from_str_radix(length.trim_end(), 16).ok()?;
            body.extend(self.read_bytes(length).await?);
            self.read_to(b"\r\n").await?;
            if length == 0 {
                return Some(body);
            }
        }
    }

    async fn read_to(&mut self, end: &[u8]) -> Option<String> {
        loop {
            if let Some(at) = self.read.windows(end.len()).position(|bytes| bytes == end) {
                return String::from_utf8(self.take(at + end.len())).ok();
            }
            self.read_more().await?;
        }
    }

    async fn read_bytes(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.read.len() < length {
            self.read_more().await?;
        }
        Some(self.take(length))
    }

    async fn read_more(&mut self) -> Option<()> {
        let read = self.stream.read_buf(&mut self.read).await.unwrap_or(0);
        (read > 0).then_some(())
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        self.read.drain(..length).collect()
    }
}

/// Sends one request on a connection of its own.
pub(crate) async fn call(
    server: &EmbeddedServer,
    method: &str,
    path: &str,
    body: Option<&str>,
) -> Answer {
    let mut connection = Connection::to(server).await;
    connection.send(request(server.api_key(), method, path, body)).await;
    connection.answer().await.unwrap()
}

/// A request as bytes.
pub(crate) fn request(key: &str, method: &str, path: &str, body: Option<&str>) -> String {
    let body = body.unwrap_or_default();
    format!("{}{body}", head(key, method, path, &format!("content-length: {}\r\n", body.len())))
}

/// The head of a request with a JSON body.
pub(crate) fn head(key: &str, method: &str, path: &str, further: &str) -> String {
    format!(
        "{method} /api/v1{path} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\n{further}\r\n"
    )
}
