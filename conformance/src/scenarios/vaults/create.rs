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
    core! { "vaults.create.description" ["VA-18"] description,
        "A create takes a description, null, or none" },
    core! { "vaults.create.defaults" ["VA-19"] defaults,
        "A vault made from a name alone is private" },
    core! { "vaults.create.refused-makes-nothing" ["VA-20"] refused_makes_nothing,
        "A refused create makes no vault" },
    reference! { "vaults.create.equal-names" ["VA-02"] equal_names,
        "Two vaults may have the same name" },
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

async fn defaults(case: Case) -> Result<(), Failure> {
    let made = make::vault(&case, &case.wire()).await?;
    read(&case.wire(), made).await?.equals("/data/visibility", "private")?;
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

/// S-17.
async fn equal_names(case: Case) -> Result<(), Failure> {
    let name = case.name("twin");
    for _ in 0..2 {
        let reply = case.wire().post("/vaults", json!({ "name": name })).await?;
        reply.status(201)?.equals("/data/name", name.as_str())?;
    }
    Ok(())
}
