//! The thinnest server on PostgreSQL that gives the same responses: hyper, one prepared statement
//! per request with the key check joined in, no validation, no limits, no errors, no log.
//!
//! Four connections to the database are shared. Requests are sent on them without waiting for the
//! responses of earlier ones, which is the fastest way that the driver has.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use jiff::Timestamp;
use promptarium_peers::{KEYS, PROMPTS, Result, arguments, cursor, key, serve};
use serde::{Deserialize, Serialize};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row, Statement};

const CONNECTIONS: usize = 4;
const PAGE: usize = 20;

/// One key per table, which is all that the statements need.
const TABLES: &str = "
    CREATE TABLE api_key (
        public_id text PRIMARY KEY, digest bytea NOT NULL, account_id bigint NOT NULL,
        revoked_at timestamptz
    );
    CREATE TABLE prompt (
        id bigint GENERATED ALWAYS AS IDENTITY, account_id bigint NOT NULL,
        kind text NOT NULL DEFAULT 'text', title text NOT NULL, body text NOT NULL, platform text,
        created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (account_id, id)
    );
    CREATE TABLE vault_prompt (
        prompt_id bigint NOT NULL, vault_id bigint NOT NULL, PRIMARY KEY (prompt_id, vault_id)
    )";

const GET: &str = "SELECT p.id, p.title, p.body, p.kind, p.platform, p.created_at, p.updated_at, \
                   ARRAY(SELECT m.vault_id FROM vault_prompt m WHERE m.prompt_id = p.id) \
                   FROM api_key k JOIN prompt p ON p.account_id = k.account_id \
                   WHERE k.public_id = $1 AND k.digest = $2 AND k.revoked_at IS NULL AND p.id = $3";

const LIST: &str = "SELECT p.id, p.title, p.body, p.kind, p.platform, p.created_at, p.updated_at, \
                    ARRAY(SELECT m.vault_id FROM vault_prompt m WHERE m.prompt_id = p.id) \
                    FROM api_key k CROSS JOIN LATERAL (SELECT * FROM prompt \
                        WHERE account_id = k.account_id AND id < $3 ORDER BY id DESC LIMIT 21) p \
                    WHERE k.public_id = $1 AND k.digest = $2 AND k.revoked_at IS NULL";

const POST: &str = "INSERT INTO prompt (account_id, title, body) SELECT account_id, $3, $4 \
                    FROM api_key k \
                    WHERE k.public_id = $1 AND k.digest = $2 AND k.revoked_at IS NULL \
                    RETURNING id, title, body, kind, platform, created_at, updated_at, \
                    '{}'::bigint[]";

struct Connection {
    client: Client,
    get: Statement,
    list: Statement,
    post: Statement,
}

struct Thin {
    connections: Vec<Connection>,
    next: AtomicUsize,
}

#[tokio::main]
async fn main() -> Result {
    let (listen, database) = arguments()?;
    let (client, connection) = tokio_postgres::connect(&database, NoTls).await?;
    tokio::spawn(connection);
    client.batch_execute(TABLES).await?;
    let fill = format!(
        "INSERT INTO api_key (public_id, digest, account_id) {KEYS};
         INSERT INTO prompt (account_id, title, body) {PROMPTS}"
    );
    client.batch_execute(&fill).await?;
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let (client, connection) = tokio_postgres::connect(&database, NoTls).await?;
        tokio::spawn(connection);
        let (get, list) = (client.prepare(GET).await?, client.prepare(LIST).await?);
        let post = client.prepare(POST).await?;
        connections.push(Connection { client, get, list, post });
    }
    let thin = Arc::new(Thin { connections, next: AtomicUsize::new(0) });
    serve(&listen, move |request| {
        let thin = thin.clone();
        async move {
            thin.respond(request).await.unwrap_or_else(|error| (500, error.to_string().into()))
        }
    })
    .await
}

#[derive(Deserialize)]
struct New<'a> {
    title: &'a str,
    prompt: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Prompt<'a> {
    id: i64,
    title: &'a str,
    prompt: &'a str,
    prompt_type: &'a str,
    platform: Option<&'a str>,
    status: &'static str,
    images: [(); 0],
    vault_ids: Vec<i64>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

#[derive(Serialize)]
struct Envelope<T> {
    data: T,
    error: Option<()>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pagination: Option<Pagination>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Pagination {
    next_cursor: Option<String>,
}

impl Thin {
    async fn respond(&self, request: Request<Incoming>) -> Result<(u16, Bytes)> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let Connection { client, get, list, post } = &self.connections[next % CONNECTIONS];
        let (parts, body) = request.into_parts();
        let (public_id, digest) = key(&parts.headers)?;
        let id = parts.uri.path().rsplit('/').next().and_then(|id| id.parse::<i64>().ok());
        if parts.method != Method::GET {
            let body = body.collect().await?.to_bytes();
            let New { title, prompt } = serde_json::from_slice(&body)?;
            let params: [&(dyn ToSql + Sync); 4] = [&public_id, &digest, &title, &prompt];
            return Ok((201, one(&client.query_one(post, &params).await?)?.into()));
        }
        let below = cursor(parts.uri.query());
        let body = match id {
            Some(id) => one(&client.query_one(get, &[&public_id, &digest, &id]).await?)?,
            None => page(&client.query(list, &[&public_id, &digest, &below]).await?)?,
        };
        Ok((200, body.into()))
    }
}

fn one(row: &Row) -> Result<Vec<u8>> {
    let envelope = Envelope { data: prompt(row)?, error: None, pagination: None };
    Ok(serde_json::to_vec(&envelope)?)
}

fn page(rows: &[Row]) -> Result<Vec<u8>> {
    let data: Vec<_> = rows.iter().take(PAGE).map(prompt).collect::<Result<_>>()?;
    let more = rows.len() > PAGE;
    let next_cursor = data.last().filter(|_| more).map(|prompt| prompt.id.to_string());
    let pagination = Some(Pagination { next_cursor });
    Ok(serde_json::to_vec(&Envelope { data, error: None, pagination })?)
}

fn prompt(row: &Row) -> Result<Prompt<'_>> {
    Ok(Prompt {
        id: row.try_get(0)?,
        title: row.try_get(1)?,
        prompt: row.try_get(2)?,
        prompt_type: row.try_get(3)?,
        platform: row.try_get(4)?,
        status: "active",
        images: [],
        vault_ids: row.try_get(7)?,
        created_at: row.try_get(5)?,
        updated_at: row.try_get(6)?,
    })
}
