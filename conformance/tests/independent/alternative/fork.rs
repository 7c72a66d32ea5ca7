//! `POST /vaults/{vaultId}/fork`.

use super::answer::not_yours;
use super::prelude::*;

const NAME_BYTES_MAX: usize = 50;

pub(super) fn fork(store: &mut Store, call: &Call, id: i64) -> Outcome {
    call.may_write()?;
    let source = store.vaults.iter().find(|vault| vault.id == id).ok_or_else(not_found)?;
    let is_own = source.owner == call.account;
    let is_private = source.visibility == "private";
    if is_own && (is_private || call.choices.records.forks_differ) {
        return refuse(call.choices.statuses.own_fork, "Yours already");
    }
    match call.bug {
        "fork.private-too" => {}
        "fork.unlisted-not" if source.visibility == "unlisted" => return Err(not_yours()),
        _ if is_private => return Err(not_yours()),
        _ => {}
    }
    let visibility = source.visibility;
    let (mut name, mut description) = (source.name.clone(), source.description.clone());
    match call.bug {
        "fork.description-lost" => description = None,
        "fork.name-long" => name = format!("Copy of a shared vault: {name}"),
        _ if call.choices.records.forks_differ => name = free_name(store, call.account, &name),
        _ => {}
    }
    let vault = store.new_vault(call.account, &name);
    let mut vault = Vault { description, is_system: call.bug("fork.system"), ..vault };
    if call.bug("fork.visibility-too") {
        vault.visibility = visibility;
    }
    let fork = vault.id;
    store.vaults.push(vault);
    let root = store.memory.copies.iter().find(|copy| copy.1 == id).map(|copy| copy.0);
    let root = root.filter(|_| call.bug("fork.resolves-root"));
    copy_prompts(store, call.account, root.unwrap_or(id), fork);
    match call.bug {
        "late.fork-publishes" => {
            let source = store.vaults.iter_mut().filter(|vault| vault.id == id);
            source.for_each(|vault| vault.visibility = "public");
        }
        "late.fork-unpins-source" => store.unpin(|held| held.vault == id),
        "late.fork-of-empty-400" if store.held_by(id).is_empty() => {
            return refuse(400, "Nothing to copy");
        }
        "fork.empties-source" => store.leave(|held| held.vault == id),
        _ => {}
    }
    vaults::answer(store, call.account, fork).map(Answer::created)
}

/// Copies the prompts of a vault: last added first, or in their order.
fn copy_prompts(store: &mut Store, owner: Account, source: i64, fork: i64) {
    let differs = store.choices.records.forks_differ;
    let held = store.memberships.iter().filter(|held| held.vault == source);
    let mut held: Vec<_> = held.map(|held| (held.added, held.prompt, held.pinned)).collect();
    if matches!(store.choices.bug, "soft.forked" | "soft.removed-forked") {
        let removed = store.memory.removed.iter().filter(|held| held.vault == source);
        held.extend(removed.map(|held| (held.added, held.prompt, held.pinned)));
    }
    held.sort_unstable();
    match store.choices.bug {
        "fork.twenty" => held.truncate(20),
        "fork.fifty" => held.truncate(50),
        "fork.hundred" => held.truncate(100),
        "fork.empty" => held.clear(),
        "fork.first-missing" if !held.is_empty() => drop(held.remove(0)),
        "fork.pinned-only" => held.retain(|(_, _, pinned)| pinned.is_none()),
        _ => {}
    }
    if differs {
        held.reverse();
    }
    for (_, original, pinned) in held {
        let mut all = store.prompts.iter().chain(&store.memory.prompts);
        let Some(found) = all.find(|prompt| prompt.id == original) else {
            continue;
        };
        let (mut copy, from) = (found.clone(), found.owner);
        if store.bug("fork.same-prompts") && from == owner {
            store.enter(fork, original);
            continue;
        }
        copy.owner = owner;
        copy.id = store.new_id();
        store.memory.copies.push((original, copy.id));
        let same = |one: &Membership| {
            one.vault == fork
                && store.prompts.iter().any(|it| it.id == one.prompt && it.title == copy.title)
        };
        if store.bug("fork.same-titles-once") && store.memberships.iter().any(same) {
            continue;
        }
        if store.bug("fork.in-source-too") {
            store.enter(source, copy.id);
        }
        match store.choices.bug {
            "late.fork-same-text" => copy.text = copy.title.clone(),
            "fork.model-lost" => copy.model = None,
            "fork.type-lost" => copy.kind = "text",
            "fork.platform-lost" => copy.platform = None,
            "fork.text-lost" => copy.text = copy.title.clone(),
            "fork.title-marked" => copy.title = format!("Copy of {}", copy.title),
            "fork.of-the-owner" => copy.owner = from,
            _ => {}
        }
        if differs {
            (copy.image, copy.images) = (None, Vec::new());
        } else {
            (copy.created, copy.updated) = (store.now(), store.now());
        }
        let (prompt, pinned) = (copy.id, pinned.filter(|_| differs));
        let (id, added) = (store.new_id(), store.stamp());
        store.memberships.push(Membership { id, vault: fork, prompt, added, pinned });
        store.prompts.push(copy);
        if !differs {
            let general = store.general(owner);
            store.enter(general, prompt);
        }
    }
}

/// The source's name with a number, cut so that both fit.
fn free_name(store: &Store, owner: Account, name: &str) -> String {
    let mut number = 1;
    loop {
        let suffix = format!(" / {number}");
        let mut kept = name.to_owned();
        while kept.len() + suffix.len() > NAME_BYTES_MAX {
            kept.pop();
        }
        let free = kept + &suffix;
        if !vaults::is_taken(store, owner, &free) {
            return free;
        }
        number += 1;
    }
}
