//! The two requests of an upload.

use insta::assert_snapshot;
use promptarium::{Client, ImageContentType, UploadProgress, UploadSource, UploadedImage};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use super::{Servers, all_of, giving_slots, png, storage};
use crate::errors::kinds;
use crate::stub::{KEY, answering, client, envelope, shown};

#[tokio::test]
async fn an_image_is_uploaded_in_two_steps() {
    let servers = Servers::new(vec![]).await;
    let image = servers.upload(png(20)).await.unwrap();
    assert_eq!(image.url.as_str(), "https://cdn.example/1.png");
    assert_eq!((image.path.as_str(), image.size), ("images/1.png", 20));
    assert_eq!(image.content_type, ImageContentType::Png);

    let slot = &servers.service.received_requests().await.unwrap()[0];
    assert_snapshot!(shown(slot), @r#"
    POST /api/v1/uploads/images
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-type: application/json
    content-length: 37
    {"contentType":"image/png","size":20}
    "#);
    let put = &mut servers.storage.received_requests().await.unwrap()[0];
    assert_eq!(put.body, png(20));
    put.body.clear();
    assert_snapshot!(shown(put), @"
    PUT /put/1?signature=s3cretSignature1
    accept: */*
    authorization: Bearer s3cretToken1
    content-type: image/png
    content-length: 20
    ");
    assert_eq!(servers.traffic().await, (1, 1));
}

#[tokio::test]
async fn the_type_and_the_size_that_are_sent_are_those_of_the_image_whatever_the_slot_says() {
    for echo in [json!(null), json!("IMAGE/PNG"), json!("image/x-png"), json!("a\nb")] {
        let storage = storage(vec![]).await;
        let change = move |slot: &mut Value| slot["contentType"] = echo.clone();
        let service = giving_slots(storage.uri(), change).await;
        client(service.uri()).uploads().image(png(20)).await.unwrap();
        let put = &storage.received_requests().await.unwrap()[0];
        assert_eq!(
            (put.headers["content-type"].as_bytes(), put.body.len()),
            (&b"image/png"[..], 20)
        );
    }
}

#[tokio::test]
async fn the_bytes_arrive_as_they_are_with_their_length_and_the_key_does_not() {
    let servers = Servers::new(vec![]).await;
    let (bytes, size) = (png(300_000), 300_000);
    let reader = UploadSource::reader(std::io::Cursor::new(bytes.clone()), size);
    let file = std::env::temp_dir().join(format!("promptarium-{}.png", std::process::id()));
    std::fs::write(&file, &bytes).unwrap();
    for source in [bytes.clone().into(), reader, UploadSource::path(&file)] {
        servers.upload(source).await.unwrap();
    }
    std::fs::remove_file(file).unwrap();
    for put in servers.storage.received_requests().await.unwrap() {
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
    let servers = Servers::new(vec![]).await;
    servers.upload(png(200_000)).await.unwrap();
    assert_eq!(servers.progress(), [(1, 0), (1, 65_536), (1, 131_072), (1, 196_608), (1, 200_000)]);
    assert!(servers.progress.lock().unwrap().iter().all(|progress| progress.total == 200_000));
}

#[tokio::test]
async fn an_uploaded_image_and_its_progress_can_be_stored_and_read_again() {
    let servers = Servers::new(vec![]).await;
    let image = servers.upload(png(20)).await.unwrap();
    let stored = serde_json::to_value(&image).unwrap();
    let expected = json!({
        "url": "https://cdn.example/1.png", "path": "images/1.png", "contentType": "image/png",
        "size": 20,
    });
    assert_eq!(stored, expected);
    assert_eq!(serde_json::from_value::<UploadedImage>(stored).unwrap(), image);

    let progress = servers.progress.lock().unwrap()[1];
    let stored = serde_json::to_value(progress).unwrap();
    assert_eq!(stored, json!({ "attempt": 1, "sent": 20, "total": 20 }));
    assert_eq!(serde_json::from_value::<UploadProgress>(stored).unwrap(), progress);
}

#[tokio::test]
async fn uploads_can_be_spawned_and_joined() {
    let servers = Servers::new(vec![]).await;
    let uploads = servers.client.uploads();
    let spawned = tokio::spawn(uploads.image(png(20)).send());
    let joined = futures::future::join_all((0..3).map(|_| uploads.image(png(20)).send())).await;
    for image in joined.into_iter().chain([spawned.await.unwrap()]) {
        assert_eq!(image.unwrap().size, 20);
    }
}

#[tokio::test]
async fn a_slot_can_be_requested_alone() {
    let servers = Servers::new(vec![]).await;
    let slot = servers.client.uploads().slot(ImageContentType::Webp, 77).await.unwrap();
    assert_eq!((slot.content_type, slot.size), (ImageContentType::Webp, 77));
    assert_eq!(slot.token.expose(), "s3cretToken1");
}

#[tokio::test]
async fn a_response_with_a_slot_is_in_no_error() {
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
async fn a_refused_slot_request_is_an_error_with_all_fields() {
    let body = json!({ "data": null, "error": "no", "details": { "size": "too large" } });
    let refusing = answering(ResponseTemplate::new(400).set_body_json(body)).await;
    let error = client(refusing.uri()).uploads().image(png(20)).await.unwrap_err();
    assert_snapshot!(error, @"POST /uploads/images: 400 Bad Request: no [size: too large]");
    assert_eq!(kinds(&error), "bad_request");
    assert_eq!(refusing.received_requests().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_success_from_another_url_is_an_error() {
    let elsewhere = answering(ResponseTemplate::new(200)).await;
    let target = format!("{}/x?signature=s3cret", elsewhere.uri());
    let moved = ResponseTemplate::new(303).insert_header("location", target);
    let servers = Servers::new(vec![moved]).await;
    let builder = Client::builder().base_url(format!("{}/api/v1", servers.service.uri()));
    let builder = builder.api_key(KEY).http_client(reqwest::Client::new());
    let error = builder.build().unwrap().uploads().image(png(20)).await.unwrap_err();
    let text = error.to_string().replace(&elsewhere.uri(), "ELSEWHERE");
    assert_snapshot!(text, @"PUT {uploadUrl}: 200 OK from ELSEWHERE/x: the HTTP client followed a redirect; build it with `redirect::Policy::none()`");
    assert_eq!(kinds(&error), "redirect");
}
