//! `/healthz` and `/readyz`. Healthy is a process that answers. Ready is one that wants
//! requests and whose store works.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::StatusCode;
use serde::Serialize;
use tokio::time::timeout;

use super::{Api, HandlerResult, Request};
use crate::http::error::ApiError;
use crate::http::response;
use crate::limits::READINESS_TIMEOUT;
use crate::store::StoreError;

/// Whether the server wants requests: not after the listener was asked to stop.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// Makes the server not ready. It still answers requests.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Serialize)]
struct Status {
    status: &'static str,
}

/// `GET /healthz`
pub(crate) async fn health(_: &Api, _: Request<'_>) -> HandlerResult {
    Ok(response::data(StatusCode::OK, &Status { status: "ok" })?)
}

/// `GET /readyz`
pub(crate) async fn readiness(api: &Api, _: Request<'_>) -> HandlerResult {
    if api.readiness.0.load(Ordering::Relaxed) {
        return Err(ApiError::Stopping);
    }
    let checked = timeout(READINESS_TIMEOUT, api.store.check()).await;
    checked.map_err(|_| StoreError::Unavailable("it did not answer within 2 seconds".into()))??;
    Ok(response::data(StatusCode::OK, &Status { status: "ready" })?)
}
