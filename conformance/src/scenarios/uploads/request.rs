//! The request for a slot: its two fields, their bounds, and who may ask.

pub(super) mod choices;

use serde_json::Value;

use super::slot::ask;
use crate::scenario::core;
use crate::wire::Reply;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "uploads.request.created" ["UP-01"] created,
        "A request for a slot is answered 201" },
];

const PATH: &str = "/uploads/images";

async fn post(case: &Case, body: Value) -> Result<Reply, Failure> {
    case.wire().post(PATH, body).await
}

async fn created(case: Case) -> Result<(), Failure> {
    let reply = ask(&case.wire(), "image/png", 100).await?;
    let slot = reply.status(201)?.at("/data")?;
    reply.ensure(slot.is_object(), "a slot in data", slot).map(drop)
}
