//! A provider by the queue protocol with one order, which is done at once; but
//! whoever asks first for the result waits for it until it is released.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use image::{ImageFormat, RgbImage};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::PATIENCE;

pub(super) struct Provider {
    /// Such as `http://127.0.0.1:12345`.
    pub(super) origin: String,
    seen: Arc<watch::Sender<Seen>>,
}

#[derive(Default)]
struct Seen {
    orders: usize,
    /// Who has asked for the result, by the number that is their key.
    asked_by: Vec<usize>,
    released: bool,
}

impl Provider {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(watch::Sender::new(Seen::default()));
        let (own, shared) = (origin.clone(), Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (own, seen) = (own.clone(), Arc::clone(&shared));
                let service = service_fn(move |request| {
                    let (own, seen) = (own.clone(), Arc::clone(&seen));
                    async move { Ok::<_, Infallible>(answer(&request, &own, &seen).await) }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { origin, seen }
    }

    /// Who was the n-th to ask for the result, counting from 1.
    pub(super) async fn asked_by(&self, n: usize) -> usize {
        let mut seen = self.seen.subscribe();
        let asked = timeout(PATIENCE, seen.wait_for(|seen| seen.asked_by.len() >= n)).await;
        asked.expect("the provider to be asked in time").unwrap().asked_by[n - 1]
    }

    pub(super) fn orders(&self) -> usize {
        self.seen.borrow().orders
    }

    /// Lets the first one have the result.
    pub(super) fn release(&self) {
        self.seen.send_modify(|seen| seen.released = true);
    }
}

async fn answer(
    request: &Request<Incoming>,
    origin: &str,
    seen: &watch::Sender<Seen>,
) -> Response<Full<Bytes>> {
    let result = format!("{origin}/requests/r");
    if request.method() == Method::POST {
        seen.send_modify(|seen| seen.orders += 1);
        let status = format!("{result}/status");
        return json(&json!({ "request_id": "r", "status_url": status, "response_url": result }));
    }
    match request.uri().path() {
        "/requests/r/status" => json(&json!({ "status": "COMPLETED" })),
        "/picture.png" => {
            let answer = Response::builder().header("content-type", "image/png");
            answer.body(Full::new(picture())).unwrap()
        }
        _ => {
            let key = request.headers()["authorization"].to_str().unwrap();
            let who = key.strip_prefix("Key ").unwrap().parse().unwrap();
            seen.send_modify(|seen| seen.asked_by.push(who));
            if seen.borrow().asked_by.len() == 1 {
                let mut heard = seen.subscribe();
                let _ = heard.wait_for(|seen| seen.released).await;
            }
            let url = format!("{origin}/picture.png");
            json(&json!({ "images": [{ "url": url, "width": 2, "height": 2 }] }))
        }
    }
}

fn json(body: &Value) -> Response<Full<Bytes>> {
    let answer = Response::builder().header("content-type", "application/json");
    answer.body(Full::new(body.to_string().into())).unwrap()
}

/// What it has drawn.
pub(super) fn picture() -> Bytes {
    let mut bytes = std::io::Cursor::new(Vec::new());
    RgbImage::new(2, 2).write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner().into()
}
