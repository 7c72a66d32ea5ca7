//! Lists hold what belongs to the caller.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::scenario::core;
use crate::wire::Wire;
use crate::{Case, Failure, Scenario, check, make};

use super::both_ways;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "isolation.list.prompts" ["PR-14"] [OtherAccount] prompts,
        "GET /prompts shows no prompt of another account on any page, with and without a type" },
    core! { "isolation.list.vaults" ["VA-13"] [OtherAccount] vaults,
        "GET /vaults shows no vault of another account, whatever its visibility" },
];

/// How long one of the six walks may take: together half of a scenario's time.
const WALK: Duration = Duration::from_secs(5);

async fn prompts(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let text = make::prompt(&case, &pair.owner).await?;
        let image = json!({ "promptType": "image", "modelId": case.image_model() });
        let image = make::prompt_with(&case, &pair.owner, image).await?.integer("/data/id")?;
        for filter in ["", "&type=text", "&type=image"] {
            let seen = listed_prompts(&case, &pair.stranger, filter).await?;
            check::ensure(
                !seen.contains(&text) && !seen.contains(&image),
                &format!("GET /prompts with {filter:?} without prompts {text} and {image}"),
                "a list with one of them",
            )?;
        }
    }
    Ok(())
}

/// The ids on all pages; in an account of very many prompts, on as many of them
/// as can be read in a while.
async fn listed_prompts(case: &Case, wire: &Wire, filter: &str) -> Result<Vec<i64>, Failure> {
    let enough = Instant::now() + case.scaled(WALK);
    let (mut ids, mut cursors) = (Vec::new(), vec![String::new()]);
    loop {
        let cursor = cursors.last().map_or("", String::as_str);
        let page = wire.get(&format!("/prompts?limit=100{filter}{cursor}")).await?;
        ids.extend(page.status(200)?.integers("/data", "id")?);
        let Some(next) = page.at("/pagination/nextCursor")?.as_str() else {
            return Ok(ids);
        };
        if Instant::now() >= enough {
            return Ok(ids);
        }
        let encoded: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
        let next = format!("&cursor={encoded}");
        page.ensure(!cursors.contains(&next), "a cursor of its own on each page", &next)?;
        cursors.push(next);
    }
}

async fn vaults(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        for visibility in ["private", "unlisted", "public"] {
            let fields = json!({ "visibility": visibility });
            let made = make::vault_with(&case, &pair.owner, fields).await?;
            let vault = made.integer("/data/id")?;
            let list = pair.stranger.get("/vaults").await?;
            let seen = list.status(200)?.integers("/data", "id")?;
            list.ensure(
                !seen.contains(&vault),
                format!("a list without the {visibility} vault {vault} of another account"),
                "a list with it",
            )?;
        }
    }
    Ok(())
}
