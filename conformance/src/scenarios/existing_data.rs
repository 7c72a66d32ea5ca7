//! Data that exists already is read and left alone. These are the only scenarios that work on
//! what they did not create, so a run with `--read-only` has mostly these. Where an account is
//! empty they are skipped.

mod lists;

use std::time::Duration;

use super::answers::shapes::Shape;
use super::endpoints::absent;
use super::prelude::*;
use crate::Verdict;
use crate::wire::Wire;

pub(super) const ALL: &[&[Scenario]] = &[lists::ALL, FOREIGN];

#[rustfmt::skip]
const FOREIGN: &[Scenario] = &[
    core! { reads "existing-data.foreign.prompt" ["ER-08", "ER-10"] [OtherAccount]
        |case| hidden(case, "/prompts", &[""]),
        "A prompt that another account has is 404, as one that nobody has" },
    core! { reads "existing-data.foreign.vault" ["ER-08", "ER-10"] [OtherAccount]
        |case| hidden(case, "/vaults", &["", "/prompts"]),
        "A vault that another account has is 404 with its contents, as one that nobody has" },
];

/// How many entries of a list are read.
const SOME: usize = 10;
/// How often something is read before what was seen is a fault.
const READS_MAX: u32 = 5;

/// Reads again after a failure, as data of others comes, goes and changes between two responses.
/// A fault of the target shows each time.
async fn stable<F>(case: &Case, once: impl Fn() -> F) -> Result
where
    F: Future<Output = Result>,
{
    for n in 1..READS_MAX {
        match once().await {
            Err(failure) if failure.verdict == Verdict::Failed => {
                tokio::time::sleep(case.scaled(Duration::from_millis(200) * n)).await;
            }
            other => return other,
        }
    }
    once().await
}

/// A vault with prompts in it, so that there is something to read; none in a run that only reads.
async fn create_data(case: &Case) -> Result<Option<Vault>> {
    if case.target().options().read_only {
        return Ok(None);
    }
    let vault = case.vault().await?;
    vault.fill(3).await?;
    Ok(Some(vault))
}

/// Each of the first entries of the collection at its own address. Those that are
/// deleted meanwhile say nothing.
async fn same_at_its_own_address(case: Case, collection: &str, members: &[&str]) -> Result {
    let (case, wire) = (&case, &case.wire());
    create_data(case).await?;
    for id in present(wire, collection).await?.1.iter().filter_map(|entry| entry["id"].as_i64()) {
        stable(case, || async move {
            let (_, list) = some(wire, collection).await?;
            let Some(entry) = list.iter().find(|entry| entry["id"] == id) else { return Ok(()) };
            let own = wire.get(&format!("{collection}/{id}")).await?;
            own.status(200)?;
            for member in members {
                own.equals(&format!("/data/{member}"), entry[*member].clone())?;
            }
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// The first entries of the list that this answers with.
async fn some(wire: &Wire, path: &str) -> Result<(ApiResponse, Vec<Value>)> {
    let reply = wire.get(path).await?;
    let mut entries = reply.status(200)?.array("/data")?;
    entries.truncate(SOME);
    Ok((reply, entries))
}

/// The first entries of the list, of which there is at least one.
async fn present(wire: &Wire, path: &str) -> Result<(ApiResponse, Vec<Value>)> {
    let (reply, entries) = some(wire, path).await?;
    if entries.is_empty() {
        let what = path.split('?').next().unwrap_or(path);
        return Err(Failure::skipped(format!("GET {what} gives an empty list to look at")));
    }
    Ok((reply, entries))
}

/// The first entries of a collection have these members, of these types.
async fn have_members(case: Case, collection: &str, members: &[Shape]) -> Result {
    let wire = &case.wire();
    create_data(&case).await?;
    stable(&case, || async move {
        let (reply, entries) = present(wire, collection).await?;
        shaped(&reply, &entries, members)
    })
    .await
}

/// Every entry has these members, of these types.
fn shaped(reply: &ApiResponse, entries: &[Value], members: &[Shape]) -> Result {
    for entry in entries {
        for Shape { name, kind, .. } in members {
            let value = &entry[*name];
            let fits = entry.get(*name).is_some() && kind.fits(value);
            reply.ensure(fits, format!("{name} to be {kind} in every entry"), value)?;
        }
    }
    Ok(())
}

/// What one account sees at these addresses, the other does not. One of the two
/// may be empty.
async fn hidden(case: Case, collection: &str, below: &[&str]) -> Result {
    let (case, main, other) = (&case, case.wire(), case.other());
    let first = hidden_from(case, &main, &other, collection, below).await;
    match (first, hidden_from(case, &other, &main, collection, below).await) {
        (Err(failure), _) | (_, Err(failure)) if failure.verdict != Verdict::Skipped => {
            Err(failure)
        }
        (Err(nothing), Err(_)) => Err(nothing),
        _ => Ok(()),
    }
}

async fn hidden_from(
    case: &Case,
    owner: &Wire,
    stranger: &Wire,
    collection: &str,
    below: &[&str],
) -> Result {
    create_data(&case.on(owner.clone())).await?;
    stable(case, || async {
        for entry in present(owner, collection).await?.1 {
            for rest in below {
                let path = format!("{collection}/{}{rest}", entry["id"]);
                // What is deleted meanwhile is 404 for both, and as good.
                stranger.get(&path).await?.status(404)?;
            }
            if let Some(id) = entry["id"].as_i64() {
                stranger.get(&format!("{collection}/{}", absent(id))).await?.status(404)?;
            }
        }
        Ok(())
    })
    .await
}
