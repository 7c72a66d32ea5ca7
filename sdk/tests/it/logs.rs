//! What the crates below tell a log at its most talkative level.

use std::sync::Mutex;

use log::{LevelFilter, Log, Metadata, Record};
use promptarium::UploadSource;
use serde_json::json;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::stub::{client, envelope};

/// Everything that was logged, by any test.
struct Kept(Mutex<String>);

static KEPT: Kept = Kept(Mutex::new(String::new()));

impl Log for Kept {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let line = format!("{} {}\n", record.target(), record.args());
        self.0.lock().unwrap().push_str(&line);
    }

    fn flush(&self) {}
}

#[tokio::test]
async fn no_log_holds_a_key_a_token_or_a_signature() {
    log::set_logger(&KEPT).unwrap();
    log::set_max_level(LevelFilter::Trace);
    let one = MockServer::start().await;
    let uri = one.uri();
    let answer = move |request: &Request| match request.method.as_str() {
        "PUT" => ResponseTemplate::new(401),
        _ => ResponseTemplate::new(201).set_body_json(envelope(&json!({
            "uploadUrl": format!("{uri}/put?signature=s3cretSignature"), "token": "s3cretToken",
            "url": "https://cdn.example/a.png", "path": "a.png", "contentType": "image/gif",
            "size": 12, "expiresIn": 7200,
        }))),
    };
    Mock::given(any()).respond_with(answer).mount(&one).await;
    let image = UploadSource::bytes(&b"GIF89a......"[..]);
    assert!(client(one.uri()).uploads().image(image).await.unwrap_err().is_slot_refused());
    let kept = KEPT.0.lock().unwrap();
    assert!(kept.contains("reqwest"), "{kept}");
    // The servers of the tests log what they get; that is not ours.
    let ours = kept.lines().filter(|line| !line.starts_with("wiremock"));
    for line in ours {
        assert!(!line.contains("s3cret"), "{line}");
    }
}
