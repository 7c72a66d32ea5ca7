use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use http::Response;
use http::request::Parts;
use http_body_util::Empty;
use hyper::client::conn::http2;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::*;
use crate::http::response::ResponseBody;
use crate::serve::listener::{ListenerQuotas, serve};

const LARGE: usize = 10 * 1024 * 1024;
const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(30);
/// Longer than a test on a busy machine takes.
const NEVER: Duration = Duration::from_secs(600);

/// One connection at a time; further ones of the same address wait.
const LIMITS: ListenerLimits = ListenerLimits {
    connections_max: 1,
    connections_per_address: Some(0),
    drain_delay: SHORT,
    drain_timeout: NEVER,
    head_timeout: NEVER,
    idle_timeout: NEVER,
    write_stall_timeout: NEVER,
    request_stall_timeout: NEVER,
    close_timeout: SHORT,
};

/// Answers `/large` with 10 MiB, `/silent` never, and everything else with an empty body.
#[derive(Clone)]
struct Fixture;

impl HttpService for Fixture {
    async fn handle(&self, parts: &Parts, _: &mut Incoming, _: IpAddr) -> Response<ResponseBody> {
        let body = match parts.uri.path() {
            "/large" => Bytes::from(vec![b'x'; LARGE]),
            "/silent" => std::future::pending().await,
            _ => Bytes::new(),
        };
        Response::new(ResponseBody::Left(body.into()))
    }
}

async fn start(
    limits: ListenerLimits,
    stop: impl Future<Output = ()> + Send + 'static,
) -> (SocketAddr, JoinHandle<usize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    (
        address,
        tokio::spawn(serve(
            Either::Left(listener),
            Fixture,
            limits,
            ListenerQuotas::default(),
            stop,
        )),
    )
}

async fn server(limits: ListenerLimits) -> SocketAddr {
    start(limits, std::future::pending()).await.0
}

/// A connection on which a request for this path was sent.
async fn request(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// Another connection is answered, so the only place is free.
async fn answered(address: SocketAddr) -> TcpStream {
    let (mut stream, mut start) = (request(address, "/").await, [0; 12]);
    timeout(LONG, stream.read_exact(&mut start)).await.unwrap().unwrap();
    assert_eq!(start, *b"HTTP/1.1 200");
    stream
}

#[tokio::test]
async fn a_peer_that_does_not_read_is_cut() {
    let address = server(ListenerLimits { write_stall_timeout: SHORT, ..LIMITS }).await;
    let mut stream = request(address, "/large").await;
    answered(address).await;
    // It is reset: otherwise the system would keep the rest for it.
    let rest = timeout(LONG, stream.read_to_end(&mut Vec::new())).await.unwrap();
    assert_eq!(rest.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_peer_that_reads_slowly_gets_the_whole_response() {
    let limits = ListenerLimits { write_stall_timeout: Duration::from_secs(2), ..LIMITS };
    let address = server(limits).await;
    let mut stream = request(address, "/large").await;
    let (mut piece, mut received) = (vec![0; 128 * 1024], 0);
    while received < LARGE {
        sleep(Duration::from_millis(40)).await;
        match stream.read(&mut piece).await.unwrap() {
            0 => panic!("cut after {received} bytes"),
            bytes => received += bytes,
        }
    }
}

type Http2 = http2::SendRequest<Empty<Bytes>>;

/// An HTTP/2 client that sends pings, and whose connection ends when the server closes it.
async fn http2(
    address: SocketAddr,
    set: impl FnOnce(&mut http2::Builder<TokioExecutor>),
) -> (Http2, JoinHandle<()>) {
    let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let mut client = http2::Builder::new(TokioExecutor::new());
    client.timer(hyper_util::rt::TokioTimer::new()).keep_alive_while_idle(true);
    set(client.keep_alive_interval(Duration::from_millis(50)));
    let (sender, connection) = client.handshake(stream).await.unwrap();
    (sender, tokio::spawn(async move { drop(connection.await) }))
}

fn get(path: &str) -> Request<Empty<Bytes>> {
    Request::get(format!("http://test{path}")).body(Empty::new()).unwrap()
}

#[tokio::test]
async fn an_http2_connection_without_progress_ends_although_it_pings() {
    let idle = ListenerLimits { idle_timeout: SHORT, ..LIMITS };
    let stalled = ListenerLimits { request_stall_timeout: SHORT, ..LIMITS };
    // Idle, with a response that is not read, and with one that does not come.
    for (limits, path, is_answered) in
        [(idle, "/", true), (idle, "/large", true), (stalled, "/silent", false)]
    {
        let address = server(limits).await;
        let (mut sender, connection) = http2(address, |_| ()).await;
        let response = sender.send_request(get(path)).await;
        assert_eq!(response.is_ok(), is_answered, "{path}");
        timeout(LONG, connection).await.unwrap().unwrap();
        drop(response);
        answered(address).await;
    }
}

#[tokio::test]
async fn a_connection_whose_head_was_refused_ends() {
    let address = server(ListenerLimits { head_timeout: SHORT, ..LIMITS }).await;
    let mut refused = TcpStream::connect(address).await.unwrap();
    refused.write_all(b"nonsense\r\n\r\n").await.unwrap();
    let ended = timeout(LONG, refused.read_to_end(&mut Vec::new())).await;
    assert!(ended.is_ok());
    answered(address).await;
}

#[tokio::test]
async fn a_download_over_http2_in_small_steps_is_complete() {
    let address = server(LIMITS).await;
    // The client acknowledges with many small window updates.
    let (mut sender, _) = http2(address, |client| {
        client.initial_stream_window_size(2048).initial_connection_window_size(2048);
    })
    .await;
    let response = sender.send_request(get("/large")).await.unwrap();
    let body = timeout(Duration::from_secs(60), response.into_body().collect()).await.unwrap();
    assert_eq!(body.unwrap().to_bytes().len(), LARGE);
}

/// How long a server takes to stop whose drain delay is `drain_delay`.
async fn stops_after(drain_delay: Duration, with_connection: bool) -> Duration {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let limits = ListenerLimits { drain_delay, ..LIMITS };
    let (address, serving) = start(limits, async { stopped.await.unwrap() }).await;
    if with_connection {
        answered(address).await;
    }
    let began = Instant::now();
    stop.send(()).unwrap();
    timeout(LONG, serving).await.unwrap().unwrap();
    began.elapsed()
}

#[tokio::test]
async fn a_server_stops_after_its_drain_delay_or_at_once_if_nobody_connects_to_it() {
    assert!(stops_after(NEVER, false).await < Duration::from_secs(10));
    assert!(stops_after(SHORT, true).await >= SHORT);
}
