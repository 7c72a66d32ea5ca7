//! The order of lists and pages in our server, and the queries that it refuses.

use crate::prelude::*;
use promptarium_conformance::scenarios::core::membership::{MIXED, pinned_in_turn};
use promptarium_conformance::scenarios::core::vault_object::list;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "pagination.pages.newest-first" ["S-01"] newest_first,
        "The list is ordered by descending id, whatever filters, adding and later changes" },
    scenario! { "pagination.limit.every-filter" ["LI-01"] every_filter,
        "The bounds of limit hold beside a vault, a type and a cursor" },
    scenario! { "contents.listing.ignores-queries" ["S-03", "S-32"] ignores_queries,
        "The listing, and the list of vaults, take no notice of a query" },
    scenario! { "contents.order.last-pinned-on-top" ["S-24"] last_pinned_on_top,
        "The prompt that was pinned last comes first, also one that was unpinned and pinned again" },
    scenario! { "contents.order.added-together" ["VC-09"] added_together,
        "Of prompts added by one request the last of the list ends on top" },
    scenario! { "prompts.queries.repeated" ["S-03"] repeated,
        "A parameter given twice, and a vaultId that is no plain integer, is 400 naming it" },
    scenario! { reads "prompts.queries.empty" ["S-03"] empty,
        "An empty parameter, and a limit that is no plain integer, is 400 naming it" },
    scenario! { "prompts.queries.unknown" ["S-03"] unknown,
        "Unknown parameters are ignored, given twice and empty too, and every one by a read" },
    scenario! { "vaults.list.ties" ["VA-14"] ties,
        "The list is ordered by descending createdAt, then by descending id" },
];

async fn newest_first(case: Case) -> Result {
    let (vault, prompts) = case.vault_of(5).await?;
    let walk = vault.list().limit(2).walk().await?;
    walk.expect_in_order(prompts.iter().rev())?;
    for list in [case.list(), case.list().with("type", "text")] {
        let page = list.limit(100).page().await?;
        let descending = page.ids.is_sorted_by(|one, next| one > next);
        page.reply.ensure(descending, "descending ids", json_text(&page.ids))?;
    }
    let (elsewhere, list) = (case.vault().await?, vault.list().limit(1));
    let first = list.page().await?;
    for prompt in [&prompts[0], &prompts[2]] {
        prompt.update(json!({ "title": "Moved?" })).await?.success()?;
        prompt.save_into(&elsewhere).await?.status(200)?;
    }
    list.walk_from(first).await?.expect_in_order(prompts.iter().rev())?;
    let (vault, prompts) = (case.vault().await?, case.prompts_in_turn(4).await?);
    for n in [2, 0, 3, 1] {
        vault.add([&prompts[n]]).await?.status(201)?;
    }
    let page = vault.list().page().await?;
    check::equal("the list of the vault", &page.ids, &ids(prompts.iter().rev()))
}

async fn every_filter(case: Case) -> Result {
    let vault = case.vault().await?;
    vault.fill(2).await?;
    let first = vault.list().limit(1).page().await?;
    let list = vault.list();
    let [texts, videos] = ["text", "video"].map(|kind| case.list().with("type", kind));
    for filtered in [list.clone(), texts, videos, list.after(&first)] {
        for (limit, status) in [("1", 200), ("100", 200), ("0", 400), ("101", 400), ("-1", 400)] {
            let reply = filtered.clone().with("limit", limit).get().await?;
            reply.has_status(status, format!("limit {limit}"))?;
        }
    }
    Ok(())
}

async fn ignores_queries(case: Case) -> Result {
    const QUERIES: &str =
        "limit=1 limit=0 cursor=none limit=1&limit=2 type=image visibility= x=%00";
    let [vault, other] = case.vaults().await?;
    vault.fill(3).await?;
    let listing = vault.listing().await?;
    for query in QUERIES.split(' ') {
        let reply = case.wire().get(&format!("{}/prompts?{query}", vault.path())).await?;
        reply.has_status(200, format!("the query {query}"))?;
        reply.equals("/data", listing.at("/data")?.clone())?;
        let reply = case.wire().get(&format!("/vaults?{query}")).await?;
        reply.has_status(200, format!("the query {query}"))?;
        reply.entry(vault.id)?;
        reply.entry(other.id)?;
    }
    Ok(())
}

async fn last_pinned_on_top(case: Case) -> Result {
    let (vault, mut latest_first) = pinned_in_turn(&case, Duration::ZERO).await?;
    vault.expect_prompts(&latest_first).await?;
    latest_first.rotate_right(1);
    latest_first[0].unpin().await?.status(200)?;
    latest_first[0].pinned().await?;
    vault.expect_prompts(&latest_first).await
}

/// S-25. The ids of the memberships ascend in the order of adding.
async fn added_together(case: Case) -> Result {
    let vault = case.vault().await?;
    let prompts = case.prompts_in_turn(MIXED.len()).await?;
    let mixed = MIXED.map(|n| &prompts[n]);
    for half in [&mixed[..2], &mixed[2..]] {
        vault.add(half).await?.status(201)?;
    }
    vault.expect_prompts(mixed.iter().rev()).await?;
    let listing = vault.listing().await?;
    let memberships = listing.integers("/data", "vaultPromptId")?;
    let descend = memberships.is_sorted_by(|one, next| one > next);
    listing.ensure(descend, "descending vaultPromptIds", json_text(&memberships)).map(drop)
}

async fn repeated(case: Case) -> Result {
    let (vault, _) = case.vault_of(2).await?;
    let cursor = case.list().limit(1).page().await?.next.unwrap_or_default();
    only_digits(&case, "vaultId", vault.id).await?;
    let vault = vault.id.to_string();
    let list = case.list();
    for (name, first, second) in [
        ("limit", "5", "5"),
        ("cursor", &*cursor, &*cursor),
        ("vaultId", &*vault, &*vault),
        ("type", "text", "text"),
        ("limit", "5", "6"),
        ("type", "text", "image"),
    ] {
        names_only(&list.clone().with(name, first).with(name, second).get().await?, name)?;
    }
    let reply = list.with("type", "text").limit(5).with("type", "").get().await?;
    names_only(&reply, "type")
}

async fn unknown(case: Case) -> Result {
    let (vault, prompts) = case.vault_of(2).await?;
    let unknown = "sort=title&sort=&Limit=0&page=x&vaultid=abc&=&%00&promptType=audio";
    let path = format!("/prompts?{unknown}&vaultId={}&&", vault.id);
    let reply = case.wire().get(&path).await?;
    let listed = reply.status(200)?.integers("/data", "id")?;
    check::equal("the list", &listed, &ids(prompts.iter().rev()))?;
    let path = format!("{}?limit=0&type=x&vaultId=", prompts[0].path());
    case.wire().get(&path).await?.status(200)?.equals("/data/id", prompts[0].id).map(drop)
}

/// S-20. Vaults created side by side may well have equal dates.
async fn ties(case: Case) -> Result {
    try_join_all((0..12).map(|_| case.vault())).await?;
    let vaults = list(&case).await?;
    let mut keys = Vec::new();
    for (n, id) in vaults.integers("/data", "id")?.into_iter().enumerate() {
        keys.push((vaults.timestamp(&format!("/data/{n}/createdAt"))?, id));
    }
    let descending = keys.is_sorted_by(|a, b| a > b);
    let what = "descending createdAt, then descending id";
    vaults.ensure(descending, what, json_text(&keys)).map(drop)
}

/// It is a 400 whose details name this parameter and no other.
fn names_only(reply: &ApiResponse, name: &str) -> Result {
    reply.status(400)?.has_only("/details", &[name]).map(drop)
}

/// A parameter that takes this value takes nothing but its digits.
async fn only_digits(case: &Case, name: &'static str, value: i64) -> Result {
    let forms = ["+{}", " {}", "{} ", "{}.0", "{}e0", "0x{}", "{}_0", "{}\0", "٥"];
    for form in forms.iter().chain(&["9223372036854775808", "-9223372036854775809"]) {
        let form = form.replace("{}", &value.to_string());
        names_only(&case.list().with(name, &form).get().await?, name)?;
    }
    Ok(())
}

async fn empty(case: Case) -> Result {
    only_digits(&case, "limit", 5).await?;
    for name in ["limit", "cursor", "vaultId", "type"] {
        for query in [format!("/prompts?{name}="), format!("/prompts?{name}")] {
            names_only(&case.wire().get(&query).await?, name)?;
        }
    }
    Ok(())
}
