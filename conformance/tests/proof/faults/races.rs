//! Servers that are right as long as one call comes after the other, and lose,
//! double or mix up something among calls that come at once.

mod contents;
mod crowd;
mod jobs;
mod prompts;
mod vaults;

use crate::prelude::*;

pub(super) const ALL: &[&[Fault]] = &[prompts::ALL, vaults::ALL, contents::ALL, jobs::ALL];

/// The call came at once with others, and was the one to give way.
fn gave_way() -> Response {
    Response::refusal(400, "Something else is under way. Try again.")
}

/// Calls of one key at one path.
#[expect(clippy::unnecessary_wraps, reason = "as `crowded` wants it")]
fn by_path(request: &Request) -> Option<String> {
    Some(format!("{} {}", request.authorization(), request.path))
}

/// Calls of one key at or below one vault, or one prompt.
#[expect(clippy::unnecessary_wraps, reason = "as `crowded` wants it")]
fn by_owner(request: &Request) -> Option<String> {
    Some(format!("{} {}", request.authorization(), request.segment(1)))
}

/// The prompts that an add names.
fn ids(request: &Request) -> Vec<i64> {
    ids_of(&request.json(), "promptIds")
}
