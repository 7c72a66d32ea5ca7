//! Bare hyper: a response of the same bytes for every request, and nothing else.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use promptarium_peers::{Result, arguments};
use tokio::net::TcpListener;

const BODY: &[u8] = br#"{"data":{"id":1,"title":"Harbour at dusk","prompt":"Still life, soft light","promptType":"text","platform":null,"status":"active","images":[],"vaultIds":[],"createdAt":"2026-11-23T16:58:45.314912Z","updatedAt":"2026-11-23T16:58:45.314912Z"},"error":null}"#;

#[tokio::main]
async fn main() -> Result {
    let (listen, _) = arguments()?;
    let listener = TcpListener::bind(listen).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = service_fn(|_: Request<Incoming>| async { Ok::<_, Infallible>(response()) });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

fn response() -> Response<Full<Bytes>> {
    let response = Response::builder()
        .header("content-type", "application/json")
        .header("cache-control", "no-store")
        .header("x-content-type-options", "nosniff")
        .header("x-request-id", "f1c983a7d46e1b6875bc80b0159990d1")
        .body(Full::new(Bytes::from_static(BODY)));
    response.unwrap_or_default()
}
