//! Faults in headers, methods and the reading of bodies, on paths of any chapter.

use http::Method;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use serde_json::Value;

use crate::ask::{Answer, Ask};
use crate::fault::{Fault, fault};
use crate::front::{answers, asks, instead, whole};

const EVERYWHERE: &str = "* /**";
const REQUEST_ID: &str = "x-request-id";

pub(super) const ALL: &[Fault] = &[
    fault!(
        "envelope.merge-patch-only",
        "The update of a vault takes no application/json.",
        [
            "EN-02", "LI-06", "AU-03", "ER-03", "ER-08", "VA-23", "AU-08", "ER-10", "LI-07",
            "VA-24", "AU-02", "AU-05", "ER-05", "ER-09", "VA-04", "VA-12", "VA-29", "VA-34",
            "AU-04", "AU-06", "EN-03", "ER-06", "GE-29", "PR-27", "PR-38", "PR-44", "VA-02",
            "VA-11", "VA-13", "VA-14", "VA-17", "VA-20", "VA-22", "VA-25", "VA-30", "VC-14",
            "VC-24"
        ],
        instead("PATCH /vaults/*", |ask| {
            let type_ = ask.headers.get("content-type").and_then(|value| value.to_str().ok());
            (type_ == Some("application/json")).then(|| Answer::refusal(415, "Send a merge patch."))
        })
    ),
    fault!(
        "envelope.no-request-id",
        "A 404 has no x-request-id.",
        ["EN-03"],
        answers(EVERYWHERE, |_, answer| {
            if answer.code() == 404 {
                answer.headers.remove(REQUEST_ID);
            }
        })
    ),
    fault!(
        "envelope.any-request-id",
        "Any x-request-id of a request comes back.",
        ["EN-03"],
        answers("GET /vaults", |ask, answer| {
            if let Some(id) = ask.headers.get(REQUEST_ID) {
                answer.headers.insert(REQUEST_ID, id.clone());
            }
        })
    ),
    fault!(
        "auth.no-challenge",
        "A 401 has no WWW-Authenticate.",
        ["ER-07", "UP-11", "UP-14"],
        answers(EVERYWHERE, |_, answer| {
            answer.headers.remove(WWW_AUTHENTICATE);
        })
    ),
    fault!(
        "auth.unpin-refused",
        "Unpinning answers 401 to every key.",
        [
            "AU-01", "VC-26", "VC-28", "VC-30", "ER-10", "ER-08", "ER-09", "VC-15", "EN-03",
            "PR-10", "VC-08"
        ],
        instead("DELETE /vaults/*/prompts/*/pin", |ask| {
            (!ask.authorization().is_empty()).then(|| Answer::refusal(401, "The key is not valid."))
        })
    ),
    fault!(
        "auth.health-needs-a-key",
        "Whether the server is well is told to keys only.",
        ["AU-01"],
        instead("GET /healthz", |ask| {
            ask.authorization().is_empty().then(|| Answer::refusal(401, "A key is needed."))
        })
    ),
    fault!(
        "auth.two-accounts",
        "Under the keys of two accounts the vaults of both are listed.",
        ["HT-23", "AU-01", "AU-03"],
        whole("GET /vaults", |ask, upstream| async move {
            let keys: Vec<_> = ask.headers.get_all(AUTHORIZATION).iter().cloned().collect();
            let [first, second] = keys.as_slice() else { return upstream.send(&ask).await };
            let as_one = |key: &http::HeaderValue| {
                let mut ask = ask.clone();
                ask.headers.insert(AUTHORIZATION, key.clone());
                ask
            };
            let others = upstream.send(&as_one(second)).await.json();
            let mut answer = upstream.send(&as_one(first)).await;
            answer.edit_data(|vaults| {
                if let (Some(vaults), Some(others)) =
                    (vaults.as_array_mut(), others["data"].as_array())
                {
                    vaults.extend(others.iter().cloned());
                }
            });
            answer
        })
    ),
    fault!(
        "errors.put-updates",
        "PUT updates a vault like PATCH.",
        ["ER-01", "AU-02"],
        asks("PUT /vaults/*", |ask| ask.method = Method::PATCH)
    ),
    fault!(
        "errors.method-override",
        "A header overrides the method.",
        ["HT-19", "PR-13"],
        asks("GET /**", |ask| {
            let other = ask.headers.get("x-http-method-override");
            if let Some(Ok(method)) = other.map(|name| Method::from_bytes(name.as_bytes())) {
                ask.method = method;
            }
        })
    ),
    fault!(
        "errors.options-500",
        "OPTIONS is a server error.",
        ["HT-18", "ER-01"],
        instead("OPTIONS /**", |_| Some(fallen()))
    ),
    fault!(
        "errors.deep-500",
        "A body of many levels is a server error.",
        ["EN-02", "HT-24"],
        instead("POST /prompts", |ask| many(ask, b'[', 1_000).then(fallen))
    ),
    fault!(
        "errors.number-500",
        "A number beyond every range is a server error.",
        ["ER-05", "PR-27", "HT-24"],
        instead("POST /prompts/*/save", |ask| {
            ask.body.windows(5).any(|part| part == b"1e400").then(fallen)
        })
    ),
    fault!(
        "errors.half-pair-500",
        "Half a surrogate pair is a server error without JSON.",
        ["HT-24", "EN-03", "EN-02", "PR-20"],
        instead("POST /prompts", |ask| {
            let half = ask.json().is_null() && ask.body.windows(3).any(|part| part == b"\\ud");
            half.then(|| Answer { body: "oops".into(), ..fallen() })
        })
    ),
    fault!(
        "errors.no-utf-8-500",
        "A body that is no UTF-8 is a server error without JSON.",
        ["HT-24", "EN-03", "EN-02"],
        instead("POST /prompts", |ask| {
            let no_text = std::str::from_utf8(&ask.body).is_err();
            no_text.then(|| Answer { body: "oops".into(), ..fallen() })
        })
    ),
    fault!(
        "errors.key-twice-joined",
        "Of a key that stands twice the values are joined.",
        ["HT-24", "EN-02", "PR-19", "LI-02"],
        answers("POST /prompts", |ask, answer| {
            if ask.body.windows(7).filter(|part| part == b"\"title\"").count() == 2 {
                answer.edit_data(|prompt| {
                    prompt["title"] =
                        format!("{0},{0}", prompt["title"].as_str().unwrap_or_default()).into();
                });
            }
        })
    ),
    fault!(
        "isolation.membership-forbidden",
        "A membership that is not in the vault of the path is answered 403.",
        ["ER-10", "VC-15", "ER-08", "ER-09", "VC-20"],
        answers("DELETE /vaults/*/prompts/*", |ask, answer| {
            if answer.code() == 404
                && answer.json()["details"] == Value::Object(serde_json::Map::default())
                && ask.id(3) > 0
            {
                answer.set_code(403);
            }
        })
    ),
];

fn fallen() -> Answer {
    Answer::refusal(500, "Something went wrong.")
}

fn many(ask: &Ask, byte: u8, least: usize) -> bool {
    ask.body.iter().filter(|one| **one == byte).count() >= least
}
