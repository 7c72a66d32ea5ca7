//! The endpoints `/vaults` and `/vaults/{vaultId}`.

use serde_json::Value;

use super::answer::{Answer, Outcome, Refusal, bad, refused};
use super::call::Call;
use super::choices::Choices;
use super::show;
use super::store::{Account, Store};

const FIELDS: &str = "name description visibility";
const VISIBILITIES: &[&str] = &["public", "unlisted", "private"];

/// `GET /vaults`.
pub(super) fn list(store: &Store, call: &Call) -> Outcome {
    call.may_read()?;
    let mut own: Vec<_> = store.vaults.iter().filter(|each| each.owner == call.account).collect();
    // A stable sort: those of one second stay in the order they were made in, which
    // is not the one that the API has beyond that.
    own.sort_by_key(|vault| std::cmp::Reverse(vault.created.div_euclid(1000)));
    let own = own.into_iter().map(|vault| show::vault(store, vault));
    Ok(Answer::ok(own.collect()))
}

/// `POST /vaults`.
pub(super) fn create(store: &mut Store, call: &Call) -> Outcome {
    let fields = call.fields(FIELDS, Call::may_write)?;
    let name = fields.text("name", 50)?.ok_or_else(|| bad("name", "missing"))?;
    let mut vault = store.new_vault(call.account, &name);
    if fields.has("description") {
        vault.description = fields.nullable_text("description", 200)?;
    }
    vault.visibility = fields.choice("visibility", VISIBILITIES)?.unwrap_or("private");
    if is_taken(store, call.account, &name) {
        return Err(refused(call.choices.statuses.name_taken, "Name taken"));
    }
    let own = store.vaults.iter().filter(|vault| vault.owner == call.account).count();
    if call.choices.records.vaults_max.is_some_and(|most| own >= most) {
        return Err(refused(403, "Too many vaults"));
    }
    call.after_all(Call::may_write)?;
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
    let fields = call.fields(FIELDS, Call::may_write)?;
    let name = fields.text("name", 50)?.unwrap_or_else(|| old_name.clone());
    let description = fields.nullable_text("description", 200)?;
    let visibility = fields.choice("visibility", VISIBILITIES)?;
    if name != old_name && is_taken(store, call.account, &name) {
        return Err(refused(call.choices.statuses.name_taken, "Name taken"));
    }
    call.after_all(Call::may_write)?;
    let vault = store.vault(call.account, id)?;
    if vault.is_locked {
        return Err(refused(call.choices.statuses.system, "Locked"));
    }
    if call.choices.records.slugs_follow {
        vault.slug = slug_of(call.choices, &name, id);
    }
    vault.name = name;
    vault.visibility = visibility.unwrap_or(vault.visibility);
    if fields.has("description") {
        vault.description = description;
    }
    answer(store, call.account, id).map(Answer::ok)
}

/// `DELETE /vaults/{vaultId}`.
pub(super) fn delete(store: &mut Store, call: &Call, id: i64) -> Outcome {
    call.may_write()?;
    if !store.went_meanwhile(call, id) {
        if store.vault(call.account, id)?.is_general {
            return Err(refused(call.choices.statuses.system, "Needed"));
        }
        store.vaults.retain(|vault| vault.id != id);
        store.memberships.retain(|held| held.vault != id);
        store.goes(call, id);
    }
    Ok(Answer::deleted(call.choices, id))
}

/// Whether the account has a vault of this name, where that matters.
pub(super) fn is_taken(store: &Store, owner: Account, name: &str) -> bool {
    store.choices.records.unique_names
        && store.vaults.iter().any(|vault| vault.owner == owner && vault.name == name)
}

/// The vault object of the caller's vault.
pub(super) fn answer(store: &mut Store, owner: Account, id: i64) -> Result<Value, Refusal> {
    store.vault(owner, id)?;
    let vault = store.vaults.iter().find(|vault| vault.id == id);
    Ok(vault.map_or(Value::Null, |vault| show::vault(store, vault)))
}

/// The letters and digits of a name as they are, `_` for all else; or little of
/// the name and much of the id.
pub(super) fn slug_of(choices: &Choices, name: &str, id: i64) -> String {
    let safe = |char: char| if char.is_ascii_alphanumeric() { char } else { '_' };
    if choices.records.slugs_follow {
        let start: String = name.chars().take(3).map(safe).collect();
        return format!("{id:x}~{}", start.to_lowercase());
    }
    format!("v.{}", name.chars().map(safe).collect::<String>())
}
