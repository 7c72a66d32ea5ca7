//! The description sees what is wrong: answers with a slip each, made by hand.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method, StatusCode};
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::description::Description;

/// A request, the answer, and what is told of it; nothing if it is right.
struct Case {
    name: &'static str,
    method: Method,
    path: &'static str,
    status: u16,
    body: Value,
    told: &'static str,
}

fn vault() -> Value {
    json!({
        "id": 1, "name": "a", "description": null, "slug": "a", "visibility": "private",
        "accessType": null, "isLocked": false, "coverImageUrl": null, "isSystem": false,
        "promptCount": 0, "createdAt": "2025-03-01T09:00:00.000000Z",
        "updatedAt": "2025-03-01T09:00:00.000000Z",
    })
}

fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut answer = json!({ "data": vault(), "error": null });
    change(&mut answer);
    answer
}

fn cases() -> Vec<Case> {
    let get = |name, status, body, told| {
        let (method, path) = (Method::GET, "/api/v1/vaults/1");
        Case { name, method, path, status, body, told }
    };
    let failure = json!({ "data": null, "error": "no", "details": {} });
    vec![
        get("a_good_answer_passes", 200, changed(|_| {}), ""),
        get("a_good_refusal_passes", 404, failure.clone(), ""),
        get(
            "a_misspelt_field_is_told",
            200,
            changed(|answer| answer["data"]["isLokced"] = answer["data"]["isLocked"].take()),
            "`/data`",
        ),
        get(
            "a_wrong_type_is_told",
            200,
            changed(|answer| answer["data"]["promptCount"] = json!("0")),
            "`/data/promptCount`",
        ),
        get(
            "a_missing_field_is_told",
            200,
            changed(|answer| drop(answer["data"].as_object_mut().map(|data| data.remove("slug")))),
            "slug",
        ),
        get(
            "a_key_too_many_in_the_envelope_is_told",
            200,
            changed(|answer| answer["details"] = json!({})),
            "details",
        ),
        get("data_beside_an_error_is_told", 404, changed(|_| {}), "`/data`"),
        get(
            "an_undescribed_status_is_told",
            403,
            failure.clone(),
            "getVault does not describe 403",
        ),
        Case {
            name: "an_undescribed_path_is_not_there",
            method: Method::GET,
            path: "/api/v1/vault",
            status: 200,
            body: failure.clone(),
            told: "a path that is not described",
        },
        Case {
            name: "an_undescribed_method_is_refused",
            method: Method::PUT,
            path: "/api/v1/vaults",
            status: 200,
            body: failure,
            told: "a method that is not described",
        },
    ]
}

pub(crate) fn tests(description: &Arc<Description>) -> Vec<Trial> {
    let trial = |case: Case| {
        let description = Arc::clone(description);
        Trial::test(format!("violations::{}", case.name), move || case.test(&description))
    };
    let header = {
        let description = Arc::clone(description);
        Trial::test("violations::a_missing_header_is_told", move || {
            without_request_id(&description)
        })
    };
    cases().into_iter().map(trial).chain([header]).collect()
}

impl Case {
    fn test(&self, description: &Description) -> Result<(), Failed> {
        let body = self.body.to_string();
        let status = StatusCode::from_u16(self.status)?;
        let judged =
            description.judge(&self.method, self.path, status, &headers(), body.as_bytes());
        let told = judged.violations.join("; ");
        let right = if self.told.is_empty() { told.is_empty() } else { told.contains(self.told) };
        if right { Ok(()) } else { Err(format!("it tells {told:?}").into()) }
    }
}

fn headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers.insert("x-request-id", HeaderValue::from_static("a"));
    headers
}

fn without_request_id(description: &Description) -> Result<(), Failed> {
    let mut headers = headers();
    headers.remove("x-request-id");
    let body = changed(|_| {}).to_string();
    let judged = description.judge(
        &Method::GET,
        "/api/v1/vaults/1",
        StatusCode::OK,
        &headers,
        body.as_bytes(),
    );
    let told = judged.violations.join("; ");
    if told.contains("x-request-id") { Ok(()) } else { Err(format!("it tells {told:?}").into()) }
}
