//! Uploads.

use bytes::Bytes;
use http::Method;
use rand::{Rng, RngExt};
use serde_json::json;

use super::Client;
use crate::account::Upload;
use crate::http::Got;
use crate::server::PUBLIC_URL;

const BYTES_MAX: usize = 40_000;

impl Client {
    pub(super) async fn upload(&mut self) {
        let mut bytes = vec![0; self.rng.random_range(1..BYTES_MAX)];
        self.rng.fill_bytes(&mut bytes);
        let ask = json!({ "contentType": "image/png", "size": bytes.len() });
        let what = "POST /uploads/images";
        let slot = match self.call(Method::POST, "/uploads/images", Some(&ask), what).await {
            Some(Got::Answer(answer)) if answer.status == 201 => answer.data(),
            Some(Got::Answer(answer)) => return self.wrong(what, &answer),
            // A slot that nobody knows of is none.
            Some(Got::NotSent | Got::Unknown(_)) | None => return,
        };
        let text = |name: &str| slot[name].as_str().unwrap().to_owned();
        let path = |url: &str| url.strip_prefix(PUBLIC_URL).unwrap().to_owned();
        let upload = Upload { path: path(&text("url")), bytes: bytes.into(), acknowledged: false };
        self.put(&path(&text("uploadUrl")), &text("token"), upload).await;
    }

    async fn put(&mut self, path: &str, token: &str, mut upload: Upload) {
        let at = self.rng.random_range(0..self.addresses.len());
        let url = format!("http://{}{path}", self.addresses[at]);
        let bytes: Bytes = upload.bytes.clone();
        let got = self.http.send(Method::PUT, &url, token, "image/png", bytes).await;
        match self.weighed(got, "PUT of an upload").await {
            Got::Answer(answer) if answer.status == 200 => {
                self.account.tally.acknowledged += 1;
                upload.acknowledged = true;
            }
            Got::Answer(answer) => return self.wrong("PUT of an upload", &answer),
            Got::Unknown(_) => self.account.tally.in_doubt += 1,
            Got::NotSent => {
                self.account.tally.not_sent += 1;
                return;
            }
        }
        self.account.uploads.push(upload);
    }
}
