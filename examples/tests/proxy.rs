//! A proxy before a server that loses requests and responses at random, and counts what the server
//! carried out.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// A request that reached the server.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// Such as `POST /api/v1/prompts`, without a query.
    pub(crate) line: String,
    pub(crate) status: u16,
    /// The body of the response.
    pub(crate) body: Value,
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    ClosedBefore,
    ClosedAfter,
    UnavailableBefore,
    BadGatewayAfter,
    Cut,
}

/// The faults, each with this probability in percent.
const FAULTS: [(Fault, u8); 5] = [
    (Fault::ClosedBefore, 3),
    (Fault::ClosedAfter, 3),
    (Fault::UnavailableBefore, 3),
    (Fault::BadGatewayAfter, 3),
    (Fault::Cut, 3),
];

#[derive(Clone)]
pub(crate) struct Proxy {
    seen: Arc<Mutex<Vec<Seen>>>,
    server: Arc<Mutex<Option<SocketAddr>>>,
    address: SocketAddr,
    has_faults: bool,
}

impl Proxy {
    pub(crate) async fn start(has_faults: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let proxy = Self { seen: Arc::default(), server: Arc::default(), address, has_faults };
        let accepting = proxy.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let proxy = accepting.clone();
                tokio::spawn(async move { proxy.exchange(client).await });
            }
        });
        proxy
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the server behind it, and forgets what was seen.
    pub(crate) fn forward_to(&self, server: SocketAddr) {
        *self.server.lock().unwrap() = Some(server);
        self.seen.lock().unwrap().clear();
    }

    /// The requests that the server answered.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// One request and its response, after which the connection is closed.
    async fn exchange(&self, mut client: TcpStream) -> Option<()> {
        let request = read_request(&mut client).await?;
        let fault = self.fault();
        match fault {
            Fault::ClosedBefore => return None,
            Fault::UnavailableBefore => {
                return answer(&mut client, "503 Service Unavailable").await;
            }
            _ => {}
        }
        // The client may be killed in the meantime; the server gets the request all the same.
        if self.has_faults && fastrand::u8(..100) < 20 {
            sleep(Duration::from_millis(fastrand::u64(..300))).await;
        }
        let response = self.forward(&request).await?;
        match fault {
            Fault::ClosedAfter => None,
            Fault::BadGatewayAfter => answer(&mut client, "502 Bad Gateway").await,
            Fault::Cut => {
                let part = response.len() - 1 - fastrand::usize(..response.len() / 3);
                client.write_all(&response[..part]).await.ok()
            }
            _ => client.write_all(&response).await.ok(),
        }
    }

    fn fault(&self) -> Fault {
        let mut chance = fastrand::u8(..100);
        if self.has_faults {
            for (fault, percent) in FAULTS {
                if chance < percent {
                    return fault;
                }
                chance -= percent;
            }
        }
        Fault::None
    }

    async fn forward(&self, request: &[u8]) -> Option<Vec<u8>> {
        let server = (*self.server.lock().unwrap())?;
        let line = String::from_utf8_lossy(request);
        let mut words = line.split([' ', '?']);
        let line = format!("{} {}", words.next()?, words.next()?);
        let mut connection = TcpStream::connect(server).await.ok()?;
        connection.write_all(request).await.ok()?;
        let mut response = Vec::new();
        connection.read_to_end(&mut response).await.ok()?;
        let head = String::from_utf8_lossy(&response).into_owned();
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let body = head.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let body = serde_json::from_str(body).unwrap_or_default();
        self.seen.lock().unwrap().push(Seen { line, status, body });
        Some(response)
    }
}

/// A request with `Connection: close` in place of what it says about the connection.
async fn read_request(client: &mut TcpStream) -> Option<Vec<u8>> {
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 16 * 1024]);
    loop {
        let read = client.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
        while bytes.len() < end + 4 + length {
            let read = client.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
            bytes.extend_from_slice(&buffer[..read]);
        }
        bytes.splice(end..end, *b"\r\nconnection: close");
        return Some(bytes);
    }
}

async fn answer(client: &mut TcpStream, status: &str) -> Option<()> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    client.write_all(head.as_bytes()).await.ok()
}
