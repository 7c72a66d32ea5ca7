//! Updates of several fields at once: no reader and no copy meets the fields of two
//! of them (S-76).

use futures::future::try_join;
use serde_json::{Value, json};

use crate::fixture::race;
use crate::scenario::reference;
use crate::wire::ApiResponse;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "races.prompt.updates" ["PR-31", "PR-33"] updates,
        "Of many updates of several fields at once one stands as a whole (S-76)" },
    reference! { "races.prompt.whole-when-read" ["PR-31", "PR-33"] whole_when_read,
        "Whoever reads a prompt while it is updated sees the fields of one update (S-76)" },
    reference! { "races.vault.forked-whole" ["VA-33"] [OtherAccount] forked_whole,
        "Forks made while prompts are updated hold each prompt with the fields of one update \
         (S-76)" },
];

/// Three fields that name their update.
fn fields(case: &Case) -> Value {
    let round = case.name("round");
    json!({ "title": round, "prompt": round, "platform": round })
}

/// The three fields of a prompt are those of one update.
fn is_of_one_update(reply: &ApiResponse, place: &str) -> Result<(), Failure> {
    let title = reply.string(&format!("{place}/title"))?;
    for field in ["prompt", "platform"] {
        reply.equals(&format!("{place}/{field}"), title)?;
    }
    Ok(())
}

async fn updates(case: Case) -> Result<(), Failure> {
    let prompt = case.under_contention().prompt().await?;
    for _ in 0..4 {
        for reply in race::times(8, || prompt.update(fields(&case))).await? {
            is_of_one_update(reply.status(200)?, "/data")?;
        }
        is_of_one_update(&prompt.read().await?, "/data")?;
    }
    Ok(())
}

async fn whole_when_read(case: Case) -> Result<(), Failure> {
    let prompt = case.under_contention().prompt().await?;
    prompt.update(fields(&case)).await?.status(200)?;
    let updates = async {
        for _ in 0..12 {
            prompt.update(fields(&case)).await?.status(200)?;
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
    try_join(updates, reads).await.map(drop)
}

async fn forked_whole(case: Case) -> Result<(), Failure> {
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
