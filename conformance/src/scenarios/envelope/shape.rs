//! The keys of every response. Which of them it must have depends on whether it is a success or
//! an error; what status a call should have had is left to the scenarios of that call.

use crate::case::status_path;
use crate::scenarios::endpoints::{Endpoint, each_refusal, each_success};
use crate::scenarios::generations::job::send;
use crate::scenarios::prelude::*;
use crate::scenarios::uploads::slot::ask;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "envelope.success.empty-list" ["EN-05"] empty_list,
        "On success data is an array also for a list without entries" },
    core! { "envelope.error.data-null" ["EN-06"] |case| each_refusal(case, error_data),
        "Whenever error is not null, data is null" },
    reference! { "envelope.success.no-more-keys" ["EN-03", "EN-07"] ("S-68")
        |case| each_success(case, success_no_more),
        "A success has no key but data and error, and pagination on GET /prompts" },
    reference! { "envelope.error.no-more-keys" ["EN-03", "ER-01"] ("S-68")
        |case| each_refusal(case, |reply| reply.has_only("", &["data", "error", "details"]).map(drop)),
        "An error has no key but data, error and details" },
    core! { "envelope.error.jobs-and-slots" ["EN-03", "EN-06", "ER-01", "ER-02"]
        refused_jobs_and_slots,
        "A refused generation, status or slot has data null, a text in error, and an object in \
         details" },
];

async fn empty_list(case: Case) -> Result {
    let vault = case.vault().await?;
    for path in [vault.list().path(), format!("{}/prompts", vault.path())] {
        case.wire().get(&path).await?.equals("/data", json!([]))?;
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
