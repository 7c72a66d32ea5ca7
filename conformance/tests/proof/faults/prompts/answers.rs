//! Faults in what an answer shows of a prompt.

use serde_json::{Value, json};

use crate::entries::{list_of, without};
use crate::fault::{Fault, fault};
use crate::front::answers;

pub(super) const ALL: &[Fault] = &[
    fault!(
        "prompts.title-trimmed",
        "A create trims the title.",
        ["PR-02", "LI-02"],
        crate::bounds::taken_as("POST /prompts", "title", trimmed)
    ),
    fault!(
        "prompts.text-trimmed",
        "An update drops a line break at the end of the text.",
        ["PR-02", "LI-02"],
        crate::bounds::taken_as("PATCH /prompts/*", "prompt", trimmed)
    ),
    fault!(
        "prompts.title-escaped",
        "A read shows & in titles as &amp;.",
        ["PR-02", "PR-30"],
        answers("GET /prompts/*", |_, answer| answer.edit_data(|prompt| {
            if let Some(title) = prompt["title"].as_str() {
                prompt["title"] = title.replace('&', "&amp;").into();
            }
        }))
    ),
    fault!(
        "prompts.type-upper-case",
        "The list shows the promptType in capitals.",
        ["PR-03", "PR-13", "PR-16"],
        answers("GET /prompts", |_, answer| answer.each(|prompt| {
            if let Some(kind) = prompt["promptType"].as_str() {
                prompt["promptType"] = kind.to_uppercase().into();
            }
        }))
    ),
    fault!(
        "prompts.platform-missing",
        "A prompt without platform lacks the key.",
        ["PR-04", "PR-30", "PR-19", "PR-33", "PR-34", "PR-38", "PR-44"],
        answers("GET /prompts/*", |_, answer| answer.edit_data(|prompt| {
            if prompt["platform"].is_null() {
                without(prompt, "platform");
            }
        }))
    ),
    fault!(
        "prompts.status-null",
        "A new prompt has the status null.",
        ["PR-05", "PR-19", "AU-03", "AU-05", "EN-02", "PR-10", "UP-16"],
        answers("POST /prompts", |_, answer| answer
            .edit_data(|prompt| prompt["status"] = Value::Null))
    ),
    fault!(
        "prompts.images-null",
        "A prompt without images shows null for them.",
        ["PR-06", "PR-30", "PR-19", "PR-33", "PR-34", "PR-38", "PR-44", "VC-04"],
        answers("GET /prompts/*", |_, answer| answer.edit_data(|prompt| {
            if prompt["images"] == json!([]) {
                prompt["images"] = Value::Null;
            }
        }))
    ),
    fault!(
        "prompts.image-size-as-text",
        "The width of an image is a string.",
        ["PR-07", "GE-29", "GE-17", "GE-28"],
        answers("GET /prompts/*, GET /vaults/*/prompts", |_, answer| answer.each(|prompt| {
            for image in list_of(prompt, "images").into_iter().flatten() {
                image["width"] = image["width"].to_string().into();
            }
        }))
    ),
    fault!(
        "prompts.first-vault-only",
        "vaultIds names the first vault of a prompt only.",
        ["PR-08", "PR-44", "VC-02", "VC-04"],
        answers("GET /prompts/*", |_, answer| answer.edit_data(|prompt| {
            if let Some(vaults) = list_of(prompt, "vaultIds") {
                vaults.truncate(1);
            }
        }))
    ),
    fault!(
        "prompts.created-at-missing",
        "The answer of save lacks createdAt.",
        ["PR-09", "PR-44", "PR-11"],
        answers("POST /prompts/*/save", |_, answer| answer
            .edit_data(|prompt| without(prompt, "createdAt")))
    ),
    fault!(
        "prompts.updated-at-stays",
        "updatedAt is the time of creation for ever.",
        ["PR-10"],
        answers("GET /prompts/*, PATCH /prompts/*", |_, answer| answer.edit_data(|prompt| {
            prompt["updatedAt"] = prompt["createdAt"].clone();
        }))
    ),
    fault!(
        "prompts.pin-everywhere",
        "A read shows isPinned.",
        ["PR-11", "PR-30"],
        answers("GET /prompts/*", |_, answer| answer
            .edit_data(|prompt| prompt["isPinned"] = false.into()))
    ),
    fault!(
        "prompts.model-shown",
        "A create shows the modelId it was given.",
        ["PR-12", "PR-19"],
        answers("POST /prompts", |ask, answer| {
            if let Some(model) = ask.text("modelId") {
                answer.edit_data(|prompt| prompt["modelId"] = model.into());
            }
        })
    ),
    fault!(
        "prompts.ids-as-text",
        "An update answers with the id as a string.",
        ["PR-01", "EN-08", "PR-31", "PR-02", "PR-10", "PR-33", "PR-34", "PR-38"],
        answers("PATCH /prompts/*", |_, answer| answer.edit_data(|prompt| {
            prompt["id"] = prompt["id"].to_string().into();
        }))
    ),
    fault!(
        "prompts.create-200",
        "A create answers 200.",
        ["PR-19", "UP-16", "LI-04", "EN-02", "ER-08", "PR-02", "HT-06", "HT-20", "HT-21"],
        answers("POST /prompts", |_, answer| if answer.code() == 201 {
            answer.set_code(200);
        })
    ),
    fault!(
        "prompts.read-without-vaults",
        "A read leaves vaultIds out where there are none.",
        ["PR-30", "PR-08", "VA-28", "PR-33", "PR-11", "PR-19", "PR-34", "PR-35", "VC-15", "VC-21"],
        answers("GET /prompts/*", |_, answer| answer.edit_data(|prompt| {
            if prompt["vaultIds"] == json!([]) {
                without(prompt, "vaultIds");
            }
        }))
    ),
    fault!(
        "prompts.delete-204",
        "A delete answers 204 without a body.",
        [
            "PR-40", "EN-03", "ER-09", "PG-06", "GE-29", "VC-14", "EN-08", "EN-09", "VA-34",
            "EN-04", "EN-05", "ER-01", "GE-31", "PR-42", "UP-19", "VA-10", "VA-11"
        ],
        answers("DELETE /prompts/*", |_, answer| if answer.is_success() {
            answer.set_code(204);
            answer.body = bytes::Bytes::new();
        })
    ),
    fault!(
        "prompts.delete-text",
        "A delete answers with deleted as a string.",
        ["PR-40"],
        answers("DELETE /prompts/*", |_, answer| answer
            .edit_data(|data| data["deleted"] = "true".into()))
    ),
    fault!(
        "prompts.save-201",
        "A save answers 201.",
        ["PR-44", "VC-03", "PG-06", "PR-08", "PR-10", "VC-09"],
        answers("POST /prompts/*/save", |_, answer| if answer.code() == 200 {
            answer.set_code(201);
        })
    ),
    fault!(
        "prompts.save-before",
        "A save answers with the prompt as it was before.",
        ["PR-45", "PR-44", "PR-08"],
        answers("POST /prompts/*/save", |ask, answer| {
            let target = ask.json()["vaultId"].clone();
            answer.edit_data(|prompt| {
                if let Some(vaults) = list_of(prompt, "vaultIds") {
                    vaults.retain(|vault| *vault != target);
                }
            });
        })
    ),
];

fn trimmed(text: &Value) -> Option<Value> {
    Some(text.as_str()?.trim().into())
}
