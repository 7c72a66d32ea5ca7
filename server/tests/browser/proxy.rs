//! A proxy that gives each request to the next of its servers and records what was asked.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

pub(crate) struct Proxy {
    listener: Arc<TcpListener>,
    heads: Arc<Mutex<Vec<String>>>,
    serving: Option<AbortOnDropHandle<()>>,
}

impl Proxy {
    pub(crate) async fn bind() -> Self {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        Self { listener, heads: Arc::default(), serving: None }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    /// Forwards to these servers in turn.
    pub(crate) fn forward(&mut self, servers: Vec<SocketAddr>) {
        let (listener, heads) = (self.listener.clone(), self.heads.clone());
        self.serving = Some(AbortOnDropHandle::new(tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(exchange(client, servers.clone(), heads.clone()));
            }
        })));
    }

    /// The heads of all requests, in the order of their arrival: the server of a request is its
    /// number modulo the number of servers.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

/// One request and its response. The server closes the connection, so that the next request of
/// the client comes on a new one.
async fn exchange(
    mut client: TcpStream,
    servers: Vec<SocketAddr>,
    heads: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    let mut read = Vec::new();
    let end = loop {
        if let Some(at) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break at + 2;
        }
        // Browsers open connections that they then do not use.
        client.read_buf(&mut read).await.ok().filter(|count| *count > 0)?;
    };
    let head = String::from_utf8_lossy(&read[..end]).into_owned();
    let lines = head.split_inclusive("\r\n");
    let kept: String =
        lines.filter(|line| !line.to_ascii_lowercase().starts_with("connection:")).collect();
    let number = {
        let mut heads = heads.lock().unwrap();
        heads.push(head);
        heads.len() - 1
    };
    let mut server = TcpStream::connect(servers[number % servers.len()]).await.ok()?;
    server.write_all(format!("{kept}connection: close\r\n").as_bytes()).await.ok()?;
    server.write_all(&read[end..]).await.ok()?;
    copy_bidirectional(&mut client, &mut server).await.ok()?;
    Some(())
}
