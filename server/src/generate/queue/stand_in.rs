//! A provider on a real socket that does what a test tells it.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;

type Body = UnsyncBoxBody<Bytes, Infallible>;
type Act = dyn Fn(&Seen) -> Does + Send + Sync;

/// What it does with a request.
pub(super) enum Does {
    Answer(Response<Bytes>),
    /// Sends zeros without an end, as a picture.
    FloodWithZeros,
    /// Says nothing.
    Hang,
    /// Closes the connection.
    Break,
}

/// A request that came.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) head: String,
    pub(super) key: Option<String>,
    pub(super) body: Bytes,
}

pub(super) struct StandIn {
    /// Such as `http://127.0.0.1:12345`.
    pub(super) origin: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl StandIn {
    /// `act` decides by the request; its head is such as `POST /a/model`.
    pub(super) async fn start(act: impl Fn(&Seen, &str) -> Does + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, own) = (Arc::clone(&seen), origin.clone());
        let act: Arc<Act> = Arc::new(move |seen| act(seen, &own));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, act) = (Arc::clone(&log), Arc::clone(&act));
                let service = service_fn(move |request| serve(request, log.clone(), act.clone()));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { origin, seen }
    }

    /// All requests so far.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The requests whose head begins so.
    pub(super) fn count(&self, head: &str) -> usize {
        self.seen().iter().filter(|seen| seen.head.starts_with(head)).count()
    }
}

async fn serve(
    request: Request<Incoming>,
    log: Arc<Mutex<Vec<Seen>>>,
    act: Arc<Act>,
) -> Result<Response<Body>, &'static str> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| "the request broke off")?.to_bytes();
    let seen = Seen { head: head(&parts), key: key(&parts), body };
    log.lock().unwrap().push(seen.clone());
    match act(&seen) {
        Does::Answer(answer) => Ok(answer.map(|bytes| Full::new(bytes).boxed_unsync())),
        Does::FloodWithZeros => {
            let zeros = futures::stream::repeat(Bytes::from_static(&[0; 4096]));
            let body = StreamBody::new(zeros.map(|bytes| Ok(Frame::data(bytes)))).boxed_unsync();
            Ok(Response::builder().header("content-type", "image/png").body(body).unwrap())
        }
        Does::Hang => {
            tokio::time::sleep(Duration::from_secs(600)).await;
            Err("it hung")
        }
        Does::Break => Err("it broke"),
    }
}

fn head(parts: &Parts) -> String {
    format!("{} {}", parts.method, parts.uri)
}

fn key(parts: &Parts) -> Option<String> {
    Some(parts.headers.get("authorization")?.to_str().unwrap().to_owned())
}

/// A JSON answer.
pub(super) fn json(status: u16, body: &Value) -> Does {
    answer(status, "application/json", body.to_string())
}

pub(super) fn answer(status: u16, kind: &str, body: impl Into<Bytes>) -> Does {
    let answer = Response::builder()
        .status(StatusCode::from_u16(status).unwrap())
        .header("content-type", kind)
        .body(body.into());
    Does::Answer(answer.unwrap())
}
