//! The request for a slot: its two fields, their bounds, and who may ask.

pub(super) mod choices;

use super::slot::ask;
use crate::scenario::core;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "uploads.request.created" ["UP-01"] created,
        "A request for a slot is answered 201" },
];

async fn created(case: Case) -> Result<(), Failure> {
    let reply = ask(&case.wire(), "image/png", 100).await?;
    let slot = reply.status(201)?.at("/data")?;
    reply.ensure(slot.is_object(), "a slot in data", slot).map(drop)
}
