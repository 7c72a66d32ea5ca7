//! A client that costs as little as it can: one request written again and again on
//! plain sockets, its answers read to their length and no further.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::Result;

/// One request, but for the address.
pub(crate) struct Load {
    method: &'static str,
    path: String,
    key: String,
    body: Option<String>,
}

impl Load {
    pub(crate) fn get(path: &str, key: &str) -> Self {
        Self { method: "GET", path: path.to_owned(), key: key.to_owned(), body: None }
    }

    pub(crate) fn post(path: &str, key: &str, body: &str) -> Self {
        let body = Some(body.to_owned());
        Self { method: "POST", path: path.to_owned(), key: key.to_owned(), body }
    }

    /// The bytes of the request to the API at `base`, and the host that takes them.
    fn to(&self, base: &str) -> Result<(String, Vec<u8>)> {
        let rest = base.strip_prefix("http://").ok_or("an http address")?;
        let (host, root) = rest.split_once('/').ok_or("an address with a path")?;
        let Self { method, path, key, body } = self;
        let mut text = format!(
            "{method} /{root}{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\n"
        );
        if let Some(body) = body {
            let length = body.len();
            text += &format!("content-type: application/json\r\ncontent-length: {length}\r\n");
        }
        let text = format!("{text}\r\n{}", body.as_deref().unwrap_or_default());
        Ok((host.to_owned(), text.into_bytes()))
    }
}

/// Sends a request once and reads the JSON of its success.
pub(crate) fn once(base: &str, load: &Load) -> Result<Value> {
    let (host, request) = load.to(base)?;
    let mut stream = TcpStream::connect(host)?;
    stream.write_all(&request)?;
    let (mut seen, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut piece)?;
        seen.extend_from_slice(&piece[..read]);
        if let Some((head, length)) = measured(&seen)? {
            return Ok(serde_json::from_slice(&seen[head..length])?);
        }
        if read == 0 {
            return Err("an answer that ends".into());
        }
    }
}

/// Answers a second, over so many connections at once.
pub(crate) fn rate(base: &str, load: &Load, connections: usize, window: Duration) -> Result<f64> {
    let (host, request) = load.to(base)?;
    let over = AtomicBool::new(false);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let calling = (0..connections).map(|_| call(&host, &request, &over));
        let calling = futures::future::try_join_all(calling);
        let started = Instant::now();
        let ending = async {
            tokio::time::sleep(window).await;
            over.store(true, Ordering::Relaxed);
            Ok(())
        };
        let (counts, ()) = futures::future::try_join(calling, ending).await?;
        let count = u32::try_from(counts.into_iter().sum::<usize>())?;
        Ok(f64::from(count) / started.elapsed().as_secs_f64())
    })
}

async fn call(host: &str, request: &[u8], over: &AtomicBool) -> Result<usize> {
    let mut stream = tokio::net::TcpStream::connect(host).await?;
    stream.set_nodelay(true)?;
    let (mut count, mut seen) = (0, Vec::with_capacity(8192));
    while !over.load(Ordering::Relaxed) {
        stream.write_all(request).await?;
        seen.clear();
        while measured(&seen)?.is_none() {
            if stream.read_buf(&mut seen).await? == 0 {
                return Err("a connection that stays open".into());
            }
        }
        count += 1;
    }
    Ok(count)
}

/// Where the body of a whole answer begins and ends; `None` while it is not whole.
fn measured(seen: &[u8]) -> Result<Option<(usize, usize)>> {
    let Some(end) = seen.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = std::str::from_utf8(&seen[..end])?.to_ascii_lowercase();
    if !head.starts_with("http/1.1 20") {
        return Err(format!("a success, not {}", String::from_utf8_lossy(seen)).into());
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.ok_or("an answer of known length")?.parse()?;
    let (from, to) = (end + 4, end + 4 + length);
    Ok((seen.len() >= to).then_some((from, to)))
}
