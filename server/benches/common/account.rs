//! An account on a server, over a connection that is kept open.

use std::ops::Range;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::Result;

/// What the steps work on.
#[derive(Default)]
pub(crate) struct Marks {
    pub(crate) vault: i64,
    /// Another vault, in which prompts are saved.
    pub(crate) second: i64,
    pub(crate) prompt: i64,
    pub(crate) member: i64,
    /// Where the ids of its prompts begin and end. They have no gaps.
    pub(crate) prompts: Range<i64>,
    /// The path of a page half way down the list.
    pub(crate) deep: String,
}

/// An account and a connection to it.
pub(crate) struct Account {
    connection: SendRequest<Full<Bytes>>,
    host: String,
    root: String,
    pub(crate) key: String,
    pub(crate) marks: Marks,
}

impl Account {
    pub(crate) async fn connect(base: &str, key: &str) -> Result<Self> {
        let rest = base.strip_prefix("http://").ok_or("an http address")?;
        let (host, root) = rest.split_once('/').ok_or("an address with a path")?;
        let connection = connection(host).await?;
        let (host, root) = (host.to_owned(), format!("/{}", root.trim_end_matches('/')));
        Ok(Self { connection, host, root, key: key.to_owned(), marks: Marks::default() })
    }

    /// The path of the page of 20 that starts half way down a list of this many.
    pub(crate) async fn middle(&mut self, count: usize) -> Result<String> {
        let mut cursor = String::new();
        for _ in 0..(count / 2).div_ceil(100) {
            let page = self.get(&format!("/prompts?limit=100{cursor}")).await?;
            let next = page.pointer("/pagination/nextCursor").and_then(Value::as_str);
            cursor = format!("&cursor={}", next.ok_or("a further page")?);
        }
        Ok(format!("/prompts?limit=20{cursor}"))
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<Value> {
        self.call(Method::GET, path, None).await
    }

    pub(crate) async fn call(
        &mut self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value> {
        Ok(serde_json::from_slice(&self.bytes(method, path, body).await?)?)
    }

    /// The answer as it comes, so that reading it costs no time.
    pub(crate) async fn bytes(
        &mut self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Bytes> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.root))
            .header("host", &self.host)
            .header("authorization", format!("Bearer {}", self.key));
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let bytes = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        // The server closes a connection on which nothing was sent for a minute.
        if self.connection.is_closed() {
            self.connection = connection(&self.host).await?;
        }
        self.connection.ready().await?;
        let response = self.connection.send_request(request.body(Full::new(bytes))?).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await?.to_bytes();
        if !status.is_success() {
            return Err(format!("{status}: {}", String::from_utf8_lossy(&bytes)).into());
        }
        Ok(bytes)
    }
}

async fn connection(host: &str) -> Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(host).await?;
    stream.set_nodelay(true)?;
    let (connection, driver) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(driver);
    Ok(connection)
}

pub(crate) fn integer(value: &Value, place: &str) -> Result<i64> {
    let integer = value.pointer(place).and_then(Value::as_i64);
    integer.ok_or_else(|| format!("no integer at {place}").into())
}
