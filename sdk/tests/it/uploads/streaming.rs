//! Uploads to storages that read slowly or not at all.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use insta::assert_snapshot;
use promptarium::{Client, UploadSource};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use super::{giving_slots, png};
use crate::errors::kinds;
use crate::stub::{KEY, client};

/// A storage that lets a test decide when it reads. Its buffers are small.
async fn slow_storage() -> (TcpListener, Client, wiremock::MockServer) {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(8).unwrap();
    let address = listener.local_addr().unwrap();
    let service = giving_slots(format!("http://{address}"), |_| ()).await;
    let client = client(service.uri());
    (listener, client, service)
}

/// Ten megabytes that count how many of them were read, and whether they were dropped.
struct Meter {
    left: u64,
    read: Arc<AtomicU64>,
    dropped: Arc<AtomicBool>,
}

impl Meter {
    const SIZE: u64 = 10 * 1024 * 1024;

    fn source() -> (UploadSource, Arc<AtomicU64>, Arc<AtomicBool>) {
        let (read, dropped) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let meter = Self { left: Self::SIZE, read: read.clone(), dropped: dropped.clone() };
        (UploadSource::reader(meter, Self::SIZE), read, dropped)
    }
}

impl AsyncRead for Meter {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let count = self.left.min(into.remaining() as u64);
        let mut bytes = png(count as usize);
        if self.left < Self::SIZE {
            bytes.fill(0);
        }
        into.put_slice(&bytes);
        self.left -= count;
        self.read.fetch_add(count, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::Relaxed);
    }
}

async fn head_of(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

#[tokio::test]
async fn a_reader_is_read_no_faster_than_the_storage_takes_it() {
    let (storage, client, _service) = slow_storage().await;
    let (source, read, _) = Meter::source();
    let upload = tokio::spawn(client.uploads().image(source).into_future());
    let (mut stream, _) = storage.accept().await.unwrap();
    assert!(head_of(&mut stream).await.contains("content-length: 10485760\r\n"));

    let (mut taken, mut most, mut piece) = (0, 0, vec![0; 64 * 1024]);
    while taken < Meter::SIZE {
        taken += stream.read(&mut piece).await.unwrap() as u64;
        tokio::task::yield_now().await;
        most = most.max(read.load(Ordering::Relaxed).saturating_sub(taken));
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    assert_eq!(upload.await.unwrap().unwrap().size, Meter::SIZE);
    // The difference is in the buffers of the two sockets.
    assert!(most < 8 * 1024 * 1024, "{most}");
}

#[cfg(any(feature = "rustls", feature = "native-tls"))]
#[tokio::test]
async fn no_more_than_two_pieces_are_held() {
    use crate::stub::on_a_fast_clock;

    // A storage that does not finish the TLS handshake receives no byte.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let storage = format!("https://{}", silent.local_addr().unwrap());
    let service = giving_slots(storage, |_| ()).await;
    let (source, read, _) = Meter::source();
    let upload = client(service.uri()).uploads().image(source).into_future();
    let minute = Duration::from_secs(60);
    assert!(on_a_fast_clock(tokio::time::timeout(minute, upload)).await.is_err());
    let held = read.load(Ordering::Relaxed);
    assert!((1..=2 * 64 * 1024).contains(&held), "{held}");
}

#[tokio::test]
async fn dropping_an_upload_stops_it() {
    let (storage, client, _service) = slow_storage().await;
    let (source, read, dropped) = Meter::source();
    let mut upload = Box::pin(client.uploads().image(source).into_future());
    let accept = async {
        let (mut stream, _) = storage.accept().await.unwrap();
        head_of(&mut stream).await;
        stream
    };
    let mut stream = tokio::select! {
        stream = accept => stream,
        _ = &mut upload => panic!("nobody answered"),
    };
    drop(upload);
    assert!(dropped.load(Ordering::Relaxed));
    let count = read.load(Ordering::Relaxed);
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!((rest.len() as u64) < Meter::SIZE);
    assert_eq!(read.load(Ordering::Relaxed), count);
}

// By the system, which knows that no byte is received.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_storage_that_stalls_is_a_timeout() {
    let (storage, _, service) = slow_storage().await;
    let builder = Client::builder().base_url(service.uri()).api_key(KEY);
    let client = builder.idle_timeout(Duration::from_millis(300)).build().unwrap();
    let hold = async {
        let mut held = Vec::new();
        loop {
            held.push(storage.accept().await.unwrap());
        }
    };
    let upload = client.uploads().image(Meter::source().0).into_future();
    let error = tokio::select! {
        outcome = upload => outcome.unwrap_err(),
        () = hold => unreachable!(),
    };
    assert_eq!(kinds(&error), "not_replayable");
    let cause = std::error::Error::source(&error).unwrap();
    let cause = cause.downcast_ref::<promptarium::Error>().unwrap();
    assert_eq!(kinds(cause), "timeout retryable");
    let port = storage.local_addr().unwrap().port().to_string();
    assert_snapshot!(cause.to_string().replace(&port, "PORT"), @"PUT {uploadUrl}: the HTTP client timed out while waiting for http://127.0.0.1:PORT");
}

#[tokio::test]
async fn a_success_before_all_bytes_were_sent_is_an_error() {
    let (storage, client, _service) = slow_storage().await;
    let answer = async {
        let (mut stream, _) = storage.accept().await.unwrap();
        head_of(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        std::future::pending::<()>().await;
    };
    let upload = client.uploads().image(Meter::source().0).into_future();
    let error = tokio::select! {
        outcome = upload => outcome.unwrap_err(),
        () = answer => unreachable!(),
    };
    assert_snapshot!(error, @"PUT {uploadUrl}: the server answered 200 OK before all bytes were sent");
    assert_eq!(kinds(&error), "transport");
}

#[tokio::test]
async fn an_error_status_before_all_bytes_were_sent_is_the_error() {
    let (storage, client, _service) = slow_storage().await;
    let answer = async {
        let (mut stream, _) = storage.accept().await.unwrap();
        head_of(&mut stream).await;
        stream.write_all(b"HTTP/1.1 413 No\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        std::future::pending::<()>().await;
    };
    let upload = client.uploads().image(Meter::source().0).into_future();
    let error = tokio::select! {
        outcome = upload => outcome.unwrap_err(),
        () = answer => unreachable!(),
    };
    assert_snapshot!(error, @"PUT {uploadUrl}: 413 Payload Too Large, with an empty body");
}
