//! Making a vault: which fields it takes, which it asks for, what it refuses.
//! How long they may be is in `fields`.

use serde_json::{Value, json};

use super::{list, read, same_object};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.create.answer" ["VA-16"] answer,
        "A create answers 201 with the vault object that is then at its address" },
    core! { "vaults.create.name-required" ["VA-17", "ER-04"] name_required,
        "A create without a name is refused" },
    core! { "vaults.create.wrong-types" ["ER-05"] wrong_types,
        "A create with a field of the wrong type is refused" },
    core! { "vaults.create.description" ["VA-18"] description,
        "A create takes a description, null, or none" },
    core! { "vaults.create.visibilities" ["VA-19"] visibilities,
        "A create takes each of the three visibilities" },
    core! { "vaults.create.defaults" ["VA-19"] defaults,
        "A vault made from a name alone is private" },
    core! { "vaults.create.other-visibility" ["VA-20"] other_visibility,
        "A create with any other visibility is refused" },
    core! { "vaults.create.refused-makes-nothing" ["VA-20"] refused_makes_nothing,
        "A refused create makes no vault" },
    reference! { "vaults.create.null-visibility" ["VA-19"] null_visibility,
        "null is no visibility" },
    reference! { "vaults.create.equal-names" ["VA-02"] equal_names,
        "Two vaults may have the same name" },
    reference! { "vaults.create.all-failing-fields" ["ER-03"] all_failing_fields,
        "The details of a refused create name every failing field" },
    reference! { "vaults.create.unknown-fields" ["VA-16"] unknown_fields,
        "Unknown fields of a create are ignored" },
];

async fn answer(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let body = json!({
        "name": case.name("vault"),
        "description": "Boats, cranes, gulls",
        "visibility": "unlisted",
    });
    let made = wire.post("/vaults", body).await?;
    let vault = read(&wire, made.status(201)?.integer("/data/id")?).await?;
    same_object(made.at("/data")?, vault.at("/data")?)
}

async fn name_required(case: Case) -> Result<(), Failure> {
    for body in [json!({}), json!({ "description": "Boats", "visibility": "private" })] {
        let reply = case.wire().post("/vaults", body.clone()).await?;
        reply.refused(format!("a create without name, {body}"))?;
    }
    Ok(())
}

/// `null` as a name is refused by all: as a wrong type, or as a name left out.
async fn wrong_types(case: Case) -> Result<(), Failure> {
    let others = [json!(5), json!(1.5), json!(true), json!([]), json!(["text"]), json!({})];
    let mut wrong: Vec<(&str, Value)> = vec![("name", Value::Null)];
    for field in ["name", "description", "visibility"] {
        wrong.extend(others.iter().map(|value| (field, value.clone())));
    }
    for (field, value) in wrong {
        let mut body = json!({ "name": case.name("vault") });
        body[field] = value.clone();
        let reply = case.wire().post("/vaults", body).await?;
        reply.refused(format!("{field} {value}"))?;
    }
    Ok(())
}

async fn description(case: Case) -> Result<(), Failure> {
    let text = Value::from(case.name("about"));
    for given in [Some(&text), Some(&Value::Null), None] {
        let mut body = json!({ "name": case.name("vault") });
        if let Some(description) = given {
            body["description"] = description.clone();
        }
        let reply = case.wire().post("/vaults", body).await?;
        reply.accepted(201, format!("description {given:?}"))?;
        if given == Some(&text) {
            reply.equals("/data/description", text.clone())?;
        }
    }
    Ok(())
}

async fn visibilities(case: Case) -> Result<(), Failure> {
    for visibility in ["private", "unlisted", "public"] {
        let body = json!({ "name": case.name("vault"), "visibility": visibility });
        let reply = case.wire().post("/vaults", body).await?;
        reply.accepted(201, format!("visibility {visibility:?}"))?;
        reply.equals("/data/visibility", visibility)?;
    }
    Ok(())
}

async fn defaults(case: Case) -> Result<(), Failure> {
    let made = make::vault(&case, &case.wire()).await?;
    read(&case.wire(), made).await?.equals("/data/visibility", "private")?;
    Ok(())
}

async fn other_visibility(case: Case) -> Result<(), Failure> {
    for visibility in ["secret", "", "PUBLIC", "private,public"] {
        let body = json!({ "name": case.name("vault"), "visibility": visibility });
        let reply = case.wire().post("/vaults", body).await?;
        reply.refused(format!("visibility {visibility:?}"))?;
    }
    Ok(())
}

async fn refused_makes_nothing(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let name = case.name("never");
    let body = json!({ "name": name, "visibility": "secret" });
    wire.post("/vaults", body).await?.refused("visibility \"secret\"")?;
    let vaults = list(&wire).await?.array("/data")?;
    let made = vaults.iter().any(|vault| vault["name"] == *name);
    check::ensure(!made, "no vault of the refused create", "one with its name")
}

/// S-10.
async fn null_visibility(case: Case) -> Result<(), Failure> {
    let body = json!({ "name": case.name("vault"), "visibility": null });
    let reply = case.wire().post("/vaults", body).await?;
    reply.refused("visibility null")?.string("/details/visibility")?;
    Ok(())
}

/// S-17.
async fn equal_names(case: Case) -> Result<(), Failure> {
    let name = case.name("twin");
    for _ in 0..2 {
        let reply = case.wire().post("/vaults", json!({ "name": name })).await?;
        reply.status(201)?.equals("/data/name", name.as_str())?;
    }
    Ok(())
}

/// S-60.
async fn all_failing_fields(case: Case) -> Result<(), Failure> {
    let body = json!({ "name": "", "description": 5, "visibility": "secret" });
    let reply = case.wire().post("/vaults", body).await?;
    reply.refused("three fields at fault")?;
    for field in ["name", "description", "visibility"] {
        reply.string(&format!("/details/{field}"))?;
    }
    Ok(())
}

/// S-67.
async fn unknown_fields(case: Case) -> Result<(), Failure> {
    let body = json!({
        "name": case.name("vault"),
        "isSystem": true,
        "promptCount": 7,
        "colour": "red",
    });
    let reply = case.wire().post("/vaults", body).await?;
    reply.accepted(201, "unknown fields")?.equals("/data/isSystem", false)?;
    Ok(())
}
