//! Bytes on a socket: requests that no HTTP client would send, and the answers to
//! them as they arrive. Only what takes HTTP/1.1 apart belongs here; every other
//! call goes through [`super::Wire`].

mod draft;
mod reader;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub use self::draft::RawRequest;
use self::reader::Part;
use super::ApiResponse;
use crate::Failure;
use crate::exchange::{self, RawExchange, SentBytes, authority, unbracketed};
use crate::ledger::Ledger;
use crate::target::Target;

/// A target that never stops answering must not fill our memory.
const ANSWER_BYTES_MAX: usize = 16 << 20;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection to the target, of this scenario alone. It is closed when this is
/// dropped.
pub struct Socket {
    target: Arc<Target>,
    ledger: Arc<Ledger>,
    stream: Box<dyn Stream>,
    sent: Vec<u8>,
    received: BytesMut,
    ended: bool,
    bodiless: bool,
}

/// What became of a request.
#[derive(Clone, Debug)]
pub enum Received {
    /// A whole answer.
    Response(ApiResponse),
    /// The target closed the connection without a further word.
    Closed,
}

impl Socket {
    /// Connects as the target's address and the run's TLS settings say.
    ///
    /// # Errors
    /// If there is no connection, and in a run that may only read.
    pub(crate) async fn open(target: Arc<Target>, ledger: Arc<Ledger>) -> Result<Self, Failure> {
        // What is sent here can be read in more than one way.
        target.options().allow(&Method::POST)?;
        let connected = tokio::time::timeout(target.timeout(), connect(&target)).await;
        let stream = match connected {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(Failure::error("a connection", error.to_string())),
            Err(_) => return Err(Failure::error("a connection", "none in time")),
        };
        let received = BytesMut::new();
        Ok(Self {
            target,
            ledger,
            stream,
            sent: Vec::new(),
            received,
            ended: false,
            bodiless: false,
        })
    }

    /// Sends bytes as they are. That the target has closed the connection is no
    /// fault: what it said before is still to be read.
    ///
    /// # Errors
    /// If the target takes nothing for as long as an answer may take.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
        let bytes = bytes.as_ref();
        self.sent.extend_from_slice(bytes);
        let timeout = self.timeout();
        let sending = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        match tokio::time::timeout(timeout, sending).await {
            Ok(Ok(()) | Err(_)) => Ok(()),
            Err(_) => Err(self.error("the bytes to be taken", "they were not in time")),
        }
    }

    /// Says that nothing more will come from this side.
    pub async fn finish(&mut self) {
        let _ = tokio::time::timeout(self.timeout(), self.stream.shutdown()).await;
    }

    /// The next answer is one to `HEAD`: its length is told and no body comes.
    pub fn expect_no_body(&mut self) {
        self.bodiless = true;
    }

    /// The next answer that is not an interim one (1xx), or the end.
    ///
    /// # Errors
    /// If neither comes in time, or what comes is no HTTP.
    pub async fn next(&mut self) -> Result<Received, Failure> {
        loop {
            match self.next_of_any_kind().await? {
                Received::Response(reply) if reply.status_code() < 200 => {}
                heard => return Ok(heard),
            }
        }
    }

    /// The next answer, interim ones too, or the end.
    ///
    /// # Errors
    /// As [`Socket::next`].
    pub async fn next_of_any_kind(&mut self) -> Result<Received, Failure> {
        let timeout = self.timeout();
        match tokio::time::timeout(timeout, self.read()).await {
            Ok(heard) => heard,
            Err(_) => Err(self.error("an answer or the end of the connection", "neither in time")),
        }
    }

    /// The next answer, which must come.
    ///
    /// # Errors
    /// As [`Socket::next`], and if the connection ends instead.
    pub async fn response(&mut self) -> Result<ApiResponse, Failure> {
        match self.next().await? {
            Received::Response(reply) => Ok(reply),
            Received::Closed => Err(self.failure("an answer", "the end of the connection")),
        }
    }

    /// A failure that shows what was sent on this connection.
    pub fn failure(&self, expected: impl Into<String>, got: impl Into<String>) -> Failure {
        Failure::failed(expected, got).on(self.exchange())
    }

    fn error(&self, expected: &str, got: &str) -> Failure {
        Failure::error(expected, got).on(self.exchange())
    }

    fn exchange(&self) -> RawExchange {
        RawExchange { request: self.request(), response: None }
    }

    fn request(&self) -> Arc<exchange::Request> {
        let base = &self.target.config.base_url;
        Arc::new(exchange::Request {
            method: Method::GET,
            url: base.to_string(),
            headers: HeaderMap::new(),
            body: None,
            bytes: Some(SentBytes::new(base, &self.sent)),
        })
    }

    fn timeout(&self) -> Duration {
        self.target.timeout()
    }

    async fn read(&mut self) -> Result<Received, Failure> {
        loop {
            match reader::part(&self.received, self.bodiless, self.ended) {
                Part::Answer(answer, length) => {
                    let _ = self.received.split_to(length);
                    self.bodiless = false;
                    return Ok(Received::Response(self.response_of(answer)));
                }
                Part::Nonsense(what) => {
                    return Err(self.failure("an HTTP answer", what));
                }
                Part::Unfinished if self.ended && self.received.is_empty() => {
                    return Ok(Received::Closed);
                }
                Part::Unfinished if self.ended => {
                    return Err(self.failure("a whole answer", "one that breaks off"));
                }
                Part::Unfinished if self.received.len() > ANSWER_BYTES_MAX => {
                    return Err(self.failure("an answer that ends", "one that does not"));
                }
                Part::Unfinished => {}
            }
            match self.stream.read_buf(&mut self.received).await {
                Ok(0) => self.ended = true,
                Ok(_) => {}
                // Who closes with our bytes unread may reset what it said itself.
                Err(_) => {
                    self.ended = true;
                    self.received.clear();
                }
            }
        }
    }

    fn response_of(&self, answer: reader::Answer) -> ApiResponse {
        let reader::Answer { status, headers, body } = answer;
        let json = serde_json::from_slice(&body).ok();
        let response = exchange::Response { status, headers, body: Bytes::from(body) };
        let reply = ApiResponse::new(self.request(), Arc::new(response), json);
        self.ledger.record(reply.exchange());
        reply
    }
}

async fn connect(target: &Target) -> io::Result<Box<dyn Stream>> {
    let (host, port) = authority(&target.config.base_url);
    let stream = TcpStream::connect((unbracketed(&host), port)).await?;
    stream.set_nodelay(true)?;
    if target.config.base_url.scheme() == "http" {
        return Ok(Box::new(stream));
    }
    let mut tls = target.tls.clone();
    // What is sent here is lines of text.
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    let name = ServerName::try_from(unbracketed(&host).to_owned()).map_err(io::Error::other)?;
    let stream = TlsConnector::from(Arc::new(tls)).connect(name, stream).await?;
    Ok(Box::new(stream))
}
