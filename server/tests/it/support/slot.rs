//! Upload slots as a client has them.

use super::client::{Answer, Connection, request};

/// A slot; paths begin at the root of the server.
#[derive(Clone)]
pub(crate) struct Slot {
    pub(crate) base_url: String,
    pub(crate) upload_path: String,
    pub(crate) upload_url: String,
    pub(crate) token: String,
    pub(crate) url: String,
    pub(crate) path: String,
    pub(crate) content_type: String,
}

impl Slot {
    /// Asks for one.
    pub(crate) async fn of(base_url: &str, key: &str, content_type: &str, size: usize) -> Self {
        let body = format!(r#"{{"contentType":"{content_type}","size":{size}}}"#);
        let mut connection = Connection::open(base_url).await;
        connection.send(request(key, "POST", "/uploads/images", Some(&body))).await;
        let answer = connection.answer().await.unwrap();
        assert_eq!(answer.status, 201, "{answer:?}");
        let json = answer.json();
        let text = |name: &str| json["data"][name].as_str().unwrap().to_owned();
        let root = base_url.strip_suffix("/api/v1").unwrap();
        let below = |url: String| url.strip_prefix(root).unwrap().to_owned();
        Self {
            base_url: base_url.to_owned(),
            upload_path: below(text("uploadUrl")),
            upload_url: text("uploadUrl"),
            token: text("token"),
            path: below(text("url")),
            url: text("url"),
            content_type: text("contentType"),
        }
    }

    /// The head of the upload, with further lines.
    pub(crate) fn head(&self, further: &str) -> String {
        let Self { upload_path, token, content_type, .. } = self;
        format!(
            "PUT {upload_path} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {token}\r\n\
             content-type: {content_type}\r\n{further}\r\n"
        )
    }

    /// Uploads, with a declared length.
    pub(crate) async fn put(&self, bytes: &[u8]) -> Answer {
        let mut connection = self.connection().await;
        connection.send(self.head(&format!("content-length: {}\r\n", bytes.len()))).await;
        connection.send(bytes).await;
        connection.answer().await.unwrap()
    }

    /// Asks for the asset.
    pub(crate) async fn get(&self) -> Answer {
        self.ask("GET", "").await
    }

    /// Asks for the asset with another method, or with further lines.
    pub(crate) async fn ask(&self, method: &str, further: &str) -> Answer {
        let mut connection = self.connection().await;
        let path = &self.path;
        connection.send(format!("{method} {path} HTTP/1.1\r\nhost: test\r\n{further}\r\n")).await;
        let answer = match method {
            "HEAD" => connection.answer_to_head().await,
            _ => connection.answer().await,
        };
        answer.unwrap()
    }

    pub(crate) async fn connection(&self) -> Connection {
        Connection::open(&self.base_url).await
    }
}
