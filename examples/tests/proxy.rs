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

/// A service that changes what it is sent, or tells less than it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "not all tests need another server")]
pub(crate) enum Manner {
    Exact,
    /// Texts lose the spaces at their ends, and have other line ends.
    Trims,
    /// Times have no fractions of seconds.
    WholeSeconds,
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
    manner: Arc<Mutex<Manner>>,
    address: SocketAddr,
    has_faults: bool,
}

impl Proxy {
    pub(crate) async fn start(has_faults: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let manner = Arc::new(Mutex::new(Manner::Exact));
        let (seen, server) = Default::default();
        let proxy = Self { seen, server, manner, address, has_faults };
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

    /// Makes the server another one.
    #[allow(dead_code, reason = "not all tests need another server")]
    pub(crate) fn set_manner(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
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
        let (server, manner) = ((*self.server.lock().unwrap())?, *self.manner.lock().unwrap());
        let request = match manner {
            Manner::Trims => &changed(request, trim),
            _ => request,
        };
        let line = String::from_utf8_lossy(request);
        let mut words = line.split([' ', '?']);
        let line = format!("{} {}", words.next()?, words.next()?);
        let mut connection = TcpStream::connect(server).await.ok()?;
        connection.write_all(request).await.ok()?;
        let mut response = Vec::new();
        connection.read_to_end(&mut response).await.ok()?;
        if manner == Manner::WholeSeconds {
            response = changed(&response, cut_fractions);
        }
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

/// A message whose JSON is changed.
fn changed(message: &[u8], change: fn(&mut Value)) -> Vec<u8> {
    let Some(end) = message.windows(4).position(|four| four == b"\r\n\r\n") else {
        return message.to_vec();
    };
    let (head, body) = (String::from_utf8_lossy(&message[..end]), &message[end + 4..]);
    let Ok(mut json) = serde_json::from_slice(body) else { return message.to_vec() };
    change(&mut json);
    let is_length = |line: &&str| line.to_lowercase().starts_with("content-length:");
    let lines: Vec<_> = head.split("\r\n").filter(|line| !is_length(line)).collect();
    let body = json.to_string();
    format!("{}\r\ncontent-length: {}\r\n\r\n{body}", lines.join("\r\n"), body.len()).into_bytes()
}

fn trim(body: &mut Value) {
    for name in ["title", "prompt"] {
        if let Some(Value::String(text)) = body.get_mut(name) {
            *text = text.trim().replace("\r\n", "\n");
        }
    }
}

fn cut_fractions(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(time) if name.ends_with("At") => {
                        if let Some((seconds, _)) = time.split_once('.') {
                            *time = format!("{seconds}Z");
                        }
                    }
                    value => cut_fractions(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(cut_fractions),
        _ => {}
    }
}
