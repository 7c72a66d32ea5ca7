//! A receiver of webhooks, on a thread of its own. A test decides what it answers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails where it panics")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::net::TcpListener;

/// No test waits longer for a request.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a receiver does with a request, whose number counts from 0.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Status(u16),
    /// With a header.
    With(u16, &'static str, String),
    /// After this time, 200.
    After(Duration),
    Never,
    /// 200, and a body without an end.
    Endless,
    /// 200, and a body that stops in the middle.
    Stalled,
    /// The connection ends without a response.
    Reset,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) at: Instant,
}

impl Received {
    pub(crate) fn id(&self) -> &str {
        self.headers["webhook-id"].to_str().unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Whether an implementation that is not ours accepts the signature.
    pub(crate) fn is_signed_by(&self, secret: &str) -> bool {
        Webhook::new(secret).unwrap().verify(&self.body, &self.headers).is_ok()
    }
}

#[derive(Clone)]
pub(crate) struct Receiver {
    url: String,
    all: Arc<Mutex<Vec<Received>>>,
    at_once: Arc<Mutex<(usize, usize)>>,
}

type Body = BoxBody<Bytes, std::io::Error>;

impl Receiver {
    pub(crate) fn start(answer: impl Fn(usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let receiver = Self { url, all: Arc::default(), at_once: Arc::default() };
        let (of, answer) = (receiver.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    let (of, answer) = (of.clone(), answer.clone());
                    tokio::spawn(async move {
                        let service = service_fn(|request| of.respond(request, &*answer));
                        let connection = http1::Builder::new();
                        drop(connection.serve_connection(TokioIo::new(stream), service).await);
                    });
                }
            });
        });
        receiver
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    pub(crate) fn all(&self) -> Vec<Received> {
        self.all.lock().clone()
    }

    /// The most requests that it has had at once.
    pub(crate) fn most_at_once(&self) -> usize {
        self.at_once.lock().1
    }

    /// Waits for so many requests, and returns all.
    pub(crate) async fn wait_for(&self, count: usize) -> Vec<Received> {
        let begin = Instant::now();
        while self.all.lock().len() < count {
            let (all, is_late) = (self.all(), begin.elapsed() > PATIENCE);
            assert!(!is_late, "{} of {count} requests: {all:?}", all.len());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.all()
    }

    async fn respond(
        &self,
        request: Request<Incoming>,
        answer: &(impl Fn(usize) -> Answer + Send + Sync),
    ) -> Result<Response<Body>, std::io::Error> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
        let (path, headers) = (head.uri.path().to_owned(), head.headers);
        let number = {
            let mut all = self.all.lock();
            all.push(Received { path, headers, body, at: Instant::now() });
            let at_once = &mut *self.at_once.lock();
            at_once.0 += 1;
            at_once.1 = at_once.1.max(at_once.0);
            all.len() - 1
        };
        // Also if the connection ends first.
        let _leave = Leave(self.at_once.clone());
        let text = |status: u16| Response::builder().status(status);
        let full = || Full::new(Bytes::from_static(b"ok")).map_err(|never| match never {}).boxed();
        Ok(match answer(number) {
            Answer::Status(status) => text(status).body(full()).unwrap(),
            Answer::With(status, name, value) => {
                text(status).header(name, value).body(full()).unwrap()
            }
            Answer::After(time) => {
                tokio::time::sleep(time).await;
                text(200).body(full()).unwrap()
            }
            Answer::Never => std::future::pending().await,
            Answer::Endless => {
                let piece =
                    || Ok::<_, std::io::Error>(Frame::data(Bytes::from(vec![b'x'; 16_384])));
                let pieces = futures::stream::repeat_with(piece);
                text(200).body(BodyExt::boxed(StreamBody::new(pieces))).unwrap()
            }
            Answer::Stalled => {
                let piece = Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(b"ok")));
                let pieces = futures::stream::iter([piece]);
                let pieces = futures::StreamExt::chain(pieces, futures::stream::pending());
                text(200).body(BodyExt::boxed(StreamBody::new(pieces))).unwrap()
            }
            Answer::Reset => return Err(std::io::Error::other("reset")),
        })
    }
}

struct Leave(Arc<Mutex<(usize, usize)>>);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.lock().0 -= 1;
    }
}
