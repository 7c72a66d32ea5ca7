//! What many calls at once leave in our server. No reader and no copy meets the fields of two updates
//! (S-76).

use crate::prelude::*;
use promptarium_conformance::scenarios::core::races::{many_removals, moved_or_removed};
use promptarium_conformance::scenarios::core::vault_update::{deleted_by_many, without_defaults};

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "races.prompt.updates" ["S-76"] updates,
        "Of many updates at once one stands as a whole, also for those who read meanwhile" },
    scenario! { "races.vault.forked-whole" ["S-76"] [OtherAccount] forked_whole,
        "Forks made while prompts are updated hold each prompt with the fields of one update" },
    scenario! { "contents.race.same-adds" ["S-26"] same_adds,
        "Prompts added many times at once are there once, and the sum of added is their number" },
    scenario! { "contents.race.one-removes" ["S-76"]
        |case| async move { race::expect_successes(&many_removals(&case).await?, 1) },
        "Of many removals of one membership exactly one succeeds" },
    scenario! { "contents.race.moves-into-a-holder" ["S-28"] moves_into_a_holder,
        "Moves of one prompt from many vaults into one leave it there once" },
    scenario! { "contents.race.losers-404" ["S-31"] losers_404,
        "The moves that lose answer 404, and no removal of a membership that was moved succeeds" },
    scenario! { "vaults.update.updated-at" ["S-19", "S-67"] updated_at,
        "An update with a known field moves updatedAt on; nothing else does, and createdAt stays" },
    scenario! { "vaults.race.one-deletes" ["S-76"]
        |case| async move { race::expect_successes(&deleted_by_many(&case).await?.1, 1) },
        "Of many deletions of one vault exactly one succeeds" },
    scenario! { "vaults.race.updates" ["VA-24"] update_updates,
        "Of many update_updates at the same time one stands as a whole" },
    scenario! { "vaults.race.slugs" ["S-16"] slugs,
        "Vaults made at the same time under one name have slugs of their own" },
];

fn fields(case: &Case) -> Value {
    let round = case.name("round");
    json!({ "title": round, "prompt": round, "platform": round })
}

/// The three fields of a prompt are those of one update.
fn is_of_one_update(reply: &ApiResponse, place: &str) -> Result {
    let title = reply.string(&format!("{place}/title"))?;
    for field in ["prompt", "platform"] {
        reply.equals(&format!("{place}/{field}"), title)?;
    }
    Ok(())
}

async fn updates(case: Case) -> Result {
    let prompt = case.under_contention().prompt().await?;
    prompt.update(fields(&case)).await?.status(200)?;
    let updates = async {
        for _ in 0..4 {
            for reply in race::times(8, || prompt.update(fields(&case))).await? {
                is_of_one_update(reply.status(200)?, "/data")?;
            }
        }
        Ok(())
    };
    let reads = async {
        for _ in 0..6 {
            for reply in race::times(4, || prompt.read()).await? {
                is_of_one_update(&reply, "/data")?;
            }
        }
        Ok(())
    };
    try_join(updates, reads).await?;
    is_of_one_update(&prompt.read().await?, "/data")
}

async fn forked_whole(case: Case) -> Result {
    let (case, owner) = (case.under_contention(), case.other_account().under_contention());
    let (vault, _) = owner.vault_with(json!({ "visibility": "public" })).await?;
    let members = vault.fill(4).await?;
    for member in &members {
        member.prompt.update(fields(&case)).await?.status(200)?;
    }
    let updates = members.iter().cycle().take(16);
    let updates = race::all(updates.map(|member| member.prompt.update(fields(&case))));
    let source = case.vault_at(vault.id);
    let (updates, forks) = try_join(updates, race::times(4, || source.fork())).await?;
    race::expect_no_server_error(&updates)?;
    for forked in forks {
        let fork = case.vault_at(forked.status(201)?.integer("/data/id")?);
        let listing = fork.listing().await?;
        let count = listing.array("/data")?.len();
        listing.ensure(count == members.len(), "4 copies", count)?;
        for at in 0..count {
            is_of_one_update(&listing, &format!("/data/{at}"))?;
        }
    }
    Ok(())
}

/// Requests at once that each add so many of the same eight prompts, each from another end.
async fn overlapping_adds(
    case: &Case,
    size: impl Fn(usize) -> usize,
) -> Result<(Vault, Vec<ApiResponse>)> {
    let case = case.under_contention();
    let (vault, mut prompts) = (case.vault().await?, case.prompts(8).await?);
    let calls = (0..16).map(|n| {
        prompts.rotate_left(3);
        vault.add(prompts[..size(n)].to_vec())
    });
    let replies = race::all(calls).await?;
    Ok((vault, replies))
}

async fn same_adds(case: Case) -> Result {
    overlapping_adds(&case, |_| 8).await?.0.expect_size(8).await?;
    let (vault, replies) = overlapping_adds(&case, |n| 1 + n % 8).await?;
    let mut sum = 0;
    for reply in replies {
        sum += reply.status(201)?.integer("/data/added")?;
    }
    let held = vault.prompts().await?.len();
    check::equal("the sum of added", &usize::try_from(sum).ok(), &Some(held))?;
    let case = case.under_contention();
    let (vault, prompt) = (case.vault().await?, case.prompt().await?);
    let adds = race::times(6, || vault.add([&prompt]));
    let saves = race::times(6, || prompt.save_into(&vault));
    let updates = race::times(6, || prompt.update(json!({ "vaultId": vault.id })));
    let (_, saves, updates) = try_join3(adds, saves, updates).await?;
    for reply in saves.iter().chain(&updates) {
        reply.status(200)?.equals("/data/vaultIds", json!([vault.id]))?;
    }
    prompt.expect_vaults([&vault], [&vault]).await?;
    vault.expect_size(1).await
}

async fn moves_into_a_holder(case: Case) -> Result {
    let case = case.under_contention();
    let (target, sources) = (case.vault().await?, case.vaults::<8>().await?);
    let prompt = case.prompt().await?;
    for source in &sources {
        source.add_in_turn([&prompt]).await?;
    }
    let members = try_join_all(sources.iter().map(Vault::members)).await?.concat();
    let moves = race::all(members.iter().map(|member| member.move_to(&target))).await?;
    race::expect_status(&moves, 200)?;
    prompt.expect_vaults(sources.iter().chain([&target]), [&target]).await?;
    target.expect_size(1).await
}

async fn losers_404(case: Case) -> Result {
    let (_, target, [member]) = case.under_contention().source_and_target().await?;
    let replies = race::times(16, || member.move_to(&target)).await?;
    for reply in replies.iter().filter(|reply| reply.status_code() != 200) {
        reply.has_status(404, "a move that came too late")?;
    }
    moved_or_removed(case, true).await
}

async fn updated_at(case: Case) -> Result {
    let (vault, created) = without_defaults(&case).await?;
    let first = created.at("/data/createdAt")?.clone();
    created.equals("/data/updatedAt", first.clone())?;
    for fields in [json!({}), json!({ "colour": "red", "isLocked": true, "slug": "mine" })] {
        let reply = vault.update(fields).await?;
        reply.status(200)?.equals("/data", created.at("/data")?.clone())?;
    }
    same_fields(&vault.read().await?, &created, ["updatedAt"])?;
    let mut last = created.timestamp("/data/updatedAt")?;
    let same = json!({ "visibility": "unlisted" });
    for fields in [json!({ "description": null }), json!({ "name": case.name("new") }), same] {
        let reply = vault.update(fields).await?;
        let now = reply.status(200)?.timestamp("/data/updatedAt")?;
        reply.ensure(now > last, format!("an updatedAt after {last}"), now)?;
        reply.equals("/data/createdAt", first.clone())?;
        last = now;
    }
    let before = vault.read().await?;
    let target = case.vault().await?;
    let [pinned, moved, removed] = vault.filled().await?;
    pinned.pinned().await?;
    moved.move_to(&target).await?.status(200)?;
    removed.remove().await?.status(200)?;
    pinned.prompt.delete().await?.status(200)?;
    same_fields(&vault.read().await?, &before, ["updatedAt"])
}

async fn update_updates(case: Case) -> Result {
    let vault = case.under_contention().vault().await?;
    let texts: Vec<_> = (0..16).map(|_| case.name("pair")).collect();
    let fields = texts.iter().map(|text| json!({ "name": text, "description": text }));
    race::expect_status(&race::all(fields.map(|fields| vault.update(fields))).await?, 200)?;
    let now = vault.read().await?;
    let name = now.string("/data/name")?;
    now.ensure(texts.iter().any(|text| text == name), "the name of one update", name)?;
    now.equals("/data/description", name).map(drop)
}

async fn slugs(case: Case) -> Result {
    let (wire, body) = (case.wire().under_contention(), json!({ "name": case.name("same") }));
    let replies = race::times(12, || wire.post("/vaults", body.clone())).await?;
    let slugs = replies.iter().map(|reply| reply.status(201)?.string("/data/slug"));
    check::distinct("slugs", slugs.collect::<Result<Vec<_>>>()?)
}
