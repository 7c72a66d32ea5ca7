//! A transport over hyper, which sends and receives bodies as they come.

use std::net::SocketAddr;

use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use promptarium::UploadSource;
use promptarium::transport::{Body, Failure, Transport};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::stub::patient;
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

#[tokio::test]
async fn a_response_is_received_as_the_server_sends_it() {
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
    let transports: [Box<dyn Transport>; 1] = [Box::new(Hyper::new())];
    let response = transports[0].send(request).await.unwrap();
    let mut body = response.into_body();
    assert_eq!(http_body::Body::size_hint(&body).exact(), Some(6));
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first, "abc");
    first_received.send(()).unwrap();
    assert_eq!(body.collect().await.unwrap(), "def");
}
