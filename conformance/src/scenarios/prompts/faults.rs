//! What a refused create or update leaves behind, and what our server says of
//! several faults at once and of fields it does not know.

use serde_json::{Value, json};

use super::attempt::{On, TEXTS, attempt, both};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.faults.create-makes-nothing"
        ["PR-20", "PR-22", "PR-24", "PR-25", "PR-28", "PR-29"] create_makes_nothing,
        "A create that is refused makes no prompt" },
    core! { "prompts.faults.update-changes-nothing" ["PR-35", "PR-36"] update_changes_nothing,
        "An update that is refused changes none of the fields it names" },
    reference! { "prompts.faults.all-at-once" ["ER-03"] all_at_once,
        "The details of a refusal name every field at fault and no other (S-60)" },
    reference! { "prompts.faults.unknown-fields" ["PR-19", "PR-32"] unknown_fields,
        "Fields that create and update do not know are ignored (S-67)" },
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

async fn all_at_once(case: Case) -> Result<(), Failure> {
    let others = ["promptType", "referenceMediaUrls", "vaultId"];
    let fields: Vec<_> = TEXTS.into_iter().chain(others).collect();
    let mut all = json!({});
    for field in &fields {
        all[field] = json!(true);
    }
    let some = json!({ "title": "", "platform": "good", "imageUrl": "plainword" });
    for on in both(&case).await? {
        for (sent, mut expected) in [(&all, fields.clone()), (&some, vec!["title", "imageUrl"])] {
            let tried = attempt(&case, on, sent.clone()).await?;
            let details = tried.refused()?.at("/details")?;
            let mut named: Vec<_> =
                details.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            named.sort_unstable();
            expected.sort_unstable();
            tried.reply.ensure(named == expected, format!("details of {expected:?}"), details)?;
        }
    }
    Ok(())
}

async fn unknown_fields(case: Case) -> Result<(), Failure> {
    for on in both(&case).await? {
        let fields = json!({
            "title": "Known",
            "Title": 7,
            "prompt_type": "audio",
            "id": 1,
            "status": "archived",
            "images": [{ "url": "https://example.com/a.png" }],
            "vaultIds": ["x"],
            "createdAt": "1970-01-01T00:00:00Z",
            "": null,
            "nested": { "deep": [{}, [null]] },
        });
        let tried = attempt(&case, on, fields).await?;
        let reply = tried.accepted()?.equals("/data/title", "Known")?;
        reply.equals("/data/status", "active")?.equals("/data/images", json!([]))?;
        reply.equals("/data/vaultIds", json!([]))?;
    }
    Ok(())
}
