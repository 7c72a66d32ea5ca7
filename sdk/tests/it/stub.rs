//! Servers on the loopback interface with fixed answers, and scripted transports.

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

/// A client that does not retry, with timeouts that neither a busy machine nor a fast clock
/// reaches.
pub(crate) fn client(address: impl std::fmt::Display) -> Client {
    patient(address).retry(RetryPolicy::never()).build().unwrap()
}

/// As [`client`], with retries.
pub(crate) fn patient(address: impl std::fmt::Display) -> ClientBuilder {
    let day = Duration::from_secs(24 * 3600);
    let builder = Client::builder().base_url(format!("{address}/api/v1")).api_key(KEY);
    builder.connect_timeout(day).idle_timeout(day).request_timeout(day).overall_timeout(day)
}

/// A server that answers every request with this.
pub(crate) async fn answering(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(answer).mount(&server).await;
    server
}

/// The request of a call: method, path with query, the headers that differ between calls, body.
pub(crate) async fn wire<C, T>(make: impl FnOnce(&Client) -> C) -> String
where
    C: IntoFuture<Output = Result<T, Error>>,
{
    let server = answering(ResponseTemplate::new(400)).await;
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

/// The result of a call that is answered with this.
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

/// The error of reading prompt 7 when it is answered with this.
pub(crate) async fn failure(answer: ResponseTemplate) -> Error {
    outcome(answer, get).await.unwrap_err()
}

pub(crate) fn get(client: &Client) -> Call<Prompt> {
    client.prompts().get(PromptId::new(7))
}

pub(crate) enum Then {
    Disconnect,
    StayOpen,
}

/// A server that answers one request with these bytes.
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

/// The error of reading prompt 7 when it is answered with these bytes and the connection is
/// closed.
pub(crate) async fn raw_failure(answer: &'static str) -> Error {
    let client = client(format!("http://{}", raw(answer, Then::Disconnect).await));
    get(&client).await.unwrap_err()
}

/// The bytes that a server sends before it closes the connection.
pub(crate) struct Raw(&'static str);

impl Raw {
    pub(crate) const fn new(answer: &'static str) -> Self {
        Self(answer)
    }
}

/// A server that answers every request with these bytes and closes the connection.
pub(crate) struct EveryTime {
    pub(crate) address: SocketAddr,
    requests: Arc<AtomicUsize>,
}

impl EveryTime {
    /// The number of requests received.
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

type Respond = dyn FnMut(&http::Request<Body>) -> Result<Response<Body>, Failure> + Send;

/// A transport with scripted responses, and the times of its requests.
#[derive(Clone)]
pub(crate) struct Scripted(Arc<Script>);

struct Script {
    start: Instant,
    delay: Duration,
    respond: Mutex<Box<Respond>>,
    received: Mutex<Vec<Duration>>,
}

impl Scripted {
    pub(crate) fn new(
        respond: impl FnMut(&http::Request<Body>) -> Result<Response<Body>, Failure> + Send + 'static,
    ) -> Self {
        Self::with_delay(Duration::ZERO, respond)
    }

    /// Delays each response.
    pub(crate) fn with_delay(
        delay: Duration,
        respond: impl FnMut(&http::Request<Body>) -> Result<Response<Body>, Failure> + Send + 'static,
    ) -> Self {
        let (start, respond) = (Instant::now(), Mutex::new(Box::new(respond) as Box<Respond>));
        Self(Arc::new(Script { start, delay, respond, received: Mutex::default() }))
    }

    /// When each request was received, since the transport was created.
    pub(crate) fn times(&self) -> Vec<Duration> {
        self.0.received.lock().unwrap().clone()
    }
}

impl Transport for Scripted {
    fn send(
        &self,
        request: http::Request<Body>,
    ) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        let script = self.0.clone();
        Box::pin(async move {
            script.received.lock().unwrap().push(script.start.elapsed());
            if !script.delay.is_zero() {
                tokio::time::sleep(script.delay).await;
            }
            (script.respond.lock().unwrap())(&request)
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

/// Runs this on a paused clock that is advanced 100 ms every millisecond.
///
/// A paused clock jumps to the next timer whenever all tasks wait for a socket. A blocking task
/// prevents that.
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
