//! An account on a server, over a connection that is kept open.

use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use reqwest::Client;
use serde_json::Value;

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

pub(crate) struct Account {
    pub(crate) client: Client,
    pub(crate) base: String,
    pub(crate) key: String,
    pub(crate) marks: Marks,
}

/// A client without the settings of the environment.
pub(crate) fn client() -> Result<Client> {
    // The server closes a connection on which nothing was sent for 75 seconds.
    Ok(Client::builder().no_proxy().pool_idle_timeout(Duration::from_secs(60)).build()?)
}

impl Account {
    /// The path of the page of 20 that starts half way down a list of this many.
    pub(crate) async fn middle(&self, count: usize) -> Result<String> {
        let mut cursor = String::new();
        for _ in 0..(count / 2).div_ceil(100) {
            let page = self.get(&format!("/prompts?limit=100{cursor}")).await?;
            let page: Value = serde_json::from_slice(&page)?;
            let next = page.pointer("/pagination/nextCursor").and_then(Value::as_str);
            cursor = format!("&cursor={}", next.ok_or("a further page")?);
        }
        Ok(format!("/prompts?limit=20{cursor}"))
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Bytes> {
        self.call(Method::GET, path, None).await
    }

    /// The answer as it comes, so that reading it costs no time.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Bytes> {
        let url = format!("{}{path}", self.base);
        let mut request = self.client.request(method, url).bearer_auth(&self.key);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await?;
        let (status, bytes) = (response.status(), response.bytes().await?);
        if status.is_success() {
            return Ok(bytes);
        }
        Err(format!("{status}: {}", String::from_utf8_lossy(&bytes)).into())
    }
}

pub(crate) fn integer(answer: &[u8], place: &str) -> Result<i64> {
    let answer: Value = serde_json::from_slice(answer)?;
    let integer = answer.pointer(place).and_then(Value::as_i64);
    integer.ok_or_else(|| format!("no integer at {place}").into())
}
