//! Faults in errors (ER), headers, methods and the reading of bodies.

use http::header::AUTHORIZATION;

use crate::prelude::*;

const EVERYTHING: &str = "* /**";
const ITEMS: &str = "* /prompts/*, * /vaults/*, * /vaults/*/prompts, * /prompts/*/save";
const WRITES: &str = "POST /**, PATCH /**";
const PROMPTS: &str = "POST /prompts, PATCH /prompts/*";
const REQUEST_ID: &str = "x-request-id";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "tables.list-of-no-vault" ["PR-15"]
        code_instead("GET /prompts", 400, 500, |request| request.parameter("vaultId").is_some()) },
    fault! { "tables.pin-of-nothing" ["VC-25"]
        code_instead("POST /vaults/*/prompts/*/pin", 404, 500, |_| true) },
    // A new prompt without title is answered 422.
    fault! { "errors.missing-422" ["ER-04"] code_instead("POST /prompts", 400, 422, |request| {
        request.json().is_object() && request.json().get("title").is_none()
    }) },
    fault! { "errors.code-for-text" ["ER-01"] on(404, |body| body["error"] = 404.into()) },
    fault! { "errors.no-details" ["ER-01"] on(404, |body| without(body, "details")) },
    fault! { "errors.empty-text" ["ER-01"] on(401, |body| body["error"] = "".into()) },
    fault! { "errors.details-null" ["ER-02"] on(404, |body| body["details"] = Value::Null) },
    fault! { "errors.details-empty" ["ER-03"] on(400, |body| body["details"] = json!({})) },
    // A move without targetVaultId is a server error.
    fault! { "errors.missing-is-default" ["ER-04"]
        refused("POST /vaults/*/prompts/*/move", 500, |request| {
        request.json().is_object() && request.json().get("targetVaultId").is_none()
    }) },
    // A 401 is plain text.
    fault! { "errors.plain-401" ["ER-07"] answers(EVERYTHING, |request, response| {
        if response.code() == 401 && request.of_api {
            response.body = "Unauthorized".into();
            response.set_type("text/plain");
        }
    }) },
    // A vault that never was is read with data null.
    fault! { "errors.absent-200" ["ER-08"] answers("GET /vaults/*", |_, response| {
        if response.code() == 404 {
            *response = Response::data(200, &Value::Null);
        }
    }) },
    // A path with an id of more than 64 bits is a server error.
    fault! { "errors.huge-id-500" ["ER-08"] code_instead(ITEMS, 404, 500, |request| {
        let id = request.segment(1);
        id.len() > 18 && id.bytes().all(|byte| byte.is_ascii_digit())
    }) },
    fault! { "errors.wrong-method-404" ["ER-01"] code_instead(EVERYTHING, 405, 404, |_| true) },
    // A title that is too long is answered 413.
    fault! { "errors.too-long-413" ["ER-06"]
        code_instead("POST /prompts, PATCH /prompts/*", 400, 413, |request| {
        request.text("title").is_some_and(|title| title.chars().count() > 120)
    }) },
    fault! { "errors.details-list" ["ER-02"] on(400, |body| body["details"] = json!([])) },
    fault! { "tables.wrong-field-422" ["ER-05"]
        code_instead(WRITES, 400, 422, |request| request.of_api && request.json().is_object()) },
    fault! { "tables.one-letter-prompt" ["LI-03"] text_is_refused(PROMPTS, "prompt", is_one_letter) },
    // The update of a vault takes no application/json.
    fault! { "envelope.merge-patch-only" ["EN-02"] refused("PATCH /vaults/*", 415, |request| {
        request.headers.get("content-type").is_some_and(|kind| kind == "application/json")
    }) },
    // A 404 has no x-request-id.
    fault! { "envelope.no-request-id" ["EN-03"] answers(EVERYTHING, |_, response| {
        if response.code() == 404 {
            response.headers.remove(REQUEST_ID);
        }
    }) },
    fault! { "auth.unpin-refused" ["AU-01"]
        refused("DELETE /vaults/*/prompts/*/pin", 401, |request| !request.authorization().is_empty()) },
    fault! { "auth.health-needs-a-key" ["AU-01"]
        refused("GET /healthz", 401, |request| request.authorization().is_empty()) },
    // Under the keys of two accounts the vaults of both are listed.
    fault! { "auth.two-accounts" ["HT-23"] whole("GET /vaults", |request, upstream| async move {
        let keys: Vec<_> = request.headers.get_all(AUTHORIZATION).iter().cloned().collect();
        let [first, second] = keys.as_slice() else { return upstream.send(&request).await };
        let as_one = |key: &http::HeaderValue| {
            let mut request = request.clone();
            request.headers.insert(AUTHORIZATION, key.clone());
            request
        };
        let others = upstream.send(&as_one(second)).await.json();
        let mut response = upstream.send(&as_one(first)).await;
        response.edit_data(|vaults| {
            if let (Some(vaults), Some(others)) = (vaults.as_array_mut(), others["data"].as_array())
            {
                vaults.extend(others.iter().cloned());
            }
        });
        response
    }) },
    // A header overrides the method.
    fault! { "errors.method-override" ["HT-19"] asks("GET /**", |request| {
        let other = request.headers.get("x-http-method-override");
        if let Some(Ok(method)) = other.map(|name| Method::from_bytes(name.as_bytes())) {
            request.method = method;
        }
    }) },
    fault! { "errors.options-500" ["HT-18"] refused("OPTIONS /**", 500, |_| true) },
    // Half a surrogate pair is a server error without JSON.
    fault! { "errors.half-pair-500" ["HT-24"] instead("POST /prompts", |request| {
        let half = request.json().is_null() && request.body.windows(3).any(|part| part == b"\\ud");
        half.then(|| Response { body: "oops".into(), ..fallen() })
    }) },
    // A body that is no UTF-8 is a server error without JSON.
    fault! { "errors.no-utf-8-500" ["HT-24"] instead("POST /prompts", |request| {
        let no_text = std::str::from_utf8(&request.body).is_err();
        no_text.then(|| Response { body: "oops".into(), ..fallen() })
    }) },
    // Of a key that stands twice the values are joined.
    fault! { "errors.key-twice-joined" ["HT-24"] answers("POST /prompts", |request, response| {
        if request.body.windows(7).filter(|part| part == b"\"title\"").count() == 2 {
            response.edit_data(|prompt| {
                prompt["title"] =
                    format!("{0},{0}", prompt["title"].as_str().unwrap_or_default()).into();
            });
        }
    }) },
];

/// Changes the body of every answer of this status.
fn on(status: u16, change: fn(&mut Value)) -> Intercept {
    answers(EVERYTHING, move |request, response| {
        if response.code() == status && request.of_api {
            response.edit(change);
        }
    })
}

fn is_one_letter(text: &str) -> bool {
    text.chars().count() == 1
}

fn fallen() -> Response {
    Response::refusal(500, "Something went wrong.")
}
