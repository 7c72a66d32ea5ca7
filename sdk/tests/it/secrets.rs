//! Secrets are not shown, and the key is sent to the service only.
//!
//! All secrets of these tests contain the same text, so that one search finds them.

mod logs;
mod origins;
mod shown;

use promptarium::{Client, ClientBuilder};
use serde_json::{Value, json};

use crate::stub::{KEY, patient};

/// The text in all secrets of these tests, also in the key of the client.
const MARK: &str = "s3cret";

/// A URL whose user, password and query are secrets; `host` may have a port.
fn signed(scheme: &str, host: &str) -> String {
    format!(
        "{scheme}://s3cretUser:s3cretPassword@{host}/a.png?signature=s3cretSignature&x=1#s3cret"
    )
}

/// An upload slot of this storage.
fn slot(storage: &str) -> Value {
    json!({
        "uploadUrl": format!("{storage}/put/1?signature=s3cretSignature"),
        "token": "s3cretToken", "url": signed("https", "cdn.example"), "path": "a.gif",
        "contentType": "image/gif", "size": 12, "expiresIn": 7200,
    })
}

fn builder(address: &str) -> ClientBuilder {
    assert!(KEY.contains(MARK));
    patient(address)
}

fn client(address: &str) -> Client {
    builder(address).retry(promptarium::RetryPolicy::never()).build().unwrap()
}

/// Fails with the line that has a secret in it.
#[track_caller]
fn shows_nothing(text: &str) {
    let line = text.lines().find(|line| line.contains(MARK));
    assert!(line.is_none(), "{}", line.unwrap());
}
