//! The storage of a script.

use insta::assert_snapshot;
use promptarium::ImageContentType;
use promptarium::testing::{Answer, STORAGE_URL, Script, client, fixture};
use promptarium::transport::{Body, Transport as _};

#[tokio::test]
async fn an_image_that_is_uploaded_to_the_storage_can_be_downloaded() {
    let script = Script::new();
    script.storage();
    let client = client(&script);
    let upload = || client.uploads().image(fixture::png());
    let (first, second) = (upload().await.unwrap(), upload().await.unwrap());
    assert!(first.url != second.url);
    let asset = client.assets().download(&second.url).await.unwrap();
    assert_eq!(asset, fixture::asset());
    let error = client.assets().download("https://cdn.example/images/9.png").await.unwrap_err();
    assert!(error.is_not_found());
    assert_snapshot!(script.calls().join("\n"), @r#"
    POST /uploads/images
    PUT https://storage.example/uploads/1.png?signature=sixteen-and-more-letters
    POST /uploads/images
    PUT https://storage.example/uploads/2.png?signature=sixteen-and-more-letters
    GET https://cdn.example/images/2.png
    GET https://cdn.example/images/9.png
    "#);
    let authorized: Vec<_> = script.requests().iter().map(|request| request.authorized).collect();
    assert_eq!(authorized, [true, true, true, true, false, false]);
    assert_eq!(script.requests()[1].body, fixture::png());
}

#[tokio::test]
async fn a_slot_of_the_storage_accepts_one_upload() {
    let script = Script::new();
    script.storage();
    let slot = client(&script).uploads().slot(ImageContentType::Png, 3).await.unwrap();
    for (url, expected) in [
        (slot.upload_url.expose().as_str(), 200),
        (slot.upload_url.expose().as_str(), 403),
        ("https://storage.example/uploads/9.png", 401),
    ] {
        let request = http::Request::put(url).body(Body::full("png")).unwrap();
        assert_eq!(script.send(request).await.unwrap().status(), expected);
    }
}

#[tokio::test]
async fn failures_declared_before_the_storage_come_first() {
    let script = Script::new();
    let put = script.put(format!("{STORAGE_URL}/{{name}}"));
    put.answer(Answer::error(403, "expired")).answer(Answer::error(503, "busy"));
    script.storage();
    let image = client(&script).uploads().image(fixture::png()).await.unwrap();
    assert!(image.url.as_str().ends_with("/3.png"), "{}", image.url);
    script.verify().unwrap();
}

#[tokio::test]
async fn an_upload_of_many_chunks_is_stored_whole() {
    let script = Script::new();
    script.storage();
    let mut large = fixture::png().to_vec();
    large.resize(1_000_000, 7);
    let image = client(&script).uploads().image(large.clone()).await.unwrap();
    assert_eq!(client(&script).assets().download(&image.url).await.unwrap().bytes, large);
}

#[tokio::test]
async fn an_asset_of_a_script_is_downloaded_unchanged() {
    let script = Script::new();
    let asset = fixture::asset();
    script.get("https://cdn.example/a.png").answer(Answer::asset(&asset));
    let client = client(&script);
    assert_eq!(client.assets().download("https://cdn.example/a.png?v=2").await.unwrap(), asset);
    assert_eq!(script.calls(), ["GET https://cdn.example/a.png?v=2"]);
}
