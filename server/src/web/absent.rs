//! The module in a build without the feature `dashboard`: there are no pages, and failures are JSON.

use http::request::Parts;

use crate::api::HandlerResult;
use crate::domain::SessionRecord;
use crate::http::browser::Site;
use crate::http::error::Problem;
use crate::http::response::{self, Response};

pub(crate) fn or_sign_in(_: &Site, _: &Parts, outcome: HandlerResult) -> HandlerResult {
    outcome
}

pub(crate) fn failure(problem: Problem, _: &Site, _: Option<&SessionRecord>, _: &str) -> Response {
    response::failure(problem)
}
