//! How long the texts of a vault may be, on create and on update alike. Core
//! counts in ASCII letters, where every way of counting gives the same.

use serde_json::{Value, json};

use super::read;
use crate::scenario::{core, reference};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.fields.name-shortest" ["LI-06"] name_shortest,
        "A name has at least 1 character" },
    core! { "vaults.fields.name-longest" ["LI-06"] name_longest,
        "A name has at most 50 characters" },
    core! { "vaults.fields.description-longest" ["LI-07"] description_longest,
        "A description has at most 200 characters" },
    core! { "vaults.fields.too-long-changes-nothing" ["LI-06", "LI-07"] too_long_changes_nothing,
        "An update that brings a text beyond its limit changes nothing" },
    reference! { "vaults.fields.name-scalar-values" ["LI-06"] name_scalar_values,
        "The characters of a name are Unicode scalar values" },
    reference! { "vaults.fields.description-scalar-values" ["LI-07"] description_scalar_values,
        "The characters of a description are Unicode scalar values" },
    reference! { "vaults.fields.kept-as-sent" ["VA-02", "VA-03"] kept_as_sent,
        "Names and descriptions are neither trimmed nor normalised" },
    reference! { "vaults.fields.empty-description" ["LI-07"] empty_description,
        "A description may be empty" },
    reference! { "vaults.fields.nul" ["VA-17", "VA-18"] nul,
        "U+0000 is refused in names and descriptions" },
];

/// Sends the fields in a create and in an update.
async fn both(case: &Case, fields: &Value) -> Result<[(&'static str, u16, Reply); 2], Failure> {
    let wire = case.wire();
    let vault = make::vault(case, &wire).await?;
    let mut body = json!({ "name": case.name("vault") });
    for (field, value) in fields.as_object().into_iter().flatten() {
        body[field] = value.clone();
    }
    let created = wire.post("/vaults", body).await?;
    let updated = wire.patch(&format!("/vaults/{vault}"), fields.clone()).await?;
    Ok([("create", 201, created), ("update", 200, updated)])
}

async fn accepted(case: &Case, fields: Value, what: &str) -> Result<(), Failure> {
    for (call, status, reply) in both(case, &fields).await? {
        reply.accepted(status, format!("{what} in {call}"))?;
    }
    Ok(())
}

async fn refused(case: &Case, fields: Value, what: &str) -> Result<(), Failure> {
    for (call, _, reply) in both(case, &fields).await? {
        reply.refused(format!("{what} in {call}"))?;
    }
    Ok(())
}

/// A server may refuse a name that is taken (S-17), and a single letter easily
/// is; so it is enough that one of many is accepted.
async fn name_shortest(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let path = format!("/vaults/{}", make::vault(&case, &wire).await?);
    for (call, status) in [("create", 201), ("update", 200)] {
        let mut last = Ok(());
        for name in 'a'..='z' {
            let body = json!({ "name": name });
            let reply = match call {
                "create" => wire.post("/vaults", body).await?,
                _ => wire.patch(&path, body).await?,
            };
            last = reply.accepted(status, format!("the name {name:?} in {call}")).map(|_| ());
            if last.is_ok() {
                break;
            }
        }
        last?;
    }
    refused(&case, json!({ "name": "" }), "a name of 0 characters").await
}

async fn name_longest(case: Case) -> Result<(), Failure> {
    for letter in LETTERS {
        // One name each, as names may have to differ.
        let name = |length: usize| filled_up(case.name("vault"), letter, length);
        for (call, status, reply) in [
            ("create", 201, case.wire().post("/vaults", json!({ "name": name(50) })).await?),
            ("update", 200, rename(&case, name(50)).await?),
        ] {
            reply.accepted(
                status,
                format!("a name of 50 characters such as {letter:?} in {call}"),
            )?;
        }
        let what = format!("a name of 51 characters such as {letter:?}");
        refused(&case, json!({ "name": name(51) }), &what).await?;
    }
    Ok(())
}

fn filled_up(text: String, letter: &str, length: usize) -> String {
    let missing = length.saturating_sub(text.chars().count());
    text + &letter.repeat(missing)
}

async fn rename(case: &Case, name: String) -> Result<Reply, Failure> {
    let vault = make::vault(case, &case.wire()).await?;
    case.wire().patch(&format!("/vaults/{vault}"), json!({ "name": name })).await
}

async fn description_longest(case: Case) -> Result<(), Failure> {
    for letter in LETTERS {
        let fields = |length: usize| json!({ "description": letter.repeat(length) });
        accepted(&case, fields(200), &format!("a description of 200 {letter:?}")).await?;
        refused(&case, fields(201), &format!("a description of 201 {letter:?}")).await?;
    }
    Ok(())
}

async fn too_long_changes_nothing(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let given = json!({ "name": case.name("before"), "description": "before" });
    let vault = make::vault_with(&case, &wire, given.clone()).await?.integer("/data/id")?;
    for wrong in [
        json!({ "name": "x".repeat(51), "description": "after" }),
        json!({ "name": case.name("after"), "description": "d".repeat(201) }),
    ] {
        wire.patch(&format!("/vaults/{vault}"), wrong).await?.status(400)?;
        let now = read(&wire, vault).await?;
        now.equals("/data/name", given["name"].clone())?;
        now.equals("/data/description", "before")?;
    }
    Ok(())
}

/// Letters that count as one however characters are counted, though not in bytes.
const LETTERS: [&str; 3] = ["x", "é", "漢"];

/// What other ways of counting count otherwise: two units in UTF-16, and a mark
/// that is no grapheme of its own.
const ODD: [&str; 2] = ["😀", "\u{301}"];

/// S-66.
async fn name_scalar_values(case: Case) -> Result<(), Failure> {
    for c in ODD {
        accepted(&case, json!({ "name": c.repeat(50) }), &format!("a name of 50 {c:?}")).await?;
        refused(&case, json!({ "name": c.repeat(51) }), &format!("a name of 51 {c:?}")).await?;
    }
    Ok(())
}

/// S-66.
async fn description_scalar_values(case: Case) -> Result<(), Failure> {
    for c in ODD {
        let fields = |count: usize| json!({ "description": c.repeat(count) });
        accepted(&case, fields(200), &format!("a description of 200 {c:?}")).await?;
        refused(&case, fields(201), &format!("a description of 201 {c:?}")).await?;
    }
    Ok(())
}

/// S-17 and S-66.
async fn kept_as_sent(case: Case) -> Result<(), Failure> {
    for text in [" ", "  both ends  ", "a\r\n\tb", "e\u{301}", "é", "\u{feff}x", "\u{10ffff}"] {
        let fields = json!({ "name": text, "description": text });
        for (call, status, reply) in both(&case, &fields).await? {
            reply.accepted(status, format!("the text {text:?} in {call}"))?;
            let vault = read(&case.wire(), reply.integer("/data/id")?).await?;
            vault.equals("/data/name", text)?.equals("/data/description", text)?;
        }
    }
    Ok(())
}

/// S-66.
async fn empty_description(case: Case) -> Result<(), Failure> {
    for (call, status, reply) in both(&case, &json!({ "description": "" })).await? {
        reply.accepted(status, format!("an empty description in {call}"))?;
        check::equal("the description", &reply.at("/data/description")?, &&json!(""))?;
    }
    Ok(())
}

/// S-66.
async fn nul(case: Case) -> Result<(), Failure> {
    for field in ["name", "description"] {
        for text in ["\0", "a\0b"] {
            for (call, _, reply) in both(&case, &json!({ field: text })).await? {
                reply.refused(format!("{field} {text:?} in {call}"))?;
                reply.string(&format!("/details/{field}"))?;
            }
        }
    }
    Ok(())
}
