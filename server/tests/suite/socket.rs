//! Bytes on a socket: requests that no HTTP client would send, and the answers to them as they
//! arrive. Only calls that break HTTP/1.1 belong here; every other call goes through a wire.

pub(crate) mod reader;

use std::io;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use promptarium_conformance::{RawExchange, Target};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::prelude::*;

/// A target that never stops answering must not fill our memory.
const ANSWER_BYTES_MAX: usize = 16 << 20;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection to the target, closed when this is dropped.
pub(crate) struct Socket {
    case: Case,
    stream: Box<dyn Stream>,
    sent: Vec<u8>,
    received: BytesMut,
    ended: bool,
    bodiless: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Received {
    Response(ApiResponse),
    /// The target closed the connection without a further word.
    Closed,
}

impl Socket {
    pub(crate) async fn open(case: &Case) -> Result<Self> {
        let target = case.target();
        let stream = timeout(target.timeout(), connect(target)).await;
        let stream = stream.unwrap_or_else(|elapsed| Err(elapsed.into()));
        let stream = stream.map_err(|error| Failure::error("a connection", error.to_string()))?;
        let (sent, received) = (Vec::new(), BytesMut::new());
        Ok(Self { case: case.clone(), stream, sent, received, ended: false, bodiless: false })
    }

    /// Sends bytes as they are. That the target has closed the connection is no failure, as its
    /// answer may be there to be read; that it takes no bytes in time is one.
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) -> Result<()> {
        let bytes = bytes.as_ref();
        self.sent.extend_from_slice(bytes);
        let sending = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        match timeout(self.case.target().timeout(), sending).await {
            Ok(_) => Ok(()),
            Err(_) => Err(self.error("the bytes to be taken", "they were not in time")),
        }
    }

    /// Says that nothing more will come from this side.
    pub(crate) async fn finish(&mut self) {
        let _ = timeout(self.case.target().timeout(), self.stream.shutdown()).await;
    }

    /// The next answer is one to `HEAD`: it has a length and no body.
    pub(crate) fn expect_no_body(&mut self) {
        self.bodiless = true;
    }

    /// The next answer that is not an interim one (1xx), or the end. Fails if neither comes in
    /// time, or if other bytes than HTTP come.
    pub(crate) async fn next(&mut self) -> Result<Received> {
        loop {
            match self.next_of_any_kind().await? {
                Received::Response(reply) if reply.status_code() < 200 => {}
                received => return Ok(received),
            }
        }
    }

    /// The next answer, interim ones too, or the end.
    pub(crate) async fn next_of_any_kind(&mut self) -> Result<Received> {
        match timeout(self.case.target().timeout(), self.read()).await {
            Ok(received) => received,
            Err(_) => Err(self.error("an answer or the end of the connection", "neither in time")),
        }
    }

    pub(crate) async fn response(&mut self) -> Result<ApiResponse> {
        match self.next().await? {
            Received::Response(reply) => Ok(reply),
            Received::Closed => Err(self.failure("an answer", "the end of the connection")),
        }
    }

    /// A failure that shows what was sent on this connection.
    pub(crate) fn failure(&self, expected: impl Into<String>, got: impl Into<String>) -> Failure {
        Failure::failed(expected, got).on(self.exchange(None))
    }

    fn error(&self, expected: &str, got: &str) -> Failure {
        Failure::error(expected, got).on(self.exchange(None))
    }

    fn exchange(&self, response: Option<http::Response<Bytes>>) -> RawExchange {
        RawExchange::of_bytes(self.case.target().base_url(), self.sent.clone(), response)
    }

    async fn read(&mut self) -> Result<Received> {
        loop {
            match reader::response(&self.received, self.bodiless, self.ended) {
                Ok(Some((response, length))) => {
                    let _ = self.received.split_to(length);
                    self.bodiless = false;
                    let reply = ApiResponse::of(&self.exchange(Some(response)))?;
                    return Ok(Received::Response(reply));
                }
                Ok(None) if self.ended && self.received.is_empty() => return Ok(Received::Closed),
                Ok(None) if self.ended => {
                    return Err(self.failure("a whole answer", "one that breaks off"));
                }
                Ok(None) if self.received.len() > ANSWER_BYTES_MAX => {
                    return Err(self.failure("an answer that ends", "one that does not"));
                }
                Ok(None) => {}
                Err(what) => return Err(self.failure("an HTTP answer", what)),
            }
            let read = self.stream.read_buf(&mut self.received).await;
            self.ended = !matches!(read, Ok(1..));
            if read.is_err() {
                // A reset may have destroyed a part of what was received.
                self.received.clear();
            }
        }
    }
}

async fn connect(target: &Target) -> io::Result<Box<dyn Stream>> {
    let url = &target.config().base_url;
    // An IPv6 address is without its brackets.
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let stream = TcpStream::connect((host, url.port_or_known_default().unwrap_or(80))).await?;
    stream.set_nodelay(true)?;
    if url.scheme() == "http" {
        return Ok(Box::new(stream));
    }
    let mut tls = target.tls().clone();
    // Raw requests are lines of text.
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    Ok(Box::new(TlsConnector::from(Arc::new(tls)).connect(name, stream).await?))
}

/// A request to be put together, which begins as a good one without a body, with the key.
#[derive(Clone, Debug)]
#[must_use]
pub(crate) struct RawRequest {
    first: Vec<u8>,
    lines: Vec<Vec<u8>>,
}

impl RawRequest {
    /// A good request for a path below the base URL.
    pub(crate) fn new(case: &Case, method: &Method, path: &str) -> Self {
        let config = case.target().config();
        let (url, key) = (&config.base_url, &config.api_key);
        let first = format!("{method} {}{path} HTTP/1.1", url.path().trim_end_matches('/'));
        let host = url.host_str().unwrap_or_default();
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let lines = [format!("Host: {host}"), format!("Authorization: Bearer {key}")];
        Self { first: first.into_bytes(), lines: lines.map(String::into_bytes).into() }
    }

    pub(crate) fn first(self, line: impl Into<Vec<u8>>) -> Self {
        Self { first: line.into(), ..self }
    }

    /// A further line of the head, as it is.
    pub(crate) fn line(mut self, line: impl Into<Vec<u8>>) -> Self {
        self.lines.push(line.into());
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.lines.retain(|line| !line.starts_with(name.as_bytes()));
        self
    }

    pub(crate) fn head(&self) -> Vec<u8> {
        let mut head = self.first.clone();
        for line in &self.lines {
            head.extend_from_slice(b"\r\n");
            head.extend_from_slice(line);
        }
        head.extend_from_slice(b"\r\n\r\n");
        head
    }

    /// With a part of the first line exchanged.
    pub(crate) fn replace(self, from: &str, to: &str) -> Self {
        let first = String::from_utf8_lossy(&self.first).replacen(from, to, 1);
        self.first(first)
    }

    /// The head, and these bytes behind it.
    pub(crate) fn body(&self, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        [&self.head(), bytes.as_ref()].concat()
    }

    /// Head and JSON body, the latter under its type and length.
    pub(crate) fn json(self, body: &str) -> Vec<u8> {
        let length = format!("Content-Length: {}", body.len());
        self.line("Content-Type: application/json").line(length).body(body)
    }
}
