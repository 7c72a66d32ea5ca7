//! Two accounts beside each other: what belongs to one cannot be seen, changed
//! or used by the other, on any path, in any body or query.

use std::time::Instant;

use super::endpoints::Ids;
use super::ids::{PLACES, compare, owners_and_strangers};
use super::prelude::*;
use crate::fixture::Walk;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "isolation.list.prompts" ["PR-14"] [OtherAccount] prompts,
        "GET /prompts shows no prompt of another account on any page, with and without a type" },
    core! { "isolation.list.vaults" ["VA-13"] [OtherAccount] vaults,
        "GET /vaults shows no vault of another account, whatever its visibility" },
    reference! { "isolation.everywhere.read-only" ["ER-10"] ("S-57")
        [OtherAccount, ReadOnlyKey] read_only,
        "A key that may only read learns no more about foreign ids than about absent ones" },
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

async fn read_only(case: Case) -> Result {
    let owned = Ids::make(&case.other_account()).await?;
    let own = Ids::make(&case).await?;
    let reader = case.on(case.read_only());
    for place in PLACES {
        compare(&reader, place, &owned, &own).await?;
    }
    Ok(())
}
