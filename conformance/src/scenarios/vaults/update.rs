//! `PATCH /vaults/{vaultId}`: what it sets, what it leaves, what it refuses.

use serde_json::{Value, json};

use super::{list, read, same_object};
use crate::scenario::{core, reference};
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.update.answer" ["VA-22"] answer,
        "An update answers 200 with the whole vault as it is afterwards" },
    core! { "vaults.update.one-field" ["VA-23"] one_field,
        "A field left out of an update keeps its value" },
    core! { "vaults.update.sets" ["VA-24"] sets,
        "Later reads show the name, description and visibility that an update brought" },
    core! { "vaults.update.clears-description" ["VA-25"] clears_description,
        "description null in an update clears the description" },
    reference! { "vaults.update.nothing-known" ["VA-23"] nothing_known,
        "An update without a known field answers 200 and changes nothing" },
    reference! { "vaults.update.updated-at" ["VA-11"] updated_at,
        "Every update with a known field moves updatedAt on, and createdAt stays" },
    reference! { "vaults.update.contents-leave-updated-at" ["VA-11"] contents_leave_updated_at,
        "A change of its contents leaves a vault's updatedAt" },
];

/// A vault with all that can be set, and nothing at its default.
async fn dressed(case: &Case) -> Result<Reply, Failure> {
    let fields = json!({ "description": "Boats, cranes, gulls", "visibility": "unlisted" });
    make::vault_with(case, &case.wire(), fields).await
}

async fn answer(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = dressed(&case).await?.integer("/data/id")?;
    make::members(&case, &wire, vault, 1).await?;
    let body = json!({ "name": case.name("renamed") });
    let reply = wire.patch(&format!("/vaults/{vault}"), body).await?;
    same_object(reply.data(200)?, read(&wire, vault).await?.at("/data")?)
}

async fn one_field(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let changes = [
        ("name", Value::from(case.name("renamed"))),
        ("description", json!("Cranes")),
        ("description", Value::Null),
        ("visibility", json!("public")),
    ];
    for (field, value) in changes {
        let before = dressed(&case).await?;
        let vault = before.integer("/data/id")?;
        let body = json!({ field: value });
        let reply = wire.patch(&format!("/vaults/{vault}"), body.clone()).await?;
        reply.accepted(200, format!("an update with {body} alone"))?;
        let after = read(&wire, vault).await?;
        for other in ["name", "description", "visibility"] {
            if other != field {
                let place = format!("/data/{other}");
                let what = format!("{other} after an update with {body} alone");
                check::equal(&what, after.at(&place)?, before.at(&place)?)?;
            }
        }
    }
    Ok(())
}

async fn sets(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    for visibility in ["public", "unlisted", "private"] {
        let body = json!({
            "name": case.name("renamed"),
            "description": case.name("about"),
            "visibility": visibility,
        });
        wire.patch(&format!("/vaults/{vault}"), body.clone()).await?.status(200)?;
        let alone = read(&wire, vault).await?;
        let entry = list(&wire).await?.entry(vault)?;
        for (field, value) in body.as_object().into_iter().flatten() {
            alone.equals(&format!("/data/{field}"), value.clone())?;
            check::equal(&format!("{field} in the list"), &entry[field], value)?;
        }
    }
    Ok(())
}

async fn clears_description(case: Case) -> Result<(), Failure> {
    let vault = dressed(&case).await?.integer("/data/id")?;
    let body = json!({ "description": null });
    let reply = case.wire().patch(&format!("/vaults/{vault}"), body).await?;
    reply.status(200)?;
    read(&case.wire(), vault).await?.equals("/data/description", Value::Null)?;
    Ok(())
}

/// S-19 and S-67.
async fn nothing_known(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let made = dressed(&case).await?;
    let path = format!("/vaults/{}", made.integer("/data/id")?);
    for body in [json!({}), json!({ "colour": "red", "isLocked": true, "slug": "mine" })] {
        let reply = wire.patch(&path, body.clone()).await?;
        reply.accepted(200, format!("the update {body}"))?;
        check::equal("the vault after it", reply.at("/data")?, made.at("/data")?)?;
    }
    Ok(())
}

/// S-19.
async fn updated_at(case: Case) -> Result<(), Failure> {
    let made = dressed(&case).await?;
    let path = format!("/vaults/{}", made.integer("/data/id")?);
    let created = made.timestamp("/data/createdAt")?;
    let mut last = made.timestamp("/data/updatedAt")?;
    check::equal("updatedAt of a new vault", &last, &created)?;
    let same = json!({ "visibility": "unlisted" });
    for body in [json!({ "description": null }), json!({ "name": case.name("new") }), same] {
        let reply = case.wire().patch(&path, body.clone()).await?;
        let now = reply.status(200)?.timestamp("/data/updatedAt")?;
        let expected = format!("an updatedAt after {last} for {body}");
        reply.ensure(now > last, expected, now)?;
        check::equal("createdAt", &reply.timestamp("/data/createdAt")?, &created)?;
        last = now;
    }
    Ok(())
}

/// S-19.
async fn contents_leave_updated_at(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let made = dressed(&case).await?;
    let vault = made.integer("/data/id")?;
    let target = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 3).await?;
    let member = |n: usize| format!("/vaults/{vault}/prompts/{}", members[n].membership);
    wire.post_empty(&format!("{}/pin", member(0))).await?.status(200)?;
    let body = json!({ "targetVaultId": target });
    wire.post(&format!("{}/move", member(1)), body).await?.status(200)?;
    wire.delete(&member(2)).await?.status(200)?;
    wire.delete(&format!("/prompts/{}", members[0].prompt)).await?.status(200)?;
    let now = read(&wire, vault).await?;
    now.equals("/data/updatedAt", made.at("/data/updatedAt")?.clone())?;
    Ok(())
}
