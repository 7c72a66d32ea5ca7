//! Transports of a program: over hyper, with bodies that are sent and received as they come, and
//! around the HTTP client.

use std::net::SocketAddr;

use futures::future::BoxFuture;
use http::{HeaderValue, Request, Response};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use promptarium::UploadSource;
use promptarium::transport::{Body, Failure, Transport};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use wiremock::ResponseTemplate;

use crate::stub::{answering, envelope, patient};
use crate::uploads::{giving_slots, png};

struct Hyper(legacy::Client<HttpConnector, Body>);

impl Hyper {
    fn new() -> Self {
        Self(legacy::Client::builder(TokioExecutor::new()).build_http())
    }
}

impl Transport for Hyper {
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let sending = self.0.request(request);
        Box::pin(async move {
            let response = sending.await.map_err(Failure::exchanging)?;
            Ok(response.map(|body| Body::new(body.map_err(Failure::exchanging))))
        })
    }
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn read_until(stream: &mut TcpStream, received: &mut Vec<u8>, length: usize) {
    while received.len() < length {
        assert!(stream.read_buf(received).await.unwrap() > 0, "the connection stays open");
    }
}

#[tokio::test]
async fn an_upload_is_sent_as_its_reader_yields_it() {
    const HALF: usize = 150_000;
    let (storage, address) = listen().await;
    let service = giving_slots(format!("http://{address}"), |_| ()).await;
    let (half_received, when_half_received) = oneshot::channel();
    let server = tokio::spawn(async move {
        let (mut stream, _) = storage.accept().await.unwrap();
        let mut received = Vec::new();
        read_until(&mut stream, &mut received, HALF - 1000).await;
        half_received.send(()).unwrap();
        read_until(&mut stream, &mut received, 2 * HALF).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        let end = received.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
        read_until(&mut stream, &mut received, end + 2 * HALF).await;
        received.split_off(end)
    });
    let (reader, mut writer) = tokio::io::duplex(4096);
    tokio::spawn(async move {
        let image = png(2 * HALF);
        writer.write_all(&image[..HALF]).await.unwrap();
        when_half_received.await.unwrap();
        writer.write_all(&image[HALF..]).await.unwrap();
    });
    let client = patient(service.uri()).transport(Hyper::new()).build().unwrap();
    let source = UploadSource::reader(reader, 2 * HALF as u64);
    assert_eq!(client.uploads().image(source).await.unwrap().size, 2 * HALF as u64);
    assert!(server.await.unwrap() == png(2 * HALF));
}

/// Receives a response of which the second half is sent when the first was received.
async fn receive_in_halves(transport: impl Transport) {
    let (listener, address) = listen().await;
    let (first_received, when_first_received) = oneshot::channel::<()>();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_until(&mut stream, &mut Vec::new(), 1).await;
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n";
        stream.write_all(format!("{head}abc").as_bytes()).await.unwrap();
        when_first_received.await.unwrap();
        stream.write_all(b"def").await.unwrap();
        std::future::pending::<()>().await;
    });
    let mut request = Request::new(Body::default());
    *request.uri_mut() = format!("http://{address}/").parse().unwrap();
    let mut body = transport.send(request).await.unwrap().into_body();
    assert_eq!(http_body::Body::size_hint(&body).exact(), Some(6));
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first, "abc");
    first_received.send(()).unwrap();
    assert_eq!(body.collect().await.unwrap(), "def");
}

#[tokio::test]
async fn a_response_is_received_as_the_server_sends_it() {
    receive_in_halves(Hyper::new()).await;
    receive_in_halves(reqwest::Client::new()).await;
}

/// Adds a header to every request.
struct Tagged(reqwest::Client);

impl Transport for Tagged {
    fn send(
        &self,
        mut request: Request<Body>,
    ) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        request.headers_mut().insert("x-team", HeaderValue::from_static("harbours"));
        self.0.send(request)
    }
}

#[tokio::test]
async fn a_transport_around_the_http_client_adds_a_header() {
    let body = envelope(&serde_json::json!([]));
    let server = answering(ResponseTemplate::new(200).set_body_json(body)).await;
    let client = patient(server.uri()).transport(Tagged(reqwest::Client::new())).build().unwrap();
    assert!(client.vaults().list().await.unwrap().is_empty());
    assert_eq!(server.received_requests().await.unwrap()[0].headers["x-team"], "harbours");
}
