//! `POST` and `GET /vaults`: what a create answers, what is in the list and in which order. The
//! bounds of the fields are in `fields`.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "vaults.create.answer" ["VA-16"] answer,
        "A create answers 201 with the vault object that is then at its address" },
    core! { "vaults.create.refused-makes-nothing" ["VA-20"] refused_makes_nothing,
        "A refused create makes no vault" },
    core! { "vaults.list.own" ["VA-13", "VA-21"] own,
        "The list has the caller's vaults of every visibility once, as their own addresses do" },
    core! { "vaults.list.newest-first" ["VA-14"] newest_first,
        "The list has a vault before those that were created earlier, also once such a one was updated" },
    core! { "vaults.list.whole" ["VA-15"] whole,
        "One response holds the whole list; a limit makes no page of it: it is ignored or refused" },
];

async fn answer(case: Case) -> Result {
    let fields = json!({ "description": "Boats, cranes, gulls", "visibility": "unlisted" });
    let (vault, created) = case.vault_with(fields).await?;
    let read = vault.read().await?;
    same_object(created.status(201)?, created.at("/data")?, read.at("/data")?)
}

async fn refused_makes_nothing(case: Case) -> Result {
    let name = case.name("never");
    let body = json!({ "name": name, "visibility": "secret" });
    case.wire().post("/vaults", body).await?.is_bad_request("visibility \"secret\"")?;
    list(&case).await?.lacks("name", name)
}

async fn own(case: Case) -> Result {
    for visibility in ["private", "unlisted", "public"] {
        let (vault, _) = case.vault_with(json!({ "visibility": visibility })).await?;
        // What the list shows may not be what the vault was created with.
        vault.update(json!({ "name": case.name("renamed") })).await?.status(200)?;
        let vaults = list(&case).await?;
        same_object(&vaults, &vaults.entry(vault.id)?, vault.read().await?.at("/data")?)?;
        // One that was joined with its contents would be there for each of them.
        vault.fill(2).await?;
        check::distinct("ids of vaults", list(&case).await?.integers("/data", "id")?)?;
    }
    Ok(())
}

async fn newest_first(case: Case) -> Result {
    let (older, created) = case.vault_with(json!({})).await?;
    let first = created.timestamp("/data/createdAt")?;
    // However coarse the target's clock is.
    let next = || async {
        let (newer, created) = case.vault_with(json!({})).await?;
        Ok((created.timestamp("/data/createdAt")? > first).then_some(newer))
    };
    let newer = case.until("a vault with a later createdAt", Duration::from_secs(5), next).await?;
    for updated in [false, true] {
        if updated {
            let fields = json!({ "name": case.name("renamed"), "visibility": "unlisted" });
            older.update(fields).await?.status(200)?;
        }
        let vaults = list(&case).await?;
        let ids = vaults.integers("/data", "id")?;
        let places = [&older, &newer].map(|vault| ids.iter().position(|id| *id == vault.id));
        let in_order = matches!(places, [Some(older), Some(newer)] if newer < older);
        let got = format!("the earlier one and the later one at the places {}", json_text(&places));
        vaults.ensure(in_order, "the later vault before the earlier one", got)?;
    }
    Ok(())
}

/// More vaults than the longest page of this API has entries.
async fn whole(case: Case) -> Result {
    let mut made = BTreeSet::new();
    for _ in 0..7 {
        let vaults = try_join_all((0..15).map(|_| case.vault())).await?;
        made.extend(vaults.iter().map(|vault| vault.id));
    }
    holds_all(&case, "/vaults", &made).await
}

pub(crate) async fn list(case: &Case) -> Result<ApiResponse> {
    let reply = case.wire().get("/vaults").await?;
    reply.status(200)?;
    Ok(reply)
}

/// The vault in this reply has the keys of the vault object and the values of `expected`, but
/// for the moments and the cover, which a server may pick and sign anew for every
/// answer (S-15).
pub(crate) fn same_object(reply: &ApiResponse, got: &Value, expected: &Value) -> Result {
    const VALUES: &str =
        "id name description slug visibility accessType isLocked isSystem promptCount";
    let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
    for key in VALUES.split(' ') {
        let (got, expected) = (got.get(key), expected.get(key));
        reply.ensure(got == expected, format!("{key} to be {}", text(expected)), text(got))?;
    }
    for key in ["createdAt", "updatedAt", "coverImageUrl"] {
        reply.ensure(got.get(key).is_some(), format!("{key} in the vault object"), "nothing")?;
    }
    Ok(())
}

/// The list at this path holds all of these, more than any page of this API, in one response, and
/// with a limit too, unless that is refused.
pub(crate) async fn holds_all(case: &Case, path: &str, expected: &BTreeSet<i64>) -> Result {
    for query in ["", "?limit=1"] {
        let reply = case.wire().get(&format!("{path}{query}")).await?;
        if !query.is_empty() && reply.status_code() != 200 {
            return reply.is_client_error("an unknown parameter").map(drop);
        }
        let listed: BTreeSet<_> = reply.status(200)?.integers("/data", "id")?.into_iter().collect();
        let missing = expected.difference(&listed).count();
        let what = format!("all of {} entries in one response", expected.len());
        reply.ensure(missing == 0, what, format!("{missing} of them missing"))?;
        let next = reply.json()?.pointer("/pagination/nextCursor").unwrap_or(&Value::Null);
        reply.ensure(next.is_null(), "no cursor to a next page", next)?;
    }
    Ok(())
}
