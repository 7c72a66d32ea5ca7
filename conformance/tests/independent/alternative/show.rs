//! Records as JSON.

use std::collections::BTreeSet;

use super::clock::{EASTERN, Form, GREENWICH, LONG, SHORT, WESTERN, written};
use super::prelude::*;
use super::slips;

pub(super) fn prompt(store: &Store, prompt: &Prompt) -> Value {
    let choices = store.choices;
    let here = store.memberships.iter().filter(|held| held.prompt == prompt.id);
    let vaults: BTreeSet<_> = here.map(|held| held.vault).collect();
    let mut vaults: Vec<_> = vaults.into_iter().collect();
    let turn = store.turn();
    if choices.records.vault_ids_fall {
        vaults.sort_unstable_by(|one, other| other.cmp(one));
    } else if !vaults.is_empty() {
        let places = vaults.len();
        vaults.rotate_left(turn % places);
    }
    let status = match choices.records.restless_status {
        true => ["active", "draft", "under review"][turn % 3],
        false if vaults.len() > 1 => "active",
        false => "shelved",
    };
    let mut value = json!({
        "id": prompt.id,
        "title": prompt.title,
        "prompt": prompt.text,
        "promptType": prompt.kind,
        "platform": prompt.platform,
        "status": status,
        "images": images(store, prompt),
        "vaultIds": vaults,
        "createdAt": form(store, prompt.created, [SHORT, EASTERN]),
        "updatedAt": form(store, prompt.updated, OTHER),
    });
    if choices.wire.extras {
        value["words"] = json!(prompt.text.split_whitespace().count());
        // Another one with each answer.
        value["views"] = json!(turn);
        value["author"] = json!({ "id": "u_7", "vaultIds": "all", "updatedAt": null });
        value["links"] = json!({ "self": format!("prompts/{}", prompt.id), "ratings": [] });
    }
    if !choices.jobs.in_images && !prompt.images.is_empty() {
        let addresses = prompt.images.iter().map(|image| &image.url);
        value["assets"] = addresses.map(|url| json!({ "href": url })).collect();
    }
    slips::prompt(store, prompt, &mut value);
    value
}

fn images(store: &Store, prompt: &Prompt) -> Vec<Value> {
    let choices = store.choices;
    let shown = prompt.image.iter().filter(|_| choices.records.image_url_shown);
    let given = shown.map(|url| Image { url: url.clone(), width: 1, height: 1 });
    let made = prompt.images.iter().filter(|_| choices.jobs.in_images).cloned();
    let entry = |image: Image| {
        let mut value = json!({
            "url": address(store, image.url),
            "width": image.width,
            "height": image.height,
            "createdAt": form(store, prompt.created, OTHER),
        });
        if choices.wire.extras {
            value["alt"] = json!("");
        }
        value
    };
    given.chain(made).map(entry).collect()
}

/// Signed anew for every answer, on a server that does so (S-77).
fn address(store: &Store, url: String) -> String {
    let files = &store.choices.files;
    if files.redirects && url.contains("/assets/") {
        format!("{url}?sig={}", store.turn())
    } else {
        url
    }
}

pub(super) fn member(store: &Store, member: &Membership) -> Option<Value> {
    let found = store.prompts.iter().find(|prompt| prompt.id == member.prompt)?;
    let mut value = prompt(store, found);
    value["vaultPromptId"] = json!(member.id);
    value["isPinned"] = json!(member.pinned.is_some());
    if store.choices.wire.extras {
        value["position"] = json!({ "added": member.added, "pinned": member.pinned });
    }
    slips::member(store.choices, &mut value);
    Some(value)
}

pub(super) fn vault(store: &Store, vault: &Vault) -> Value {
    let records = &store.choices.records;
    let held: Vec<_> = store.memberships.iter().filter(|held| held.vault == vault.id).collect();
    let mut prompts = store.prompts.iter().filter(|each| held.iter().any(|h| h.prompt == each.id));
    let cover = match records.cover {
        Some(cover) => Some(format!("{cover}{}", store.turn())),
        None => prompts.find_map(|prompt| prompt.image.clone()),
    };
    let mut value = json!({
        "id": vault.id,
        "name": vault.name,
        "description": vault.description,
        "slug": vault.slug,
        "visibility": vault.visibility,
        "accessType": records.access_type,
        "isLocked": vault.is_locked,
        "coverImageUrl": cover,
        "isSystem": vault.is_system,
        "promptCount": i64::try_from(held.len()).unwrap_or(0) + store.memory.counts.get(&vault.id).unwrap_or(&0),
        "createdAt": form(store, vault.created, [SHORT, WESTERN]),
        "updatedAt": form(store, vault.updated, OTHER),
    });
    if store.choices.wire.extras {
        value["views"] = json!(store.turn());
        value["colour"] = json!("#c0ffee");
        value["members"] = json!([{ "role": "owner", "id": "u_7", "createdAt": 1 }]);
    }
    slips::vault(store, vault, &mut value);
    value
}

const OTHER: [Form; 2] = [LONG, GREENWICH];

/// In one form by a clock of whole seconds, and in another one else.
fn form(store: &Store, moment: Millis, [whole, fine]: [Form; 2]) -> String {
    written(moment, if store.choices.records.whole_seconds { whole } else { fine })
}
