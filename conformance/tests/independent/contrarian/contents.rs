//! The endpoints below `/vaults/{vaultId}/prompts`. None of them but the
//! listing looks at scopes (S-51).
//!
//! Differs in: the oldest pin is on top (S-24), the first of several prompts
//! ends on top (S-25), a prompt that is there already gets a new membership and
//! is counted (S-26), one bad id does not keep out those before it (S-27), a
//! move to where the prompt is already is 409 or 422 (S-28, S-29), a pin moves
//! along (S-30), a membership of another own vault is 409 (S-31).

use std::cmp::Reverse;

use serde_json::json;

use super::answer::{Answer, Outcome, Refusal, bad, not_found, refused};
use super::call::Call;
use super::fields::Fields;
use super::show;
use super::store::{Membership, Store};

/// `GET /vaults/{vaultId}/prompts`.
pub(super) fn list(store: &mut Store, call: &Call, vault: i64) -> Outcome {
    store.vault(call.account, vault)?;
    call.may_read()?;
    let mut held: Vec<_> = store.memberships.iter().filter(|held| held.vault == vault).collect();
    held.sort_by_key(|held| (held.pinned.unwrap_or(u64::MAX), Reverse(held.added)));
    let held = held.into_iter().filter_map(|held| show::member(store, held));
    Ok(Answer::ok(held.collect()))
}

/// `POST /vaults/{vaultId}/prompts`.
pub(super) fn add(store: &mut Store, call: &Call, vault: i64) -> Outcome {
    let fields = Fields::read(&call.ask.body, &["promptIds"])?;
    let ids = fields.integers("promptIds", 50)?.ok_or_else(|| bad("promptIds", "missing"))?;
    store.vault(call.account, vault)?;
    store.open_vault(call.account, vault)?;
    let owner = |id| store.prompts.iter().find(|prompt| prompt.id == id).map(|found| found.owner);
    let owners: Vec<_> = ids.iter().map(|id| owner(*id)).collect();
    let good = owners.iter().take_while(|owner| **owner == Some(call.account)).count();
    for id in ids[..good].iter().rev() {
        store.enter(vault, *id);
    }
    match owners.get(good) {
        Some(Some(_)) => return Err(refused(403, "Not your prompt")),
        Some(None) => return Err(refused(422, "No such prompt")),
        None => {}
    }
    let count = store.memberships.iter().filter(|held| held.vault == vault).count();
    Ok(Answer::created(json!({
        "added": ids.len(),
        "vaultId": vault,
        "promptCount": count,
        "promptIds": ids,
    })))
}

/// `DELETE /vaults/{vaultId}/prompts/{vaultPromptId}`.
pub(super) fn remove(store: &mut Store, call: &Call, vault: i64, id: i64) -> Outcome {
    let prompt = member(store, call, vault, id)?.prompt;
    store.memberships.retain(|held| held.id != id);
    store.touch(vault, prompt);
    Ok(Answer::ok(json!({ "vaultPromptId": id, "removed": true, "promptId": prompt })))
}

/// `POST /vaults/{vaultId}/prompts/{vaultPromptId}/move`.
pub(super) fn relocate(store: &mut Store, call: &Call, vault: i64, id: i64) -> Outcome {
    let fields = Fields::read(&call.ask.body, &["targetVaultId"])?;
    let target = fields.integer("targetVaultId")?.filter(|target| *target >= 1);
    let target = target.ok_or_else(|| bad("targetVaultId", "no id"))?;
    store.open_vault(call.account, target)?;
    let &mut Membership { prompt, pinned, .. } = member(store, call, vault, id)?;
    if target == vault {
        return Err(refused(422, "Not far enough"));
    }
    if store.holds(target, prompt) {
        return Err(refused(409, "Already there"));
    }
    store.memberships.retain(|held| held.id != id);
    let new = store.enter(target, prompt);
    store.touch(vault, prompt);
    if pinned.is_some() {
        let tick = store.tick();
        member(store, call, target, new)?.pinned = Some(tick);
    }
    Ok(Answer::ok(json!({
        "promptId": prompt,
        "sourceVaultId": vault,
        "targetVaultId": target,
        "vaultPromptId": new,
        "formerVaultPromptId": id,
    })))
}

/// `POST` and `DELETE` of `/vaults/{vaultId}/prompts/{vaultPromptId}/pin`.
pub(super) fn pin(store: &mut Store, call: &Call, vault: i64, id: i64, pinned: bool) -> Outcome {
    let held = member(store, call, vault, id)?;
    let prompt = held.prompt;
    if held.pinned.is_some() != pinned {
        let tick = store.tick();
        member(store, call, vault, id)?.pinned = pinned.then_some(tick);
        store.touch(vault, prompt);
    }
    Ok(Answer::ok(json!({ "vaultPromptId": id, "isPinned": pinned, "promptId": prompt })))
}

/// The membership that a path names, in a vault of the caller that is open.
fn member<'a>(
    store: &'a mut Store,
    call: &Call,
    vault: i64,
    id: i64,
) -> Result<&'a mut Membership, Refusal> {
    store.vault(call.account, vault)?;
    store.open_vault(call.account, vault)?;
    let held = store.memberships.iter().find(|held| held.id == id).ok_or_else(not_found)?;
    let elsewhere = held.vault;
    store.vault(call.account, elsewhere)?;
    if elsewhere != vault {
        return Err(refused(409, "In another vault"));
    }
    let mut held = store.memberships.iter_mut();
    held.find(|held| held.id == id).ok_or_else(not_found)
}
