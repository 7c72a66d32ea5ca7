//! Named bugs that two or three calls show together: what one call leaves in records that another
//! reads, and what a body brings that is only to be read.

use serde_json::{Value, json};

use super::answer::{Answer, Outcome, bad, refused};
use super::call::Call;
use super::show;
use super::store::{Image, Prompt, Store, Vault};

/// The segments of a path, and the ids in it.
fn parts(call: &Call) -> (Vec<&str>, i64, i64) {
    let parts: Vec<_> = call.path().split('/').skip(1).collect();
    let id = |place: usize| parts.get(place).and_then(|id| id.parse().ok()).unwrap_or_default();
    let (first, member) = (id(1), id(3));
    (parts, first, member)
}

fn body_of(call: &Call) -> Value {
    serde_json::from_slice(&call.request.body).unwrap_or_default()
}

/// What answers in place of a handler, or happens before it.
#[rustfmt::skip]
pub(super) fn before(store: &mut Store, call: &Call) -> Option<Outcome> {
    let (parts, id, member) = parts(call);
    let body = body_of(call);
    let vault = body["vaultId"].as_i64().unwrap_or_default();
    let prompt = store.memberships.iter().find(|held| held.id == member).map_or(0, |held| held.prompt);
    let adds: Vec<_> = body["promptIds"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
    let own = |store: &mut Store, id: i64| store.vault(call.account, id).is_ok();
    let is_public = |store: &Store, prompt: i64| {
        let foreign = store.prompts.iter().any(|one| one.id == prompt && one.owner != call.account);
        foreign && store.vaults.iter().any(|one| one.visibility == "public" && store.held(one.id, prompt).is_some())
    };
    let removed = |store: &Store, vault: i64, prompt: i64| store.memory.removed.iter().any(|old| (old.vault, old.prompt) == (vault, prompt));
    if call.may_write().is_err() { return None }
    match (call.choices.bug, call.request.method.as_str(), &parts[..]) {
        ("save.foreign-public", "POST", ["prompts", _, "save"]) if is_public(store, id) && own(store, vault) => {
            store.enter(vault, id);
            store.prompts.iter().find(|one| one.id == id).map(|one| Ok(Answer::ok(show::prompt(store, one))))
        }
        ("add.foreign-public", "POST", ["vaults", _, "prompts"]) if own(store, id) && adds.iter().any(|one| is_public(store, *one)) => Some(Ok(Answer::created(json!({ "added": 1, "vaultId": id, "promptCount": 1 })))),
        ("save.again-after-remove-500", "POST", ["prompts", _, "save"]) if removed(store, vault, id) => Some(Err(refused(500, "duplicate key value"))),
        ("add.again-after-remove-500", "POST", ["vaults", _, "prompts"]) if adds.iter().any(|one| removed(store, id, *one)) => Some(Err(refused(500, "duplicate key value"))),
        ("patch-vault.latin-only", "PATCH", ["vaults", _]) if body["name"].as_str().is_some_and(|name| !name.chars().any(|c| c.is_ascii_alphanumeric())) => Some(Err(bad("name", "no letter"))),
        ("remove.unpins-elsewhere", "DELETE", ["vaults", _, "prompts", _]) | ("move.unpins-elsewhere", "POST", ["vaults", _, "prompts", _, "move"]) => {
            store.unpin(|held| held.prompt == prompt && held.id != member);
            None
        }
        ("remove.falls-to-general", "DELETE", ["vaults", _, "prompts", _]) if prompt > 0 => {
            let general = store.general(call.account);
            store.enter(general, prompt);
            None
        }
        ("create.refused-stored", "POST", ["prompts"]) if vault > 0 && !own(store, vault) => {
            let new = store.new_prompt(call.account, body["title"].as_str()?.to_owned(), "Dusk".to_owned());
            store.prompts.push(new);
            None
        }
        ("patch.answers-old-updated", "PATCH", ["prompts", _]) => {
            let old = store.prompts.iter().find(|one| one.id == id)?;
            store.memory.updated = show::prompt(store, old)["updatedAt"].take();
            None
        }
        _ => None,
    }
}

/// What happens after a success, and to its answer.
#[rustfmt::skip]
pub(super) fn after(store: &mut Store, call: &Call, answer: &mut Answer) {
    let (parts, id, _) = parts(call);
    let body = body_of(call);
    let data = &mut answer.data;
    let made = data["id"].as_i64().unwrap_or_default();
    let patches = call.request.method == hyper::Method::PATCH;
    let vaults: Vec<_> = body["vaultIds"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
    let images = body["images"].as_array().map(|all| all.iter().map(|one| Image { url: one["url"].to_string(), width: 1, height: 1 }).collect::<Vec<_>>());
    match (call.choices.bug, call.request.method.as_str(), &parts[..]) {
        ("add.unpins-vault", "POST", ["vaults", _, "prompts"]) => store.unpin(|held| held.vault == id),
        ("save.general-too", "POST", ["prompts", _, "save"]) => { let general = store.general(call.account); store.enter(general, made); }
        ("contents.preview", "GET", ["vaults", _, "prompts"]) => data.as_array_mut().into_iter().flatten().for_each(|one| one["prompt"] = one["prompt"].as_str().unwrap_or("").chars().take(200).collect::<String>().into()),
        ("patch.answers-old-updated", "PATCH", ["prompts", _]) => data["updatedAt"] = store.memory.updated.take(),
        ("patch.updated-back", "PATCH", ["prompts", _]) => store.change(|one| one.id == id, |one| one.updated -= 7_200_000),
        ("mass.vault-system", "POST" | "PATCH", ["vaults"] | ["vaults", _]) => store.vaults.iter_mut().filter(|one| one.id == made).for_each(|one| one.is_system |= body["isSystem"] == true),
        ("mass.vault-count", "POST" | "PATCH", ["vaults"] | ["vaults", _]) => store.memory.counts.extend(body["promptCount"].as_i64().map(|count| (made, count))),
        ("mass.vault-created", "PATCH", ["vaults", _]) if body["createdAt"].is_string() => store.vaults.iter_mut().filter(|one| one.id == made).for_each(|one| one.created = 0),
        ("mass.prompt-created", "PATCH", ["prompts", _]) if body["createdAt"].is_string() => store.change(|one| one.id == made, |one| one.created = 0),
        ("mass.prompt-vaults", "PATCH", ["prompts", _]) if body["vaultIds"].is_array() => store.leave(|held| held.prompt == made && !vaults.contains(&held.vault)),
        ("mass.create-prompt-vaults", "POST", ["prompts"]) => for vault in vaults { store.enter(vault, made); },
        ("mass.prompt-images", "POST" | "PATCH", ["prompts"] | ["prompts", _]) if images.is_some() => store.change(|one| one.id == made, |one| one.images = images.clone().unwrap_or_default()),
        _ => return,
    }
    if patches && call.choices.bug == "patch.updated-back" {
        data["updatedAt"] = store.prompts.iter().find(|one| one.id == made).map_or(Value::Null, |one| show::prompt(store, one)["updatedAt"].take());
    }
}

/// In a prompt object.
pub(super) fn prompt(store: &Store, prompt: &Prompt, value: &mut Value) {
    let vaults = value["vaultIds"].as_array().cloned().unwrap_or_default().into_iter();
    match store.choices.bug {
        "prompt.vault-ids-ten" => value["vaultIds"] = vaults.take(10).collect(),
        "prompt.vault-ids-times-images" => {
            let times = prompt.images.len().max(1);
            value["vaultIds"] = vaults.flat_map(|id| vec![id; times]).collect();
        }
        _ => {}
    }
}

/// In a vault object.
pub(super) fn vault(store: &Store, vault: &Vault, value: &mut Value) {
    if store.choices.bug("vault.count-times-images") {
        let held = store.held_by(vault.id);
        let prompts = store.prompts.iter().filter(|one| held.contains(&one.id));
        value["promptCount"] = json!(prompts.map(|one| one.images.len().max(1)).sum::<usize>());
    }
}
