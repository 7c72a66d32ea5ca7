//! `GET /vaults/{vaultId}`, and who may read at all.

use serde_json::json;

use super::read;
use crate::scenario::core;
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.read.any-visibility" ["VA-21"] any_visibility,
        "A vault of the caller is read at its address, whatever its visibility" },
    core! { "vaults.read.foreign-public" ["ER-10"] [OtherAccount] foreign_public,
        "Every address of another account's public or unlisted vault, but fork, answers 404" },
];

async fn any_visibility(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    for visibility in ["private", "unlisted", "public"] {
        let made = make::vault_with(&case, &wire, json!({ "visibility": visibility })).await?;
        let id = made.integer("/data/id")?;
        let reply = wire.get(&format!("/vaults/{id}")).await?;
        reply.accepted(200, format!("a vault that is {visibility}"))?.equals("/data/id", id)?;
        reply.equals("/data/visibility", visibility)?;
    }
    Ok(())
}

/// S-21: nothing but fork makes a difference between private and public.
async fn foreign_public(case: Case) -> Result<(), Failure> {
    let (wire, other) = (case.wire(), case.other());
    let prompt = make::prompt(&case, &wire).await?;
    for visibility in ["unlisted", "public"] {
        let made = make::vault_with(&case, &other, json!({ "visibility": visibility })).await?;
        let id = made.integer("/data/id")?;
        let member = make::members(&case, &other, id, 1).await?[0];
        let vault = format!("/vaults/{id}");
        let prompts = format!("{vault}/prompts");
        let membership = format!("{prompts}/{}", member.membership);
        let name = json!({ "name": case.name("taken") });
        let replies = [
            ("GET", wire.get(&vault).await?),
            ("PATCH", wire.patch(&vault, name).await?),
            ("GET of the prompts", wire.get(&prompts).await?),
            ("adding", wire.post(&prompts, json!({ "promptIds": [prompt] })).await?),
            ("pin", wire.post_empty(&format!("{membership}/pin")).await?),
            ("unpin", wire.delete(&format!("{membership}/pin")).await?),
            ("removal", wire.delete(&membership).await?),
            ("DELETE", wire.delete(&vault).await?),
        ];
        for (call, reply) in replies {
            let what = format!("{call} of an {visibility} vault of another account");
            reply.accepted(404, what)?;
        }
        let vault = read(&other, id).await?;
        vault
            .equals("/data/promptCount", 1)?
            .equals("/data/name", made.at("/data/name")?.clone())?;
    }
    Ok(())
}
