//! Records as JSON.
//!
//! Differs in: unknown keys everywhere (S-68), `status` changes with the vaults
//! (S-04), `imageUrl` shows up in `images` (S-05), `vaultIds` descend (S-07),
//! `accessType` is a string (S-13), a cover is picked from the prompts (S-15),
//! and the forms of timestamps (S-63).

use serde_json::{Value, json};

use super::clock::{eastern, greenwich, western};
use super::store::{Membership, Prompt, Store, Vault};

/// A prompt object.
pub(super) fn prompt(store: &Store, prompt: &Prompt) -> Value {
    let here = store.memberships.iter().filter(|held| held.prompt == prompt.id);
    let mut vaults: Vec<_> = here.map(|held| held.vault).collect();
    vaults.sort_unstable_by(|one, other| other.cmp(one));
    let images = prompt.image.iter().map(|url| {
        let created = greenwich(prompt.created);
        json!({ "url": url, "width": 1, "height": 1, "createdAt": created, "alt": "" })
    });
    json!({
        "id": prompt.id,
        "title": prompt.title,
        "prompt": prompt.text,
        "promptType": prompt.kind,
        "platform": prompt.platform,
        "status": if vaults.len() > 1 { "active" } else { "shelved" },
        "images": images.collect::<Vec<_>>(),
        "vaultIds": vaults,
        "createdAt": eastern(prompt.created),
        "updatedAt": greenwich(prompt.updated),
        "words": prompt.text.split_whitespace().count(),
        "links": { "self": format!("prompts/{}", prompt.id), "ratings": [] },
    })
}

/// A prompt object of a vault's listing.
pub(super) fn member(store: &Store, member: &Membership) -> Option<Value> {
    let found = store.prompts.iter().find(|prompt| prompt.id == member.prompt)?;
    let mut value = prompt(store, found);
    value["vaultPromptId"] = json!(member.id);
    value["isPinned"] = json!(member.pinned.is_some());
    value["position"] = json!({ "added": member.added, "pinned": member.pinned });
    Some(value)
}

/// A vault object.
pub(super) fn vault(store: &Store, vault: &Vault) -> Value {
    let held: Vec<_> = store.memberships.iter().filter(|held| held.vault == vault.id).collect();
    let mut prompts = store.prompts.iter().filter(|each| held.iter().any(|h| h.prompt == each.id));
    json!({
        "id": vault.id,
        "name": vault.name,
        "description": vault.description,
        "slug": vault.slug,
        "visibility": vault.visibility,
        "accessType": "owner",
        "isLocked": vault.is_locked,
        "coverImageUrl": prompts.find_map(|prompt| prompt.image.clone()),
        "isSystem": vault.is_system,
        "promptCount": held.len(),
        "createdAt": western(vault.created),
        "updatedAt": greenwich(vault.updated),
        "colour": "#c0ffee",
        "members": [{ "role": "owner" }],
    })
}
