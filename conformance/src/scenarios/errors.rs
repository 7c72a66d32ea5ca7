//! What is refused, with which status, and what the refusal says: its body, whatever the call and
//! the status, and what `details` hold (S-60).

mod bodies;
mod order;
mod paths;

use crate::scenarios::endpoints::each_refusal;
use crate::scenarios::prelude::*;

pub(super) const ALL: &[&[Scenario]] = &[SHAPE, bodies::ALL, paths::ALL, order::ALL];

#[rustfmt::skip]
const SHAPE: &[Scenario] = &[
    core! { "errors.shape.keys" ["ER-01", "EN-03"] |case| each_refusal(case, keys),
        "Every error is a JSON object with data, error and details" },
    core! { "errors.shape.text" ["ER-01"] |case| each_refusal(case, text),
        "The error of every error is a text" },
    core! { "errors.shape.details" ["ER-02"] |case| each_refusal(case, details),
        "The details of every error are an object" },
    reference! { "errors.shape.empty-details" ["ER-03"] ("S-60")
        |case| each_refusal(case, empty_details),
        "The details of every error but 400 are empty" },
    reference! { "errors.shape.content-type" ["ER-01"] ("S-59")
        |case| each_refusal(case, content_type),
        "Every error is sent as application/json" },
    reference! { reads "errors.details.query" ["ER-03"] ("S-60") query,
        "A 400 maps every failing query parameter to one message, all at once" },
];

fn keys(reply: &ApiResponse) -> Result {
    let body = reply.json()?;
    let all = ["data", "error", "details"].iter().all(|key| body.get(key).is_some());
    reply.ensure(all, "the keys data, error and details", body).map(drop)
}

fn text(reply: &ApiResponse) -> Result {
    let error = reply.json()?.get("error").unwrap_or(&Value::Null);
    let readable = error.as_str().is_some_and(|error| !error.trim().is_empty());
    reply.ensure(readable, "a text in error", error).map(drop)
}

fn details(reply: &ApiResponse) -> Result {
    let details = reply.json()?.get("details");
    let right = details.is_none_or(Value::is_object);
    reply.ensure(right, "an object in details", json!(details)).map(drop)
}

fn empty_details(reply: &ApiResponse) -> Result {
    if reply.status_code() == 400 {
        return Ok(());
    }
    reply.equals("/details", json!({})).map(drop)
}

fn content_type(reply: &ApiResponse) -> Result {
    let value = reply.header("content-type");
    let essence = value.split(';').next().unwrap_or(value);
    reply.ensure(essence == "application/json", "application/json", value).map(drop)
}

async fn query(case: Case) -> Result {
    for (query, fields) in [
        // A cursor belongs to its filters and can be judged only where they are right.
        ("limit=0&vaultId=a&type=b", &["limit", "vaultId", "type"][..]),
        ("limit=0&cursor=c", &["limit", "cursor"]),
        ("limit=5&type=b", &["type"]),
    ] {
        names_exactly(&case.wire().get(&format!("/prompts?{query}")).await?, fields)?;
    }
    Ok(())
}

/// A 400 whose details map these fields and no other, each to a text.
pub(super) fn names_exactly(reply: &ApiResponse, fields: &[&str]) -> Result {
    let details = reply.status(400)?.has_only("/details", fields)?.at("/details")?;
    let is_text = |(_, text): (_, &Value)| text.as_str().is_some_and(|text| !text.is_empty());
    let texts = details.as_object().into_iter().flatten().all(is_text);
    reply.ensure(texts, "one message for each field", details).map(drop)
}

/// The body of an error in which no field is at fault (S-59, S-60).
fn error_body(reply: &ApiResponse) -> Result {
    reply.equals("/data", json!(null))?.equals("/details", json!({}))?.string("/error").map(drop)
}
