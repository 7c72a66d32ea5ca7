//! What the programs share: their arguments, the key and the cursor of a request, the data to start
//! with, and serving with bare hyper.

use std::convert::Infallible;
use std::error::Error;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;

pub type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The address to listen on, and the URL of the database; programs without one ignore it.
pub fn arguments() -> Result<(String, String)> {
    let mut arguments = std::env::args().skip(1);
    let listen = arguments.next().ok_or("usage: PROGRAM HOST:PORT [DATABASE_URL]")?;
    Ok((listen, arguments.next().unwrap_or_default()))
}

/// The public id and the digest of the key of a request.
pub fn key(headers: &HeaderMap) -> Result<(&str, Vec<u8>)> {
    let key = headers.get("authorization").ok_or("no key")?.to_str()?;
    let key = key.strip_prefix("Bearer ").ok_or("no bearer token")?;
    let public_id = key.split('_').nth(2).ok_or("no public id")?;
    Ok((public_id, Sha256::digest(key).to_vec()))
}

/// The id that a page starts below: its cursor.
pub fn cursor(query: Option<&str>) -> i64 {
    let mut pairs = query.unwrap_or_default().split('&');
    let cursor = pairs.find_map(|pair| pair.strip_prefix("cursor=")?.parse().ok());
    cursor.unwrap_or(i64::MAX)
}

/// Rows for the columns public_id, digest and account_id: 32 keys of 32 accounts, the same ones that
/// the benchmark gives to the server.
pub const KEYS: &str =
    "SELECT 'bench' || n, sha256(('promptarium_live_bench' || n || '_s3cret')::bytea), n
     FROM generate_series(0, 31) n";

/// Rows for account_id, title and text: 1,000 prompts of each account, added in turn.
pub const PROMPTS: &str = "SELECT n, 'Study ' || i, 'Still life, soft light'
     FROM generate_series(1, 1000) i, generate_series(0, 31) n ORDER BY i, n";

/// Answers every request with the status and the body of `respond`.
pub async fn serve<F>(
    listen: &str,
    respond: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static,
) -> Result
where
    F: Future<Output = (u16, Bytes)> + Send + 'static,
{
    let listener = TcpListener::bind(listen).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let respond = respond.clone();
        let service = service_fn(move |request| {
            let body = respond(request);
            async {
                let (status, body) = body.await;
                let response = Response::builder()
                    .status(status)
                    .header("content-type", "application/json")
                    .header("cache-control", "no-store")
                    .header("x-content-type-options", "nosniff")
                    .header("x-request-id", "f1c983a7d46e1b6875bc80b0159990d1")
                    .body(Full::new(body));
                Ok::<_, Infallible>(response.unwrap_or_default())
            }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
