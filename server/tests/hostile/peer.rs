//! One connection of an attacker: bytes as they are, and no failure for what the server cuts.

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout};

use crate::TIMEOUT;
use crate::target::ATTACKER;

pub(crate) struct Peer {
    stream: TcpStream,
    read: Vec<u8>,
}

/// The head of a response.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    text: String,
}

impl Head {
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.text.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Whether it has one of these statuses, and says when to try again.
    pub(crate) fn is_refusal(&self, statuses: &[u16]) -> bool {
        statuses.contains(&self.status) && self.header("retry-after").is_some()
    }
}

impl Peer {
    pub(crate) async fn open(address: &str) -> Self {
        let stream = timeout(TIMEOUT, TcpStream::connect(address)).await.expect("a connection");
        Self { stream: stream.unwrap(), read: Vec::new() }
    }

    /// From another address of this machine, with the smallest buffer for what it does not read.
    pub(crate) async fn open_from(local: Ipv4Addr, address: &str) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(16 * 1024).unwrap();
        socket.bind((local, 0).into()).unwrap();
        let connecting = socket.connect(address.parse().unwrap());
        let stream = timeout(TIMEOUT, connecting).await.expect("a connection");
        Self { stream: stream.unwrap(), read: Vec::new() }
    }

    /// Sends as much as the server takes.
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let sent = timeout(TIMEOUT, self.stream.write_all(bytes.as_ref())).await;
        // The server may have ended the connection.
        drop(sent.expect("sent in time"));
    }

    /// Reads and drops what comes for a while; whether the server has closed the connection.
    pub(crate) async fn is_closed(&mut self, wait: Duration) -> bool {
        let mut read = [0; 4096];
        let begun = Instant::now();
        while let Ok(more) = timeout(wait, self.stream.read(&mut read)).await {
            if !more.is_ok_and(|bytes| bytes > 0) {
                return true;
            }
            if begun.elapsed() > wait {
                break;
            }
        }
        false
    }

    /// The head of the next response. `None` if the connection ends first. The body of the
    /// response before must have been read.
    pub(crate) async fn head(&mut self) -> Option<Head> {
        let end = loop {
            if let Some(at) = self.read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at + 4;
            }
            let more = timeout(TIMEOUT, self.stream.read_buf(&mut self.read)).await;
            if !more.expect("a response in time").is_ok_and(|bytes| bytes > 0) {
                return None;
            }
        };
        let text = String::from_utf8(self.read.drain(..end).collect()).unwrap();
        let status = text.split(' ').nth(1)?.parse().ok()?;
        Some(Head { status, text })
    }
}

/// The head of an attacker's request to the API.
pub(crate) fn head(method: &str, path: &str, length: usize) -> String {
    head_with(ATTACKER, method, path, length)
}

/// The same with another key.
pub(crate) fn head_with(key: &str, method: &str, path: &str, length: usize) -> String {
    format!(
        "{method} /api/v1{path} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}
