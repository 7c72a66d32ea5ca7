//! Named bugs in the answer of a handler, and in what else happens after it.

use super::clock;
use super::prelude::*;
use super::slips::text;

/// Marks a refusal, so that `slips::refusal` writes it wrongly.
pub(super) fn refusal(call: &Call, refusal: &mut Refusal) {
    let (path, is_400) = (call.path(), refusal.status == 400);
    let several = is_400 && call.body.as_object().is_some_and(|all| all.len() != 1);
    let is_marked = match call.bug {
        "error.several-500" if several => {
            refusal.status = 500;
            false
        }
        "error.several-details-list" => several,
        "error.query-details-null" => is_400 && !call.request.query.is_empty(),
        "error.member-details-null" => {
            matches!(call.parts().0[..], ["vaults", _, "prompts", _, ..])
        }
        "error.fork-plain" => path.ends_with("/fork"),
        "error.job-plain" => path.ends_with("/status"),
        "error.keys-plain" => path.ends_with("/api-keys"),
        "error.scope-no-details" => refusal.text == "No scope",
        "error.path-id-plain" => refusal.text == "No integer",
        "error.type-plain" => refusal.text == "No JSON",
        "error.reference-details-null" => {
            ["No such vault", "No such prompt"].contains(&refusal.text)
        }
        "error.generate-object" => path == "/generations",
        "error.upload-details-null" => path == "/uploads/images",
        _ => false,
    };
    if is_marked {
        refusal.text = "!";
    }
}

/// What becomes of a success.
#[rustfmt::skip]
pub(super) fn success(store: &mut Store, call: &Call, answer: &mut Answer) {
    let path = call.path();
    let ends = |end: &str| path.ends_with(end);
    let (parts, id, _) = call.parts();
    let (body, method, data) = (&call.body, call.request.method.as_str(), &mut answer.data);
    let made = data["id"].as_i64().unwrap_or_default();
    let own = |id: &[Value]| id.iter().filter_map(Value::as_i64).collect::<Vec<_>>();
    let vaults = body["vaultIds"].as_array().map(|ids| own(ids)).unwrap_or_default();
    let image = |one: &Value| Image { url: one["url"].to_string(), width: 1, height: 1 };
    let images = body["images"].as_array().map(|all| all.iter().map(image).collect::<Vec<_>>());
    let is_own = |one: &&Prompt| one.owner == call.account;
    let prompts = |store: &Store| store.memory.prompts.iter().filter(is_own).map(|one| show::prompt(store, one)).collect::<Vec<_>>();
    let in_vault = call.request.query.contains("vaultId=");
    match (call.bug, method) {
        ("slot.upload-url-relative", "POST") if ends("/images") => data["uploadUrl"] = json!(data["uploadUrl"].as_str().unwrap_or_default().replace(&store.storage_url, "")),
        ("slot.expires-float", "POST") if ends("/images") => data["expiresIn"] = json!(7200.0),
        ("moved.vault-text", "POST") if ends("/move") => text(data, "targetVaultId"),
        ("moved.member-text", "POST") if ends("/move") => text(data, "vaultPromptId"),
        ("pinned.id-text", _) if ends("/pin") => text(data, "vaultPromptId"),
        ("removed.id-text", "DELETE") if data["removed"] == true => text(data, "vaultPromptId"),
        ("added.vault-text", "POST") if data["added"].is_number() => text(data, "vaultId"),
        ("job.count-stale-in-list", "GET") if path == "/vaults" => for one in data.as_array_mut().into_iter().flatten() {
            let held = store.held_by(one["id"].as_i64().unwrap_or_default());
            one["promptCount"] = json!(store.prompts.iter().filter(|prompt| prompt.images.is_empty() && held.contains(&prompt.id)).count());
        },
        ("page.missing-filtered", "GET") if call.request.query.contains("type=") || call.request.query.contains("vaultId=") => answer.page = None,
        ("status.flips", "GET") if ends("/status") && data["state"] == "completed" && !store.memory.seen.insert(path.to_owned()) => { store.memory.seen.remove(path); data["state"] = json!("42 %") }
        _ => {}
    }
    match (call.bug, method, &parts[..]) {
        ("db.default-in-answer", "POST", ["vaults"]) if body["visibility"].is_null() => store.vaults.iter_mut().filter(|one| Some(one.id) == data["id"].as_i64()).for_each(|one| one.visibility = "public"),
        ("db.type-in-answer", "POST", ["prompts"]) if body["promptType"].is_null() => store.prompts.iter_mut().filter(|one| Some(one.id) == data["id"].as_i64()).for_each(|one| one.kind = "image"),
        ("soft.in-list", "GET", ["prompts"]) if !in_vault && !call.request.query.contains("cursor") => data.as_array_mut().into_iter().for_each(|all| all.extend(prompts(store))),
        ("soft.in-vault-list", "GET", ["prompts"]) if in_vault => data.as_array_mut().into_iter().for_each(|all| all.extend(prompts(store))),
        ("soft.vault-in-list", "GET", ["vaults"]) => data.as_array_mut().into_iter().for_each(|all| all.extend(store.memory.vaults.iter().filter(|one| one.owner == call.account).map(|one| show::vault(store, one)))),
        ("page.members", "GET", ["prompts"]) if in_vault => data.as_array_mut().into_iter().flatten().for_each(|one| one["isPinned"] = json!(false)),
        ("db.list-local-time", "GET", ["prompts"]) => data.as_array_mut().into_iter().flatten().for_each(|one| if let Some(of) = store.prompts.iter().find(|of| Some(of.id) == one["id"].as_i64()) {
            one["createdAt"] = json!(clock::written(of.created + 7_200_000, clock::SHORT));
        }),
        ("filter.keys-kept", "GET", ["prompts"]) if call.request.query.contains("type=") => {
            let list = data.as_array().cloned().unwrap_or_default();
            *data = list.into_iter().enumerate().map(|(place, one)| ((place + 1).to_string(), one)).collect();
        }
        ("patch-vault.count-zero", "PATCH", ["vaults", _]) | ("fork.count-before", "POST", ["vaults", _, "fork"]) => data["promptCount"] = json!(0),
        ("fork.once" | "db.forks-go-along" | "vaults.no-forks" | "list.vault-not-forks" | "fork.resolves-root", "POST", ["vaults", _, "fork"]) => store.memory.copies.extend(data["id"].as_i64().map(|to| (id, to))),
        ("fork.follows" | "fork.follows-back", "PATCH", ["prompts", _]) => {
            let Some(changed) = store.prompts.iter().find(|one| one.id == id).cloned() else { return };
            let pair = |one: i64| if call.bug("fork.follows") { (id, one) } else { (one, id) };
            for one in store.prompts.iter_mut().filter(|one| store.memory.copies.contains(&pair(one.id))) {
                (one.title, one.text, one.platform) = (changed.title.clone(), changed.text.clone(), changed.platform.clone());
            }
        }
        ("count.move", "POST", ["vaults", _, "prompts", _, "move"]) => *store.memory.counts.entry(id).or_default() += 1,
        ("count.create", "POST", ["prompts"]) | ("count.patch", "PATCH", ["prompts", _]) => if let Some(vault) = body["vaultId"].as_i64() { *store.memory.counts.entry(vault).or_default() -= 1 },
        ("vaults.system-on-top", "GET", ["vaults"]) => data.as_array_mut().into_iter().for_each(|all| all.sort_by_key(|one| one["isSystem"] != true)),
        ("job.vault-of-last", "POST", ["generations"]) => {
            let vault = store.jobs.last().and_then(|job| job.vault);
            store.jobs.iter_mut().filter(|job| job.owner == call.account && job.state == State::Underway).for_each(|job| job.vault = vault);
        }
        ("text.numbers-of-jobs", "POST", ["generations"]) => if let Some(number) = data["clientJobId"].as_str().and_then(|id| id.parse::<i64>().ok()) { data["clientJobId"] = json!(number) },
        ("add.unpins-vault", "POST", ["vaults", _, "prompts"]) => store.unpin(|held| held.vault == id),
        ("save.general-too", "POST", ["prompts", _, "save"]) => { let general = store.general(call.account); store.enter(general, made); }
        ("contents.preview", "GET", ["vaults", _, "prompts"]) => data.as_array_mut().into_iter().flatten().for_each(|one| one["prompt"] = one["prompt"].as_str().unwrap_or("").chars().take(200).collect::<String>().into()),
        ("patch.answers-old-updated", "PATCH", ["prompts", _]) => data["updatedAt"] = store.memory.updated.take(),
        ("patch.updated-back", "PATCH", ["prompts", _]) => {
            store.change(|one| one.id == id, |one| one.updated -= 7_200_000);
            data["updatedAt"] = store.prompts.iter().find(|one| one.id == id).map_or(Value::Null, |one| show::prompt(store, one)["updatedAt"].take());
        }
        ("mass.vault-system", "POST" | "PATCH", ["vaults"] | ["vaults", _]) => store.vaults.iter_mut().filter(|one| one.id == made).for_each(|one| one.is_system |= body["isSystem"] == true),
        ("mass.vault-count", "POST" | "PATCH", ["vaults"] | ["vaults", _]) => store.memory.counts.extend(body["promptCount"].as_i64().map(|count| (made, count))),
        ("mass.vault-created", "PATCH", ["vaults", _]) if body["createdAt"].is_string() => store.vaults.iter_mut().filter(|one| one.id == made).for_each(|one| one.created = 0),
        ("mass.prompt-created", "PATCH", ["prompts", _]) if body["createdAt"].is_string() => store.change(|one| one.id == made, |one| one.created = 0),
        ("mass.prompt-vaults", "PATCH", ["prompts", _]) if body["vaultIds"].is_array() => store.leave(|held| held.prompt == made && !vaults.contains(&held.vault)),
        ("mass.create-prompt-vaults", "POST", ["prompts"]) => for vault in vaults { store.enter(vault, made); },
        ("mass.prompt-images", "POST" | "PATCH", ["prompts"] | ["prompts", _]) if images.is_some() => store.change(|one| one.id == made, |one| one.images = images.clone().unwrap_or_default()),
        _ => {}
    }
}
