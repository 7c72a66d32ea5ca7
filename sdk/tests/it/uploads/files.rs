//! Files that are no plain images: pipes, URLs, and files that change while they are sent.

use insta::assert_snapshot;
use serde_json::json;

use super::sources::{Scratch, complaint};
use super::{giving_slots, png, storage};
use crate::errors::kinds;
use crate::stub::client;

#[tokio::test]
async fn a_url_in_place_of_a_path_is_an_error_that_shows_no_secret() {
    for url in ["https://cdn.example/a.png?signature=s3cret", "HTTP://u:s3cret@cdn.example"] {
        assert_eq!(
            complaint(url, None).await,
            "the source is a URL, not the path of a file; pass the URL itself to the call that \
             needs the image, or download it and upload the bytes"
        );
        assert!(!format!("{:?}", promptarium::UploadSource::path(url)).contains("s3cret"));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_or_a_device_in_place_of_a_file_is_an_error_that_names_the_reader() {
    let pipe = Scratch::new("pipe.png", b"");
    std::fs::remove_file(&pipe.0).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&pipe.0).status().unwrap().success());
    let text = complaint(pipe.0.as_path(), None).await;
    assert_snapshot!(text.replace(&pipe.0.display().to_string(), "PIPE"), @"PIPE is a pipe; use `UploadSource::reader` with a size");
    assert_snapshot!(complaint("/dev/null", None).await, @"/dev/null is not a regular file; use `UploadSource::reader` with a size");
}

#[tokio::test]
async fn a_file_overwritten_in_place_while_it_is_sent_is_an_error_and_nothing_is_stored() {
    let file = Scratch::new("overwritten.png", &png(300_000));
    // As if it had been written some time ago.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    std::fs::File::options().write(true).open(&file.0).unwrap().set_modified(old).unwrap();
    let storage = storage(vec![]).await;
    let path = file.0.clone();
    let service = giving_slots(storage.uri(), move |_| {
        // With the same size, and without truncating it before.
        let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, &png(300_000)).unwrap();
    });
    let error = client(service.await.uri()).uploads().image(file.0.as_path()).await.unwrap_err();
    let text = error.to_string().replace(&file.0.display().to_string(), "FILE");
    assert_snapshot!(text, @"FILE was changed while it was sent");
    assert_eq!(kinds(&error), "input");
    assert!(storage.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn the_service_decides_on_an_image_above_the_limit() {
    let size = 20 * 1024 * 1024;
    let storage = storage(vec![]).await;
    let service = giving_slots(storage.uri(), |_| ()).await;
    let image = client(service.uri()).uploads().image(png(size)).await.unwrap();
    assert_eq!(image.size, size as u64);
    assert!(storage.received_requests().await.unwrap()[0].body == png(size));

    let body = json!({ "data": null, "error": "no", "details": { "size": "too large" } });
    let refusing = crate::stub::answering(wiremock::ResponseTemplate::new(400).set_body_json(body));
    let error = client(refusing.await.uri()).uploads().image(png(size)).await.unwrap_err();
    assert_snapshot!(error, @"POST /uploads/images: 400 Bad Request: no [size: too large]");
}
