//! What a refused create or update leaves behind, and what our server says of
//! several faults at once and of fields it does not know.

use serde_json::{Value, json};

use super::attempt::{On, attempt};
use crate::scenario::core;
use crate::{Case, Failure, Scenario, check, make};

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
    let wire = case.wire();
    let mut bodies = faults().to_vec();
    bodies.extend([json!({ "prompt": null }), json!({ "title": null })]);
    let mut refused = 0;
    for mut fields in bodies {
        let vault = make::vault(&case, &wire).await?;
        fields["vaultId"] = json!(vault);
        let tried = attempt(&case, On::Create, fields).await?;
        // That a fault is refused is for other scenarios to see.
        if tried.refused().is_ok() {
            refused += 1;
            let contents = make::contents(&wire, vault).await?;
            check::equal("the vault that a refused create names", &contents, &vec![])?;
        }
    }
    something_was(refused)
}

/// What a refusal leaves behind is seen only where there was one.
fn something_was(refused: usize) -> Result<(), Failure> {
    if refused > 0 {
        return Ok(());
    }
    Err(Failure::blocked("no faulty request was refused; other scenarios say which should be"))
}

async fn update_changes_nothing(case: Case) -> Result<(), Failure> {
    let mut refused = 0;
    for fault in faults() {
        let (vault, id, before) = subject(&case).await?;
        let mut fields = json!({
            "title": "After",
            "prompt": "After",
            "platform": "after",
            "vaultId": vault,
        });
        if let (Value::Object(fields), Value::Object(fault)) = (&mut fields, fault) {
            fields.extend(fault);
        }
        // That a fault is refused is for other scenarios to see.
        if attempt(&case, On::Update(id), fields).await?.refused().is_ok() {
            refused += 1;
            unchanged(&case, vault, &before).await?;
        }
    }
    something_was(refused)
}

/// A vault, and a prompt that is not in it: its id and what it shows.
async fn subject(case: &Case) -> Result<(i64, i64, Value), Failure> {
    let vault = make::vault(case, &case.wire()).await?;
    let made = make::prompt_with(case, &case.wire(), json!({ "platform": "before" })).await?;
    Ok((vault, made.integer("/data/id")?, made.at("/data")?.clone()))
}

async fn unchanged(case: &Case, vault: i64, before: &Value) -> Result<(), Failure> {
    let read = case.wire().get(&format!("/prompts/{}", before["id"])).await?;
    for field in ["title", "prompt", "promptType", "platform"] {
        read.equals(&format!("/data/{field}"), before[field].clone())?;
    }
    let joined = read.array("/data/vaultIds")?.contains(&json!(vault));
    read.ensure(!joined, "vaultIds without the vault of a refused update", "it is there")?;
    Ok(())
}
