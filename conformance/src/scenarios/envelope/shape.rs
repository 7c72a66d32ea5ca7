//! The keys of every answer. Which of them an answer must have depends on
//! whether it is a success or an error; what status a call should have had is
//! left to the scenarios of that call.

use serde_json::{Value, json};

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::{refusals, successes};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "envelope.success.keys" ["EN-03"] success_keys,
        "Every success is a JSON object with the keys data and error" },
    core! { "envelope.error.keys" ["EN-03"] error_keys,
        "Every error is a JSON object with the keys data and error" },
    core! { "envelope.success.error-null" ["EN-04"] success_error,
        "On every success error is null" },
    core! { "envelope.success.data" ["EN-05"] success_data,
        "On success data is an array for a list and an object for one resource" },
    core! { "envelope.error.data-null" ["EN-06"] error_data,
        "Whenever error is not null, data is null" },
    core! { "envelope.pagination.shape" ["EN-07"] pagination,
        "A paginated list has pagination with a nextCursor that is a string or null" },
    reference! { "envelope.success.no-more-keys" ["EN-03", "EN-07"] success_no_more,
        "A success has no key but data and error, and pagination on GET /prompts (S-68)" },
    reference! { "envelope.error.no-more-keys" ["EN-03", "ER-01"] error_no_more,
        "An error has no key but data, error and details (S-68)" },
];

async fn success_keys(case: Case) -> Result<(), Failure> {
    for (_, reply) in successes(&case, &case.wire()).await? {
        has_both(&reply)?;
    }
    Ok(())
}

async fn error_keys(case: Case) -> Result<(), Failure> {
    for (_, reply) in refusals(&case, &case.wire()).await? {
        has_both(&reply)?;
    }
    Ok(())
}

fn has_both(reply: &Reply) -> Result<(), Failure> {
    let body = reply.json()?;
    let has = |key| body.as_object().is_some_and(|body| body.contains_key(key));
    reply.ensure(
        has("data") && has("error"),
        "a JSON object with the keys data and error",
        body,
    )?;
    Ok(())
}

async fn success_error(case: Case) -> Result<(), Failure> {
    for (_, reply) in successes(&case, &case.wire()).await? {
        let error = reply.json()?.get("error").unwrap_or(&Value::Null);
        reply.ensure(error.is_null(), "error to be null", error)?;
    }
    Ok(())
}

async fn success_data(case: Case) -> Result<(), Failure> {
    for (endpoint, reply) in successes(&case, &case.wire()).await? {
        let data = reply.at("/data")?;
        let (holds, kind) = match endpoint.lists() {
            true => (data.is_array(), "an array"),
            false => (data.is_object(), "an object"),
        };
        reply.ensure(holds, format!("{kind} in data"), data)?;
    }
    let vault = make::vault(&case, &case.wire()).await?;
    for path in [format!("/prompts?vaultId={vault}"), format!("/vaults/{vault}/prompts")] {
        let reply = case.wire().get(&path).await?;
        let data = reply.at("/data")?;
        reply.ensure(data.is_array(), "an array in data, also without entries", data)?;
    }
    Ok(())
}

async fn error_data(case: Case) -> Result<(), Failure> {
    for (_, reply) in refusals(&case, &case.wire()).await? {
        let body = reply.json()?;
        let is_null = |key| body.get(key).is_none_or(Value::is_null);
        reply.ensure(is_null("error") || is_null("data"), "data to be null", body)?;
    }
    Ok(())
}

async fn pagination(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    make::members(&case, &wire, vault, 2).await?;
    for query in ["", "&limit=1", "&limit=2"] {
        let page = wire.get(&format!("/prompts?vaultId={vault}{query}")).await?;
        let cursor = page.status(200)?.at("/pagination/nextCursor")?;
        page.ensure(
            cursor.is_string() || cursor.is_null(),
            "a string or null in /pagination/nextCursor",
            cursor,
        )?;
    }
    Ok(())
}

async fn success_no_more(case: Case) -> Result<(), Failure> {
    for (endpoint, reply) in successes(&case, &case.wire()).await? {
        match endpoint.lists() && endpoint.template == "/prompts" {
            true => only(&reply, &["data", "error", "pagination"])?,
            false => only(&reply, &["data", "error"])?,
        }
    }
    Ok(())
}

async fn error_no_more(case: Case) -> Result<(), Failure> {
    for (_, reply) in refusals(&case, &case.wire()).await? {
        only(&reply, &["data", "details", "error"])?;
    }
    Ok(())
}

/// The keys of the body, whatever their order.
fn only(reply: &Reply, keys: &[&str]) -> Result<(), Failure> {
    let body = reply.json()?.as_object();
    let mut got: Vec<_> = body.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    got.sort_unstable();
    reply.ensure(got == keys, format!("the keys {}", json!(keys)), json!(got))?;
    Ok(())
}
