//! The same requests as tutorials of axum and sqlx write them: extractors, `query_as`, a pool of
//! connections with its defaults, the key looked up by a statement of its own, a serial primary key
//! in each table.

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use axum::{Json, Router};
use chrono::{DateTime, Utc};
use promptarium_peers::{KEYS, PROMPTS, Result, arguments};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlx::postgres::PgPoolOptions;
use sqlx::{FromRow, PgPool};

type Response<T = Json<Value>> = std::result::Result<T, StatusCode>;

const TABLES: &str = "
    CREATE TABLE api_keys (
        id BIGSERIAL PRIMARY KEY,
        account_id BIGINT NOT NULL,
        public_id TEXT NOT NULL UNIQUE,
        digest BYTEA NOT NULL,
        revoked_at TIMESTAMPTZ
    );
    CREATE TABLE prompts (
        id BIGSERIAL PRIMARY KEY,
        account_id BIGINT NOT NULL,
        title TEXT NOT NULL,
        prompt TEXT NOT NULL,
        prompt_type TEXT NOT NULL DEFAULT 'text',
        platform TEXT,
        status TEXT NOT NULL DEFAULT 'active',
        images JSONB NOT NULL DEFAULT '[]',
        created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
        updated_at TIMESTAMPTZ NOT NULL DEFAULT now()
    );
    CREATE INDEX prompts_of_account ON prompts (account_id, id);
    CREATE TABLE vault_prompts (
        prompt_id BIGINT NOT NULL REFERENCES prompts (id),
        vault_id BIGINT NOT NULL,
        PRIMARY KEY (prompt_id, vault_id)
    )";

#[tokio::main]
async fn main() -> Result {
    let (listen, database) = arguments()?;
    let pool = PgPoolOptions::new().connect(&database).await?;
    sqlx::raw_sql(TABLES).execute(&pool).await?;
    let fill = format!(
        "INSERT INTO api_keys (public_id, digest, account_id) {KEYS};
         INSERT INTO prompts (account_id, title, prompt) {PROMPTS}"
    );
    sqlx::raw_sql(&fill).execute(&pool).await?;
    let app = Router::new()
        .route("/api/v1/prompts", get(list_prompts).post(create_prompt))
        .route("/api/v1/prompts/{id}", get(get_prompt))
        .with_state(pool);
    let listener = tokio::net::TcpListener::bind(listen).await?;
    Ok(axum::serve(listener, app).await?)
}

#[derive(FromRow, Serialize)]
#[serde(rename_all = "camelCase")]
struct Prompt {
    id: i64,
    title: String,
    prompt: String,
    prompt_type: String,
    platform: Option<String>,
    status: String,
    images: Value,
    vault_ids: Vec<i64>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

#[derive(Deserialize)]
struct Page {
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct NewPrompt {
    title: String,
    prompt: String,
}

const COLUMNS: &str =
    "id, title, prompt, prompt_type, platform, status, images, created_at, updated_at";

fn select(condition: &str) -> String {
    format!(
        "SELECT {COLUMNS},
            ARRAY(SELECT vault_id FROM vault_prompts v WHERE v.prompt_id = p.id) AS vault_ids
         FROM prompts p WHERE account_id = $1 AND {condition}"
    )
}

fn failed(_: sqlx::Error) -> StatusCode {
    StatusCode::INTERNAL_SERVER_ERROR
}

async fn account(pool: &PgPool, headers: &HeaderMap) -> Response<i64> {
    let (public_id, digest) =
        promptarium_peers::key(headers).map_err(|_| StatusCode::UNAUTHORIZED)?;
    sqlx::query_scalar(
        "SELECT account_id FROM api_keys
         WHERE public_id = $1 AND digest = $2 AND revoked_at IS NULL",
    )
    .bind(public_id)
    .bind(digest)
    .fetch_optional(pool)
    .await
    .map_err(failed)?
    .ok_or(StatusCode::UNAUTHORIZED)
}

async fn get_prompt(
    State(pool): State<PgPool>,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Response {
    let account = account(&pool, &headers).await?;
    let prompt: Prompt = sqlx::query_as(&select("id = $2"))
        .bind(account)
        .bind(id)
        .fetch_optional(&pool)
        .await
        .map_err(failed)?
        .ok_or(StatusCode::NOT_FOUND)?;
    Ok(Json(json!({ "data": prompt, "error": null })))
}

async fn list_prompts(
    State(pool): State<PgPool>,
    headers: HeaderMap,
    Query(page): Query<Page>,
) -> Response {
    let account = account(&pool, &headers).await?;
    let below = page.cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(i64::MAX);
    let query = select("id < $2 ORDER BY id DESC LIMIT 21");
    let mut prompts: Vec<Prompt> =
        sqlx::query_as(&query).bind(account).bind(below).fetch_all(&pool).await.map_err(failed)?;
    let more = prompts.len() > 20;
    prompts.truncate(20);
    let next = prompts.last().filter(|_| more).map(|prompt| prompt.id.to_string());
    Ok(Json(json!({ "data": prompts, "error": null, "pagination": { "nextCursor": next } })))
}

async fn create_prompt(
    State(pool): State<PgPool>,
    headers: HeaderMap,
    Json(new): Json<NewPrompt>,
) -> Response<(StatusCode, Json<Value>)> {
    let account = account(&pool, &headers).await?;
    let prompt: Prompt = sqlx::query_as(&format!(
        "INSERT INTO prompts (account_id, title, prompt) VALUES ($1, $2, $3)
         RETURNING {COLUMNS}, '{{}}'::bigint[] AS vault_ids"
    ))
    .bind(account)
    .bind(new.title)
    .bind(new.prompt)
    .fetch_one(&pool)
    .await
    .map_err(failed)?;
    Ok((StatusCode::CREATED, Json(json!({ "data": prompt, "error": null }))))
}
