//! Two accounts beside each other: lists hold what belongs to the caller, and a key that may only
//! read learns nothing about foreign ids. Every place where an id can stand is in `ids`.

use std::time::{Duration, Instant};

use serde_json::json;

use super::endpoints::Ids;
use super::ids::{PLACES, both_ways, compare};
use crate::scenario::{core, reference};
use crate::wire::Wire;
use crate::{Case, Failure, Scenario, check, make};

pub(super) const ALL: &[&[Scenario]] = &[SCENARIOS];

#[rustfmt::skip]
const SCENARIOS: &[Scenario] = &[
    core! { "isolation.list.prompts" ["PR-14"] [OtherAccount] prompts,
        "GET /prompts shows no prompt of another account on any page, with and without a type" },
    core! { "isolation.list.vaults" ["VA-13"] [OtherAccount] vaults,
        "GET /vaults shows no vault of another account, whatever its visibility" },
    reference! { "isolation.everywhere.read-only" ["ER-10"] [OtherAccount, ReadOnlyKey] read_only,
        "A key that may only read learns no more about foreign ids than about absent ones (S-57)" },
];

/// How long one of the six walks may take: together half of a scenario's time.
const WALK: Duration = Duration::from_secs(5);

async fn prompts(case: Case) -> Result<(), Failure> {
    for (owner, stranger) in both_ways(&case) {
        let text = make::prompt(&case, &owner).await?;
        let image = json!({ "promptType": "image", "modelId": case.image_model() });
        let image = make::prompt_with(&case, &owner, image).await?.integer("/data/id")?;
        for filter in ["", "&type=text", "&type=image"] {
            let seen = listed_prompts(&case, &stranger, filter).await?;
            let foreign: Vec<_> =
                [text, image].into_iter().filter(|id| seen.contains(id)).collect();
            let expected = format!("GET /prompts with {filter:?} without foreign prompts");
            check::ensure(foreign.is_empty(), &expected, format!("a list with {foreign:?}"))?;
        }
    }
    Ok(())
}

/// The ids on all pages; in an account of very many prompts, on as many of them as can be read
/// in a while.
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
    for (owner, stranger) in both_ways(&case) {
        for visibility in ["private", "unlisted", "public"] {
            let fields = json!({ "visibility": visibility });
            let vault = make::vault_with(&case, &owner, fields).await?.integer("/data/id")?;
            let list = stranger.get("/vaults").await?;
            let seen = list.status(200)?.integers("/data", "id")?;
            let expected =
                format!("a list without the {visibility} vault {vault} of another account");
            list.ensure(!seen.contains(&vault), expected, "a list with it")?;
        }
    }
    Ok(())
}

async fn read_only(case: Case) -> Result<(), Failure> {
    let owned = Ids::make(&case, &case.other()).await?;
    let own = Ids::make(&case, &case.wire()).await?;
    for place in PLACES {
        compare(&case.read_only(), place, &owned, &own).await?;
    }
    Ok(())
}
