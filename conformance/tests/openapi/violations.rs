//! The description sees what is wrong: answers with a slip each, made by hand.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method, StatusCode};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::description::Description;

const VAULT: &str = "/api/v1/vaults/1";

/// A test, a request, the answer, and what is told of it; nothing if it is right.
type Case = (&'static str, (Method, &'static str), u16, Value, &'static str);

/// A good answer with a vault, but for this.
fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let moment = "2025-03-01T09:00:00.000000Z";
    let vault = json!({
        "id": 1, "name": "a", "description": null, "slug": "a", "visibility": "private",
        "accessType": null, "isLocked": false, "coverImageUrl": null, "isSystem": false,
        "promptCount": 0, "createdAt": moment, "updatedAt": moment,
    });
    let mut answer = json!({ "data": vault, "error": null });
    change(&mut answer);
    answer
}

fn cases() -> Vec<Case> {
    let vault = || (Method::GET, VAULT);
    let failure = json!({ "data": null, "error": "no", "details": {} });
    let misspelt = changed(|it| it["data"]["isLokced"] = it["data"]["isLocked"].take());
    let no_slug = changed(|it| drop(it["data"].as_object_mut().map(|data| data.remove("slug"))));
    vec![
        ("a_good_answer_passes", vault(), 200, changed(|_| {}), ""),
        ("a_good_refusal_passes", vault(), 404, failure.clone(), ""),
        ("a_misspelt_field_is_told", vault(), 200, misspelt, "`/data`"),
        (
            "a_wrong_type_is_told",
            vault(),
            200,
            changed(|it| it["data"]["promptCount"] = json!("0")),
            "`/data/promptCount`",
        ),
        ("a_missing_field_is_told", vault(), 200, no_slug, "slug"),
        (
            "a_key_too_many_in_the_envelope_is_told",
            vault(),
            200,
            changed(|it| it["details"] = json!({})),
            "details",
        ),
        ("data_beside_an_error_is_told", vault(), 404, changed(|_| {}), "`/data`"),
        ("an_undescribed_status_is_told", vault(), 403, failure.clone(), "does not describe 403"),
        (
            "an_undescribed_path_is_not_there",
            (Method::GET, "/api/v1/vault"),
            200,
            failure.clone(),
            "a path that is not described",
        ),
        (
            "an_undescribed_method_is_refused",
            (Method::PUT, "/api/v1/vaults"),
            200,
            failure,
            "a method that is not described",
        ),
        ("a_missing_header_is_told", vault(), 200, changed(|_| {}), "x-request-id"),
    ]
}

pub(crate) fn tests(description: &Arc<Description>) -> Vec<Trial> {
    let trial = |(name, (method, path), status, body, expected): Case| {
        let description = Arc::clone(description);
        Trial::test(format!("violations::{name}"), move || {
            let json = ("content-type", HeaderValue::from_static("application/json"));
            let id = ("x-request-id", HeaderValue::from_static("a"));
            let headers = [json, id].into_iter().filter(|(header, _)| *header != expected);
            let headers: HeaderMap =
                headers.filter_map(|(name, value)| Some((name.parse().ok()?, value))).collect();
            let (status, body) = (StatusCode::from_u16(status)?, body.to_string());
            let judged = description.judge(&method, path, status, &headers, body.as_bytes());
            let told = judged.violations.join("; ");
            let right = if expected.is_empty() { told.is_empty() } else { told.contains(expected) };
            if right { Ok(()) } else { Err(format!("it tells {told:?}").into()) }
        })
    };
    cases().into_iter().map(trial).collect()
}
