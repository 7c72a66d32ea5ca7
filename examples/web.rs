//! A web application with axum: prompts page by page, and generations with server-sent events.
//!
//! ```console
//! $ cargo run --example web -- 127.0.0.1:3000
//! ```
//!
//! Without an address it takes a free port of this machine. Without `PROMPTARIUM_BASE_URL` it starts
//! a reference server of its own, in memory. It has no accounts: who reaches it uses its key.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::collections::BTreeMap;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::{Stream, StreamExt as _};
use promptarium::{Client, Cursor, Error, ErrorKind, GenerationJob, JobId, Page, Prompt};
use promptarium_examples::{Service, pictures};
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let service = Service::find().await?;
    if service.embedded.is_some() {
        for n in 1..=30 {
            service.client.prompts().create(format!("Study {n}"), "Still life").await?;
        }
    }
    let app = Router::new()
        .route("/", get(async || Html(include_str!("web.html"))))
        .route("/prompts", get(prompts))
        .route("/generate", post(generate))
        .route("/generate/{job}/events", get(events))
        .with_state(service.client.clone());
    let listener = TcpListener::bind(address).await?;
    println!("Prompts of {}: http://{}/", service.place(), listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}

/// A page of the list; `?cursor=` is the `nextCursor` of the page before.
async fn prompts(
    State(client): State<Client>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Result<Json<Page<Prompt>>, Failure> {
    let cursor = query.get("cursor").map(|cursor| Cursor::from(cursor.as_str()));
    Ok(Json(client.prompts().list().set_cursor(cursor).page().await?))
}

/// Queues a generation of `{"prompt": "…"}`.
async fn generate(
    State(client): State<Client>,
    Json(body): Json<Value>,
) -> Result<(StatusCode, Json<GenerationJob>), Failure> {
    let prompt = body.get("prompt").and_then(Value::as_str).unwrap_or_default();
    let job = client.generations().create(pictures::image_model(), prompt).await?;
    Ok((StatusCode::ACCEPTED, Json(job)))
}

/// The status of a job whenever it changes. When the visitor closes the connection, axum drops the
/// stream, which ends the polling.
async fn events(
    State(client): State<Client>,
    Path(job): Path<JobId>,
) -> Sse<impl Stream<Item = Result<Event, axum::Error>>> {
    let changes = client.generations().watch(job).map(|change| match change {
        Ok(status) => Event::default().event("status").json_data(status),
        Err(error) => Event::default().event("failure").json_data(Failure(error).body()),
    });
    Sse::new(changes).keep_alive(KeepAlive::default())
}

/// An error of the service as a response to the visitor.
struct Failure(Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl Failure {
    /// The status for the visitor. What only the operator can change, such as the key, is no fault
    /// of the visitor.
    fn status(&self) -> StatusCode {
        match self.0.kind() {
            ErrorKind::BadRequest | ErrorKind::Input => StatusCode::BAD_REQUEST,
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Conflict => StatusCode::CONFLICT,
            ErrorKind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            ErrorKind::Connect => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Timeout => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::BAD_GATEWAY,
        }
    }

    fn body(&self) -> Value {
        let fields: BTreeMap<_, _> = self.0.field_errors().collect();
        // The whole text names the service, so it is for the log.
        let message = self.0.message().unwrap_or("the service cannot be used now");
        json!({
            "error": message,
            "fields": fields,
            "job": self.0.job_id(),
            // Then the job must not be queued again; its events say more.
            "mayBeQueued": self.0.is_outcome_unknown(),
        })
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let after = self.0.retry_after().map(|after| [(RETRY_AFTER, after.as_secs().to_string())]);
        (self.status(), after, Json(self.body())).into_response()
    }
}
