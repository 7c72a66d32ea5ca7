//! The endpoints below `/vaults/{vaultId}/prompts`.

use super::prelude::*;

pub(super) fn list(store: &mut Store, call: &Call, vault: i64) -> Outcome {
    store.vault(call.account, vault)?;
    call.may_read()?;
    let mut held: Vec<_> = store.memberships.iter().filter(|held| held.vault == vault).collect();
    held.sort_by_key(|held| place(call.choices, held));
    let count = |held: &&Membership| i64::try_from(held.added.count).unwrap_or(0);
    let prompt = |held: &Membership| store.prompts.iter().find(|prompt| prompt.id == held.prompt);
    let rest = |held: &Membership| held.pinned.is_none();
    match call.bug {
        "contents.oldest-first" => held.sort_by_key(|held| (rest(held), count(held))),
        "contents.pins-in-place" => held.sort_by_key(|held| -count(held)),
        "contents.pins-last" => held.sort_by_key(|held| (!rest(held), -count(held))),
        "contents.pins-by-adding" => held.sort_by_key(|held| (rest(held), -count(held))),
        "contents.by-prompt-id" => held.sort_by_key(|held| (rest(held), held.prompt)),
        "contents.by-title" => {
            held.sort_by_key(|held| (rest(held), prompt(held).map(|it| it.title.clone())))
        }
        "contents.by-update" => {
            held.sort_by_key(|held| (rest(held), prompt(held).map(|it| -it.updated)))
        }
        "contents.by-creation" => held.sort_by_key(|held| {
            let place = store.prompts.iter().position(|prompt| prompt.id == held.prompt);
            (rest(held), std::cmp::Reverse(place))
        }),
        "db.pins-as-text" => {
            // By the number of the pin among all, as a text.
            let pins: Vec<_> = held.iter().filter_map(|held| held.pinned).collect();
            let place = |pin| pins.iter().filter(|one| **one <= pin).count().to_string();
            held.sort_by_key(|held| {
                (rest(held), held.pinned.map(|pin| std::cmp::Reverse(place(pin))))
            });
        }
        "contents.twenty" => held.truncate(20),
        "contents.without-pinned" => held.retain(|held| rest(held)),
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

pub(super) fn add(store: &mut Store, call: &Call, vault: i64) -> Outcome {
    let (moves, statuses) = (&call.choices.moves, &call.choices.statuses);
    let fields = call.fields("promptIds", Call::may_arrange)?;
    let ids = fields.integers("promptIds", 50)?;
    let ids = ids.or_else(|| call.bug("add.nothing-asked").then(Vec::new));
    let mut ids = ids.ok_or_else(|| bad("promptIds", "missing"))?;
    let asked = ids.len();
    match call.bug {
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
    let anybody = call.bug("add.owner-not-asked");
    let fault = |id: &i64| match owner_of(store, *id) {
        None => Some(refused(statuses.absent, "No such prompt")),
        Some(owner) if owner == call.account || anybody => None,
        Some(_) => Some(refused(statuses.foreign, "Not your prompt")),
    };
    let faults: Vec<_> = ids.iter().map(fault).collect();
    let good = faults.iter().take_while(|fault| fault.is_none()).count();
    let fault = faults.into_iter().flatten().next();
    if let Some(fault) = fault.clone().filter(|_| !moves.adds_in_part) {
        return Err(fault);
    }
    let is_there = |id: &i64| store.held(vault, *id).is_some();
    if !moves.adding_renews && !moves.repeats && ids.iter().any(is_there) {
        return refuse(statuses.there_already, "Already there");
    }
    for id in ids[..good].iter().rev() {
        store.enter(vault, *id);
    }
    if let Some(fault) = fault {
        return Err(fault);
    }
    let count = store.held_by(vault).len();
    let added = if call.bug("add.counts-all") { count } else { asked.max(ids.len()) };
    let count = if call.bug("add.count-of-added") { ids.len() } else { count };
    let mut data = json!({ "added": added, "vaultId": vault, "promptCount": count });
    if call.choices.wire.extras {
        data["promptIds"] = json!(ids);
    }
    Ok(Answer::created(data))
}

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
        match call.bug {
            "late.remove-last-vault" if store.held_by(vault).len() == 1 => {
                store.vaults.retain(|one| one.id != vault)
            }
            "late.remove-pinned-409" if pinned.is_some() => return refuse(409, "Pinned"),
            "late.remove-unpins-others" => store.unpin(|held| held.vault == vault),
            "remove.everywhere" => store.leave(|held| held.prompt == prompt),
            "remove.deletes-prompt" => store.prompts.retain(|each| each.id != prompt),
            "remove.deletes-orphans" if store.holders(prompt).len() == 1 => {
                store.prompts.retain(|each| each.id != prompt)
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

pub(super) fn relocate(store: &mut Store, call: &Call, vault: i64, id: i64) -> Outcome {
    let fields = call.fields("targetVaultId", Call::may_arrange)?;
    let target = fields.integer("targetVaultId")?.filter(|target| *target >= 1);
    let target = target.ok_or_else(|| bad("targetVaultId", "no id"))?;
    store.target("tenant.move-foreign", call.account, target)?;
    let &mut Membership { mut prompt, pinned, added, .. } = member(store, call, vault, id)?;
    call.after_all(Call::may_arrange)?;
    let repeats = call.choices.moves.repeats;
    let there = store.held(target, prompt).filter(|_| !repeats);
    if there.is_some() && call.choices.moves.refuses_again {
        return refuse(call.choices.statuses.there_already, "Already there");
    }
    match call.bug {
        "late.move-pinned-409" if pinned.is_some() => return refuse(409, "Pinned"),
        "late.move-empties-target" => store.leave(|held| held.vault == target),
        "move.unpins-target" => store.unpin(|held| held.vault == target),
        "move.out-of-all" => store.leave(|held| held.prompt == prompt),
        "move.new-prompt" => prompt = store.copy(call.account, prompt)?,
        "move.drops-platform" => store.prompt(call.account, prompt)?.platform = None,
        "move.moves-all" => {
            let others = |held: &&mut Membership| held.vault == vault && held.id != id;
            store.memberships.iter_mut().filter(others).for_each(|held| held.vault = target);
        }
        _ => {}
    }
    if (target != vault || repeats) && !call.bug("move.copies") {
        store.leave(|held| held.id == id);
    }
    let new = match (call.bug, there) {
        ("move.not-in-target", _) => store.new_id(),
        ("move.keeps-id", None) => {
            store.memberships.push(Membership { id, vault: target, prompt, added, pinned });
            id
        }
        (_, Some(there)) => there,
        (_, None) => store.enter(target, prompt),
    };
    store.touch(vault, prompt);
    for held in store.memberships.iter_mut().filter(|held| held.id == new) {
        held.added = if call.bug("late.move-keeps-date") { added } else { held.added };
    }
    if pinned.is_some() && call.choices.moves.pins_move {
        let stamp = store.stamp();
        member(store, call, target, new)?.pinned = Some(stamp);
    }
    let mut data = json!({
        "promptId": prompt,
        "sourceVaultId": vault,
        "targetVaultId": target,
        "vaultPromptId": new,
    });
    if call.choices.wire.extras {
        data["formerVaultPromptId"] = json!(id);
    }
    Ok(Answer::ok(data))
}

pub(super) fn pin(store: &mut Store, call: &Call, vault: i64, id: i64, pinned: bool) -> Outcome {
    call.may_arrange()?;
    let &mut Membership { prompt, pinned: old, mut added, .. } = member(store, call, vault, id)?;
    let is_pinned = old.is_some();
    let in_vault = store.memberships.iter().filter(|held| held.vault == vault);
    let pins = in_vault.filter(|held| held.pinned.is_some()).count();
    let stamp = store.stamp();
    let mut new = if pinned { old.or(Some(stamp)) } else { None };
    match call.bug {
        "late.pin-most-three" if pinned && pins >= 3 => return refuse(400, "Too many pins"),
        "late.unpin-to-the-end" if !pinned && is_pinned => added = Stamp { at: 0, count: 0 },
        "pin.again-409" if pinned && is_pinned => return refuse(409, "Pinned already"),
        "pin.again-404" if !pinned && !is_pinned => return refuse(404, "Not pinned"),
        "pin.again-400" if !pinned && !is_pinned => return refuse(400, "Not pinned"),
        "pin.toggles" | "pin.again-is-new" if pinned && is_pinned => new = Some(stamp),
        "pin.of-the-prompt" => {
            for held in store.memberships.iter_mut().filter(|held| held.prompt == prompt) {
                held.pinned = pinned.then_some(stamp);
            }
        }
        "pin.one-in-a-vault" => store.unpin(|held| held.vault == vault),
        "pin.not-done" => new = old,
        "pin.unpin-clears-all" if !pinned => store.unpin(|held| held.vault == vault),
        "pin.unpin-to-the-top" if !pinned && is_pinned => added = stamp,
        "pin.drops-platform" => store.prompt(call.account, prompt)?.platform = None,
        "pin.first-date-kept" if pinned && !is_pinned => {
            new = Some(*store.memory.pins.entry(id).or_insert(stamp));
        }
        _ => {}
    }
    let held = member(store, call, vault, id)?;
    (held.pinned, held.added) = (new, added);
    if is_pinned != pinned {
        store.touch(vault, prompt);
    }
    let mut data = json!({ "vaultPromptId": id, "isPinned": pinned });
    if call.choices.wire.extras {
        data["promptId"] = json!(prompt);
    }
    Ok(Answer::ok(data))
}

type Found<'a> = Result<&'a mut Membership, Refusal>;

/// The membership that a path names, in a vault of the caller that is open.
fn member<'a>(store: &'a mut Store, call: &Call, vault: i64, id: i64) -> Found<'a> {
    let by_id = call.bug("tenant.members-by-id");
    if !by_id {
        store.vault(call.account, vault)?;
        store.open_vault(call.account, vault)?;
    }
    let none = || refused(call.choices.statuses.no_member, "No such membership");
    let by_prompt = call.bug("member.found-by-prompt");
    let is_it =
        |held: &Membership| held.id == id || by_prompt && (held.prompt, held.vault) == (id, vault);
    let place = store.memberships.iter().position(is_it).ok_or_else(none)?;
    let elsewhere = store.memberships[place].vault;
    let anybody = by_id || call.bug("tenant.member-foreign") && elsewhere != vault;
    let own = store.vault(call.account, elsewhere).is_ok();
    if !own && !anybody {
        return Err(none());
    }
    if elsewhere != vault && !call.choices.moves.any_vault && own {
        return refuse(call.choices.statuses.elsewhere, "In another vault");
    }
    Ok(&mut store.memberships[place])
}
