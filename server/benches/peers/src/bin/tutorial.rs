//! The same requests as tutorials of axum and sqlx write them: extractors, `query_as`, a pool of
//! connections with its defaults, the key looked up by a statement of its own.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use axum::{Json, Router};
use chrono::{DateTime, Utc};
use promptarium_peers::{Result, arguments};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlx::postgres::PgPoolOptions;
use sqlx::{FromRow, PgPool};

type Response<T = Json<Value>> = std::result::Result<T, StatusCode>;

#[tokio::main]
async fn main() -> Result {
    let (listen, database) = arguments()?;
    let pool = PgPoolOptions::new().connect(&database).await?;
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
    images: Value,
    vault_ids: Vec<i64>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

#[derive(Deserialize)]
struct NewPrompt {
    title: String,
    prompt: String,
}

const SELECT: &str = "SELECT id, title, body AS prompt, kind AS prompt_type, platform, images,
        ARRAY(SELECT vault_id FROM vault_prompt m
              WHERE m.account_id = p.account_id AND m.prompt_id = p.id) AS vault_ids,
        created_at, updated_at
    FROM prompt p WHERE account_id = $1";

fn failed(_: sqlx::Error) -> StatusCode {
    StatusCode::INTERNAL_SERVER_ERROR
}

async fn account(pool: &PgPool, headers: &HeaderMap) -> Response<i64> {
    let (public_id, digest) =
        promptarium_peers::key(headers).map_err(|_| StatusCode::UNAUTHORIZED)?;
    sqlx::query_scalar(
        "SELECT account_id FROM api_key
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
    let prompt: Prompt = sqlx::query_as(&format!("{SELECT} AND id = $2"))
        .bind(account)
        .bind(id)
        .fetch_optional(&pool)
        .await
        .map_err(failed)?
        .ok_or(StatusCode::NOT_FOUND)?;
    Ok(Json(json!({ "data": prompt, "error": null })))
}

async fn list_prompts(State(pool): State<PgPool>, headers: HeaderMap) -> Response {
    let account = account(&pool, &headers).await?;
    let mut prompts: Vec<Prompt> = sqlx::query_as(&format!("{SELECT} ORDER BY id DESC LIMIT 21"))
        .bind(account)
        .fetch_all(&pool)
        .await
        .map_err(failed)?;
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
    let prompt: Prompt = sqlx::query_as(
        "INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at)
         VALUES ($1, 'text', $2, $3, now(), now())
         RETURNING id, title, body AS prompt, kind AS prompt_type, platform, images,
             '{}'::bigint[] AS vault_ids, created_at, updated_at",
    )
    .bind(account)
    .bind(new.title)
    .bind(new.prompt)
    .fetch_one(&pool)
    .await
    .map_err(failed)?;
    Ok((StatusCode::CREATED, Json(json!({ "data": prompt, "error": null }))))
}
