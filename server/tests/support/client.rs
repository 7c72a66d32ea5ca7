//! An HTTP/1.1 client that sends bytes as they are and shows responses as they are.

use std::net::{Ipv4Addr, SocketAddr};

use promptarium_server::EmbeddedServer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use super::TIMEOUT;
use super::program::Running;

/// A server that was started with a key, embedded or as a process.
pub(crate) trait Server {
    /// Where it listens, its base URL, and the key.
    fn access(&self) -> (SocketAddr, &str, &str);
}

impl Server for EmbeddedServer {
    fn access(&self) -> (SocketAddr, &str, &str) {
        (self.local_addr(), self.base_url(), self.api_key())
    }
}

impl Server for Running {
    fn access(&self) -> (SocketAddr, &str, &str) {
        let address = self.root().strip_prefix("http://").unwrap();
        (address.parse().unwrap(), self.base_url(), self.api_key())
    }
}

/// A response of HTTP/1.1.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// The body as text, as far as it is text.
    pub(crate) body: String,
    pub(crate) bytes: Vec<u8>,
}

/// One connection.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    read: Vec<u8>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn data(&self) -> serde_json::Value {
        self.json()["data"].take()
    }

    /// Status and body, for messages.
    pub(crate) fn summary(&self) -> String {
        format!("{} {:.400}", self.status, self.body)
    }

    /// Whether the body is the envelope of an error.
    pub(crate) fn is_error_envelope(&self) -> bool {
        let body = serde_json::from_str::<serde_json::Value>(&self.body).unwrap_or_default();
        let error = body["error"].as_str().unwrap_or_default();
        body["data"].is_null() && !error.is_empty() && body["details"].is_object()
    }

    /// Where the response leads, or the empty text.
    pub(crate) fn location(&self) -> &str {
        self.header("location").unwrap_or_default()
    }
}

impl Connection {
    /// `address` is a host and a port, or a base URL.
    pub(crate) async fn open(address: &str) -> Self {
        Self::try_open(address).await.unwrap()
    }

    pub(crate) async fn try_open(address: &str) -> std::io::Result<Self> {
        let address = address.strip_prefix("http://").unwrap_or(address);
        let address = address.split('/').next().unwrap();
        Ok(Self { stream: TcpStream::connect(address).await?, read: Vec::new() })
    }

    /// From this address of this machine, with the smallest buffer for what is not read.
    pub(crate) async fn from(source: Ipv4Addr, server: &impl Server) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(16 * 1024).unwrap();
        socket.bind((source, 0).into()).unwrap();
        Self { stream: socket.connect(server.access().0).await.unwrap(), read: Vec::new() }
    }

    pub(crate) async fn to(server: &impl Server) -> Self {
        Self::open(&server.access().0.to_string()).await
    }

    /// Sends as much as the server takes: it may end the connection.
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let sent = timeout(TIMEOUT, self.stream.write_all(bytes.as_ref())).await;
        drop(sent.expect("sent in time"));
    }

    /// Sends a request and gives its response, which to `HEAD` has no body.
    pub(crate) async fn ask(&mut self, request: impl AsRef<[u8]>) -> Response {
        self.send(&request).await;
        match request.as_ref() {
            [b'H', b'E', b'A', b'D', ..] => self.head_response().await,
            _ => self.response().await,
        }
        .expect("a response")
    }

    /// The response to a request of the API.
    pub(crate) async fn api(
        &mut self,
        key: &str,
        method: &str,
        path: &str,
        body: Option<&str>,
    ) -> Response {
        self.ask(request(key, method, path, body)).await
    }

    /// The response to a request without a key, for a path from the root.
    pub(crate) async fn get(&mut self, path: &str) -> Response {
        self.ask(get_request(path)).await
    }

    /// Whether the server has neither closed it nor sent something that nobody asked for.
    pub(crate) fn is_open(&self) -> bool {
        let read = self.stream.try_read(&mut [0]);
        read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    }

    /// Waits for the next response, and leaves it unread.
    pub(crate) async fn is_answered(&self) {
        timeout(TIMEOUT, self.stream.readable()).await.expect("a response in time").unwrap();
    }

    /// The next response; `None` if the connection ends first.
    pub(crate) async fn response(&mut self) -> Option<Response> {
        // A fork of a large vault may take a minute.
        timeout(2 * TIMEOUT, self.read_response(true)).await.expect("a response in time")
    }

    /// The head of the next response.
    pub(crate) async fn head_response(&mut self) -> Option<Response> {
        timeout(TIMEOUT, self.read_response(false)).await.expect("a response in time")
    }

    /// Whether the peer ends the connection with nothing more to say.
    pub(crate) async fn ends(&mut self) -> bool {
        let end = timeout(TIMEOUT, self.stream.read_buf(&mut self.read)).await;
        let ended = matches!(end.expect("an end in time"), Ok(0) | Err(_));
        ended && self.read.is_empty()
    }

    async fn read_response(&mut self, with_body: bool) -> Option<Response> {
        let head = self.read_to(b"\r\n\r\n").await?;
        let mut lines = head.trim_end().lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let mut response = Response { status, headers, body: String::new(), bytes: Vec::new() };
        if with_body && response.header("transfer-encoding").is_some() {
            response.bytes = self.read_chunks().await?;
        } else if with_body {
            let length = response.header("content-length").map_or("0", |length| length);
            response.bytes = self.read_bytes(length.parse().ok()?).await?;
        }
        response.body = String::from_utf8_lossy(&response.bytes).into_owned();
        Some(response)
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
        let found = |read: &[u8]| read.windows(end.len()).position(|bytes| bytes == end);
        while found(&self.read).is_none() {
            self.read_more().await?;
        }
        let bytes = self.read.drain(..found(&self.read)? + end.len()).collect();
        String::from_utf8(bytes).ok()
    }

    async fn read_bytes(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.read.len() < length {
            self.read_more().await?;
        }
        Some(self.read.drain(..length).collect())
    }

    async fn read_more(&mut self) -> Option<()> {
        let read = self.stream.read_buf(&mut self.read).await.unwrap_or(0);
        (read > 0).then_some(())
    }
}

/// Sends one request on a connection of its own.
pub(crate) async fn call(
    server: &impl Server,
    method: &str,
    path: &str,
    body: Option<&str>,
) -> Response {
    Connection::to(server).await.api(server.access().2, method, path, body).await
}

/// Asks for a path from the root, without a key, on a connection of its own.
pub(crate) async fn get(server: &impl Server, path: &str) -> Response {
    Connection::to(server).await.get(path).await
}

/// A request without a key, for a path from the root.
pub(crate) fn get_request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n")
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

/// An upload slot; paths begin at the root of the server.
#[derive(Clone)]
pub(crate) struct Slot {
    pub(crate) root: String,
    pub(crate) upload_path: String,
    pub(crate) upload_url: String,
    pub(crate) token: String,
    pub(crate) path: String,
    pub(crate) content_type: String,
}

impl Slot {
    /// Requests one for an image of this size.
    pub(crate) async fn to(server: &impl Server, size: usize) -> Self {
        let (_, base_url, key) = server.access();
        Self::of(base_url, key, "image/png", size).await
    }

    /// Requests one.
    pub(crate) async fn of(base_url: &str, key: &str, content_type: &str, size: usize) -> Self {
        let body = format!(r#"{{"contentType":"{content_type}","size":{size}}}"#);
        let mut connection = Connection::open(base_url).await;
        let response = connection.api(key, "POST", "/uploads/images", Some(&body)).await;
        Self::parse(&response, base_url.strip_suffix("/api/v1").unwrap())
    }

    /// The slot in a response of the server with this address.
    pub(crate) fn parse(response: &Response, root: &str) -> Self {
        assert_eq!(response.status, 201, "{response:?}");
        let data = response.data();
        let text = |name: &str| data[name].as_str().unwrap().to_owned();
        let below = |url: String| url.strip_prefix(root).unwrap().to_owned();
        Self {
            root: root.to_owned(),
            upload_path: below(text("uploadUrl")),
            upload_url: text("uploadUrl"),
            token: text("token"),
            path: below(text("url")),
            content_type: text("contentType"),
        }
    }

    /// The head of the upload, with further lines.
    pub(crate) fn head(&self, further: &str) -> String {
        let Self { upload_path, token, content_type, .. } = self;
        format!(
            "PUT {upload_path} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {token}\r\n\
             content-type: {content_type}\r\n{further}\r\n"
        )
    }

    /// The upload, with a declared length.
    pub(crate) fn put_request(&self, bytes: &[u8]) -> Vec<u8> {
        let head = self.head(&format!("content-length: {}\r\n", bytes.len()));
        [head.as_bytes(), bytes].concat()
    }

    pub(crate) async fn put(&self, bytes: &[u8]) -> Response {
        self.connection().await.ask(self.put_request(bytes)).await
    }

    /// A connection with the head of an upload of this length.
    pub(crate) async fn begin(&self, length: usize) -> Connection {
        let mut connection = self.connection().await;
        connection.send(self.head(&format!("content-length: {length}\r\n"))).await;
        connection
    }

    /// Asks for the asset.
    pub(crate) async fn get(&self) -> Response {
        self.connection().await.get(&self.path).await
    }

    pub(crate) async fn connection(&self) -> Connection {
        Connection::open(&self.root).await
    }
}
