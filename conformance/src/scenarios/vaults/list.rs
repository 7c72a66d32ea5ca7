//! `GET /vaults`: what is in it and in which order.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use super::{list, read, same_object};
use crate::scenario::{core, reference};
use crate::wire::Wire;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "vaults.list.own" ["VA-13"] own,
        "The list has the caller's vaults of every visibility, each as its own address shows it" },
    core! { "vaults.list.once" ["VA-13"] once,
        "The list has each of the caller's vaults once" },
    core! { "vaults.list.newest-first" ["VA-14"] newest_first,
        "The list has a vault before those that were created earlier" },
    core! { "vaults.list.update-moves-nothing" ["VA-14"] update_moves_nothing,
        "An update does not move a vault in the list" },
    core! { "vaults.list.whole" ["VA-15"] whole,
        "One response holds the whole list, however long it is" },
    reference! { "vaults.list.ignores-queries" ["VA-15"] ignores_queries,
        "The list takes no notice of a query" },
    reference! { "vaults.list.ties" ["VA-14"] ties,
        "The list is ordered by descending createdAt, then by descending id" },
    reference! { "vaults.list.no-pagination-key" ["VA-15"] no_pagination_key,
        "The answer has no key but data and error" },
];

async fn own(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    for visibility in ["private", "unlisted", "public"] {
        let made = make::vault_with(&case, &wire, json!({ "visibility": visibility })).await?;
        let id = made.integer("/data/id")?;
        // What the list shows may not be what the vault was made with.
        let renamed = json!({ "name": case.name("renamed") });
        wire.patch(&format!("/vaults/{id}"), renamed).await?.status(200)?;
        let entry = list(&wire).await?.entry(id)?;
        same_object(&entry, read(&wire, id).await?.at("/data")?)?;
    }
    Ok(())
}

async fn once(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, second) = (make::vault(&case, &wire).await?, make::vault(&case, &wire).await?);
    // One that was joined with its contents would be there for each of them.
    for member in make::members(&case, &wire, vault, 3).await? {
        make::fill(&wire, second, &[member.prompt]).await?;
    }
    let listed = list(&wire).await?.integers("/data", "id")?;
    let distinct: BTreeSet<_> = listed.iter().collect();
    check::equal("the number of distinct ids in the list", &distinct.len(), &listed.len())
}

async fn newest_first(case: Case) -> Result<(), Failure> {
    let (older, newer) = two_dates(&case).await?;
    older_after_newer(&case.wire(), older, newer).await
}

async fn update_moves_nothing(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (older, newer) = two_dates(&case).await?;
    let body = json!({ "name": case.name("renamed"), "visibility": "unlisted" });
    wire.patch(&format!("/vaults/{older}"), body).await?.status(200)?;
    older_after_newer(&wire, older, newer).await
}

/// Two vaults whose `createdAt` differ, however coarse the target's clock is.
async fn two_dates(case: &Case) -> Result<(i64, i64), Failure> {
    let wire = case.wire();
    let first = make::vault_with(case, &wire, json!({})).await?;
    let older = first.timestamp("/data/createdAt")?;
    let timeout = Duration::from_secs(5);
    let newer = case
        .until("a vault with a later createdAt", timeout, || async {
            let next = make::vault_with(case, &wire, json!({})).await?;
            let later = next.timestamp("/data/createdAt")? > older;
            Ok(later.then_some(next.integer("/data/id")?))
        })
        .await?;
    Ok((first.integer("/data/id")?, newer))
}

async fn older_after_newer(wire: &Wire, older: i64, newer: i64) -> Result<(), Failure> {
    let vaults = list(wire).await?;
    let ids = vaults.integers("/data", "id")?;
    let place = |id: i64| {
        let place = ids.iter().position(|listed| *listed == id);
        place.ok_or_else(|| vaults.failure(format!("vault {id} in the list"), "no such entry"))
    };
    let (older, newer) = (place(older)?, place(newer)?);
    vaults.ensure(
        newer < older,
        "the later vault before the earlier one",
        format!("the later one at place {newer}, the earlier one at place {older}"),
    )?;
    Ok(())
}

/// More vaults than the longest page of this API has entries.
async fn whole(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let mut made = Vec::new();
    for _ in 0..7 {
        made.extend(join_all((0..15).map(|_| make::vault(&case, &wire))).await);
    }
    let made = made.into_iter().collect::<Result<BTreeSet<_>, _>>()?;
    let vaults = list(&wire).await?;
    let listed: BTreeSet<_> = vaults.integers("/data", "id")?.into_iter().collect();
    let missing = made.difference(&listed).count();
    let expected = "all of 105 new vaults in one response";
    vaults.ensure(missing == 0, expected, format!("{missing} of them missing"))?;
    let next = vaults.json()?.pointer("/pagination/nextCursor").unwrap_or(&Value::Null);
    vaults.ensure(next.is_null(), "no cursor to a next page", next)?;
    Ok(())
}

/// S-03.
async fn ignores_queries(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let made = [make::vault(&case, &wire).await?, make::vault(&case, &wire).await?];
    for query in ["limit=1", "limit=0", "cursor=none", "limit=1&limit=2", "visibility=", "x=%00"] {
        let reply = wire.get(&format!("/vaults?{query}")).await?;
        reply.accepted(200, format!("the query {query}"))?;
        for vault in made {
            reply.entry(vault)?;
        }
    }
    Ok(())
}

/// S-20. Vaults made side by side may well have equal dates.
async fn ties(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let made = join_all((0..12).map(|_| make::vault(&case, &wire))).await;
    made.into_iter().collect::<Result<Vec<_>, _>>()?;
    let vaults = list(&wire).await?;
    let mut keys = Vec::new();
    for (n, id) in vaults.integers("/data", "id")?.into_iter().enumerate() {
        keys.push((vaults.timestamp(&format!("/data/{n}/createdAt"))?, id));
    }
    let descending = keys.is_sorted_by(|a, b| a > b);
    vaults.ensure(descending, "descending createdAt, then descending id", "another order")?;
    Ok(())
}

/// S-68.
async fn no_pagination_key(case: Case) -> Result<(), Failure> {
    let vaults = list(&case.wire()).await?;
    let keys: Vec<_> = vaults.json()?.as_object().into_iter().flatten().map(|(k, _)| k).collect();
    vaults.ensure(keys == ["data", "error"], "the keys data and error", format!("{keys:?}"))?;
    Ok(())
}
