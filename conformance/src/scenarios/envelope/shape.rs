//! The keys of every response. Which of them it must have depends on whether it is a success or
//! an error; what status a call should have had is left to the scenarios of that call.

use crate::case::status_path;
use crate::scenarios::endpoints::{Endpoint, each_refusal, each_success};
use crate::scenarios::generations::job::send;
use crate::scenarios::prelude::*;
use crate::scenarios::uploads::slot::ask;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "envelope.success.keys" ["EN-03"] |case| each_success(case, success_keys),
        "Every success is a JSON object with the keys data and error" },
    core! { "envelope.success.error-null" ["EN-04"] |case| each_success(case, success_error),
        "On every success error is null" },
    core! { "envelope.success.data" ["EN-05"] success_data,
        "On success data is an array for a list and an object for one resource" },
    core! { "envelope.error.data-null" ["EN-06"] |case| each_refusal(case, error_data),
        "Whenever error is not null, data is null" },
    reference! { "envelope.success.no-more-keys" ["EN-03", "EN-07"] ("S-68")
        |case| each_success(case, success_no_more),
        "A success has no key but data and error, and pagination on GET /prompts" },
    reference! { "envelope.error.no-more-keys" ["EN-03", "ER-01"] ("S-68")
        |case| each_refusal(case, |reply| reply.has_only("", &["data", "error", "details"]).map(drop)),
        "An error has no key but data, error and details" },
    core! { "envelope.success.jobs-and-slots" ["EN-03", "EN-04", "EN-05"] jobs_and_slots,
        "A queued generation, its status and an upload slot are objects in data, and error is \
         null" },
    core! { "envelope.error.jobs-and-slots" ["EN-03", "EN-06", "ER-01", "ER-02"]
        refused_jobs_and_slots,
        "A refused generation, status or slot has data null, a text in error, and an object in \
         details" },
];

fn success_keys(_: &Endpoint, reply: &ApiResponse) -> Result {
    let body = reply.json()?;
    let both = ["data", "error"].iter().all(|key| body.get(key).is_some());
    reply.ensure(both, "a JSON object with the keys data and error", body).map(drop)
}

fn success_error(_: &Endpoint, reply: &ApiResponse) -> Result {
    let error = reply.json()?.get("error").unwrap_or(&Value::Null);
    reply.ensure(error.is_null(), "error to be null", error).map(drop)
}

fn data_of(endpoint: &Endpoint, reply: &ApiResponse) -> Result {
    let data = reply.at("/data")?;
    if endpoint.lists() {
        return reply.ensure(data.is_array(), "an array in data", data).map(drop);
    }
    reply.ensure(data.is_object(), "an object in data", data).map(drop)
}

async fn success_data(case: Case) -> Result {
    each_success(case.clone(), data_of).await?;
    let vault = case.vault().await?;
    for path in [vault.list().path(), format!("{}/prompts", vault.path())] {
        let reply = case.wire().get(&path).await?;
        let data = reply.at("/data")?;
        reply.ensure(data.is_array(), "an array in data, also without entries", data)?;
    }
    Ok(())
}

fn error_data(reply: &ApiResponse) -> Result {
    let body = reply.json()?;
    let is_null = |key| body.get(key).is_none_or(Value::is_null);
    reply.ensure(is_null("error") || is_null("data"), "data to be null", body).map(drop)
}

fn success_no_more(endpoint: &Endpoint, reply: &ApiResponse) -> Result {
    let paginated = endpoint.lists() && endpoint.template == "/prompts";
    let keys = ["data", "error", "pagination"];
    reply.has_only("", if paginated { &keys } else { &keys[..2] }).map(drop)
}

// Generations and uploads are not in the table of endpoints that the scenarios above go through.

async fn queued(case: &Case) -> Result<ApiResponse> {
    let job = send(case, json!({ "vaultId": case.vault().await?.id })).await?;
    job.success()?;
    Ok(job)
}

async fn jobs_and_slots(case: Case) -> Result {
    let (wire, job) = (&case.wire(), queued(&case).await?);
    let status = wire.get(&status_path(job.string("/data/clientJobId")?)).await?;
    for reply in [job, status, ask(wire, "image/png", 100).await?] {
        let data = reply.success()?.equals("/error", Value::Null)?.at("/data")?;
        reply.ensure(data.is_object(), "an object in data", data)?;
    }
    Ok(())
}

async fn refused_jobs_and_slots(case: Case) -> Result {
    let (wire, nobody) = (&case.wire(), &case.anonymous());
    let job = queued(&case).await?;
    for reply in [
        ask(nobody, "image/png", 100).await?,
        ask(wire, "image/png", 0).await?,
        nobody.post("/generations", json!({})).await?,
        wire.post("/generations", json!({})).await?,
        nobody.get(&status_path(job.string("/data/clientJobId")?)).await?,
    ] {
        reply.status_in(400..=499)?.equals("/data", Value::Null)?;
        let text = reply.string("/error")?;
        reply.ensure(!text.trim().is_empty(), "a text in error", text)?;
        let details = reply.at("/details")?;
        reply.ensure(details.is_object(), "an object in details", details)?;
    }
    Ok(())
}
