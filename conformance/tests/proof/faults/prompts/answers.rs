//! Faults in what an answer shows of a prompt.

use serde_json::{Value, json};

use crate::bounds::{as_text, shown_as, taken_as};
use crate::entries::{list_of, without};
use crate::fault::{Fault, fault};
use crate::front::{answers, edits_data, edits_each, no_content, status_instead};

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.title-trimmed" ["PR-02"] taken_as("POST /prompts", "title", trimmed),
        "A create trims the title." },
    fault! { "prompts.text-trimmed" ["PR-02"] taken_as("PATCH /prompts/*", "prompt", trimmed),
        "An update drops a line break at the end of the text." },
    fault! { "prompts.title-escaped" ["PR-02"] shown_as("GET /prompts/*", "title", |title| {
        Some(title.as_str()?.replace('&', "&amp;").into())
    }),
        "A read shows & in titles as &amp;." },
    fault! { "prompts.type-upper-case" ["PR-03"]
        shown_as("GET /prompts", "promptType", |kind| Some(kind.as_str()?.to_uppercase().into())),
        "The list shows the promptType in capitals." },
    fault! { "prompts.platform-missing" ["PR-04"] edits_data("GET /prompts/*", |prompt| {
        if prompt["platform"].is_null() {
            without(prompt, "platform");
        }
    }),
        "A prompt without platform lacks the key." },
    fault! { "prompts.status-null" ["PR-05"]
        shown_as("POST /prompts", "status", |_| Some(Value::Null)),
        "A new prompt has the status null." },
    fault! { "prompts.images-null" ["PR-06"] shown_as("GET /prompts/*", "images", |images| {
        (*images == json!([])).then_some(Value::Null)
    }),
        "A prompt without images shows null for them." },
    fault! { "prompts.image-size-as-text" ["PR-07"]
        edits_each("GET /prompts/*, GET /vaults/*/prompts", |prompt| {
            for image in list_of(prompt, "images").into_iter().flatten() {
                image["width"] = image["width"].to_string().into();
            }
        }),
        "The width of an image is a string." },
    fault! { "prompts.first-vault-only" ["PR-08"] edits_data("GET /prompts/*", |prompt| {
        if let Some(vaults) = list_of(prompt, "vaultIds") {
            vaults.truncate(1);
        }
    }),
        "vaultIds names the first vault of a prompt only." },
    fault! { "prompts.created-at-missing" ["PR-09"]
        edits_data("POST /prompts/*/save", |prompt| without(prompt, "createdAt")),
        "The answer of save lacks createdAt." },
    fault! { "prompts.updated-at-stays" ["PR-10"]
        edits_data("GET /prompts/*, PATCH /prompts/*", |prompt| {
            prompt["updatedAt"] = prompt["createdAt"].clone();
        }),
        "updatedAt is the time of creation for ever." },
    fault! { "prompts.pin-everywhere" ["PR-11"]
        edits_data("GET /prompts/*", |prompt| prompt["isPinned"] = false.into()),
        "A read shows isPinned." },
    fault! { "prompts.model-shown" ["PR-12"] answers("POST /prompts", |request, response| {
        if let Some(model) = request.text("modelId") {
            response.edit_data(|prompt| prompt["modelId"] = model.into());
        }
    }),
        "A create shows the modelId it was given." },
    fault! { "prompts.ids-as-text" ["PR-01"] shown_as("PATCH /prompts/*", "id", as_text),
        "An update answers with the id as a string." },
    fault! { "prompts.create-200" ["PR-19"] status_instead("POST /prompts", 200),
        "A create answers 200." },
    fault! { "prompts.read-without-vaults" ["PR-30"] edits_data("GET /prompts/*", |prompt| {
        if prompt["vaultIds"] == json!([]) {
            without(prompt, "vaultIds");
        }
    }),
        "A read leaves vaultIds out where there are none." },
    fault! { "prompts.delete-204" ["PR-40"] no_content("DELETE /prompts/*"),
        "A delete answers 204 without a body." },
    fault! { "prompts.delete-text" ["PR-40"]
        shown_as("DELETE /prompts/*", "deleted", |_| Some("true".into())),
        "A delete answers with deleted as a string." },
    fault! { "prompts.save-201" ["PR-44"] status_instead("POST /prompts/*/save", 201),
        "A save answers 201." },
    fault! { "prompts.save-before" ["PR-45"] answers("POST /prompts/*/save", |request, response| {
        let target = request.json()["vaultId"].clone();
        response.edit_data(|prompt| {
            if let Some(vaults) = list_of(prompt, "vaultIds") {
                vaults.retain(|vault| *vault != target);
            }
        });
    }),
        "A save answers with the prompt as it was before." },
];

fn trimmed(text: &Value) -> Option<Value> {
    Some(text.as_str()?.trim().into())
}
