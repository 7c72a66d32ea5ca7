//! One upload that is sent once: what is on the wire, and what is held meanwhile.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use insta::assert_snapshot;
use promptarium::{Client, ImageContentType, UploadSource};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use wiremock::ResponseTemplate;

use super::{World, all_of, giving_slots, png};
use crate::errors::kinds;
use crate::stub::{KEY, answering, client, envelope, shown};

#[tokio::test]
async fn an_image_goes_up_in_two_steps() {
    let world = World::new(vec![]).await;
    let image = world.upload(png(20)).await.unwrap();
    assert_eq!(image.url.as_str(), "https://cdn.example/1.png");
    assert_eq!((image.path.as_str(), image.size), ("images/1.png", 20));
    assert_eq!(image.content_type, ImageContentType::Png);

    let slot = &world.service.received_requests().await.unwrap()[0];
    assert_snapshot!(shown(slot), @r#"
    POST /api/v1/uploads/images
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-type: application/json
    content-length: 37
    {"contentType":"image/png","size":20}
    "#);
    let put = &mut world.storage.received_requests().await.unwrap()[0];
    assert_eq!(put.body, png(20));
    put.body.clear();
    assert_snapshot!(shown(put), @"
    PUT /put/1?signature=s3cretSignature1
    accept: */*
    authorization: Bearer s3cretToken1
    content-type: image/png
    content-length: 20
    ");
    assert_eq!(world.traffic().await, (1, 1));
}

#[tokio::test]
async fn the_bytes_arrive_as_they_are_with_their_length_and_the_key_does_not() {
    let world = World::new(vec![]).await;
    let (bytes, size) = (png(300_000), 300_000);
    let reader = UploadSource::reader(std::io::Cursor::new(bytes.clone()), size);
    let file = std::env::temp_dir().join(format!("promptarium-{}.png", std::process::id()));
    std::fs::write(&file, &bytes).unwrap();
    for source in [bytes.clone().into(), reader, UploadSource::path(&file)] {
        world.upload(source).await.unwrap();
    }
    std::fs::remove_file(file).unwrap();
    for put in world.storage.received_requests().await.unwrap() {
        assert!(put.body == bytes);
        assert_eq!(put.headers["content-length"], "300000");
        assert!(!put.headers.contains_key("transfer-encoding"));
        assert!(!format!("{:?}", put.headers).contains(KEY));
    }
}

#[tokio::test]
async fn the_key_does_not_go_to_a_storage_at_the_same_address_either() {
    let one = wiremock::MockServer::start().await;
    let uri = one.uri();
    let answer = move |request: &wiremock::Request| {
        if request.method == "PUT" {
            return ResponseTemplate::new(200);
        }
        let slot = super::slot(&uri, 1, &request.body_json().unwrap());
        ResponseTemplate::new(201).set_body_json(envelope(&slot))
    };
    let mock = wiremock::Mock::given(wiremock::matchers::any());
    mock.respond_with(answer).mount(&one).await;
    client(one.uri()).uploads().image(png(20)).await.unwrap();
    let put = &one.received_requests().await.unwrap()[1];
    assert_eq!(put.headers["authorization"], "Bearer s3cretToken1");
}

#[tokio::test]
async fn progress_begins_with_nothing_and_ends_with_all() {
    let world = World::new(vec![]).await;
    world.upload(png(200_000)).await.unwrap();
    assert_eq!(world.told(), [(1, 0), (1, 65_536), (1, 131_072), (1, 196_608), (1, 200_000)]);
    assert!(world.told.lock().unwrap().iter().all(|told| told.total == 200_000));
}

#[tokio::test]
async fn a_slot_can_be_had_alone() {
    let world = World::new(vec![]).await;
    let slot = world.client.uploads().slot(ImageContentType::Webp, 77).await.unwrap();
    assert_eq!((slot.content_type, slot.size), (ImageContentType::Webp, 77));
    assert_eq!(slot.token.expose(), "s3cretToken1");
}

#[tokio::test]
async fn an_answer_with_a_slot_shows_in_no_error() {
    let full = super::slot(
        "https://storage.example",
        1,
        &json!({ "contentType": "image/png", "size": 20 }),
    );
    let with = |field: &str, value| {
        let mut slot = full.clone();
        slot[field] = value;
        slot
    };
    for (data, at) in [
        (with("token", json!(7)), " at `data.token`"),
        (with("size", json!("s3cretToken1")), " at `data.size`"),
        (with("uploadUrl", json!("/put?signature=s3cretSignature1")), " at `data.uploadUrl`"),
        (json!("s3cretToken1"), " at `data`"),
    ] {
        let answer = ResponseTemplate::new(201).set_body_json(envelope(&data));
        let error = client(answering(answer).await.uri()).uploads().image(png(20)).await;
        let error = error.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "POST /uploads/images: cannot decode response{at}: the body is not shown because \
                 it contains a credential (201 Created)"
            )
        );
        assert_eq!(kinds(&error), "decode");
        assert!(!all_of(&error).contains("s3cret"), "{}", all_of(&error));
    }
}

#[tokio::test]
async fn a_refused_slot_is_told_in_full() {
    let body = json!({ "data": null, "error": "no", "details": { "size": "too large" } });
    let refusing = answering(ResponseTemplate::new(400).set_body_json(body)).await;
    let error = client(refusing.uri()).uploads().image(png(20)).await.unwrap_err();
    assert_snapshot!(error, @"POST /uploads/images: 400 Bad Request: no [size: too large]");
    assert_eq!(kinds(&error), "bad_request");
    assert_eq!(refusing.received_requests().await.unwrap().len(), 1);
}

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

/// Ten megabytes that say how many of them were read, and when they are dropped.
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
    // What is neither read nor taken is in the buffers of the two sockets.
    assert!(most < 8 * 1024 * 1024, "{most}");
}

#[cfg(any(feature = "rustls", feature = "native-tls"))]
#[tokio::test]
async fn no_more_than_two_pieces_are_held() {
    use crate::stub::on_a_fast_clock;

    // A storage that never says hello takes none.
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

#[tokio::test]
async fn a_storage_that_stands_still_is_given_up() {
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
    assert_snapshot!(cause.to_string().replace(&port, "PORT"), @"PUT {uploadUrl}: no data for 300ms (idle_timeout) while waiting for http://127.0.0.1:PORT");
}

#[tokio::test]
async fn a_yes_before_all_bytes_were_sent_is_no_success() {
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
async fn a_yes_from_elsewhere_is_no_success() {
    let elsewhere = answering(ResponseTemplate::new(200)).await;
    let target = format!("{}/x?signature=s3cret", elsewhere.uri());
    let moved = ResponseTemplate::new(303).insert_header("location", target);
    let world = World::new(vec![moved]).await;
    let builder = Client::builder().base_url(format!("{}/api/v1", world.service.uri()));
    let builder = builder.api_key(KEY).http_client(reqwest::Client::new());
    let error = builder.build().unwrap().uploads().image(png(20)).await.unwrap_err();
    let text = error.to_string().replace(&elsewhere.uri(), "ELSEWHERE");
    assert_snapshot!(text, @"PUT {uploadUrl}: 200 OK from ELSEWHERE/x: the HTTP client followed a redirect; build it with `redirect::Policy::none()`");
    assert_eq!(kinds(&error), "redirect");
}

#[tokio::test]
async fn a_no_before_all_bytes_were_sent_is_heard() {
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
