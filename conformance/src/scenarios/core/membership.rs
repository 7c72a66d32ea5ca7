//! Memberships: their ids, one for each vault of a prompt; the calls that remove and pin them; and
//! `GET /vaults/{vaultId}/prompts`, which lists them in their order.

use crate::scenarios::core::prompt_create::typed;
use crate::scenarios::core::vault_object::holds_all;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "contents.membership.own-id" ["VC-01"] own_id,
        "A prompt has a vaultPromptId of its own in each vault, which calls take and not its id" },
    scenario! { "contents.membership.answers" ["VC-15", "VC-25", "VC-26"] answers,
        "Remove, pin and unpin answer 200 with the membership's id and its new state" },
    scenario! { "contents.remove.takes-out" ["VC-15", "VC-16"] takes_out,
        "A removal takes the prompt out of this vault only, and leaves the vault's other prompts" },
    scenario! { "contents.pin.to-the-top" ["VC-27"] |case| listed_after(case, &[2], &[], [2, 0, 1, 3]),
        "A pinned prompt is shown as pinned and is on top of the listing" },
    scenario! { "contents.unpin.back-to-its-place" ["VC-28"]
        |case| listed_after(case, &[1, 3], &[3, 1], [0, 1, 2, 3]),
        "An unpinned prompt is back where the normal order has it" },
    scenario! { "contents.pin.again" ["VC-29"]
        |case| repeated(case, true, "the pin of a pinned prompt"),
        "Pinning a pinned prompt answers 200 and changes nothing" },
    scenario! { "contents.unpin.again" ["VC-30"]
        |case| repeated(case, false, "the unpin of a prompt that is not pinned"),
        "Unpinning a prompt that is not pinned answers 200 and changes nothing" },
    scenario! { "contents.listing.entries" ["VC-04"] whole_prompts,
        "The listing holds the prompts of this vault and no others, as whole prompt objects" },
    scenario! { "contents.listing.whole" ["VC-05"] whole,
        "The listing holds the whole vault; a limit makes no page of it: it is ignored or refused" },
    scenario! { "contents.listing.pinned-here" ["VC-06"] pinned_here,
        "isPinned applies to the vault that is listed, not to another one" },
    scenario! { "contents.order.every-way-in" ["VC-09"] |case| by_date(case, every_way_in),
        "The order is by the date of adding, whichever call added the prompt; an update changes no place" },
    scenario! { "contents.order.pinned-first" ["VC-07"] pinned_first,
        "Pinned prompts come before all others" },
    scenario! { "contents.order.by-pin-date" ["VC-08"] |case| by_date(case, by_pin_date),
        "Pinned prompts are ordered among themselves by the date they were pinned" },
];

async fn own_id(case: Case) -> Result {
    let prompt = case.prompt().await?;
    let mut memberships = Vec::new();
    for vault in case.vaults::<4>().await? {
        vault.add_in_turn([&prompt]).await?;
        memberships.extend(vault.entries().await?.iter().map(|entry| entry.membership));
    }
    check::distinct("vaultPromptIds", memberships)?;
    not_the_prompt_id(&case).await
}

async fn answers(case: Case) -> Result {
    let (_, [_, member]) = vault_with_distinct_ids(&case).await?;
    for (reply, field, value) in [
        (member.pin().await?, "isPinned", true),
        (member.unpin().await?, "isPinned", false),
        (member.remove().await?, "removed", true),
    ] {
        reply.status(200)?.equals("/data/vaultPromptId", member.id)?;
        reply.equals(&format!("/data/{field}"), value)?;
    }
    Ok(())
}

/// The id of the prompt is not also that of a membership of the vault: where both kinds of ids count
/// from 1, the prompt outside of the vault makes them differ.
async fn not_the_prompt_id(case: &Case) -> Result {
    let [vault, target] = case.vaults().await?;
    vault.fill(2).await?;
    case.prompt().await?;
    vault.fill(2).await?;
    let before = vault.entries().await?;
    let known = |id: i64| before.iter().any(|entry| entry.membership == id);
    let prompt = before.iter().map(|entry| entry.prompt).find(|prompt| !known(*prompt));
    let none = || Failure::failed("a vaultPromptId that is not a prompt's id", "only such ids");
    let prompt = prompt.ok_or_else(none)?;
    let by_prompt = vault.membership(prompt, &case.prompt_at(prompt));
    is_taken_by_no_call(&by_prompt, &target, "the id of the prompt").await?;
    vault.expect_entries(&before).await
}

/// The removal of a membership that does not exist may succeed (S-31).
pub async fn is_taken_by_no_call(member: &Member, target: &Vault, what: &str) -> Result {
    member.pin().await?.is_client_error(format!("pin with {what}"))?;
    member.move_to(target).await?.is_client_error(format!("move with {what}"))?;
    member.remove().await.map(drop)
}

async fn takes_out(case: Case) -> Result {
    let (vault, second, [pinned, removed, alone, last]) = case.source_and_target().await?;
    second.add_in_turn([&removed]).await?;
    pinned.pinned().await?;
    let (mut expected, elsewhere) = (vault.entries().await?, second.entries().await?);
    removed.remove().await?.status(200)?;
    expected.retain(|entry| entry.membership != removed.id);
    vault.expect_entries(&expected).await?;
    second.expect_entries(&elsewhere).await?;
    removed.prompt.expect_vaults([&vault, &second], [&second]).await?;
    alone.remove().await?.status(200)?;
    alone.prompt.expect_vaults([&vault], []).await?;
    // The vault stays when its last prompt is taken out.
    for member in [&pinned, &last] {
        member.remove().await?.status(200)?;
    }
    vault.expect_size(0).await
}

/// A vault with four prompts, in the order of the listing: the one added last first.
async fn four(case: &Case) -> Result<(Vault, Vec<Member>)> {
    let (vault, _) = case.vault_of(4).await?;
    vault.expect_size(4).await?;
    let members = vault.members().await?;
    Ok((vault, members))
}

/// Prompts are pinned and unpinned again in these orders, and then listed in the last one.
async fn listed_after(case: Case, pins: &[usize], unpins: &[usize], order: [usize; 4]) -> Result {
    let (vault, listed) = four(&case).await?;
    for n in pins {
        listed[*n].pinned().await?;
    }
    for n in unpins {
        listed[*n].unpin().await?.status(200)?;
    }
    let pinned = |n| pins.contains(&n) && !unpins.contains(&n);
    vault.expect_entries(&order.map(|n| Entry { pinned: pinned(n), ..listed[n].entry() })).await
}

/// A pin of each prompt that is pinned, or an unpin of each that is not, changes nothing.
async fn repeated(case: Case, pin: bool, what: &str) -> Result {
    let (vault, listed) = four(&case).await?;
    let (pinned, plain) = listed.split_at(if pin { 3 } else { 1 });
    for member in pinned {
        member.pinned().await?;
    }
    let before = vault.entries().await?;
    for member in if pin { pinned } else { plain } {
        let reply = if pin { member.pin().await? } else { member.unpin().await? };
        reply.has_status(200, what)?.equals("/data/isPinned", pin)?;
        vault.expect_entries(&before).await?;
    }
    Ok(())
}

/// A new vault with two prompts. No membership has the id of its prompt: with equal ids a server that
/// confuses the two would pass.
pub async fn vault_with_distinct_ids(case: &Case) -> Result<(Vault, [Member; 2])> {
    let mut tries = 0;
    loop {
        let (vault, members) = case.filled_vault().await?;
        tries += 1;
        if tries == 8 || members.iter().all(|member| member.id != member.prompt.id) {
            return Ok((vault, members));
        }
        // Then the ids of prompts are ahead by one more.
        case.prompt().await?;
    }
}

async fn whole_prompts(case: Case) -> Result {
    let [vault, second] = case.vaults().await?;
    let fields = json!({ "vaultId": vault.id, "platform": "poster" });
    let (prompt, _) = case.prompt_with(merged(typed(&case, "image"), fields)).await?;
    let others = case.prompts(3).await?;
    vault.add_in_turn(&others[..2]).await?;
    second.add_in_turn([&prompt, &others[2]]).await?;
    vault.expect_prompts_in_any_order([&prompt, &others[0], &others[1]]).await?;
    let alone = check::stable_fields(prompt.read().await?.at("/data")?);
    let listing = vault.listing().await?;
    let entry = check::stable_fields(&listing.entry(prompt.id)?);
    for key in ["id", "title", "prompt", "promptType", "platform", "images", "vaultIds"] {
        let (got, expected) = (&entry[key], &alone[key]);
        listing.ensure(got == expected, format!("{key} of the entry to be {expected}"), got)?;
    }
    Ok(())
}

/// More prompts than the longest page of this API has entries.
async fn whole(case: Case) -> Result {
    let vault = case.vault().await?;
    let mut expected = BTreeSet::new();
    for _ in 0..7 {
        let prompts = case.prompts(15).await?;
        vault.add(&prompts).await?.status(201)?;
        expected.extend(prompts.iter().map(|prompt| prompt.id));
    }
    holds_all(&case, &format!("{}/prompts", vault.path()), &expected).await
}

async fn pinned_here(case: Case) -> Result {
    let (pinned, plain, [member]) = case.source_and_target().await?;
    plain.add_in_turn([&member]).await?;
    member.pinned().await?;
    for (vault, expected) in [(&pinned, true), (&plain, false)] {
        vault.listing().await?.equals("/data/0/isPinned", expected)?;
    }
    plain.member_of(&member.prompt).await?.pinned().await?;
    for vault in [&pinned, &plain] {
        vault.listing().await?.equals("/data/0/isPinned", true)?;
    }
    Ok(())
}

/// Neither the order of creation of these prompts nor its reverse, and more than one digit counts.
pub const MIXED: [usize; 11] = [2, 0, 4, 10, 1, 3, 9, 5, 8, 6, 7];

async fn every_way_in(case: Case, pause: Duration) -> Result {
    let (vault, prompts) = (case.vault().await?, case.prompts_in_turn(5).await?);
    // Removed, and put in anew.
    vault.add_in_turn(&prompts[..3]).await?;
    for member in vault.members().await? {
        member.remove().await?.status(200)?;
    }
    vault.add_in_turn([&prompts[3]]).await?;
    for (n, way) in [(1, Way::Save), (2, Way::Update)] {
        tokio::time::sleep(pause).await;
        vault.put(&prompts[n], way).await?.status(200)?;
    }
    tokio::time::sleep(pause).await;
    let (created, _) = case.prompt_with(json!({ "vaultId": vault.id })).await?;
    tokio::time::sleep(pause).await;
    vault.put(&prompts[0], Way::Add).await?.status(201)?;
    let expected = [&prompts[0], &created, &prompts[2], &prompts[1], &prompts[3]];
    vault.expect_prompts(expected).await?;
    for prompt in &expected[2..] {
        prompt.update(json!({ "title": case.name("changed") })).await?.status(200)?;
    }
    vault.expect_prompts(expected).await
}

async fn pinned_first(case: Case) -> Result {
    let (vault, members) = case.filled_vault::<5>().await?;
    let pinned = [&members[0], &members[2]];
    for member in pinned {
        member.pinned().await?;
    }
    let listing = vault.listing().await?;
    let listed = listing.integers("/data", "id")?;
    let on_top = ids(pinned).iter().all(|id| listed[..2.min(listed.len())].contains(id));
    listing.ensure(on_top, "the two pinned prompts on top", json_text(&listed)).map(drop)
}

/// A vault of eleven, all pinned in the order [`MIXED`]; the members, the one pinned last first.
pub async fn pinned_in_turn(case: &Case, pause: Duration) -> Result<(Vault, Vec<Member>)> {
    let (vault, members) = case.filled_vault::<{ MIXED.len() }>().await?;
    // The pin that counts is the last one.
    members[MIXED[10]].pinned().await?;
    members[MIXED[10]].unpin().await?.status(200)?;
    for n in MIXED {
        tokio::time::sleep(pause).await;
        members[n].pinned().await?;
    }
    Ok((vault, MIXED.iter().rev().map(|n| members[*n].clone()).collect()))
}

/// Core accepts both directions (S-24).
async fn by_pin_date(case: Case, pause: Duration) -> Result {
    let (vault, latest_first) = pinned_in_turn(&case, pause).await?;
    if vault.expect_prompts(latest_first.iter().rev()).await.is_ok() {
        return Ok(());
    }
    check::with_context("or the reverse", vault.expect_prompts(&latest_first).await)
}
