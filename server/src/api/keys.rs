//! `/api-keys`: keys are made in a browser session only (KE-05).
//!
//! There are no sessions yet, so that the route's need refuses every request
//! before it comes here.

use super::{Api, Call};
use crate::http::auth::AuthRefusal;
use crate::http::error::ApiError;
use crate::http::response::Reply;

/// `POST /api-keys`.
pub async fn create(_: &Api, _: Call<'_>) -> Result<Reply, ApiError> {
    Err(AuthRefusal::Session.into())
}
