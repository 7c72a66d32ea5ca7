//! `Debug` of everything that contains a secret.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use promptarium::transport::Failure;
use promptarium::{AssetUrl, Prompt, UploadSlot, UploadSource, UploadUrl};
use serde_json::json;

use super::{builder, client, shows_nothing, signed, slot};
use crate::stub::{Scripted, envelope, get, prompt, response};

#[track_caller]
fn is_discreet(value: &impl Debug) {
    shows_nothing(&format!("{value:?}\n{value:#?}"));
}

#[test]
fn a_client_and_its_calls_show_no_secret() {
    let builder = builder("https://h");
    is_discreet(&builder);
    let client = builder.build().unwrap();
    is_discreet(&client);
    is_discreet(&(client.prompts(), client.uploads(), client.assets(), client.generations()));
    is_discreet(&get(&client).header("x-secret", "s3cretHeader"));
    is_discreet(&get(&client).header("s3cret name", "s3cretHeader").header("x", "s3cret\n"));
    let raw = client.post("/x").query("secret", "s3cretQuery").json(&json!({ "k": "s3cretBody" }));
    is_discreet(&raw);
    assert!(format!("{raw:?}").contains("secret"), "the names of a query are shown");
}

#[test]
fn calls_with_the_url_of_an_image_show_no_secret_of_it() {
    let client = client("https://h");
    let url = || AssetUrl::from(signed("https", "cdn.example"));
    is_discreet(&client.assets().download(url()));
    let generation = client.generations().create("local/plasma", "p").image_input(url());
    is_discreet(&generation.image_inputs([url()]).reference_image_urls([url()]));
    let prompt = client.prompts().create("t", "p").image_url(url());
    is_discreet(&prompt.reference_media_urls([url()]));
    is_discreet(&client.uploads().image(UploadSource::bytes(&b"s3cret"[..])));
}

#[test]
fn models_with_a_url_show_no_secret_of_it() {
    let slot: UploadSlot =
        serde_json::from_value(slot("https://u:s3cret@storage.example")).unwrap();
    is_discreet(&slot);
    is_discreet(&slot.token);
    shows_nothing(&slot.upload_url.to_string());
    let named: UploadUrl = serde_json::from_value(json!(signed("https", "h"))).unwrap();
    insta::assert_snapshot!(format!("{named} {named:?}"), @"https://h/a.png?… UploadUrl(https://h/a.png?…)");

    let mut wire = prompt(7);
    wire["images"][0]["url"] = json!(signed("https", "cdn.example"));
    let prompt: Prompt = serde_json::from_value(wire).unwrap();
    is_discreet(&prompt);
    let shown = |url: &str| format!("{:?}", AssetUrl::from(url));
    insta::assert_snapshot!(shown("https://cdn.example/a.png"), @r#"AssetUrl("https://cdn.example/a.png")"#);
    insta::assert_snapshot!(shown("https://a:b@cdn.example/a.png?c=d#e"), @r#"AssetUrl("https://cdn.example/a.png?…")"#);
    for odd in ["/a.png?c=d#e", "//a:b@cdn.example/a.png", "a:b@cdn.example"] {
        assert_eq!(shown(odd), r#"AssetUrl("…")"#);
    }
    insta::assert_snapshot!(shown("/a.png"), @r#"AssetUrl("/a.png")"#);
}

#[tokio::test]
async fn credentials_in_headers_of_requests_are_sensitive() {
    let shown = Arc::new(Mutex::new(String::new()));
    let keep = shown.clone();
    let script = Scripted::new(move |request| {
        let method = request.method();
        keep.lock().unwrap().push_str(&format!("{method} {:?}\n", request.headers()));
        if method == "PUT" {
            return Err(Failure::exchanging("hung up"));
        }
        Ok(response(200, envelope(&slot("https://storage.example")).to_string()))
    });
    let client = builder("https://h").transport(script).build().unwrap();
    client.get("/x").header("x-secret", "s3cretHeader").await.unwrap();
    let upload = client.uploads().image(UploadSource::bytes(&b"GIF89a......"[..]));
    upload.await.unwrap_err();
    let shown = shown.lock().unwrap();
    assert!(shown.contains("PUT") && shown.contains("\"authorization\": Sensitive"), "{shown}");
    shows_nothing(&shown);
}

#[tokio::test]
async fn responses_show_no_secret() {
    let script = Scripted::new(|_| {
        let mut answer = response(200, envelope(&slot("https://storage.example")).to_string());
        for name in ["set-cookie", "location"] {
            answer.headers_mut().insert(name, "https://h/?s3cret".parse().unwrap());
        }
        Ok(answer)
    });
    let client = builder("https://h").transport(script).build().unwrap();
    is_discreet(&client.get("/x").query("q", "s3cretQuery").await.unwrap());
    let slot = client.uploads().slot(promptarium::ImageContentType::Gif, 12);
    let slot = slot.send_with_meta().await.unwrap();
    is_discreet(&slot);
    is_discreet(&slot.meta);
}
