//! Storages that read slowly, and those that redirect.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use promptarium::{Client, Error, UploadSource, UploadedImage};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{Instant, sleep};
use wiremock::ResponseTemplate;

use super::{giving_slots, png, storage};
use crate::errors::kinds;
use crate::stub::{KEY, patient};

const STORED: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// Reads a request in pieces of 16 KiB with a pause before each.
async fn read_slowly(stream: &mut TcpStream, pause: Duration) -> Vec<u8> {
    let (mut request, mut piece) = (Vec::new(), vec![0; 16 * 1024]);
    loop {
        sleep(pause).await;
        let read = stream.read(&mut piece).await.unwrap_or(0);
        request.extend_from_slice(&piece[..read]);
        let head = request.windows(4).position(|end| end == b"\r\n\r\n");
        let head = head.map(|end| String::from_utf8_lossy(&request[..end + 4]).to_lowercase());
        let body = head.as_ref().and_then(|head| {
            head.split("content-length: ").nth(1)?.split("\r\n").next()?.parse::<usize>().ok()
        });
        if read == 0 || body.is_some_and(|body| request.len() >= head.unwrap().len() + body) {
            return request;
        }
    }
}

/// A storage with a small buffer that reads with these pauses and answers, unless it is `mute`, and
/// the number of its requests.
fn slow_storage(pause: Duration, mute: bool) -> (String, Arc<AtomicUsize>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(8 * 1024).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener: TcpListener = socket.listen(8).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = requests.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                read_slowly(&mut stream, pause).await;
                if mute {
                    std::future::pending::<()>().await;
                }
                let _ = stream.write_all(STORED).await;
            });
        }
    });
    (url, requests)
}

async fn upload(
    storage: String,
    idle_timeout: Duration,
    source: impl Into<UploadSource>,
) -> Result<UploadedImage, Error> {
    let service = giving_slots(storage, |_| ()).await;
    let client: Client = patient(service.uri()).idle_timeout(idle_timeout).build().unwrap();
    client.uploads().image(source).await
}

#[tokio::test]
async fn a_storage_that_reads_without_a_pause_is_sent_the_bytes_once() {
    // The kernel takes all bytes at once, and the storage reads them for a second.
    let (url, requests) = slow_storage(Duration::from_millis(40), false);
    let began = Instant::now();
    let image = upload(url, Duration::from_millis(300), png(400_000)).await.unwrap();
    assert_eq!((image.size, requests.load(Ordering::SeqCst)), (400_000, 1));
    assert!(began.elapsed() > Duration::from_millis(600), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_storage_that_takes_all_bytes_and_does_not_answer_is_a_timeout() {
    let (url, _) = slow_storage(Duration::ZERO, true);
    let service = giving_slots(url, |_| ()).await;
    let client = patient(service.uri()).idle_timeout(Duration::from_millis(100)).build().unwrap();
    let upload = client.uploads().image(png(20_000)).retry(promptarium::RetryPolicy::never());
    let began = Instant::now();
    let error = upload.await.unwrap_err();
    assert_eq!(kinds(&error), "timeout retryable");
    // 100 ms, and 20,000 bytes at 32 KiB a second.
    assert!(began.elapsed() > Duration::from_millis(700), "{:?}", began.elapsed());
    assert!(error.to_string().contains("no data for 710ms (idle_timeout)"), "{error}");
}

/// An upload that the first storage redirects to a second one. Returns the requests of both.
async fn redirected(
    status: u16,
    source: impl Into<UploadSource>,
) -> (Result<UploadedImage, Error>, Vec<wiremock::Request>, Vec<wiremock::Request>) {
    let second = storage(vec![]).await;
    let to = format!("{}/elsewhere?signature=s3cretSecond", second.uri());
    let first = ResponseTemplate::new(status).insert_header("location", &*to);
    let first = storage(vec![first; 3]).await;
    let outcome = upload(first.uri(), Duration::from_secs(60), source).await;
    let requests = async |server: &wiremock::MockServer| server.received_requests().await.unwrap();
    (outcome, requests(&first).await, requests(&second).await)
}

#[tokio::test]
async fn a_307_of_the_storage_is_followed_without_the_token() {
    for status in [307, 308] {
        let (outcome, first, second) = redirected(status, png(300_000)).await;
        assert_eq!(outcome.unwrap().size, 300_000);
        assert_eq!((first.len(), second.len()), (1, 1));
        assert!(second[0].body == png(300_000) && second[0].method == "PUT");
        assert_eq!(second[0].headers["content-type"], "image/png");
        assert_eq!(first[0].headers["authorization"], "Bearer s3cretToken1");
        let shown = format!("{:?}", second[0].headers);
        assert!(!shown.contains("s3cretToken") && !shown.contains(KEY), "{shown}");
    }
}

#[tokio::test]
async fn another_redirect_and_one_of_a_reader_are_errors_that_name_the_target() {
    let reader = || UploadSource::reader(std::io::Cursor::new(png(20)), 20);
    let rules = [
        (redirected(302, png(20)).await, "only 307 and 308 ask for the same request"),
        (redirected(307, reader()).await, "the reader of the upload can be read only once"),
    ];
    for ((outcome, first, second), reason) in rules {
        let error = outcome.unwrap_err();
        assert!(error.is_redirect() && error.to_string().contains(reason), "{error}");
        assert!(error.to_string().contains("/elsewhere;"), "{error}");
        assert!(!super::all_of(&error).contains("s3cret"), "{error}");
        assert_eq!((first.len(), second.len()), (1, 0));
    }
}
