//! How the reference server takes and refuses `promptIds` where the
//! specification is silent.

use serde_json::json;

use super::{add, adds_nothing, deleted_prompt};
use crate::scenario::reference;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    reference! { "contents.add.all-or-nothing" ["VC-14"] all_or_nothing,
        "One id that cannot be added keeps the whole list out" },
    reference! { "contents.add.one-text-for-both" ["VC-14"] [OtherAccount] one_text_for_both,
        "Prompts of no one and prompts of another account are refused in the same words" },
    reference! { "contents.add.impossible-ids" ["VC-14"] impossible_ids,
        "Ids that no prompt can have are refused like those of no prompt" },
    reference! { "contents.add.only-plain-integers" ["VC-13"] only_plain_integers,
        "Numbers with a point or an exponent, and those beyond 64 bits, are no integers" },
    reference! { "contents.add.names-the-field" ["VC-12", "VC-13", "LI-08"] names_the_field,
        "The details of a refusal name promptIds" },
    reference! { "contents.add.unknown-fields" ["VC-10"] unknown_fields,
        "Unknown fields are ignored" },
];

/// S-27.
async fn all_or_nothing(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let (known, unknown) = (make::prompt(&case, &wire).await?, deleted_prompt(&case).await?);
    for ids in [vec![known, unknown], vec![unknown, known]] {
        let reply = add(&wire, vault, ids).await?;
        reply.refused("a list with a deleted prompt")?.string("/details/promptIds")?;
    }
    adds_nothing(&wire, vault).await
}

/// S-27 and S-57. A text may name the ids themselves.
async fn one_text_for_both(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let deleted = deleted_prompt(&case).await?;
    let foreign = make::prompt(&case, &case.other()).await?;
    let mut texts = Vec::new();
    for id in [deleted, foreign] {
        let reply = add(&wire, vault, vec![id]).await?;
        reply.status(400)?;
        let texts_of = [reply.string("/error")?, reply.string("/details/promptIds")?];
        texts.push(texts_of.map(|text| text.replace(&id.to_string(), "<id>")));
    }
    check::equal("the texts for another account's prompt", &texts[1], &texts[0])
}

/// S-57.
async fn impossible_ids(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    for id in [0, -1, i64::MIN, i64::MAX] {
        let reply = add(&wire, vault, vec![id]).await?;
        reply.refused(format!("promptIds [{id}]"))?.string("/details/promptIds")?;
    }
    Ok(())
}

/// S-65.
async fn only_plain_integers(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let id = make::prompt(&case, &wire).await?;
    for number in [format!("{id}.0"), format!("{id}e0"), "9223372036854775808".into()] {
        let path = format!("/vaults/{vault}/prompts");
        let body = format!("{{\"promptIds\":[{number}]}}");
        let call = wire.call(http::Method::POST, &path).body("application/json", body);
        let reply = call.send().await?;
        reply.refused(format!("promptIds [{number}]"))?.string("/details/promptIds")?;
    }
    Ok(())
}

/// S-60.
async fn names_the_field(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let path = format!("/vaults/{vault}/prompts");
    for body in [json!({}), json!({ "promptIds": "1" }), json!({ "promptIds": [] })] {
        let reply = wire.post(&path, body.clone()).await?;
        reply.refused(format!("the body {body}"))?.string("/details/promptIds")?;
    }
    Ok(())
}

/// S-67.
async fn unknown_fields(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let body = json!({ "promptIds": [make::prompt(&case, &wire).await?], "isPinned": true });
    let reply = wire.post(&format!("/vaults/{vault}/prompts"), body).await?;
    reply.accepted(201, "an unknown field")?.equals("/data/added", 1)?;
    Ok(())
}
