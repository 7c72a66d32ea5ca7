//! Data that exists already is read and not changed: most of what a run with `--read-only` does.
//! Scenarios that find no data are skipped.

use crate::scenarios::answers::shapes::{MEMBER, PROMPT, Shape, VAULT};
use crate::scenarios::endpoints::absent;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { reads "existing-data.prompts.item"
        ["PR-01", "PR-02", "PR-03", "PR-04", "PR-05", "PR-06", "PR-07", "PR-08", "PR-09", "PR-13",
        "PR-30"]
        |case| items(case, "/prompts", PROMPT, "id title prompt promptType createdAt"),
        "Existing prompts have each member, of its type, and are the same at their own addresses" },
    scenario! { reads "existing-data.prompts.filters" ["PR-15", "PR-16"] filters,
        "A list with a filter holds prompts of that type or that vault only" },
    scenario! { reads "existing-data.prompts.pages" ["PG-03", "PG-06", "PG-07"] pages,
        "Each page of two continues where the previous one ended, and no entry is repeated" },
    scenario! { reads "existing-data.prompts.end" ["PG-01", "PG-08"] end,
        "The last page of a list has null as its cursor" },
    scenario! { reads "existing-data.vaults.item"
        ["VA-01", "VA-02", "VA-03", "VA-04", "VA-05", "VA-06", "VA-07", "VA-08", "VA-09", "VA-10",
        "VA-11", "VA-13", "VA-21"]
        |case| items(case, "/vaults", VAULT, "id name slug visibility isSystem createdAt"),
        "Existing vaults have every member, of its type, and are the same at their own addresses" },
    scenario! { reads "existing-data.vaults.order" ["VA-14"] order,
        "The list of vaults is ordered by createdAt, newest first" },
    scenario! { reads "existing-data.vaults.contents" ["VA-10", "VC-04", "VC-06", "VC-07"] contents,
        "A vault lists as many prompts as promptCount says, with their memberships, pins first" },
    scenario! { reads "existing-data.foreign.prompt" ["ER-08", "ER-10"] [OtherAccount]
        |case| hidden(case, "/prompts", &[""]),
        "A prompt that another account has is 404, as one that nobody has" },
    scenario! { reads "existing-data.foreign.vault" ["ER-08", "ER-10"] [OtherAccount]
        |case| hidden(case, "/vaults", &["", "/prompts"]),
        "A vault that another account has is 404 with its contents, as one that nobody has" },
];

const SOME: usize = 10;
/// Reads after which a failure counts.
const READS_MAX: u32 = 5;
/// Pages read to see the end of a list.
const PAGES_MAX: usize = 300;

/// Reads again after a failure, as others create, change and delete data between two responses. A
/// fault of the target shows each time.
async fn stable<T, F: Future<Output = Result<T>>>(case: &Case, once: impl Fn() -> F) -> Result<T> {
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
    // The filter by vault has to leave it out.
    case.prompt().await?;
    Ok(Some(vault))
}

/// The first entries of a collection have these members, of these types, and are at their own
/// addresses with the same values of the fields `same`. Entries deleted meanwhile are passed over.
async fn items(case: Case, collection: &str, members: &[Shape], same: &str) -> Result {
    let (case, wire) = (&case, &case.wire());
    create_data(case).await?;
    let look = || async {
        let (reply, entries) = some(wire, collection).await?;
        shaped(&reply, &entries, members).map(|()| entries)
    };
    let entries = stable(case, look).await?;
    for id in entries.iter().filter_map(|entry| entry["id"].as_i64()) {
        let look = || async move {
            let (_, list) = some(wire, collection).await?;
            let Some(entry) = list.iter().find(|entry| entry["id"] == id) else { return Ok(()) };
            let own = wire.get(&format!("{collection}/{id}")).await?;
            let same = same.split(' ').map(|member| (member, entry[member].clone()));
            own.status(200)?.shows(&Value::from_iter(same)).map(drop)
        };
        stable(case, look).await?;
    }
    skip_unless(!entries.is_empty(), &format!("GET {collection} gives an empty list to look at"))
}

/// The first entries of a list.
async fn some(wire: &Wire, path: &str) -> Result<(ApiResponse, Vec<Value>)> {
    let reply = wire.get(path).await?;
    let mut entries = reply.status(200)?.array("/data")?;
    entries.truncate(SOME);
    Ok((reply, entries))
}

fn shaped(reply: &ApiResponse, entries: &[Value], members: &[Shape]) -> Result {
    let mut all = entries.iter().flat_map(|entry| members.iter().map(move |it| (entry, it)));
    all.try_for_each(|(entry, member)| member.is_in(entry, reply))
}

async fn filters(case: Case) -> Result {
    let wire = case.wire();
    let own = create_data(&case).await?;
    stable(&case, || async {
        let (_, entries) = some(&wire, "/prompts?limit=100").await?;
        skip_unless(!entries.is_empty(), "GET /prompts gives an empty list to look at")?;
        for kind in ["image", "text", "video"] {
            let (reply, found) = some(&wire, &format!("/prompts?type={kind}")).await?;
            for got in found.iter().map(|entry| &entry["promptType"]) {
                reply.ensure(*got == kind, format!("prompts of the type {kind} only"), got)?;
            }
        }
        let found = entries.iter().find_map(|entry| entry["vaultIds"][0].as_i64());
        let Some(vault) = own.as_ref().map(|vault| vault.id).or(found) else { return Ok(()) };
        let (reply, found) = some(&wire, &format!("/prompts?vaultId={vault}")).await?;
        reply.ensure(!found.is_empty(), format!("prompts of the vault {vault}"), "none")?;
        for got in found.iter().map(|entry| &entry["vaultIds"]) {
            let inside = got.as_array().is_some_and(|ids| ids.contains(&json!(vault)));
            reply.ensure(inside, format!("prompts of the vault {vault} only"), got)?;
        }
        Ok(())
    })
    .await
}

async fn pages(case: Case) -> Result {
    create_data(&case).await?;
    let list = case.list().limit(2);
    stable(&case, || async {
        let first = list.page().await?;
        let count = first.ids.len();
        first.reply.ensure(count <= 2, "at most two entries", count)?;
        skip_unless(first.next.is_some(), "the list of prompts is too short for two pages")?;
        let second = list.clone().after(&first).page().await?;
        let ids = [&first.ids[..], &second.ids].concat();
        let once = ids.iter().collect::<BTreeSet<_>>().len() == ids.len();
        let what = "at most two entries a page, none twice";
        second.reply.ensure(once && second.ids.len() <= 2, what, json_text(&ids)).map(drop)
    })
    .await
}

async fn end(case: Case) -> Result {
    create_data(&case).await?;
    let list = case.list().limit(100);
    stable(&case, || async {
        let mut walk = Walk::from(list.page().await?);
        while walk.pages.len() <= PAGES_MAX && walk.advance(&list).await? {}
        let what = format!("the list of prompts has more than {PAGES_MAX} pages of 100 to look at");
        skip_unless(walk.last().next.is_none(), &what)
    })
    .await
}

async fn order(case: Case) -> Result {
    create_data(&case).await?;
    let reply = case.wire().get("/vaults").await?;
    let vaults = reply.status(200)?.array("/data")?;
    let date = |vault: &Value| vault["createdAt"].as_str().and_then(check::timestamp);
    let dates: Vec<_> = vaults.iter().map(date).collect();
    let descend = dates.is_sorted_by(|a, b| a >= b) && !dates.contains(&None);
    let first_wrong = dates.windows(2).find(|pair| pair[0] < pair[1]);
    reply.ensure(descend, "descending createdAt", json_text(&first_wrong)).map(drop)
}

async fn contents(case: Case) -> Result {
    let wire = &case.wire();
    let own = create_data(&case).await?;
    for vault in own.as_slice() {
        if let Some(last) = vault.members().await?.last() {
            // The vault then has to list it first.
            last.pinned().await?;
        }
    }
    let (_, found) = some(wire, "/vaults").await?;
    let found = found.iter().filter_map(|vault| vault["id"].as_i64());
    let mut seen = 0;
    for vault in found.chain(own.map(|vault| vault.id)) {
        seen += stable(&case, || entries_of(wire, vault)).await?;
    }
    skip_unless(seen > 0, "none of the vaults holds a prompt to look at")
}

/// How many entries a vault lists. A change by others between the responses is no fault.
async fn entries_of(wire: &Wire, vault: i64) -> Result<usize> {
    let path = format!("/vaults/{vault}");
    let before = wire.get(&path).await?;
    let listing = wire.get(&format!("{path}/prompts")).await?;
    let after = wire.get(&path).await?;
    if [&before, &listing, &after].iter().any(|reply| reply.status_code() == 404) {
        return Ok(0);
    }
    let entries = listing.status(200)?.array("/data")?;
    shaped(&listing, &entries, MEMBER)?;
    let pinned: Vec<_> = entries.iter().map(|entry| entry["isPinned"] == true).collect();
    let got = format!("isPinned {}", json_text(&pinned));
    let sorted = pinned.is_sorted_by_key(|pinned| !pinned);
    listing.ensure(sorted, "pinned prompts before all others", got)?;
    let count = before.integer("/data/promptCount")?;
    let (changed, listed) = (count != after.integer("/data/promptCount")?, entries.len());
    let same = changed || usize::try_from(count) == Ok(listed);
    listing.ensure(same, format!("{count} entries, as promptCount says"), listed)?;
    Ok(listed)
}

/// What one account sees at these addresses, the other does not. One of the two may have nothing.
async fn hidden(case: Case, collection: &str, below: &[&str]) -> Result {
    let (main, other) = (case.wire(), case.other());
    let mut seen = 0;
    for (owner, stranger) in [(&main, &other), (&other, &main)] {
        create_data(&case.on(owner.clone())).await?;
        let look = || async {
            let (_, entries) = some(owner, collection).await?;
            for id in entries.iter().filter_map(|entry| entry["id"].as_i64()) {
                let seen = below.iter().map(|rest| format!("{collection}/{id}{rest}"));
                // An entry deleted meanwhile is 404 for both accounts.
                for path in seen.chain([format!("{collection}/{}", absent(id))]) {
                    stranger.get(&path).await?.status(404)?;
                }
            }
            Ok(entries.len())
        };
        seen += stable(&case, look).await?;
    }
    skip_unless(seen > 0, "neither account has anything to look at")
}
