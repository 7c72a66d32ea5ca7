//! A server of one list, with a delay before each page.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use crate::Result;

pub(crate) const PROMPTS: usize = 10_000;
pub(crate) const PAGE: u32 = 100;
/// The simulated network delay before each response.
const DELAY: Duration = Duration::from_millis(20);

/// Starts the server; returns the base URL.
pub(crate) async fn start() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let root = format!("http://{}/api/v1", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(serve(connection));
        }
    });
    Ok(root)
}

/// Answers the requests of a connection in order.
async fn serve(mut connection: TcpStream) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let mut request = Vec::new();
    while connection.read_buf(&mut request).await? > 0 {
        if !request.ends_with(b"\r\n\r\n") {
            continue;
        }
        sleep(DELAY).await;
        connection.write_all(page(first_of(&request)).as_bytes()).await?;
        request.clear();
    }
    Ok(())
}

/// A cursor is the index of the first prompt of the page.
fn first_of(request: &[u8]) -> usize {
    let text = String::from_utf8_lossy(request);
    let rest = text.split_once("cursor=").map_or("0", |(_, rest)| rest);
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn page(first: usize) -> String {
    let end = first + PAGE as usize;
    let next = (end < PROMPTS).then(|| end.to_string());
    let data: Vec<_> = (first..end).map(prompt).collect();
    let body = json!({ "data": data, "error": null, "pagination": { "nextCursor": next } });
    let body = body.to_string();
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

fn prompt(id: usize) -> serde_json::Value {
    json!({
        "id": id,
        "title": format!("Study {id}"),
        "prompt": "Still life with pears and a jug, soft light from the left, oil on linen",
        "promptType": "text",
        "platform": null,
        "status": "active",
        "images": [],
        "vaultIds": [3],
        "createdAt": "2026-03-01T11:00:00.000000Z",
        "updatedAt": "2026-03-01T11:30:00.000000Z",
    })
}
