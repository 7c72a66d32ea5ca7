//! The body of an error, whatever the call and the status.

use serde_json::{Value, json};

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::refusals;
use crate::{Case, Failure, Scenario};

pub(super) const ALL: &[Scenario] = &[
    core!("errors.shape.keys", "Every error has data, error and details", ["ER-01"], keys),
    core!("errors.shape.text", "The error of every error is a text", ["ER-01"], text),
    core!("errors.shape.details", "The details of every error are an object", ["ER-02"], details),
    reference!(
        "errors.shape.empty-details",
        "The details of every error but 400 are empty (S-60)",
        ["ER-03"],
        empty_details
    ),
    reference!(
        "errors.shape.content-type",
        "Every error is sent as application/json (S-59)",
        ["ER-01"],
        content_type
    ),
];

async fn keys(case: Case) -> Result<(), Failure> {
    for (_, reply) in refusals(&case, &case.wire()).await? {
        let body = reply.json()?;
        let has = |key: &&str| body.as_object().is_some_and(|body| body.contains_key(*key));
        let all = ["data", "error", "details"].iter().all(has);
        reply.ensure(all, "the keys data, error and details", body)?;
    }
    Ok(())
}

async fn text(case: Case) -> Result<(), Failure> {
    for (_, reply) in refusals(&case, &case.wire()).await? {
        let error = reply.json()?.get("error").unwrap_or(&Value::Null);
        let readable = error.as_str().is_some_and(|error| !error.trim().is_empty());
        reply.ensure(readable, "a text in error", error)?;
    }
    Ok(())
}

async fn details(case: Case) -> Result<(), Failure> {
    for (_, reply) in refusals(&case, &case.wire()).await? {
        if let Some(details) = reply.json()?.get("details") {
            reply.ensure(details.is_object(), "an object in details", details)?;
        }
    }
    Ok(())
}

async fn empty_details(case: Case) -> Result<(), Failure> {
    for (_, reply) in refusals(&case, &case.wire()).await? {
        if reply.status_code() != 400 {
            reply.equals("/details", json!({}))?;
        }
    }
    Ok(())
}

async fn content_type(case: Case) -> Result<(), Failure> {
    for (_, reply) in refusals(&case, &case.wire()).await? {
        let value = reply.headers().get("content-type");
        let value = value.and_then(|value| value.to_str().ok()).unwrap_or("none");
        let essence = value.split(';').next().unwrap_or(value);
        reply.ensure(essence == "application/json", "application/json", value)?;
    }
    Ok(())
}
