//! Faults in what an answer shows of a prompt.

use serde_json::Value;

use crate::bounds::{shown_as, taken_as};
use crate::entries::{list_of, without};
use crate::fault::{Fault, fault};
use crate::front::{answers, edits_data, no_content};

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.title-trimmed" ["PR-02"] taken_as("POST /prompts", "title", trimmed),
        "A create trims the title." },
    fault! { "prompts.text-trimmed" ["PR-02"] taken_as("PATCH /prompts/*", "prompt", trimmed),
        "An update drops a line break at the end of the text." },
    fault! { "prompts.type-upper-case" ["PR-03"]
        shown_as("GET /prompts", "promptType", |kind| Some(kind.as_str()?.to_uppercase().into())),
        "The list shows the promptType in capitals." },
    fault! { "prompts.platform-missing" ["PR-04"] edits_data("GET /prompts/*", |prompt| {
        if prompt["platform"].is_null() {
            without(prompt, "platform");
        }
    }),
        "A prompt without platform lacks the key." },
    fault! { "prompts.first-vault-only" ["PR-08"] edits_data("GET /prompts/*", |prompt| {
        if let Some(vaults) = list_of(prompt, "vaultIds") {
            vaults.truncate(1);
        }
    }),
        "vaultIds names the first vault of a prompt only." },
    fault! { "prompts.updated-at-stays" ["PR-10"]
        edits_data("GET /prompts/*, PATCH /prompts/*", |prompt| {
            prompt["updatedAt"] = prompt["createdAt"].clone();
        }),
        "updatedAt is the time of creation for ever." },
    fault! { "prompts.pin-everywhere" ["PR-11"]
        edits_data("GET /prompts/*", |prompt| prompt["isPinned"] = false.into()),
        "A read shows isPinned." },
    fault! { "prompts.delete-204" ["PR-40"] no_content("DELETE /prompts/*"),
        "A delete answers 204 without a body." },
];

fn trimmed(text: &Value) -> Option<Value> {
    Some(text.as_str()?.trim().into())
}
