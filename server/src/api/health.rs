//! `/healthz` and `/readyz`, for whoever watches over the process.
//!
//! Healthy is a process that answers; ready is one that wants requests, and has a
//! store to answer them from.

use http::StatusCode;
use serde::Serialize;

use super::Api;
use super::view::SMALL_BYTES;
use crate::http::error::ApiError;
use crate::http::readiness;
use crate::http::response::{self, Reply};

#[derive(Serialize)]
struct Status {
    status: &'static str,
}

/// `GET /healthz`
///
/// # Errors
/// None: whoever can answer is healthy.
pub fn health(_: &Api) -> Result<Reply, ApiError> {
    Ok(response::data(StatusCode::OK, &Status { status: "ok" }, SMALL_BYTES)?)
}

/// `GET /readyz`
///
/// # Errors
/// [`ApiError::Stopping`] once the server has been asked to stop, and that of the
/// store if it does not answer.
pub async fn readiness(api: &Api) -> Result<Reply, ApiError> {
    if api.readiness.is_stopping() {
        return Err(ApiError::Stopping);
    }
    readiness::look_at(&*api.store).await?;
    Ok(response::data(StatusCode::OK, &Status { status: "ready" }, SMALL_BYTES)?)
}
