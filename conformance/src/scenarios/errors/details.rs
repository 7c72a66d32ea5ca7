//! What `details` holds (S-60).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::scenario::reference;
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "errors.details.all-at-once" ["ER-03"] all_at_once,
        "A 400 maps every failing field of the body to one message, all at once (S-60)" },
    reference! { "errors.details.query" ["ER-03"] query,
        "A 400 maps every failing query parameter to one message, all at once (S-60)" },
    reference! { "errors.details.missing" ["ER-03", "ER-04"] missing,
        "A 400 names every required field that is missing (S-60)" },
    reference! { "errors.details.summary" ["ER-01", "ER-03"] summary,
        "The error of a 400 names the failing fields (S-60)" },
    reference! { "errors.details.null" ["ER-03", "ER-05"] null,
        "null is refused naming the field, except for platform and a vault's description (S-10)" },
];

const WRONG_PROMPT: &[&str] = &[
    "title",
    "prompt",
    "promptType",
    "platform",
    "modelId",
    "aspectRatio",
    "vaultId",
    "imageUrl",
    "referenceMediaUrls",
];
const WRONG_VAULT: &[&str] = &["name", "description", "visibility"];

/// A body in which every field has a type that no field has.
fn wrong(fields: &[&str]) -> Value {
    let fields = fields.iter().map(|field| ((*field).to_owned(), json!({ "a": 1 })));
    Value::Object(fields.collect())
}

async fn wrong_everywhere(case: &Case) -> Result<Vec<(Reply, &'static [&'static str])>, Failure> {
    let wire = case.wire();
    let prompt = make::prompt(case, &wire).await?;
    let vault = make::vault(case, &wire).await?;
    let (of_prompt, of_vault) = (wrong(WRONG_PROMPT), wrong(WRONG_VAULT));
    Ok(vec![
        (wire.post("/prompts", of_prompt.clone()).await?, WRONG_PROMPT),
        (wire.patch(&format!("/prompts/{prompt}"), of_prompt).await?, WRONG_PROMPT),
        (wire.post("/vaults", of_vault.clone()).await?, WRONG_VAULT),
        (wire.patch(&format!("/vaults/{vault}"), of_vault).await?, WRONG_VAULT),
    ])
}

async fn all_at_once(case: Case) -> Result<(), Failure> {
    for (reply, fields) in wrong_everywhere(&case).await? {
        names_exactly(&reply, fields)?;
    }
    Ok(())
}

async fn query(case: Case) -> Result<(), Failure> {
    // A cursor belongs to its filters and can be judged only where they are right.
    let reply = case.wire().get("/prompts?limit=0&vaultId=a&type=b").await?;
    names_exactly(&reply, &["limit", "vaultId", "type"])?;
    let reply = case.wire().get("/prompts?limit=0&cursor=c").await?;
    names_exactly(&reply, &["limit", "cursor"])?;
    let reply = case.wire().get("/prompts?limit=5&type=b").await?;
    names_exactly(&reply, &["type"])
}

async fn missing(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let prompt = make::prompt(&case, &wire).await?;
    let vault = make::vault(&case, &wire).await?;
    let member = make::members(&case, &wire, vault, 1).await?;
    let membership = member.first().map_or(0, |member| member.membership);
    for (path, fields) in [
        ("/prompts".to_owned(), &["title", "prompt"][..]),
        (format!("/prompts/{prompt}/save"), &["vaultId"]),
        ("/vaults".to_owned(), &["name"]),
        (format!("/vaults/{vault}/prompts"), &["promptIds"]),
        (format!("/vaults/{vault}/prompts/{membership}/move"), &["targetVaultId"]),
    ] {
        names_exactly(&wire.post(&path, json!({})).await?, fields)?;
    }
    for promptype in ["image", "video"] {
        let body = json!({ "title": "t", "prompt": "p", "promptType": promptype });
        names_exactly(&wire.post("/prompts", body).await?, &["modelId"])?;
    }
    Ok(())
}

async fn summary(case: Case) -> Result<(), Failure> {
    for (reply, fields) in wrong_everywhere(&case).await? {
        let text = reply.status(400)?.string("/error")?;
        let unnamed = fields.iter().find(|field| !text.contains(**field));
        reply.ensure(unnamed.is_none(), format!("an error that names {fields:?}"), text)?;
    }
    Ok(())
}

async fn null(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let prompt = make::prompt(&case, &wire).await?;
    let vault = make::vault(&case, &wire).await?;
    let of_prompts = WRONG_PROMPT.iter().map(|field| (format!("/prompts/{prompt}"), *field));
    let of_vaults = WRONG_VAULT.iter().map(|field| (format!("/vaults/{vault}"), *field));
    for (path, field) in of_prompts.chain(of_vaults) {
        let reply = wire.patch(&path, json!({ field: null })).await?;
        match field {
            "platform" | "description" => check::about(field, reply.status(200).map(drop))?,
            _ => names_exactly(&reply, &[field])?,
        }
    }
    Ok(())
}

/// A 400 whose details map these fields and no other, each to a text.
pub(in crate::scenarios) fn names_exactly(reply: &Reply, fields: &[&str]) -> Result<(), Failure> {
    let details = reply.status(400)?.at("/details")?;
    let entries = details.as_object().into_iter().flatten();
    let got: BTreeSet<_> = entries.clone().map(|(field, _)| field.as_str()).collect();
    let expected: BTreeSet<_> = fields.iter().copied().collect();
    reply.ensure(got == expected, format!("details of {expected:?}"), details)?;
    let texts = entries.clone().all(|(_, text)| text.as_str().is_some_and(|text| !text.is_empty()));
    reply.ensure(texts, "one message for each field", details)?;
    Ok(())
}
