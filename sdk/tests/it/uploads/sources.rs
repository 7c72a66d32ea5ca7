//! Sources of uploads, and the errors of those that cannot be uploaded.

use std::error::Error as _;
use std::io::Cursor;
use std::path::PathBuf;

use insta::assert_snapshot;
use promptarium::{ImageContentType, UploadSource};
use tokio::io::AsyncReadExt;
use wiremock::ResponseTemplate;

use super::{Servers, giving_slots, png, storage};
use crate::errors::kinds;
use crate::stub::client;

/// A file of one test, deleted when dropped.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The error of uploading this source, for which nothing is sent.
pub(super) async fn complaint(
    source: impl Into<UploadSource>,
    content_type: Option<ImageContentType>,
) -> String {
    let servers = Servers::new(vec![]).await;
    let mut upload = servers.client.uploads().image(source);
    if let Some(content_type) = content_type {
        upload = upload.content_type(content_type);
    }
    let error = upload.await.unwrap_err();
    assert_eq!(kinds(&error), "input");
    assert_eq!(servers.traffic().await, (0, 0));
    error.to_string()
}

fn begins(with: &[u8]) -> Vec<u8> {
    let mut bytes = with.to_vec();
    bytes.resize(40, 0);
    bytes
}

#[tokio::test]
async fn the_first_bytes_tell_the_type() {
    let servers = Servers::new(vec![]).await;
    for (bytes, content_type) in [
        (png(40), ImageContentType::Png),
        (begins(b"\xff\xd8\xff\xe0"), ImageContentType::Jpeg),
        (begins(b"GIF87a"), ImageContentType::Gif),
        (begins(b"GIF89a"), ImageContentType::Gif),
        (begins(b"RIFF\x12\x34\0\0WEBP"), ImageContentType::Webp),
    ] {
        assert_eq!(servers.upload(bytes.clone()).await.unwrap().content_type, content_type);
        let reader = UploadSource::reader(Cursor::new(bytes), 40);
        assert_eq!(servers.upload(reader).await.unwrap().content_type, content_type);
    }
    for put in servers.storage.received_requests().await.unwrap() {
        assert_eq!(put.body.len(), 40);
    }
}

#[tokio::test]
async fn bytes_that_are_no_image_are_refused() {
    for bytes in [&b"hello"[..], b"\x89PNG", b"RIFF\0\0\0\0WAVE....", b"GIF88a......", b"\xff\xd8"]
    {
        assert_eq!(
            complaint(bytes.to_vec(), None).await,
            "the image is not a PNG, JPEG, WebP or GIF image (unknown signature)"
        );
    }
    let declared = Some(ImageContentType::Png);
    assert!(complaint(&b"hello"[..], declared).await.contains("unknown signature"));
}

#[tokio::test]
async fn the_declared_type_must_be_that_of_the_first_bytes() {
    assert_snapshot!(complaint(png(40), Some(ImageContentType::Jpeg)).await, @"the image is image/png by its first bytes, but was declared as image/jpeg");
    let file = Scratch::new("photo.JPG", &png(40));
    let text = complaint(file.0.as_path(), None).await;
    assert_snapshot!(text.rsplit_once('/').unwrap().1, @"jpeg by its name");
    assert_snapshot!(text.replace(&file.0.display().to_string(), "FILE"), @"FILE is image/png by its first bytes, but image/jpeg by its name");

    let servers = Servers::new(vec![]).await;
    let upload = servers.client.uploads().image(file.0.clone());
    let image = upload.content_type(ImageContentType::Png).await.unwrap();
    assert_eq!(image.content_type, ImageContentType::Png);
    let unknown = Scratch::new("photo.dat", &png(40));
    assert_eq!(
        servers.upload(unknown.0.as_path()).await.unwrap().content_type.as_str(),
        "image/png"
    );
}

#[tokio::test]
async fn a_type_this_version_does_not_know_is_taken_at_the_callers_word() {
    let servers = Servers::new(vec![]).await;
    let avif = begins(b"\0\0\0\x20ftypavif");
    let upload = servers.client.uploads().image(avif).content_type("image/avif".into());
    assert_eq!(upload.await.unwrap().content_type.as_str(), "image/avif");
    let put = &servers.storage.received_requests().await.unwrap()[0];
    assert_eq!(put.headers["content-type"], "image/avif");
    assert_snapshot!(complaint(png(40), Some("image/avif".into())).await, @"the image is image/png by its first bytes, but was declared as image/avif");
}

#[tokio::test]
async fn an_empty_image_is_refused_before_anything_is_sent() {
    assert_snapshot!(complaint(Vec::new(), None).await, @"the image is empty");
    let empty = Scratch::new("empty.png", b"");
    assert!(complaint(empty.0.as_path(), None).await.ends_with("empty.png is empty"));
}

#[tokio::test]
async fn files_that_cannot_be_read_are_named() {
    let servers = Servers::new(vec![]).await;
    let error = servers.upload(PathBuf::from("/nowhere/a.png")).await.unwrap_err();
    assert_snapshot!(error, @"/nowhere/a.png cannot be read: No such file or directory (os error 2)");
    assert_eq!(kinds(&error), "input");
    let cause = error.source().unwrap().downcast_ref::<std::io::Error>().unwrap();
    assert_eq!(cause.kind(), std::io::ErrorKind::NotFound);
    let folder = complaint(std::env::temp_dir(), None).await;
    assert!(folder.ends_with(" is a directory, not an image"), "{folder}");
}

#[tokio::test]
async fn a_reader_that_ends_early_is_an_error_and_nothing_is_stored() {
    assert_snapshot!(complaint(UploadSource::reader(Cursor::new(png(8)), 100), None).await, @"the image ended after 8 of 100 bytes");
    let servers = Servers::new(vec![]).await;
    let short = UploadSource::reader(Cursor::new(png(200_000)), 300_000);
    let error = servers.upload(short).await.unwrap_err();
    assert_snapshot!(error, @"the image ended after 200000 of 300000 bytes");
    assert_eq!(kinds(&error), "input");
    assert_eq!(servers.traffic().await, (1, 0), "no whole request came to the storage");
}

#[tokio::test]
async fn a_reader_that_fails_half_way_is_the_cause() {
    let failing = tokio_failing(png(100_000));
    let servers = Servers::new(vec![]).await;
    let error = servers.upload(UploadSource::reader(failing, 300_000)).await.unwrap_err();
    assert_snapshot!(error, @"the image cannot be read: the disk is on fire");
    assert_snapshot!(error.source().unwrap(), @"the disk is on fire");
    assert_eq!(kinds(&error), "input");
    assert_eq!(servers.traffic().await, (1, 0));
}

/// These bytes, then an error.
fn tokio_failing(bytes: Vec<u8>) -> impl tokio::io::AsyncRead + Send + 'static {
    struct Broken;
    impl tokio::io::AsyncRead for Broken {
        fn poll_read(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            _: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Err(std::io::Error::other("the disk is on fire")))
        }
    }
    Cursor::new(bytes).chain(Broken)
}

#[tokio::test]
async fn what_a_reader_has_beyond_its_size_is_not_read() {
    let servers = Servers::new(vec![]).await;
    let whole = Cursor::new(png(40)).chain(tokio::io::repeat(0));
    servers.upload(UploadSource::reader(whole, 40)).await.unwrap();
    assert_eq!(servers.storage.received_requests().await.unwrap()[0].body, png(40));
}

#[tokio::test]
async fn a_file_that_changes_during_the_upload_is_an_error() {
    for (change, text) in [(100_u64, "ended after"), (500_000, "was changed while it was sent")] {
        let file = Scratch::new(&format!("changing{change}.png"), &png(300_000));
        let storage = storage(vec![ResponseTemplate::new(200)]).await;
        let path = file.0.clone();
        // The slot was requested with the old size.
        let service = giving_slots(storage.uri(), move |_| {
            let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_len(change).unwrap();
        });
        let service = service.await;
        let error = client(service.uri()).uploads().image(file.0.as_path()).await.unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(kinds(&error), "input");
        assert!(storage.received_requests().await.unwrap().is_empty());
    }
}

#[test]
fn a_source_shows_no_bytes() {
    assert_snapshot!(format!("{:?}", UploadSource::path("a.png")), @r#"Path("a.png")"#);
    assert_snapshot!(format!("{:?}", UploadSource::bytes(&b"abc"[..])), @"Bytes(3 bytes)");
    assert_snapshot!(format!("{:?}", UploadSource::reader(tokio::io::empty(), 9)), @"Reader(9 bytes)");
}
