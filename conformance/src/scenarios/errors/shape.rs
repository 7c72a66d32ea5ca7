//! The body of an error, whatever the call and the status.

use serde_json::{Value, json};

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::refusals;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "errors.shape.keys" ["ER-01"] keys,
        "Every error has data, error and details" },
    core! { "errors.shape.text" ["ER-01"] text,
        "The error of every error is a text" },
    core! { "errors.shape.details" ["ER-02"] details,
        "The details of every error are an object" },
    reference! { "errors.shape.empty-details" ["ER-03"] empty_details,
        "The details of every error but 400 are empty (S-60)" },
    reference! { "errors.shape.content-type" ["ER-01"] content_type,
        "Every error is sent as application/json (S-59)" },
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
