//! What a refused create or update leaves behind.

use serde_json::{Value, json};

use crate::fixture::merged;
use crate::scenario::core;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.faults.create-makes-nothing"
        ["PR-20", "PR-22", "PR-24", "PR-25", "PR-28", "PR-29"] create_makes_nothing,
        "A create that is refused makes no prompt" },
    core! { "prompts.faults.update-changes-nothing" ["PR-35", "PR-36"] update_changes_nothing,
        "An update that is refused changes none of the fields it names" },
];

/// Faults that each make create and update refuse.
fn faults() -> [Value; 7] {
    [
        json!({ "title": "" }),
        json!({ "prompt": 7 }),
        json!({ "promptType": "audio" }),
        json!({ "promptType": "image" }),
        json!({ "modelId": "nowhere" }),
        json!({ "imageUrl": "plainword" }),
        json!({ "referenceMediaUrls": ["plainword"] }),
    ]
}

async fn create_makes_nothing(case: Case) -> Result<(), Failure> {
    let mut refused = 0;
    for fault in faults().into_iter().chain([json!({ "prompt": null }), json!({ "title": null })]) {
        let vault = case.vault().await?;
        let fields = merged(fault, json!({ "vaultId": vault.id }));
        // That a fault is refused is for other scenarios to see.
        if case.create_prompt(fields).await?.status_code() == 400 {
            refused += 1;
            vault.expect_size(0).await?;
        }
    }
    some_refused(refused)
}

/// What a refusal leaves behind is seen only where there was one.
fn some_refused(count: usize) -> Result<(), Failure> {
    if count > 0 {
        return Ok(());
    }
    Err(Failure::blocked("no faulty request was refused; other scenarios say which should be"))
}

async fn update_changes_nothing(case: Case) -> Result<(), Failure> {
    let mut refused = 0;
    for fault in faults() {
        let vault = case.vault().await?;
        let (prompt, before) = case.prompt_with(json!({ "platform": "before" })).await?;
        let fields = json!({
            "title": "After",
            "prompt": "After",
            "platform": "after",
            "vaultId": vault.id,
        });
        // That a fault is refused is for other scenarios to see.
        if prompt.update(merged(fields, fault)).await?.status_code() != 400 {
            continue;
        }
        refused += 1;
        let read = prompt.get().await?;
        for place in ["/data/title", "/data/prompt", "/data/promptType", "/data/platform"] {
            read.equals(place, before.at(place)?.clone())?;
        }
        let joined = read.array("/data/vaultIds")?.contains(&json!(vault.id));
        read.ensure(!joined, "vaultIds without the vault of a refused update", "it is there")?;
    }
    some_refused(refused)
}
