//! The request for a slot: its two fields, their bounds, and who may ask.

pub(super) mod choices;

use serde_json::Value;

use super::slot::ask;
use crate::scenario::core;
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "uploads.request.created" ["UP-01"] created,
        "A request for a slot is answered 201" },
    core! { "uploads.request.read-only" ["AU-10"] [ReadOnlyKey] read_only,
        "A key without prompts:write gets no slot, but 401" },
    core! { "uploads.request.no-key" ["AU-02", "AU-10"] no_key,
        "A request for a slot without a key is answered 401" },
    core! { "uploads.request.revoked-key" ["AU-06", "AU-10"] [RevokedKey] revoked_key,
        "A request for a slot with a revoked key is answered 401" },
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

async fn read_only(case: Case) -> Result<(), Failure> {
    only_with_a_key(&case, &case.read_only()).await
}

async fn no_key(case: Case) -> Result<(), Failure> {
    only_with_a_key(&case, &case.anonymous()).await
}

async fn revoked_key(case: Case) -> Result<(), Failure> {
    only_with_a_key(&case, &case.revoked()).await
}

/// 401 for `wire`, to what is granted with the target's own key.
async fn only_with_a_key(case: &Case, wire: &Wire) -> Result<(), Failure> {
    ask(&case.wire(), "image/png", 100).await?.status(201)?;
    ask(wire, "image/png", 100).await?.status(401).map(drop)
}
