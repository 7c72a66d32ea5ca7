//! Servers on the loopback interface that answer as told, and what they saw.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Response, StatusCode};
use promptarium::request::Call;
use promptarium::transport::{Body, Failure, Transport};
use promptarium::{Client, ClientBuilder, Error, Prompt, PromptId, RetryPolicy};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::Instant;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

pub(crate) const KEY: &str = "test_live_a1_s3cret";

/// A client that sends each call once, with no time limit that a busy machine, or a
/// fast clock, could run into.
pub(crate) fn client(address: impl std::fmt::Display) -> Client {
    patient(address).retry(RetryPolicy::never()).build().unwrap()
}

/// As [`client`], but it tries again.
pub(crate) fn patient(address: impl std::fmt::Display) -> ClientBuilder {
    let day = Duration::from_secs(24 * 3600);
    let builder = Client::builder().base_url(format!("{address}/api/v1")).api_key(KEY);
    builder.connect_timeout(day).idle_timeout(day).request_timeout(day).overall_timeout(day)
}

/// A server that gives every request the same answer.
pub(crate) async fn answering(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(answer).mount(&server).await;
    server
}

/// What a call says on the wire: method, path with query, the headers that differ
/// from call to call, body.
pub(crate) async fn wire<C, T>(make: impl FnOnce(&Client) -> C) -> String
where
    C: IntoFuture<Output = Result<T, Error>>,
{
    let server = answering(ResponseTemplate::new(500)).await;
    drop(make(&client(server.uri())).await);
    let requests = server.received_requests().await.unwrap();
    assert_eq!(requests.len(), 1, "one call is one request");
    shown(&requests[0])
}

pub(crate) fn shown(request: &Request) -> String {
    let query = request.url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut text = format!("{} {}{query}\n", request.method, request.url.path());
    for name in ["accept", "authorization", "content-type", "content-length"] {
        for value in request.headers.get_all(name) {
            text += &format!("{name}: {}\n", value.to_str().unwrap());
        }
    }
    text + std::str::from_utf8(&request.body).unwrap()
}

/// What a call comes to when it is answered like this.
pub(crate) async fn outcome<C, T>(
    answer: ResponseTemplate,
    make: impl FnOnce(&Client) -> C,
) -> Result<T, Error>
where
    C: IntoFuture<Output = Result<T, Error>>,
{
    let server = answering(answer).await;
    make(&client(server.uri())).await
}

/// The error of reading prompt 7 when it is answered like this.
pub(crate) async fn failure(answer: ResponseTemplate) -> Error {
    outcome(answer, get).await.unwrap_err()
}

pub(crate) fn get(client: &Client) -> Call<Prompt> {
    client.prompts().get(PromptId::new(7))
}

pub(crate) enum Then {
    HangUp,
    StayOpen,
}

/// A server that answers one request with these very bytes.
pub(crate) async fn raw(answer: &'static str, then: Then) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).await.unwrap();
        stream.write_all(answer.as_bytes()).await.unwrap();
        if matches!(then, Then::StayOpen) {
            std::future::pending::<()>().await;
        }
    });
    address
}

/// The error of reading prompt 7 when it is answered with these very bytes and
/// the connection ends.
pub(crate) async fn raw_failure(answer: &'static str) -> Error {
    let client = client(format!("http://{}", raw(answer, Then::HangUp).await));
    get(&client).await.unwrap_err()
}

/// What a server says to a request before it hangs up.
pub(crate) struct Raw(&'static str);

impl Raw {
    pub(crate) const fn new(answer: &'static str) -> Self {
        Self(answer)
    }
}

/// A server that gives every request these very bytes, and then hangs up.
pub(crate) struct EveryTime {
    pub(crate) address: SocketAddr,
    requests: Arc<AtomicUsize>,
}

impl EveryTime {
    /// How many requests have come.
    pub(crate) fn count(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

pub(crate) async fn every(answer: Raw) -> EveryTime {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = requests.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let counted = counted.clone();
            tokio::spawn(async move {
                let mut request = [0; 4096];
                if stream.read(&mut request).await.is_ok_and(|read| read > 0) {
                    counted.fetch_add(1, Ordering::SeqCst);
                    let _ = stream.write_all(answer.0.as_bytes()).await;
                }
            });
        }
    });
    EveryTime { address, requests }
}

/// A response for a [`Scripted`] transport.
pub(crate) fn response(status: u16, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::full(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

type Says = dyn FnMut(&http::Request<Body>) -> Result<Response<Body>, Failure> + Send;

/// A transport that answers as told, and when it was asked.
#[derive(Clone)]
pub(crate) struct Scripted(Arc<Script>);

struct Script {
    begun: Instant,
    takes: Duration,
    says: Mutex<Box<Says>>,
    asked: Mutex<Vec<Duration>>,
}

impl Scripted {
    pub(crate) fn new(
        says: impl FnMut(&http::Request<Body>) -> Result<Response<Body>, Failure> + Send + 'static,
    ) -> Self {
        Self::slowly(Duration::ZERO, says)
    }

    /// Takes this long for each answer.
    pub(crate) fn slowly(
        takes: Duration,
        says: impl FnMut(&http::Request<Body>) -> Result<Response<Body>, Failure> + Send + 'static,
    ) -> Self {
        let (begun, says) = (Instant::now(), Mutex::new(Box::new(says) as Box<Says>));
        Self(Arc::new(Script { begun, takes, says, asked: Mutex::default() }))
    }

    /// When each request came, counted from the making of this.
    pub(crate) fn times(&self) -> Vec<Duration> {
        self.0.asked.lock().unwrap().clone()
    }
}

impl Transport for Scripted {
    fn send(
        &self,
        request: http::Request<Body>,
    ) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let script = self.0.clone();
        Box::pin(async move {
            script.asked.lock().unwrap().push(script.begun.elapsed());
            if !script.takes.is_zero() {
                tokio::time::sleep(script.takes).await;
            }
            (script.says.lock().unwrap())(&request)
        })
    }
}

pub(crate) fn prompt(id: i64) -> Value {
    json!({
        "id": id,
        "title": format!("Prompt {id}"),
        "prompt": "A harbour at dusk",
        "promptType": "image",
        "platform": null,
        "status": "active",
        "images": [{
            "url": "https://cdn.example/a.png",
            "width": 1024,
            "height": 576,
            "createdAt": "2026-03-01T12:00:00.000000Z",
        }],
        "vaultIds": [3],
        "createdAt": "2026-03-01T11:00:00.000000Z",
        "updatedAt": "2026-03-01T11:30:00.000000Z",
    })
}

pub(crate) fn envelope(data: &Value) -> Value {
    json!({ "data": data, "error": null })
}

/// Does this on a clock that runs much faster than the sockets do their work, so that
/// nobody sleeps.
///
/// The clock would jump to the next time limit whenever all wait for a socket; a
/// blocking task keeps it from doing so, and it is moved on by hand.
pub(crate) async fn on_a_fast_clock<T>(work: impl Future<Output = T>) -> T {
    tokio::time::pause();
    let mut work = std::pin::pin!(work);
    loop {
        let rest = tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(1)));
        tokio::select! {
            biased;
            outcome = &mut work => {
                tokio::time::resume();
                return outcome;
            }
            _ = rest => tokio::time::advance(Duration::from_millis(100)).await,
        }
    }
}
