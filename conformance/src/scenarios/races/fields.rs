//! Updates of several fields at once: no reader and no copy meets the fields of two
//! of them (S-76).

use futures::future::{join, join_all};
use serde_json::{Value, json};

use super::{all, sound};
use crate::scenario::reference;
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check, make};

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
fn named(round: &str) -> Value {
    json!({ "title": round, "prompt": round, "platform": round })
}

/// The three fields of a prompt are those of one update.
fn is_of_one(reply: &Reply, place: &str) -> Result<(), Failure> {
    let title = reply.string(&format!("{place}/title"))?;
    for field in ["prompt", "platform"] {
        reply.equals(&format!("{place}/{field}"), title)?;
    }
    Ok(())
}

async fn updates(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let path = format!("/prompts/{}", make::prompt(&case, &wire).await?);
    for _ in 0..4 {
        let bodies = (0..8).map(|_| named(&case.name("round")));
        for reply in all(join_all(bodies.map(|body| wire.patch(&path, body))).await)? {
            is_of_one(reply.status(200)?, "/data")?;
        }
        is_of_one(wire.get(&path).await?.status(200)?, "/data")?;
    }
    Ok(())
}

async fn whole_when_read(case: Case) -> Result<(), Failure> {
    let wire = case.wire().under_contention();
    let path = format!("/prompts/{}", make::prompt(&case, &wire).await?);
    wire.patch(&path, named(&case.name("before"))).await?.status(200)?;
    let updates = async {
        for _ in 0..12 {
            wire.patch(&path, named(&case.name("round"))).await?.status(200)?;
        }
        Ok::<_, Failure>(())
    };
    let reads = async {
        for _ in 0..6 {
            for reply in all(join_all((0..4).map(|_| wire.get(&path))).await)? {
                is_of_one(reply.status(200)?, "/data")?;
            }
        }
        Ok::<_, Failure>(())
    };
    let (updated, read) = join(updates, reads).await;
    updated.and(read)
}

async fn forked_whole(case: Case) -> Result<(), Failure> {
    let (wire, other) = (case.wire().under_contention(), case.other().under_contention());
    let fields = json!({ "visibility": "public" });
    let vault = make::vault_with(&case, &other, fields).await?.integer("/data/id")?;
    let members = make::members(&case, &other, vault, 4).await?;
    let paths: Vec<_> = members.iter().map(|one| format!("/prompts/{}", one.prompt)).collect();
    for path in &paths {
        other.patch(path, named(&case.name("before"))).await?.status(200)?;
    }
    let fork = format!("/vaults/{vault}/fork");
    let bodies = paths.iter().cycle().take(16).map(|path| (path, named(&case.name("round"))));
    let updates = join_all(bodies.map(|(path, body)| other.patch(path, body)));
    let forks = join_all((0..4).map(|_| wire.post_empty(&fork)));
    let (updates, forks) = join(updates, forks).await;
    sound(&all(updates)?)?;
    for forked in all(forks)? {
        let id = forked.status(201)?.integer("/data/id")?;
        let copies = wire.get(&format!("/vaults/{id}/prompts")).await?;
        let count = copies.status(200)?.array("/data")?.len();
        check::equal("the copies", &count, &members.len())?;
        for at in 0..count {
            is_of_one(&copies, &format!("/data/{at}"))?;
        }
    }
    Ok(())
}
