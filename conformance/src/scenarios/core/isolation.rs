//! Two accounts beside each other: what belongs to one cannot be seen, changed
//! or used by the other, on any path, in any body or query.

use std::time::Instant;

use crate::fixture::Walk;
use crate::scenarios::ids::owners_and_strangers;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "isolation.list.prompts" ["PR-14"] [OtherAccount] prompts,
        "GET /prompts shows no prompt of another account on any page, with and without a type" },
    core! { "isolation.list.vaults" ["VA-13"] [OtherAccount] vaults,
        "GET /vaults shows no vault of another account, whatever its visibility" },
];

/// How long one of the six walks may take, in all half of a scenario's time.
const WALK: Duration = Duration::from_secs(5);

async fn prompts(case: Case) -> Result {
    for (owner, stranger) in owners_and_strangers(&case) {
        let image = json!({ "promptType": "image", "modelId": case.image_model() });
        let foreign = [owner.prompt().await?, owner.prompt_with(image).await?.0];
        let all = stranger.list().limit(100);
        for list in [all.clone(), all.clone().with("type", "text"), all.with("type", "image")] {
            let enough = Instant::now() + case.scaled(WALK);
            let mut walk = Walk::from(list.page().await?);
            while walk.advance(&list).await? && Instant::now() < enough {}
            walk.expect_none(&foreign)?;
        }
    }
    Ok(())
}

async fn vaults(case: Case) -> Result {
    for (owner, stranger) in owners_and_strangers(&case) {
        for visibility in ["private", "unlisted", "public"] {
            let (vault, _) = owner.vault_with(json!({ "visibility": visibility })).await?;
            let list = stranger.wire().get("/vaults").await?;
            check::with_context(visibility, list.status(200)?.lacks("id", vault.id))?;
        }
    }
    Ok(())
}
