//! The endpoints `/vaults` and `/vaults/{vaultId}`.
//!
//! Differs in: vaults of one second stand the other way round (S-20), a name
//! that is taken is refused (S-17), a description that was not given is empty,
//! the slug keeps capitals, may repeat and stays after a rename (S-16),
//! `updatedAt` moves with the contents and not on a `PATCH` (S-19), system
//! vaults can be renamed and one of them deleted (S-18).

use serde_json::{Value, json};

use super::answer::{Answer, Outcome, Refusal, bad, refused};
use super::call::Call;
use super::fields::Fields;
use super::show;
use super::store::{Account, Store};

const FIELDS: &[&str] = &["name", "description", "visibility"];
const VISIBILITIES: &[&str] = &["public", "unlisted", "private"];

/// `GET /vaults`.
pub(super) fn list(store: &Store, call: &Call) -> Outcome {
    call.may_read()?;
    let mut own: Vec<_> = store.vaults.iter().filter(|each| each.owner == call.account).collect();
    // A stable sort: those of one second stay in the order they were made in.
    own.sort_by_key(|vault| std::cmp::Reverse(vault.created.div_euclid(1000)));
    let own = own.into_iter().map(|vault| show::vault(store, vault));
    Ok(Answer::ok(own.collect()))
}

/// `POST /vaults`.
pub(super) fn create(store: &mut Store, call: &Call) -> Outcome {
    call.may_write()?;
    let fields = Fields::read(&call.ask.body, FIELDS)?;
    let name = fields.text("name", 50)?.ok_or_else(|| bad("name", "missing"))?;
    let mut vault = store.new_vault(call.account, &name);
    if fields.has("description") {
        vault.description = fields.text("description", 200)?;
    }
    vault.visibility = fields.choice("visibility", VISIBILITIES)?.unwrap_or("private");
    if is_taken(store, call.account, &name) {
        return Err(refused(409, "Name taken"));
    }
    let id = vault.id;
    store.vaults.push(vault);
    answer(store, call.account, id).map(Answer::created)
}

/// `GET /vaults/{vaultId}`.
pub(super) fn read(store: &mut Store, call: &Call, id: i64) -> Outcome {
    let vault = answer(store, call.account, id)?;
    call.may_read()?;
    Ok(Answer::ok(vault))
}

/// `PATCH /vaults/{vaultId}`.
pub(super) fn update(store: &mut Store, call: &Call, id: i64) -> Outcome {
    let old_name = store.vault(call.account, id)?.name.clone();
    call.may_write()?;
    let fields = Fields::read(&call.ask.body, FIELDS)?;
    let name = fields.text("name", 50)?.unwrap_or_else(|| old_name.clone());
    let description = fields.text("description", 200)?;
    let visibility = fields.choice("visibility", VISIBILITIES)?;
    if name != old_name && is_taken(store, call.account, &name) {
        return Err(refused(409, "Name taken"));
    }
    let vault = store.vault(call.account, id)?;
    vault.name = name;
    vault.visibility = visibility.unwrap_or(vault.visibility);
    if fields.has("description") {
        vault.description = description;
    }
    answer(store, call.account, id).map(Answer::ok)
}

/// `DELETE /vaults/{vaultId}`.
pub(super) fn delete(store: &mut Store, call: &Call, id: i64) -> Outcome {
    let is_general = store.vault(call.account, id)?.is_general;
    call.may_write()?;
    if is_general {
        return Err(refused(409, "Needed"));
    }
    store.vaults.retain(|vault| vault.id != id);
    store.memberships.retain(|held| held.vault != id);
    Ok(Answer::ok(json!({ "id": id, "deleted": true, "undo": null })))
}

/// Whether the account has a vault of this name.
pub(super) fn is_taken(store: &Store, owner: Account, name: &str) -> bool {
    store.vaults.iter().any(|vault| vault.owner == owner && vault.name == name)
}

/// The vault object of the caller's vault.
pub(super) fn answer(store: &mut Store, owner: Account, id: i64) -> Result<Value, Refusal> {
    store.vault(owner, id)?;
    let vault = store.vaults.iter().find(|vault| vault.id == id);
    Ok(vault.map_or(Value::Null, |vault| show::vault(store, vault)))
}

/// The letters and digits of a name as they are, `_` for all else.
pub(super) fn slug_of(name: &str) -> String {
    let safe = |char: char| {
        if char.is_ascii_alphanumeric() { char } else { '_' }
    };
    format!("v.{}", name.chars().map(safe).collect::<String>())
}
