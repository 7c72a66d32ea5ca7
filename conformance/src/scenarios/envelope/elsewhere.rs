//! The envelope around generations and uploads, which are not in the table of
//! endpoints that the other scenarios of this chapter go through.

use serde_json::{Value, json};

use crate::case::status_path;
use crate::scenario::core;
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "envelope.success.jobs-and-slots" ["EN-03", "EN-04", "EN-05"] successes,
        "A queued generation, its status and an upload slot are objects in data, and error is \
         null" },
    core! { "envelope.error.jobs-and-slots" ["EN-03", "EN-06", "ER-01", "ER-02"] refusals,
        "A refused generation, status or slot has data null, a text in error, and an object in \
         details" },
];

const SLOTS: &str = "/uploads/images";
const JOBS: &str = "/generations";

async fn slot(wire: &Wire, size: i64) -> Result<Reply, Failure> {
    wire.post(SLOTS, json!({ "contentType": "image/png", "size": size })).await
}

/// A queued generation for a vault of its own.
async fn queued(case: &Case) -> Result<Reply, Failure> {
    let vault = make::vault(case, &case.wire()).await?;
    let body = json!({
        "modelId": case.image_model(),
        "prompt": case.name("A harbour"),
        "vaultId": vault,
    });
    let reply = case.wire().post(JOBS, body).await?;
    reply.status_in(200..=299)?;
    Ok(reply)
}

async fn successes(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let job = queued(&case).await?;
    let status = wire.get(&status_path(job.string("/data/clientJobId")?)).await?;
    for reply in [job, status, slot(&wire, 100).await?] {
        reply.status_in(200..=299)?.equals("/error", Value::Null)?;
        let data = reply.at("/data")?;
        reply.ensure(data.is_object(), "an object in data", data)?;
    }
    Ok(())
}

async fn refusals(case: Case) -> Result<(), Failure> {
    let (wire, nobody) = (case.wire(), case.anonymous());
    let job = queued(&case).await?;
    let status = status_path(job.string("/data/clientJobId")?);
    for (what, reply) in [
        ("a slot without a key", slot(&nobody, 100).await?),
        ("a slot of no bytes", slot(&wire, 0).await?),
        ("a generation without a key", nobody.post(JOBS, json!({})).await?),
        ("a generation without fields", wire.post(JOBS, json!({})).await?),
        ("a status without a key", nobody.get(&status).await?),
    ] {
        check::with_context(what, refused_in_the_envelope(&reply))?;
    }
    Ok(())
}

fn refused_in_the_envelope(reply: &Reply) -> Result<(), Failure> {
    reply.status_in(400..=499)?.equals("/data", Value::Null)?;
    let text = reply.string("/error")?;
    reply.ensure(!text.trim().is_empty(), "a text in error", text)?;
    let details = reply.at("/details")?;
    reply.ensure(details.is_object(), "an object in details", details).map(drop)
}
