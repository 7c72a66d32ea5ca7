//! `POST /vaults/{vaultId}/fork`.
//!
//! Differs in: a fork of one's own vault is 409; the copy has a name of its
//! own, the other order, the pins of the source and no images, and its prompts
//! keep the dates of theirs (S-22); one's own private vault is 409 too (S-23);
//! any key will do (S-51).

use super::answer::{Answer, Outcome, not_found, not_yours, refused};
use super::call::Call;
use super::store::{Account, Membership, Store};
use super::vaults;

/// The longest name a vault may have, in bytes.
const NAME_BYTES_MAX: usize = 50;

/// `POST /vaults/{vaultId}/fork`.
pub(super) fn fork(store: &mut Store, call: &Call, id: i64) -> Outcome {
    let source = store.vaults.iter().find(|vault| vault.id == id).ok_or_else(not_found)?;
    if source.owner == call.account {
        return Err(refused(409, "Yours already"));
    }
    if source.visibility == "private" {
        return Err(not_yours());
    }
    let (name, description) = (source.name.clone(), source.description.clone());
    let name = free_name(store, call.account, &name);
    let mut vault = store.new_vault(call.account, &name);
    vault.description = description;
    let fork = vault.id;
    store.vaults.push(vault);
    copy_prompts(store, call.account, id, fork);
    vaults::answer(store, call.account, fork).map(Answer::created)
}

/// Copies the prompts of a vault, last added first.
fn copy_prompts(store: &mut Store, owner: Account, source: i64, fork: i64) {
    let held = store.memberships.iter().filter(|held| held.vault == source);
    let mut held: Vec<_> = held.map(|held| (held.added, held.prompt, held.pinned)).collect();
    held.sort_unstable_by(|one, other| other.cmp(one));
    for (_, original, pinned) in held {
        let Some(found) = store.prompts.iter().find(|prompt| prompt.id == original) else {
            continue;
        };
        let mut copy = found.clone();
        copy.owner = owner;
        copy.image = None;
        copy.id = store.new_id();
        let (id, added) = (store.new_id(), store.tick());
        store.memberships.push(Membership { id, vault: fork, prompt: copy.id, added, pinned });
        store.prompts.push(copy);
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
