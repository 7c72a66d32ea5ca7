//! The thinnest server that gives the same answers: no checks, no limits, no
//! errors, no log.
//!
//! Connections to the database are shared: requests are sent one after the other
//! without waiting, which is the fastest way that the driver has.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio_postgres::{Client, NoTls, Row, Statement};

use crate::Result;

const DATABASE_CONNECTIONS: usize = 4;

const GET: &str = "SELECT p.id, p.title, p.body, p.kind, p.platform, p.created_at, p.updated_at, \
                   ARRAY(SELECT m.vault_id FROM membership m \
                         WHERE m.account_id = p.account_id AND m.prompt_id = p.id) \
                   FROM api_key k JOIN prompt p ON p.account_id = k.account_id \
                   WHERE k.public_id = $1 AND k.digest = $2 AND k.revoked_at IS NULL AND p.id = $3";

const POST: &str = "INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at) \
                    SELECT account_id, 'text', $3, $4, clock_timestamp(), clock_timestamp() \
                    FROM api_key k \
                    WHERE k.public_id = $1 AND k.digest = $2 AND k.revoked_at IS NULL \
                    RETURNING id, title, body, kind, platform, created_at, updated_at, \
                    '{}'::bigint[]";

struct Lane {
    client: Client,
    get: Statement,
    post: Statement,
}

struct Thin {
    lanes: Vec<Lane>,
    next: AtomicUsize,
}

#[derive(Deserialize)]
struct New<'a> {
    title: &'a str,
    prompt: &'a str,
}

/// Starts it on a free port; the root of its API.
pub(crate) async fn start(database_url: &str) -> Result<String> {
    let mut lanes = Vec::new();
    for _ in 0..DATABASE_CONNECTIONS {
        let (client, connection) = tokio_postgres::connect(database_url, NoTls).await?;
        tokio::spawn(connection);
        let (get, post) = (client.prepare(GET).await?, client.prepare(POST).await?);
        lanes.push(Lane { client, get, post });
    }
    let thin = Arc::new(Thin { lanes, next: AtomicUsize::new(0) });
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let base = format!("http://{}/api/v1", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let thin = thin.clone();
            let service = service_fn(move |request| {
                let thin = thin.clone();
                async move {
                    let answer = thin.answer(request).await;
                    Ok::<_, Infallible>(answer.unwrap_or_else(|_| failure()))
                }
            });
            // The answers are small and a client waits for each.
            let _ = stream.set_nodelay(true);
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    Ok(base)
}

impl Thin {
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>> {
        let lane = &self.lanes[self.next.fetch_add(1, Ordering::Relaxed) % self.lanes.len()];
        let (parts, body) = request.into_parts();
        let key = parts.headers["authorization"].to_str()?.strip_prefix("Bearer ");
        let key = key.ok_or("a key")?;
        let (digest, public_id) = (Sha256::digest(key), key.split('_').nth(2).ok_or("an id")?);
        let (row, status) = if parts.method == Method::GET {
            let id: i64 = parts.uri.path().rsplit('/').next().ok_or("an id")?.parse()?;
            (lane.client.query_one(&lane.get, &[&public_id, &&digest[..], &id]).await?, 200)
        } else {
            let body = body.collect().await?.to_bytes();
            let New { title, prompt } = serde_json::from_slice(&body)?;
            let params: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
                [&public_id, &&digest[..], &title, &prompt];
            (lane.client.query_one(&lane.post, &params).await?, 201)
        };
        let response =
            Response::builder().status(status).header("content-type", "application/json");
        Ok(response.body(Full::new(shown(&row)?.into()))?)
    }
}

fn shown(row: &Row) -> Result<Vec<u8>> {
    let data = json!({
        "id": row.try_get::<_, i64>(0)?,
        "title": row.try_get::<_, &str>(1)?,
        "prompt": row.try_get::<_, &str>(2)?,
        "promptType": row.try_get::<_, &str>(3)?,
        "platform": row.try_get::<_, Option<&str>>(4)?,
        "status": "active",
        "images": [],
        "vaultIds": row.try_get::<_, Vec<i64>>(7)?,
        "createdAt": row.try_get::<_, Timestamp>(5)?.to_string(),
        "updatedAt": row.try_get::<_, Timestamp>(6)?.to_string(),
    });
    Ok(serde_json::to_vec(&json!({ "data": data, "error": null }))?)
}

fn failure() -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
    response
}
