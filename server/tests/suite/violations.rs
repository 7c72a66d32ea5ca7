//! The description sees what is wrong: answers with a slip each, made by hand.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, StatusCode};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::description::Description;

const VAULT: &str = "GET /api/v1/vaults/1";

/// A test, a request, the status of a good answer with a vault or of a refusal, a change of its
/// body, and what is told of it; nothing if it is right.
type Case = (&'static str, &'static str, u16, fn(&mut Value), &'static str);

#[rustfmt::skip]
const CASES: [Case; 11] = [
    ("a_good_answer_passes", VAULT, 200, |_| {}, ""),
    ("a_good_refusal_passes", VAULT, 404, |_| {}, ""),
    ("a_misspelt_field_is_told", VAULT, 200, |it| it["data"]["isLokced"] = false.into(), "`/body/data`"),
    ("a_wrong_type_is_told", VAULT, 200,
        |it| it["data"]["promptCount"] = "0".into(), "`/body/data/promptCount`"),
    ("a_missing_field_is_told", VAULT, 200,
        |it| drop(it["data"].as_object_mut().map(|data| data.remove("slug"))), "slug"),
    ("a_key_too_many_in_the_envelope_is_told", VAULT, 200,
        |it| it["details"] = json!({}), "details"),
    ("data_beside_an_error_is_told", VAULT, 404, |it| it["data"] = json!({}), "`/body/data`"),
    ("an_undescribed_status_is_told", VAULT, 403, |_| {}, "does not describe 403"),
    ("an_undescribed_path_is_not_there", "GET /api/v1/vault", 200,
        |_| {}, "a path that is not described"),
    ("an_undescribed_method_is_refused", "PUT /api/v1/vaults", 200,
        |_| {}, "a method that is not described"),
    ("a_missing_header_is_told", VAULT, 200, |_| {}, "x-request-id"),
];

fn body(status: u16) -> Value {
    let moment = "2025-03-01T09:00:00.000000Z";
    let vault = json!({
        "id": 1, "name": "a", "description": null, "slug": "a", "visibility": "private",
        "accessType": null, "isLocked": false, "coverImageUrl": null, "isSystem": false,
        "promptCount": 0, "createdAt": moment, "updatedAt": moment,
    });
    match status {
        200 => json!({ "data": vault, "error": null }),
        _ => json!({ "data": null, "error": "no", "details": {} }),
    }
}

pub(crate) fn tests(description: &Arc<Description>) -> Vec<Trial> {
    let trial = |(name, request, status, change, expected): Case| {
        let description = Arc::clone(description);
        Trial::test(format!("violations::{name}"), move || {
            let json = ("content-type", HeaderValue::from_static("application/json"));
            let id = ("x-request-id", HeaderValue::from_static("a"));
            let headers = [json, id].into_iter().filter(|(header, _)| *header != expected);
            let headers: HeaderMap =
                headers.filter_map(|(name, value)| Some((name.parse().ok()?, value))).collect();
            let (method, path) = request.split_once(' ').unwrap_or_default();
            let mut body = body(status);
            change(&mut body);
            let (status, body) = (StatusCode::from_u16(status)?, body.to_string());
            let judged =
                description.judge(&method.parse()?, path, status, &headers, body.as_bytes());
            let told = judged.1.join("; ");
            let right = if expected.is_empty() { told.is_empty() } else { told.contains(expected) };
            if right { Ok(()) } else { Err(format!("it tells {told:?}").into()) }
        })
    };
    CASES.into_iter().map(trial).collect()
}
