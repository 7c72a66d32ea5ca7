//! The endpoints below `/vaults/{vaultId}/prompts`.

use serde_json::json;

use super::answer::{Answer, Outcome, Refusal, bad, refused};
use super::call::Call;
use super::choices::Choices;
use super::show;
use super::store::{Membership, Store};

/// `GET /vaults/{vaultId}/prompts`.
pub(super) fn list(store: &mut Store, call: &Call, vault: i64) -> Outcome {
    store.vault(call.account, vault)?;
    call.may_read()?;
    let mut held: Vec<_> = store.memberships.iter().filter(|held| held.vault == vault).collect();
    held.sort_by_key(|held| place(call.choices, held));
    let count = |held: &&Membership| i64::try_from(held.added.count).unwrap_or(0);
    let prompt = |held: &Membership| store.prompts.iter().find(|prompt| prompt.id == held.prompt);
    match call.choices.bug {
        "contents.oldest-first" => held.sort_by_key(|held| (held.pinned.is_none(), count(held))),
        "contents.pins-in-place" => held.sort_by_key(|held| -count(held)),
        "contents.pins-last" => held.sort_by_key(|held| (held.pinned.is_some(), -count(held))),
        "contents.pins-by-adding" => held.sort_by_key(|held| (held.pinned.is_none(), -count(held))),
        "contents.by-prompt-id" => held.sort_by_key(|held| (held.pinned.is_none(), held.prompt)),
        "contents.by-title" => held.sort_by_key(|held| {
            (held.pinned.is_none(), prompt(held).map(|prompt| prompt.title.clone()))
        }),
        "contents.by-update" => held.sort_by_key(|held| {
            (held.pinned.is_none(), prompt(held).map(|prompt| -prompt.updated))
        }),
        "contents.by-creation" => held.sort_by_key(|held| {
            let created = store.prompts.iter().position(|prompt| prompt.id == held.prompt);
            (held.pinned.is_none(), std::cmp::Reverse(created))
        }),
        "db.pins-as-text" => {
            let pins = |held: &Membership| held.pinned.map_or(0, |pin| pin.count);
            let mut order: Vec<_> = held.iter().map(|held| pins(held)).collect();
            order.sort_unstable();
            let place = |held: &Membership| {
                order.iter().filter(|one| **one > 0 && **one <= pins(held)).count().to_string()
            };
            held.sort_by_key(|held| {
                (held.pinned.is_none(), held.pinned.map(|_| std::cmp::Reverse(place(held))))
            });
        }
        "contents.twenty" => held.truncate(20),
        "contents.without-pinned" => held.retain(|held| held.pinned.is_none()),
        _ => {}
    }
    let held = held.into_iter().filter_map(|held| show::member(store, held));
    Ok(Answer::ok(held.collect()))
}

/// What the listing is ordered by: whether it is pinned, the date, and what is
/// left to choose among equal dates.
fn place(choices: &Choices, held: &Membership) -> (bool, i64, i64) {
    let stamp = held.pinned.unwrap_or(held.added);
    let count = i64::try_from(stamp.count).unwrap_or(i64::MAX);
    let (date, rest) = match choices.records.whole_seconds {
        // By the second, and those of one second the wrong way round.
        true => (-stamp.at, count),
        false => (-count, 0),
    };
    let rises = held.pinned.is_some() && choices.moves.first_pin_on_top;
    (held.pinned.is_none(), if rises { -date } else { date }, rest)
}

fn owner_of(store: &Store, prompt: i64) -> Option<usize> {
    store.prompts.iter().find(|one| one.id == prompt).map(|found| found.owner)
}

/// `POST /vaults/{vaultId}/prompts`.
pub(super) fn add(store: &mut Store, call: &Call, vault: i64) -> Outcome {
    let moves = &call.choices.moves;
    let fields = call.fields("promptIds", Call::may_arrange)?;
    let ids = fields.integers("promptIds", 50)?;
    let ids = ids.or_else(|| call.choices.bug("add.nothing-asked").then(Vec::new));
    let mut ids = ids.ok_or_else(|| bad("promptIds", "missing"))?;
    let asked = ids.len();
    match call.choices.bug {
        "add.absent-ignored" => ids.retain(|id| owner_of(store, *id).is_some()),
        "add.foreign-ignored" => ids.retain(|id| owner_of(store, *id) == Some(call.account)),
        "add.first-only" => ids.truncate(1),
        "add.last-repeated" => {
            let last = ids.last().copied().unwrap_or_default();
            ids.fill(last);
        }
        "add.at-most-ten" => ids.truncate(10),
        "add.removes-elsewhere" => store.leave(|held| ids.contains(&held.prompt)),
        "add.replaces-all" => store.leave(|held| held.vault == vault),
        _ => {}
    }
    store.vault(call.account, vault)?;
    store.open_vault(call.account, vault)?;
    call.after_all(Call::may_arrange)?;
    let owners: Vec<_> = ids.iter().map(|id| owner_of(store, *id)).collect();
    let anybody = call.choices.bug("add.owner-not-asked");
    let is_good =
        |owner: &&Option<usize>| **owner == Some(call.account) || anybody && owner.is_some();
    let good = owners.iter().take_while(is_good).count();
    let statuses = &call.choices.statuses;
    let fault = match owners.get(good) {
        Some(Some(_)) => Some(refused(statuses.foreign, "Not your prompt")),
        Some(None) => Some(refused(statuses.absent, "No such prompt")),
        None => None,
    };
    let fault = match fault {
        Some(fault) if !moves.adds_in_part => return Err(fault),
        fault => fault,
    };
    if !moves.adding_renews
        && !moves.repeats
        && ids.iter().any(|id| store.held(vault, *id).is_some())
    {
        return Err(refused(statuses.there_already, "Already there"));
    }
    for id in ids[..good].iter().rev() {
        store.enter(vault, *id);
    }
    if let Some(fault) = fault {
        return Err(fault);
    }
    let count = store.held_by(vault).len();
    let added = if call.choices.bug("add.counts-all") { count } else { asked.max(ids.len()) };
    let mut data = json!({ "added": added, "vaultId": vault, "promptCount": count });
    if call.choices.bug("add.count-of-added") {
        data["promptCount"] = json!(ids.len());
    }
    if call.choices.wire.extras {
        data["promptIds"] = json!(ids);
    }
    Ok(Answer::created(data))
}

/// `DELETE /vaults/{vaultId}/prompts/{vaultPromptId}`.
pub(super) fn remove(store: &mut Store, call: &Call, vault: i64, id: i64) -> Outcome {
    call.may_arrange()?;
    let mut data = json!({ "vaultPromptId": id, "removed": true });
    let is_there = store.memberships.iter().any(|held| held.id == id);
    if call.choices.moves.removes_again && !is_there {
        store.vault(call.account, vault)?;
        return Ok(Answer::ok(data));
    }
    if !store.went_meanwhile(call, id) {
        let &mut Membership { prompt, pinned, .. } = member(store, call, vault, id)?;
        match call.choices.bug {
            "late.remove-last-vault" if store.held_by(vault).len() == 1 => {
                store.vaults.retain(|one| one.id != vault)
            }
            "late.remove-pinned-409" if pinned.is_some() => return Err(refused(409, "Pinned")),
            "late.remove-unpins-others" => store.unpin(|held| held.vault == vault),
            "remove.everywhere" => store.leave(|held| held.prompt == prompt),
            "remove.deletes-prompt" => store.prompts.retain(|each| each.id != prompt),
            "remove.deletes-orphans" if store.holders(prompt).len() == 1 => {
                store.prompts.retain(|each| each.id != prompt);
            }
            "remove.not-done" => return Ok(Answer::ok(data)),
            "remove.all-of-vault" => store.leave(|held| held.vault == vault),
            "remove.drops-platform" => store.prompt(call.account, prompt)?.platform = None,
            _ => {}
        }
        let old = store.memberships.extract_if(.., |held| held.id == id);
        store.memory.removed.extend(old);
        store.touch(vault, prompt);
        store.goes(call, id);
        if call.choices.wire.extras {
            data["promptId"] = json!(prompt);
        }
    }
    Ok(Answer::ok(data))
}

/// `POST /vaults/{vaultId}/prompts/{vaultPromptId}/move`.
pub(super) fn relocate(store: &mut Store, call: &Call, vault: i64, id: i64) -> Outcome {
    let fields = call.fields("targetVaultId", Call::may_arrange)?;
    let target = fields.integer("targetVaultId")?.filter(|target| *target >= 1);
    let target = target.ok_or_else(|| bad("targetVaultId", "no id"))?;
    store.target("tenant.move-foreign", call.account, target)?;
    let &mut Membership { prompt, pinned, .. } = member(store, call, vault, id)?;
    call.after_all(Call::may_arrange)?;
    let repeats = call.choices.moves.repeats;
    let there = store.held(target, prompt).filter(|_| !repeats);
    if there.is_some() && call.choices.moves.refuses_again {
        return Err(refused(call.choices.statuses.there_already, "Already there"));
    }
    let answer = |prompt: i64, new: i64| {
        json!({
            "promptId": prompt,
            "sourceVaultId": vault,
            "targetVaultId": target,
            "vaultPromptId": new,
        })
    };
    match call.choices.bug {
        "late.move-pinned-409" if pinned.is_some() => return Err(refused(409, "Pinned")),
        "late.move-keeps-date" => {
            let added = member(store, call, vault, id)?.added;
            store.leave(|held| held.id == id);
            let new = store.enter(target, prompt);
            member(store, call, target, new)?.added = added;
            return Ok(Answer::ok(answer(prompt, new)));
        }
        "late.move-empties-target" => store.leave(|held| held.vault == target),
        "move.unpins-target" => store.unpin(|held| held.vault == target),
        "move.out-of-all" => store.leave(|held| held.prompt == prompt),
        "move.not-in-target" => {
            store.leave(|held| held.id == id);
            return Ok(Answer::ok(answer(prompt, store.new_id())));
        }
        "move.keeps-id" => {
            let held = store.memberships.iter_mut().filter(|held| held.id == id);
            held.for_each(|held| held.vault = target);
            return Ok(Answer::ok(answer(prompt, id)));
        }
        "move.new-prompt" => {
            let copy = store.prompt(call.account, prompt)?.clone();
            let copy = super::store::Prompt { id: store.new_id(), ..copy };
            let new = copy.id;
            store.prompts.push(copy);
            store.leave(|held| held.id == id);
            let member = store.enter(target, new);
            return Ok(Answer::ok(answer(new, member)));
        }
        "move.drops-platform" => store.prompt(call.account, prompt)?.platform = None,
        "move.moves-all" => {
            let others = |held: &&mut Membership| held.vault == vault && held.id != id;
            store.memberships.iter_mut().filter(others).for_each(|held| held.vault = target);
        }
        _ => {}
    }
    if (target != vault || repeats) && !call.choices.bug("move.copies") {
        store.leave(|held| held.id == id);
    }
    let new = there.unwrap_or_else(|| store.enter(target, prompt));
    store.touch(vault, prompt);
    if pinned.is_some() && call.choices.moves.pins_move {
        let stamp = store.stamp();
        member(store, call, target, new)?.pinned = Some(stamp);
    }
    let mut data = answer(prompt, new);
    if call.choices.wire.extras {
        data["formerVaultPromptId"] = json!(id);
    }
    Ok(Answer::ok(data))
}

/// `POST` and `DELETE` of `/vaults/{vaultId}/prompts/{vaultPromptId}/pin`.
pub(super) fn pin(store: &mut Store, call: &Call, vault: i64, id: i64, pinned: bool) -> Outcome {
    call.may_arrange()?;
    let held = member(store, call, vault, id)?;
    let prompt = held.prompt;
    let is_pinned = held.pinned.is_some();
    let in_vault = store.memberships.iter().filter(|held| held.vault == vault);
    let pins = in_vault.filter(|held| held.pinned.is_some()).count();
    match call.choices.bug {
        "late.pin-most-three" if pinned && pins >= 3 => return Err(refused(400, "Too many pins")),
        "late.unpin-to-the-end" if !pinned && is_pinned => {
            let held = member(store, call, vault, id)?;
            held.added = super::store::Stamp { at: 0, count: 0 };
        }
        "pin.again-409" if pinned && is_pinned => return Err(refused(409, "Pinned already")),
        "pin.again-404" if !pinned && !is_pinned => return Err(refused(404, "Not pinned")),
        "pin.again-400" if !pinned && !is_pinned => return Err(refused(400, "Not pinned")),
        "pin.toggles" if pinned && is_pinned => member(store, call, vault, id)?.pinned = None,
        "pin.again-is-new" if pinned && is_pinned => {
            let stamp = store.stamp();
            member(store, call, vault, id)?.pinned = Some(stamp);
        }
        "pin.of-the-prompt" => {
            let stamp = store.stamp();
            for held in store.memberships.iter_mut().filter(|held| held.prompt == prompt) {
                held.pinned = pinned.then_some(stamp);
            }
        }
        "pin.one-in-a-vault" => store.unpin(|held| held.vault == vault),
        "pin.not-done" => {
            return Ok(Answer::ok(json!({ "vaultPromptId": id, "isPinned": pinned })));
        }
        "pin.unpin-clears-all" if !pinned => store.unpin(|held| held.vault == vault),
        "pin.unpin-to-the-top" if !pinned && is_pinned => {
            let stamp = store.stamp();
            let held = member(store, call, vault, id)?;
            (held.pinned, held.added) = (None, stamp);
        }
        "pin.drops-platform" => store.prompt(call.account, prompt)?.platform = None,
        _ => {}
    }
    let held = member(store, call, vault, id)?;
    if held.pinned.is_some() != pinned {
        let mut stamp = store.stamp();
        if pinned && call.choices.bug("pin.first-date-kept") {
            stamp = *store.memory.pins.entry(id).or_insert(stamp);
        }
        member(store, call, vault, id)?.pinned = pinned.then_some(stamp);
        store.touch(vault, prompt);
    }
    let mut data = json!({ "vaultPromptId": id, "isPinned": pinned });
    if call.choices.wire.extras {
        data["promptId"] = json!(prompt);
    }
    Ok(Answer::ok(data))
}

/// The membership that a path names, in a vault of the caller that is open.
fn member<'a>(
    store: &'a mut Store,
    call: &Call,
    vault: i64,
    id: i64,
) -> Result<&'a mut Membership, Refusal> {
    let by_id = call.choices.bug("tenant.members-by-id");
    if !by_id {
        store.vault(call.account, vault)?;
        store.open_vault(call.account, vault)?;
    }
    let none = || refused(call.choices.statuses.no_member, "No such membership");
    let is_it = |held: &&Membership| {
        held.id == id
            || call.choices.bug("member.found-by-prompt")
                && held.prompt == id
                && held.vault == vault
    };
    let id = store.memberships.iter().find(is_it).ok_or_else(none)?.id;
    let held = store.memberships.iter().find(|held| held.id == id).ok_or_else(none)?;
    let elsewhere = held.vault;
    let anybody = call.choices.bug("tenant.member-foreign") && elsewhere != vault;
    let own = store.vault(call.account, elsewhere).is_ok();
    if !own && !anybody && !by_id {
        return Err(none());
    }
    if elsewhere != vault && !call.choices.moves.any_vault && own {
        return Err(refused(call.choices.statuses.elsewhere, "In another vault"));
    }
    let mut held = store.memberships.iter_mut();
    held.find(|held| held.id == id).ok_or_else(none)
}
