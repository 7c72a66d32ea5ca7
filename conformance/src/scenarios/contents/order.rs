//! The order of a vault's listing.

use std::time::Duration;

use serde_json::json;

use super::{Entry, path, pin, prompts};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "contents.order.newest-first" ["VC-09"] newest_first,
        "Prompts that are not pinned are listed by the date they were added, newest first" },
    core! { "contents.order.every-way-in" ["VC-09"] every_way_in,
        "The order goes by the date of adding, whichever call added the prompt" },
    core! { "contents.order.update-moves-nothing" ["VC-09"] update_moves_nothing,
        "An update of a prompt does not move it in its vault" },
    core! { "contents.order.pinned-first" ["VC-07"] pinned_first,
        "Pinned prompts come before all others" },
    core! { "contents.order.by-pin-date" ["VC-08"] by_pin_date,
        "Pinned prompts are ordered among themselves by the date they were pinned" },
    reference! { "contents.order.last-pinned-on-top" ["VC-08"] last_pinned_on_top,
        "The prompt that was pinned last comes first" },
    reference! { "contents.order.pinned-anew" ["VC-08"] pinned_anew,
        "A prompt that is unpinned and pinned again is the newest pin" },
    reference! { "contents.order.added-together" ["VC-09"] added_together,
        "Of prompts added by one request the last of the list ends on top" },
];

/// Five prompts, the first made first.
async fn five(case: &Case) -> Result<Vec<i64>, Failure> {
    let mut prompts = Vec::new();
    for _ in 0..5 {
        prompts.push(make::prompt(case, &case.wire()).await?);
    }
    Ok(prompts)
}

/// Neither the order in which five were made nor the reverse of it.
const MIXED: [usize; 5] = [2, 0, 4, 1, 3];

async fn newest_first(case: Case) -> Result<(), Failure> {
    check::by_date(|pause| newest_first_with(case.clone(), pause)).await
}

async fn newest_first_with(case: Case, pause: Duration) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let made = five(&case).await?;
    let mut expected = MIXED.map(|n| made[n]).to_vec();
    for prompt in &expected {
        tokio::time::sleep(pause).await;
        make::fill(&wire, vault, &[*prompt]).await?;
    }
    expected.reverse();
    let listed = prompts(&wire, vault).await?;
    check::equal("the listing, latest added first,", &listed, &expected)
}

async fn every_way_in(case: Case) -> Result<(), Failure> {
    check::by_date(|pause| every_way_in_with(case.clone(), pause)).await
}

async fn every_way_in_with(case: Case, pause: Duration) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let made = five(&case).await?;
    let into = json!({ "vaultId": vault });

    make::fill(&wire, vault, &[made[3]]).await?;
    tokio::time::sleep(pause).await;
    let save = format!("/prompts/{}/save", made[1]);
    wire.post(&save, into.clone()).await?.status(200)?;
    tokio::time::sleep(pause).await;
    wire.patch(&format!("/prompts/{}", made[2]), into.clone()).await?.status(200)?;
    tokio::time::sleep(pause).await;
    let created = make::prompt_with(&case, &wire, into).await?.integer("/data/id")?;
    tokio::time::sleep(pause).await;
    make::fill(&wire, vault, &[made[0]]).await?;

    let expected = vec![made[0], created, made[2], made[1], made[3]];
    check::equal("the listing, latest added first,", &prompts(&wire, vault).await?, &expected)
}

async fn update_moves_nothing(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    make::fill(&wire, vault, &five(&case).await?).await?;
    let before = prompts(&wire, vault).await?;
    for prompt in before.iter().skip(2) {
        let body = json!({ "title": case.name("changed") });
        wire.patch(&format!("/prompts/{prompt}"), body).await?.status(200)?;
    }
    check::equal("the listing after updates", &prompts(&wire, vault).await?, &before)
}

async fn pinned_first(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 5).await?;
    for n in [0, 2] {
        pin(&wire, vault, members[n].membership).await?;
    }
    let mut top = prompts(&wire, vault).await?;
    top.truncate(2);
    top.sort_unstable();
    let mut expected = vec![members[0].prompt, members[2].prompt];
    expected.sort_unstable();
    check::equal("the two prompts on top", &top, &expected)
}

/// A vault of five with all of them pinned in the mixed order; the listing it
/// has if the last pinned is on top, and the one it has.
async fn pinned_in_turn(case: &Case, pause: Duration) -> Result<[Vec<i64>; 2], Failure> {
    let wire = case.wire();
    let vault = make::vault(case, &wire).await?;
    let members = make::members(case, &wire, vault, 5).await?;
    let pinned = MIXED.map(|n| members[n]);
    for member in pinned {
        tokio::time::sleep(pause).await;
        pin(&wire, vault, member.membership).await?;
    }
    let latest_first = pinned.iter().rev().map(|member| member.prompt).collect();
    Ok([latest_first, prompts(&wire, vault).await?])
}

async fn by_pin_date(case: Case) -> Result<(), Failure> {
    check::by_date(|pause| by_pin_date_with(case.clone(), pause)).await
}

/// S-24: core takes either direction.
async fn by_pin_date_with(case: Case, pause: Duration) -> Result<(), Failure> {
    let [latest_first, listed] = pinned_in_turn(&case, pause).await?;
    let earliest_first: Vec<_> = latest_first.iter().rev().copied().collect();
    let expected = format!("the pins in the order {latest_first:?} or {earliest_first:?}");
    let by_date = listed == latest_first || listed == earliest_first;
    check::ensure(by_date, &expected, format!("{listed:?}"))
}

/// S-24.
async fn last_pinned_on_top(case: Case) -> Result<(), Failure> {
    let [latest_first, listed] = pinned_in_turn(&case, Duration::ZERO).await?;
    check::equal("the pins", &listed, &latest_first)
}

/// S-24.
async fn pinned_anew(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let members = make::members(&case, &wire, vault, 3).await?;
    for member in &members {
        pin(&wire, vault, member.membership).await?;
    }
    let first = members[0].membership;
    wire.delete(&format!("{}/pin", path(vault, first))).await?.status(200)?;
    pin(&wire, vault, first).await?;
    let expected = [0, 2, 1].map(|n| members[n].prompt).to_vec();
    check::equal("the pins", &prompts(&wire, vault).await?, &expected)
}

/// S-25. The ids of the memberships ascend in the order of adding.
async fn added_together(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let made = five(&case).await?;
    let mut expected = MIXED.map(|n| made[n]).to_vec();
    for half in [&expected[..2], &expected[2..]] {
        let body = json!({ "promptIds": half });
        wire.post(&format!("/vaults/{vault}/prompts"), body).await?.status(201)?;
    }
    expected.reverse();
    let listed = super::entries(&wire, vault).await?;
    let ids: Vec<_> = listed.iter().map(|entry| entry.prompt).collect();
    check::equal("the listing", &ids, &expected)?;
    let descend = listed.is_sorted_by(|a: &Entry, b| a.membership > b.membership);
    check::ensure(descend, "descending vaultPromptIds", format!("{listed:?}"))
}
