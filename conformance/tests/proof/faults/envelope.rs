//! Faults in the envelope and its conventions, and in the version's prefix (EN, VE).

use http::header::CONTENT_TYPE;
use serde_json::{Value, json};

use crate::ask::{Answer, ROOT};
use crate::entries::without;
use crate::fault::{Fault, fault};
use crate::front::{answers, asks, instead};

pub(super) const ALL: &[Fault] = &[
    fault!(
        "envelope.list-moved",
        "The list of vaults is at /vaults/, and /vaults leads there.",
        [
            "EN-01", "VA-13", "VE-01", "AU-05", "VA-12", "VA-10", "VA-14", "AU-02", "AU-03",
            "VA-15", "AU-01", "AU-04", "EN-03", "VA-24", "VA-29", "AU-06", "AU-08", "ER-07",
            "ER-08", "GE-29", "KE-01", "KE-02", "VA-20", "VA-27", "VC-04", "VC-10", "HT-23"
        ],
        instead("GET /vaults", |_| Some(Answer::refusal(308, "Look at /vaults/.")))
    ),
    fault!(
        "envelope.no-charset",
        "A Content-Type with parameters is refused.",
        ["EN-02"],
        instead("POST /**, PATCH /**", |ask| {
            let kind = ask.headers.get(CONTENT_TYPE)?.to_str().ok()?;
            (kind.starts_with("application/json") && kind.contains(';'))
                .then(|| Answer::refusal(415, "Content-Type has to be application/json."))
        })
    ),
    fault!(
        "envelope.latin1",
        "Bodies are read as Latin-1.",
        ["EN-02", "PR-02", "LI-02", "VA-02", "PR-19"],
        asks("POST /prompts, PATCH /prompts/*", |ask| ask.edit(|body| {
            for name in ["title", "prompt"] {
                if let Some(text) = body[name].as_str().filter(|text| text.len() <= 120) {
                    body[name] = text.bytes().map(char::from).collect::<String>().into();
                }
            }
        }))
    ),
    fault!(
        "envelope.success-without-error",
        "The answer of a deleted vault lacks the key error.",
        ["EN-03", "EN-04", "VA-26"],
        answers("DELETE /vaults/*", |_, answer| if answer.is_success() {
            answer.edit(|body| without(body, "error"));
        })
    ),
    fault!(
        "envelope.error-without-data",
        "An error of a prompt's path lacks the key data.",
        ["EN-03", "EN-06", "ER-01", "EN-02", "ER-08"],
        answers("* /prompts/*", |_, answer| if !answer.is_success() {
            answer.edit(|body| without(body, "data"));
        })
    ),
    fault!(
        "envelope.error-false",
        "The error of an updated prompt is false.",
        ["EN-04", "PR-31"],
        answers("PATCH /prompts/*", |_, answer| if answer.is_success() {
            answer.edit(|body| body["error"] = false.into());
        })
    ),
    fault!(
        "envelope.error-empty",
        "The error of the list of vaults is an empty text.",
        ["EN-04", "VA-13"],
        answers("GET /vaults", |_, answer| if answer.is_success() {
            answer.edit(|body| body["error"] = "".into());
        })
    ),
    fault!(
        "envelope.empty-list-null",
        "An empty vault is listed with data null.",
        [
            "EN-05", "VC-04", "GE-29", "VC-21", "VC-14", "PR-42", "VA-33", "VC-23", "AU-09",
            "ER-05", "GE-22", "LI-08", "PR-20", "PR-27", "PR-44", "VA-04", "VA-29", "VA-32",
            "VC-15", "VC-20", "VC-24", "EN-02", "HT-22", "HT-04", "HT-23", "HT-06", "HT-05",
            "HT-03", "HT-09", "HT-08", "HT-07", "HT-10", "HT-24", "HT-02", "HT-01", "HT-15",
            "HT-16", "HT-20", "HT-14", "HT-13"
        ],
        answers("GET /vaults/*/prompts", |_, answer| answer.edit_data(|data| {
            if *data == json!([]) {
                *data = Value::Null;
            }
        }))
    ),
    fault!(
        "envelope.data-in-a-list",
        "A deleted prompt is answered with data in a list.",
        ["EN-05", "PR-40"],
        answers("DELETE /prompts/*", |_, answer| answer
            .edit_data(|data| *data = json!([data.take()])))
    ),
    fault!(
        "envelope.error-with-data",
        "A 404 has an empty object as data.",
        ["EN-06"],
        answers("* /prompts/*, * /vaults/*", |_, answer| if answer.code() == 404 {
            answer.edit(|body| body["data"] = json!({}));
        })
    ),
    fault!(
        "envelope.refused-body-back",
        "A 400 of a new vault has the refused body as data.",
        ["EN-06"],
        answers("POST /vaults", |ask, answer| if answer.code() == 400 {
            let body = ask.json();
            answer.edit(|answer| answer["data"] = body);
        })
    ),
    fault!(
        "envelope.last-without-pagination",
        "The last page has no pagination.",
        [
            "EN-07", "PG-01", "PG-08", "PG-06", "PR-15", "PR-14", "PG-03", "PR-16", "PG-07",
            "PR-13", "PR-06", "EN-09", "PR-05", "PR-11", "EN-08", "GE-29", "PR-03", "PR-04",
            "PR-12"
        ],
        answers("GET /prompts", |_, answer| answer.edit(|body| {
            if body["pagination"]["nextCursor"].is_null() {
                without(body, "pagination");
            }
        }))
    ),
    fault!(
        "envelope.next-cursor-left-out",
        "The last page has no nextCursor instead of null.",
        [
            "PG-01", "EN-07", "PG-08", "PG-06", "PR-15", "PR-14", "PG-03", "PR-16", "PG-07",
            "PR-13", "PR-06", "EN-09", "PR-05", "PR-11", "EN-08", "GE-29", "PR-03", "PR-04",
            "PR-12"
        ],
        answers("GET /prompts", |_, answer| answer.edit(|body| {
            if body["pagination"]["nextCursor"].is_null() && body["pagination"].is_object() {
                body["pagination"] = json!({});
            }
        }))
    ),
    fault!(
        "envelope.vault-ids-as-text",
        "The list of vaults has the ids as strings.",
        [
            "EN-08", "VA-01", "VA-13", "VA-12", "VA-14", "VA-10", "VA-15", "VA-24", "GE-29",
            "VA-27", "VA-29", "VC-10"
        ],
        answers("GET /vaults", |_, answer| answer
            .each(|vault| vault["id"] = vault["id"].to_string().into()))
    ),
    fault!(
        "envelope.ids-with-fraction",
        "A vault is read with an id such as 7.0.",
        ["EN-08", "VA-01", "VA-21", "VA-16", "VA-13", "VA-22", "VA-23", "VA-29", "HT-11", "HT-17"],
        answers("GET /vaults/*", |_, answer| answer.edit_data(|vault| {
            if let Some(id) = vault["id"].as_i64() {
                vault["id"] = serde_json::from_str(&format!("{id}.0")).unwrap_or_default();
            }
        }))
    ),
    fault!(
        "envelope.membership-ids-as-text",
        "A pin answers with the vaultPromptId as a string.",
        ["EN-08", "VC-25"],
        answers("POST /vaults/*/prompts/*/pin", |_, answer| answer.edit_data(|data| {
            data["vaultPromptId"] = data["vaultPromptId"].to_string().into();
        }))
    ),
    fault!(
        "envelope.time-without-zone",
        "The times of an updated vault have no zone.",
        ["EN-09", "VA-11", "VA-23"],
        answers("PATCH /vaults/*", |_, answer| answer
            .edit_data(|vault| times(vault, |time| time.replace('Z', ""))))
    ),
    fault!(
        "envelope.time-with-space",
        "The times of the list of vaults have a space for the T.",
        ["EN-09", "VA-11", "VA-13"],
        answers("GET /vaults", |_, answer| answer
            .each(|vault| times(vault, |time| time.replace('T', " "))))
    ),
    fault!(
        "envelope.time-as-number",
        "A prompt is read with createdAt in milliseconds.",
        [
            "EN-09", "PR-09", "PR-30", "PR-19", "PR-33", "GE-28", "GE-29", "PR-34", "PR-38",
            "PR-44", "VA-11"
        ],
        answers("GET /prompts/*", |_, answer| answer
            .edit_data(|prompt| prompt["createdAt"] = 1_700_000_000_000_i64.into()))
    ),
    fault!(
        "envelope.time-swapped",
        "A new prompt has its times with day and month exchanged and slashes.",
        ["EN-09", "PR-09", "PR-19", "PR-10", "EN-02", "UP-16"],
        answers("POST /prompts", |_, answer| answer
            .edit_data(|prompt| times(prompt, |time| time.replacen('-', "/", 2))))
    ),
    fault!(
        "envelope.version-2-too",
        "The same API answers under /api/v2.",
        ["VE-02", "VE-01"],
        asks("* /api/v2/**", |ask| {
            ask.path = ask.path.replacen("/api/v2", "", 1);
            ask.of_api = true;
        })
    ),
    fault!(
        "envelope.version-left-out",
        "The API answers under /api without its version.",
        ["VE-01", "VE-02"],
        asks("* /api/vaults", |ask| {
            ask.path = ask.path.replacen("/api", ROOT, 1);
        })
    ),
];

fn times(object: &mut Value, form: impl Fn(&str) -> String) {
    for name in ["createdAt", "updatedAt"] {
        if let Some(time) = object[name].as_str() {
            object[name] = form(time).into();
        }
    }
}
