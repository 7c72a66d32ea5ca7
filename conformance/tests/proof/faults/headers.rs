//! Faults in headers, methods and the reading of bodies, on paths of any chapter.

use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};

use crate::prelude::*;

const EVERYWHERE: &str = "* /**";
const REQUEST_ID: &str = "x-request-id";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "envelope.merge-patch-only" ["EN-02"] refused("PATCH /vaults/*", 415, |request| {
        request.headers.get("content-type").is_some_and(|kind| kind == "application/json")
    }),
        "The update of a vault takes no application/json." },
    fault! { "envelope.no-request-id" ["EN-03"] answers(EVERYWHERE, |_, response| {
        if response.code() == 404 {
            response.headers.remove(REQUEST_ID);
        }
    }),
        "A 404 has no x-request-id." },
    fault! { "envelope.any-request-id" ["EN-03"] answers("GET /vaults", |request, response| {
        if let Some(id) = request.headers.get(REQUEST_ID) {
            response.headers.insert(REQUEST_ID, id.clone());
        }
    }),
        "Any x-request-id of a request comes back." },
    fault! { "auth.no-challenge" ["ER-07"] answers(EVERYWHERE, |_, response| {
        response.headers.remove(WWW_AUTHENTICATE);
    }),
        "A 401 has no WWW-Authenticate." },
    fault! { "auth.unpin-refused" ["AU-01"]
        refused("DELETE /vaults/*/prompts/*/pin", 401, |request| !request.authorization().is_empty()),
        "Unpinning answers 401 to every key." },
    fault! { "auth.health-needs-a-key" ["AU-01"]
        refused("GET /healthz", 401, |request| request.authorization().is_empty()),
        "Whether the server is well is told to keys only." },
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
    }),
        "Under the keys of two accounts the vaults of both are listed." },
    fault! { "errors.put-updates" ["ER-01"] asks("PUT /vaults/*", |request| request.method = Method::PATCH),
        "PUT updates a vault like PATCH." },
    fault! { "errors.method-override" ["HT-19"] asks("GET /**", |request| {
        let other = request.headers.get("x-http-method-override");
        if let Some(Ok(method)) = other.map(|name| Method::from_bytes(name.as_bytes())) {
            request.method = method;
        }
    }),
        "A header overrides the method." },
    fault! { "errors.options-500" ["HT-18"] refused("OPTIONS /**", 500, |_| true),
        "OPTIONS is a server error." },
    fault! { "errors.deep-500" ["EN-02"] refused("POST /prompts", 500, |request| {
        request.body.iter().filter(|byte| **byte == b'[').count() >= 1_000
    }),
        "A body of many levels is a server error." },
    fault! { "errors.half-pair-500" ["HT-24"] instead("POST /prompts", |request| {
        let half = request.json().is_null() && request.body.windows(3).any(|part| part == b"\\ud");
        half.then(|| Response { body: "oops".into(), ..fallen() })
    }),
        "Half a surrogate pair is a server error without JSON." },
    fault! { "errors.no-utf-8-500" ["HT-24"] instead("POST /prompts", |request| {
        let no_text = std::str::from_utf8(&request.body).is_err();
        no_text.then(|| Response { body: "oops".into(), ..fallen() })
    }),
        "A body that is no UTF-8 is a server error without JSON." },
    fault! { "errors.key-twice-joined" ["HT-24"] answers("POST /prompts", |request, response| {
        if request.body.windows(7).filter(|part| part == b"\"title\"").count() == 2 {
            response.edit_data(|prompt| {
                prompt["title"] =
                    format!("{0},{0}", prompt["title"].as_str().unwrap_or_default()).into();
            });
        }
    }),
        "Of a key that stands twice the values are joined." },
];

fn fallen() -> Response {
    Response::refusal(500, "Something went wrong.")
}
