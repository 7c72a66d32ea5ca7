//! Prompts with pictures that are uploaded, and thumbnails.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, RgbImage};
use serde_json::json;

use crate::support::browser::{Browser, OWN, assert_has, attribute, request, send, two_accounts};
use crate::support::client::Response;

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let picture = DynamicImage::from(RgbImage::from_pixel(width, height, image::Rgb([9, 99, 199])));
    picture.write_to(&mut Cursor::new(&mut file), ImageFormat::Png).unwrap();
    file
}

/// A form with a file, as browsers send it.
pub(super) fn multipart(fields: &[(&str, &str)], file: Option<&[u8]>) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in fields {
        let part =
            format!("--XX\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend(part.into_bytes());
    }
    if let Some(file) = file {
        let head = "--XX\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\
                    content-type: image/png\r\n\r\n";
        body.extend([head.as_bytes(), file, b"\r\n"].concat());
    }
    [&body[..], b"--XX--\r\n"].concat()
}

impl Browser {
    pub(super) async fn send_file(&self, path: &str, body: &[u8]) -> Response {
        let (cookie, length) = (&self.cookie, body.len());
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: test\r\ncontent-length: {length}\r\n\
             content-type: multipart/form-data; boundary=XX\r\n{OWN}{cookie}\r\n"
        );
        send(&self.server, [head.as_bytes(), body].concat()).await
    }
}

const FIELDS: [(&str, &str); 3] = [("title", "Harbour"), ("prompt", "A harbour"), ("vaultId", "1")];

#[tokio::test]
async fn an_uploaded_picture_becomes_a_prompt_with_a_thumbnail() {
    let browser = Browser::open().await;
    assert!(browser.page("/prompts/new").await.contains("multipart/form-data"));
    let fields = [&FIELDS[..], &[("modelId", "local/plasma"), ("promptType", "image")]].concat();
    let response =
        browser.send_file("/prompts/new", &multipart(&fields, Some(&png(960, 480)))).await;
    assert_eq!(response.status, 303, "{response:?}");
    let page = browser.page(response.location()).await;
    assert_has(&page, &["Saved.", "alt=\"Harbour\""]);
    let prompt = browser.data("/prompts").await[0].clone();
    assert_eq!((&prompt["promptType"], &prompt["vaultIds"]), (&json!("image"), &json!([1])));
    let image = &prompt["images"][0];
    assert_eq!((&image["width"], &image["height"]), (&json!(960), &json!(480)));

    let vault = browser.page("/vaults/1").await;
    let small = attribute(&vault, "loading=\"lazy\" src=\"");
    assert!(small.starts_with("/thumbnails/"), "{vault}");
    assert!(vault.contains("width=\"960\" height=\"480\" alt=\"Harbour\""), "{vault}");
    let thumbnail = browser.visit(small).await;
    for (name, value) in [
        ("content-type", "image/jpeg"),
        ("cache-control", "public, max-age=31536000, immutable"),
        ("content-security-policy", "sandbox"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(thumbnail.header(name), Some(value), "{thumbnail:?}");
    }
    let drawn = image::load_from_memory(&thumbnail.bytes).unwrap();
    assert_eq!((drawn.width(), drawn.height()), (480, 240));
    let known = format!("if-none-match: {}\r\n", thumbnail.header("etag").unwrap());
    assert_eq!(send(&browser.server, request("GET", small, &known, "")).await.status, 304);
    let absent = "0123456789abcdefghijklmno0";
    for name in ["x.png", &format!("{absent}.png"), &format!("{absent}.mp4"), "..%2Fa.png"] {
        assert_eq!(browser.visit(&format!("/thumbnails/{name}")).await.status, 404, "{name}");
    }

    let id = prompt["id"].to_string();
    let fields = [("id", &*id), ("action", "cover"), ("from", "1"), ("back", "vaults/1")];
    let page = browser.submit("/prompts/chosen", &fields).await;
    assert!(page.contains("Cover changed."), "{page}");
    assert!(browser.page("/vaults").await.contains(small));
    assert_eq!(browser.data("/vaults/1").await["coverImageUrl"], image["url"]);
    browser.submit("/vaults/1/edit", &[("name", "General"), ("cover", "none")]).await;
    assert!(browser.data("/vaults/1").await["coverImageUrl"].is_null());
}

#[tokio::test]
async fn a_picture_is_added_to_an_own_prompt_once() {
    let (alice, bob) = two_accounts().await;
    let edit = format!("/prompts/{}/edit", alice.prompt("Harbour", None).await);
    let token = alice.token(&edit).await;
    let fields = [("title", "Lake"), ("prompt", "A lake"), ("token", &*token)];
    let body = multipart(&fields, Some(&png(4, 3)));
    assert_eq!(bob.send_file(&edit, &body).await.status, 404);
    for _ in 0..2 {
        assert_eq!(alice.send_file(&edit, &body).await.status, 303);
    }
    let prompt = alice.data("/prompts").await[0].clone();
    assert_eq!((&prompt["title"], prompt["images"].as_array().unwrap().len()), (&json!("Lake"), 1));
    // After going back: another file, and another title.
    let sea = [("title", "Sea"), ("prompt", "A lake"), ("token", &*token)];
    for body in [multipart(&fields, Some(&png(3, 4))), multipart(&sea, Some(&png(4, 3)))] {
        assert_eq!(alice.send_file(&edit, &body).await.status, 303);
    }
    let prompt = alice.data("/prompts").await[0].clone();
    assert_eq!((&prompt["title"], prompt["images"].as_array().unwrap().len()), (&json!("Sea"), 3));
}

#[tokio::test]
async fn what_is_no_picture_or_too_large_is_refused_and_the_fields_are_kept() {
    let browser = Browser::open().await;
    let (png, large) = (png(4, 3), vec![0; (10 << 20) + 1]);
    let long = "x".repeat(121);
    let no_title = [("title", &*long), ("prompt", "Kept text")];
    let kind = "PNG, JPEG, WebP or GIF";
    for (body, parts) in [
        (multipart(&FIELDS, Some(b"<svg onload=alert(1)>")), &[kind, "A harbour"][..]),
        (multipart(&FIELDS, Some(b"GIF89a")), &[kind]),
        (multipart(&FIELDS, Some(&large)), &["at most 10 MiB", "A harbour"]),
        (multipart(&no_title, Some(&png)), &["must be 1 to 120 characters", "Kept text"]),
        (b"--XX\r\nnonsense".to_vec(), &["is not a form"]),
        (b"".to_vec(), &["is not a form"]),
        (multipart(&[("a", "b"); 101], None), &["must have at most 100 fields"]),
    ] {
        let response = browser.send_file("/prompts/new", &body).await;
        assert_eq!(response.status, 400, "{response:?}");
        assert_has(&response.body, parts);
    }
    assert_eq!(browser.data("/prompts").await, json!([]));
}
