//! The endpoints `/vaults` and `/vaults/{vaultId}`.

use super::prelude::*;
use super::slips::without;

const FIELDS: &str = "name description visibility";
const VISIBILITIES: &[&str] = &["public", "unlisted", "private"];

pub(super) fn list(store: &Store, call: &Call) -> Outcome {
    call.may_read()?;
    let mut own: Vec<_> = store.vaults.iter().filter(|each| each.owner == call.account).collect();
    // A stable sort: those of one second stay in the order they were made in, which
    // is not the one that the API has beyond that.
    own.sort_by_key(|vault| std::cmp::Reverse(vault.created.div_euclid(1000)));
    match call.bug {
        "vaults.oldest-first" => own.sort_by_key(|vault| (vault.created, vault.id)),
        "vaults.by-name" => own.sort_by_key(|vault| vault.name.clone()),
        "vaults.last-updated-first" => own.sort_by_key(|vault| std::cmp::Reverse(vault.updated)),
        "vaults.used-first" => own.sort_by_key(|vault| {
            let held = store.memberships.iter().filter(|held| held.vault == vault.id);
            std::cmp::Reverse(held.map(|held| held.added.at).max().unwrap_or(0).max(vault.created))
        }),
        "vaults.no-system" => own.retain(|vault| !vault.is_system),
        "vaults.no-private" => own.retain(|vault| vault.visibility != "private"),
        "vaults.no-forks" => {
            own.retain(|vault| store.memory.copies.iter().all(|copy| copy.1 != vault.id))
        }
        "vaults.no-empty" => own.retain(|vault| !store.held_by(vault.id).is_empty()),
        "vaults.public-of-others" => {
            let public = store.vaults.iter().filter(|vault| vault.visibility == "public");
            own.extend(public.filter(|vault| vault.owner != call.account));
        }
        "vaults.of-all" => own = store.vaults.iter().collect(),
        "vaults.twenty" => own.truncate(20),
        "vaults.row-per-prompt" => {
            let rows = own.iter().flat_map(|it| vec![*it; store.held_by(it.id).len().max(1)]);
            own = rows.collect();
        }
        _ => {}
    }
    let shown = |vault| {
        let mut shown = show::vault(store, vault);
        match call.bug {
            "vaults.count-zero" => shown["promptCount"] = json!(0),
            "vaults.without-description" => shown["description"] = Value::Null,
            "vaults.without-slug" => without(&mut shown, "slug"),
            _ => {}
        }
        shown
    };
    Ok(Answer::ok(own.into_iter().map(shown).collect()))
}

pub(super) fn create(store: &mut Store, call: &Call) -> Outcome {
    let fields = call.fields(FIELDS, Call::may_write)?;
    let name = fields.text("name", 50)?.ok_or_else(|| bad("name", "missing"))?;
    let mut vault = store.new_vault(call.account, &name);
    if fields.has("description") {
        vault.description = fields.nullable_text("description", 200)?;
    }
    vault.visibility = fields.choice("visibility", VISIBILITIES)?.unwrap_or("private");
    if is_taken(store, call.account, &name) {
        return refuse(call.choices.statuses.name_taken, "Name taken");
    }
    let own = store.vaults.iter().filter(|vault| vault.owner == call.account).count();
    if call.choices.records.vaults_max.is_some_and(|most| own >= most) {
        return refuse(403, "Too many vaults");
    }
    call.after_all(Call::may_write)?;
    match call.bug {
        "create-vault.public-by-default" if !fields.has("visibility") => {
            vault.visibility = "public"
        }
        "create-vault.visibility-ignored" => vault.visibility = "private",
        "create-vault.description-ignored" => vault.description = None,
        "create-vault.description-is-name" => vault.description = Some(name.clone()),
        "create-vault.system" => vault.is_system = true,
        "create-vault.unlisted-is-public" if vault.visibility == "unlisted" => {
            vault.visibility = "public"
        }
        _ => {}
    }
    let id = vault.id;
    store.vaults.push(vault);
    answer(store, call.account, id).map(Answer::created)
}

pub(super) fn read(store: &mut Store, call: &Call, id: i64) -> Outcome {
    let vault = answer(store, call.account, id)?;
    call.may_read()?;
    let is_hidden = match call.bug {
        "read-vault.private-404" => vault["visibility"] == "private",
        "read-vault.unlisted-404" => vault["visibility"] == "unlisted",
        "read-vault.system-404" => vault["isSystem"] == true,
        _ => false,
    };
    if is_hidden {
        return Err(not_found());
    }
    Ok(Answer::ok(vault))
}

pub(super) fn update(store: &mut Store, call: &Call, id: i64) -> Outcome {
    let old_name = store.vault(call.account, id)?.name.clone();
    let fields = call.fields(FIELDS, Call::may_write)?;
    let (bug, has) = (|name| call.bug(name), |field| fields.has(field));
    let mut name = fields.text("name", 50)?;
    if let Some(name) = name.clone().filter(|_| bug("patch-vault.in-place")) {
        store.vault(call.account, id)?.name = name;
    }
    let mut description = fields.nullable_text("description", 200)?;
    let mut visibility = fields.choice("visibility", VISIBILITIES)?;
    let mut sets_description = has("description");
    let unchanged = name.as_ref() == Some(&old_name);
    match call.bug {
        "patch-vault.own-name-409" if unchanged => return refuse(409, "Name taken"),
        "patch-vault.unchanged-404" if unchanged && !sets_description => return Err(not_found()),
        "patch-vault.name-asked" if !has("name") => return Err(bad("name", "missing")),
        _ => {}
    }
    if name.as_ref().is_some_and(|name| *name != old_name && is_taken(store, call.account, name)) {
        return refuse(call.choices.statuses.name_taken, "Name taken");
    }
    call.after_all(Call::may_write)?;
    let before = answer(store, call.account, id)?;
    let now = store.now();
    let vault = store.vault(call.account, id)?;
    match call.bug {
        "patch-vault.drops-description" => sets_description = true,
        "patch-vault.name-drops-description" if has("name") => sets_description = true,
        "patch-vault.drops-visibility" => visibility = visibility.or(Some("private")),
        "patch-vault.null-kept" if description.is_none() => return Ok(Answer::ok(before)),
        "patch-vault.null-is-empty" => description = description.or(Some(String::new())),
        "patch-vault.visibility-kept" => visibility = None,
        "patch-vault.name-kept" => name = None,
        "patch-vault.created-moves" => vault.created = now + 1000,
        "patch-vault.publishes" if sets_description => visibility = Some("public"),
        "patch-vault.empties" => store.leave(|held| held.vault == id),
        "late.patch-vault-unpins" => store.unpin(|held| held.vault == id),
        "late.patch-vault-all" if visibility.is_some() => {
            let own = store.vaults.iter_mut().filter(|one| one.owner == call.account);
            let own = own.filter(|one| !one.is_system);
            own.for_each(|one| one.visibility = visibility.unwrap_or("private"));
        }
        "patch-vault.not-stored" => {
            let mut shown = before;
            shown["name"] = name.unwrap_or(old_name).into();
            return Ok(Answer::ok(shown));
        }
        _ => {}
    }
    let vault = store.vault(call.account, id)?;
    if vault.is_locked {
        return refuse(call.choices.statuses.system, "Locked");
    }
    if call.choices.records.slugs_follow {
        vault.slug = slug_of(call.choices, name.as_ref().unwrap_or(&old_name), id);
    }
    vault.name = name.unwrap_or(old_name);
    if bug("vaults.last-updated-first") {
        vault.updated = now + 1000;
    }
    vault.visibility = visibility.unwrap_or(vault.visibility);
    if sets_description {
        vault.description = description;
    }
    match call.bug {
        "patch-vault.answers-before" => Ok(Answer::ok(before)),
        "patch-vault.answers-changes" => Ok(Answer::ok(json!({ "id": id, "name": vault.name }))),
        _ => answer(store, call.account, id).map(Answer::ok),
    }
}

pub(super) fn delete(store: &mut Store, call: &Call, id: i64) -> Outcome {
    call.may_write()?;
    if !store.went_meanwhile(call, id) {
        if store.vault(call.account, id)?.is_general {
            return refuse(call.choices.statuses.system, "Needed");
        }
        let held = store.held_by(id);
        match call.bug {
            "late.delete-vault-drops-platforms" => {
                store.change(|one| held.contains(&one.id), |one| one.platform = None)
            }
            "late.delete-vault-all-of-name" => {
                let name = store.vault(call.account, id)?.name.chars().take(5).collect::<String>();
                let is_like =
                    |vault: &Vault| vault.visibility == "unlisted" && vault.name.starts_with(&name);
                store.vaults.retain(|vault| vault.is_system || vault.id == id || !is_like(vault));
            }
            "delete-vault.with-prompts" => {
                store.prompts.retain(|prompt| !held.contains(&prompt.id));
                store.leave(|one| held.contains(&one.prompt));
            }
            "delete-vault.orphans-only" => {
                let alone = |prompt: &i64| store.holders(*prompt).len() == 1;
                let gone: Vec<_> = held.iter().copied().filter(alone).collect();
                store.prompts.retain(|prompt| !gone.contains(&prompt.id));
            }
            "delete-vault.refused-if-full" if !held.is_empty() => return refuse(409, "Not empty"),
            "delete-vault.not-done" => return Ok(Answer::deleted(call.choices, id)),
            "delete-vault.all-memberships" => store.leave(|one| held.contains(&one.prompt)),
            "delete-vault.hidden-only" => {
                store.vault(call.account, id)?.visibility = "private";
                return Ok(Answer::deleted(call.choices, id));
            }
            _ => {}
        }
        store.vaults.retain(|vault| vault.id != id);
        if !call.bug("delete-vault.keeps-memberships") {
            store.leave(|held| held.vault == id);
        }
        store.goes(call, id);
    }
    Ok(Answer::deleted(call.choices, id))
}

/// Whether the account has a vault of this name, where that matters.
pub(super) fn is_taken(store: &Store, owner: Account, name: &str) -> bool {
    store.choices.records.unique_names
        && store.vaults.iter().any(|vault| vault.owner == owner && vault.name == name)
}

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
