//! Named bugs in place of a handler, or in what happens before it: of soft deletes, tenants, joins
//! and keys of records.

use std::collections::{BTreeMap, BTreeSet};

use super::bugs_after;
use super::cache::{self, Cache};
use super::jobs;
use super::prelude::*;

/// What some bugs remember.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) cache: Cache,
    /// Requests that were seen, by what they have to have of their own.
    pub(super) seen: BTreeSet<String>,
    /// Images that a prompt gets later.
    pub(super) later: Vec<(Millis, i64, Vec<Image>)>,
    /// Deleted prompts and vaults.
    pub(super) prompts: Vec<Prompt>,
    pub(super) vaults: Vec<Vault>,
    /// Copies of forks: prompts or vaults, by their sources.
    pub(super) copies: Vec<(i64, i64)>,
    /// Ids of prompts that are given again.
    pub(super) prompt_ids: Vec<i64>,
    /// Memberships that were removed, and the dates of first pins.
    pub(super) removed: Vec<Membership>,
    pub(super) pins: BTreeMap<i64, Stamp>,
    /// The last `updatedAt` before an update.
    pub(super) updated: Value,
    /// What a counter column is wrong by.
    pub(super) counts: BTreeMap<i64, i64>,
}

impl Memory {
    /// Whether the account has deleted this vault.
    pub(super) fn had_vault(&self, owner: Account, id: i64) -> bool {
        self.vaults.iter().any(|vault| (vault.owner, vault.id) == (owner, id))
    }
}

/// The handlers, with the bugs of a cache or of a whole request.
pub(super) fn answered(store: &mut Store, call: &Call) -> Outcome {
    if call.bug.starts_with("cache.") {
        return cache::answered(store, call);
    }
    let mut outcome = before(store, call).unwrap_or_else(|| call.answer(store));
    match &mut outcome {
        Ok(answer) => bugs_after::success(store, call, answer),
        Err(refusal) => bugs_after::refusal(call, refusal),
    }
    outcome
}

/// What answers in place of a handler.
#[rustfmt::skip]
fn before(store: &mut Store, call: &Call) -> Option<Outcome> {
    let (parts, id, member) = call.parts();
    let (body, method, has_scope) = (&call.body, call.request.method.as_str(), call.may_write().is_ok());
    let vault = body["vaultId"].as_i64().unwrap_or_default();
    let prompt = store.memberships.iter().find(|held| held.id == member).map_or(0, |held| held.prompt);
    let list = |name: &str| body[name].as_array().cloned().unwrap_or_default();
    let adds: Vec<_> = list("promptIds").iter().filter_map(Value::as_i64).collect();
    let is_output = |store: &Store, id: i64| store.prompts.iter().any(|one| one.id == id && !one.images.is_empty());
    let has_output = |store: &Store, vault: i64| store.held_by(vault).iter().any(|id| is_output(store, *id));
    let is_huge = |value: &Value| value.is_f64() && value.as_f64().is_some_and(|number| number.abs() > 1e18);
    let deleted = |store: &Store| store.memory.prompts.iter().find(|one| one.id == id && one.owner == call.account).cloned();
    let own_prompt = |store: &Store| store.prompts.iter().find(|one| one.id == id && one.owner == call.account).cloned();
    let foreign = |store: &Store, id: i64| store.prompts.iter().find(|one| one.id == id && one.owner != call.account).cloned();
    let own_vault = |store: &Store, id: i64| store.vaults.iter().any(|one| one.id == id && one.owner == call.account);
    let is_public = |store: &Store, id: i64| foreign(store, id).is_some() && store.vaults.iter().any(|one| one.visibility == "public" && store.held(one.id, id).is_some());
    let removed = |store: &Store, vault: i64, prompt: i64| store.memory.removed.iter().any(|old| (old.vault, old.prompt) == (vault, prompt));
    let shown = |store: &Store, one: Prompt| Ok(Answer::ok(show::prompt(store, &one)));
    let added = || Some(Ok(Answer::created(json!({ "added": 1, "vaultId": id, "promptCount": 1 }))));
    match (call.bug, method, &parts[..]) {
        ("status.of-last" | "status.of-first", "GET", ["generations", _, "status"]) => {
            let mut own = store.jobs.iter().filter(|job| job.owner == call.account && job.vault.is_some());
            let job = if call.bug("status.of-last") { own.next_back()? } else { own.next()? };
            let id = job.id.clone();
            return Some(jobs::status(store, call, &id));
        }
        ("job.output-not-pinned", _, ["vaults", _, "prompts", _, "pin"]) | ("job.output-not-removed", "DELETE", ["vaults", _, "prompts", _]) if is_output(store, prompt) => return Some(Err(not_found())),
        ("asset.goes-with-update", "PATCH", ["prompts", _]) => {
            let old = own_prompt(store)?;
            let gone = |file: &super::uploads::File| old.image.as_ref().is_some_and(|url| body["imageUrl"].is_string() && url.contains(&file.name)) || old.references.iter().any(|url| body["referenceMediaUrls"].is_array() && url.contains(&file.name));
            store.files.retain(|file| !gone(file));
        }
        ("scope.queued-anyway", "POST", ["generations"]) if !has_scope => {
            let text = |name: &str| body[name].as_str().unwrap_or_default();
            let job = Job::new(text("clientJobId"), call.account, text("modelId"));
            store.jobs.push(Job { vault: body["vaultId"].as_i64(), text: text("prompt").to_owned(), ..job });
        }
        ("scope.deleted-anyway", "DELETE", ["prompts", _]) if !has_scope => store.prompts.retain(|one| one.id != id),
        ("body.huge-500", _, _) if body.as_object().into_iter().flatten().any(|field| is_huge(field.1)) => return Some(refuse(500, "value out of range")),
        ("body.fork-needs-json", "POST", ["vaults", _, .., "fork" | "pin"]) if call.request.content_type != "application/json" => return Some(refuse(415, "No JSON")),
        ("job.output-not-patched", "PATCH", ["prompts", _]) if is_output(store, id) => return Some(Err(not_found())),
        ("job.output-delete-500", "DELETE", ["prompts", _]) if is_output(store, id) => return Some(refuse(500, "foreign key")),
        ("job.vault-delete-500", "DELETE", ["vaults", _]) | ("fork.of-output-500", "POST", ["vaults", _, "fork"]) if has_output(store, id) => return Some(refuse(500, "foreign key")),
        ("job.images-lost-on-move", "POST", ["vaults", _, "prompts", _, "move"]) => store.change(|one| one.id == prompt, |one| one.images.clear()),
        ("job.images-lost-on-save", "POST", ["prompts", _, "save"]) => store.change(|one| one.id == id, |one| one.images.clear()),
        ("generate.lists-share-seven", "POST", ["generations"]) if list("imageInputs").len() + list("referenceImageUrls").len() > 7 => return Some(Err(bad("imageInputs", "too many"))),
        ("generate.parameters-flat-only", "POST", ["generations"]) if body["parameters"].as_object().into_iter().flatten().any(|one| one.1.is_array() || one.1.is_object() || one.1.is_null()) => return Some(Err(bad("parameters", "no number"))),
        ("generate.empty-list-400", "POST", ["generations"]) if body["imageInputs"] == json!([]) || body["referenceImageUrls"] == json!([]) => return Some(Err(bad("imageInputs", "empty"))),
        ("url.upload-in-list-refused", _, _) if ["imageInputs", "referenceImageUrls", "referenceMediaUrls"].iter().any(|name| list(name).iter().any(|one| one.as_str().is_some_and(|url| url.starts_with(&store.storage_url)))) => return Some(Err(bad("imageInputs", "private host"))),
        ("slot.latest-only", "POST", ["uploads", "images"]) if has_scope => store.files.retain(|file| file.bytes.is_some()),
        ("slot.size-as-text", "POST", ["uploads", "images"]) if body["size"].is_i64() && body["size"].to_string().as_str() > "10485760" => return Some(Err(bad("size", "too large"))),
        ("slot.least-64", "POST", ["uploads", "images"]) if body["size"].as_i64().is_some_and(|size| size < 64) => return Some(Err(bad("size", "too small"))),
        ("asset.consumed-by-job", "POST", ["generations"]) => if let Some(url) = body["imageInput"].as_str() { store.files.retain(|file| !url.contains(&file.name)) },
        ("soft.in-list" | "soft.in-vault-list" | "soft.patched" | "soft.saved" | "soft.added", "DELETE", ["prompts", _]) => store.memory.prompts.extend(own_prompt(store)),
        ("db.forks-go-along", "DELETE", ["vaults", _]) | ("db.copies-go-along", "DELETE", ["prompts", _]) => {
            let is_copy = |to: i64| store.memory.copies.contains(&(id, to));
            store.vaults.retain(|one| !is_copy(one.id));
            store.prompts.retain(|one| !is_copy(one.id));
        }
        ("db.vault-unlinks-images", "DELETE", ["vaults", _]) => {
            let held = store.held_by(id);
            store.change(|one| held.contains(&one.id), |one| one.images.clear());
        }
        ("count.delete-prompt", "DELETE", ["prompts", _]) if has_scope && store.prompt(call.account, id).is_ok() =>
            store.holders(id).into_iter().for_each(|vault| *store.memory.counts.entry(vault).or_default() += 1),
        ("soft.member-pinned", "DELETE", ["vaults", _, "prompts", _]) => store.memory.copies.push((member, 0)),
        ("soft.member-of-deleted" | "soft.forked", "DELETE", ["prompts", _]) if has_scope => {
            store.memory.prompts.extend(own_prompt(store));
            for held in store.memberships.iter().filter(|held| held.prompt == id) {
                store.memory.copies.push((held.id, 0));
                store.memory.removed.push(Membership { pinned: None, ..*held });
            }
        }
        ("db.vault-null", "DELETE", ["vaults", _]) => {
            let held = store.held_by(id).into_iter().map(|prompt| (prompt, 0));
            store.memory.copies.extend(held);
        }
        ("remove.unpins-elsewhere", "DELETE", ["vaults", _, "prompts", _]) | ("move.unpins-elsewhere", "POST", ["vaults", _, "prompts", _, "move"]) | ("pin.elsewhere-unpinned", "POST", ["vaults", _, "prompts", _, "pin"]) if has_scope =>
            store.unpin(|held| held.prompt == prompt && held.id != member),
        ("remove.falls-to-general", "DELETE", ["vaults", _, "prompts", _]) if has_scope && prompt > 0 => {
            let general = store.general(call.account);
            store.enter(general, prompt);
        }
        ("create.refused-stored", "POST", ["prompts"]) if has_scope && vault > 0 && !own_vault(store, vault) => {
            let new = store.new_prompt(call.account, body["title"].as_str()?.to_owned(), "Dusk".to_owned());
            store.prompts.push(new);
        }
        ("patch.answers-old-updated", "PATCH", ["prompts", _]) if has_scope => {
            let old = store.prompts.iter().find(|one| one.id == id)?;
            store.memory.updated = show::prompt(store, old)["updatedAt"].take();
        }
        _ => {}
    }
    match (call.bug, method, &parts[..]) {
        ("body.utf8-500", _, _) if std::str::from_utf8(&call.request.body).is_err() => Some(refuse(500, "codec can't decode")),
        ("body.surrogate-500", _, _) if String::from_utf8_lossy(&call.request.body).to_lowercase().contains("\\ud8") && serde_json::from_slice::<Value>(&call.request.body).is_err() => Some(refuse(500, "surrogates not allowed")),
        ("body.empty-500", "POST" | "PATCH", ["prompts" | "vaults"] | ["prompts" | "vaults", _]) if call.request.body.is_empty() => Some(refuse(500, "unexpected EOF")),
        ("body.nan", _, _) if String::from_utf8_lossy(&call.request.body).contains("NaN") => Some(refuse(500, "cannot convert float NaN")),
        ("body.bool-ids", "POST", ["vaults", _, "prompts"]) if has_scope && list("promptIds").iter().any(Value::is_boolean) => added(),
        ("soft.patched", "PATCH", ["prompts", _]) if has_scope => deleted(store).map(|old| shown(store, old)),
        ("soft.saved", "POST", ["prompts", _, "save"]) if has_scope && own_vault(store, vault) => deleted(store).map(|old| shown(store, old)),
        ("soft.added", "POST", ["vaults", _, "prompts"]) if has_scope && own_vault(store, id) && adds.iter().any(|id| store.memory.prompts.iter().any(|one| one.id == *id)) => added(),
        ("soft.vault-contents", "GET", ["vaults", _, "prompts"]) if store.memory.had_vault(call.account, id) => Some(Ok(Answer::ok(json!([])))),
        ("soft.vault-patched" | "soft.vault-forked", "PATCH" | "POST", ["vaults", _, ..]) if has_scope && parts.get(2).is_none_or(|end| *end == "fork" && call.bug("soft.vault-forked")) && (method == "POST") == call.bug("soft.vault-forked") => {
            let old = store.memory.vaults.iter().find(|one| one.id == id && (one.owner == call.account || one.visibility != "private"))?;
            let answer = if method == "POST" { Answer::created } else { Answer::ok };
            Some(Ok(answer(show::vault(store, old))))
        }
        ("db.job-id-of-all" | "db.job-id-any-case", "POST", ["generations"]) if has_scope => {
            let given = body["clientJobId"].as_str()?;
            let same = |job: &&Job| match call.bug {
                "db.job-id-of-all" => job.id == given,
                _ => job.id != given && job.id.eq_ignore_ascii_case(given) && job.owner == call.account,
            };
            store.jobs.iter().find(same).map(|job| Ok(jobs::queued(store, job, given)))
        }
        ("db.slug-unique-500", "POST", ["vaults"]) if has_scope && store.vaults.iter().any(|one| Some(&*one.name) == body["name"].as_str()) => Some(refuse(500, "duplicate key value")),
        ("db.name-same-but-case", "PATCH", ["vaults", _]) if has_scope && store.vaults.iter().any(|one| one.id == id && one.owner == call.account && body["name"].as_str().is_some_and(|name| name.to_lowercase() == one.name.to_lowercase())) => Some(super::vaults::answer(store, call.account, id).map(Answer::ok)),
        ("tenant.delete-says-200", "DELETE", ["prompts", _]) if has_scope && foreign(store, id).is_some() => Some(Ok(Answer::deleted(call.choices, id))),
        ("tenant.delete-vault-says-200", "DELETE", ["vaults", _]) if has_scope && store.vaults.iter().any(|one| one.id == id && one.owner != call.account) => Some(Ok(Answer::deleted(call.choices, id))),
        ("tenant.patch-says-200", "PATCH", ["prompts", _]) if has_scope => foreign(store, id).map(|other| shown(store, other)),
        ("tenant.save-of-others" | "save.foreign-public", "POST", ["prompts", _, "save"]) if has_scope && own_vault(store, vault) && (call.bug("tenant.save-of-others") || is_public(store, id)) =>
            foreign(store, id).map(|other| { store.enter(vault, id); shown(store, other) }),
        ("tenant.filter-foreign", "GET", ["prompts"]) => {
            let vault = call.request.query.split('&').find_map(|pair| pair.strip_prefix("vaultId="))?.parse().ok()?;
            store.vaults.iter().find(|one| one.id == vault && one.owner != call.account && one.visibility == "public")?;
            let held = store.prompts.iter().filter(|one| store.held(vault, one.id).is_some());
            Some(Ok(Answer::page(held.map(|one| show::prompt(store, one)).collect(), None)))
        }
        ("query.superscript-500", _, _) if query::pairs(&call.request.query).any(|(_, value)| value.chars().any(|c| c.is_numeric() && !c.is_ascii())) => Some(refuse(500, "invalid literal for int()")),
        ("body.limit-100k", _, _) if call.request.body.len() > 102_400 => Some(refuse(413, "request entity too large")),
        ("job.negative-400", "POST", ["generations"]) if body["negativePrompt"].is_string() => Some(Err(bad("negativePrompt", "not supported"))),
        ("fork.once", "POST", ["vaults", _, "fork"]) if has_scope => {
            let copy = store.memory.copies.iter().find(|(from, to)| *from == id && own_vault(store, *to))?.1;
            Some(super::vaults::answer(store, call.account, copy).map(Answer::created))
        }
        ("soft.vault-in-list" | "soft.vault-contents" | "soft.vault-forked" | "soft.vault-patched" | "soft.vault-target" | "soft.vault-generates", "DELETE", ["vaults", _]) => {
            let old = store.vaults.iter().position(|one| one.id == id && one.owner == call.account && !one.is_general)?;
            let old = store.vaults.remove(old);
            store.memory.vaults.push(old);
            store.leave(|held| held.vault == id);
            Some(Ok(Answer::deleted(call.choices, id)))
        }
        ("soft.member-pinned" | "soft.member-of-deleted", _, ["vaults", _, "prompts", _, "pin"]) if store.memory.copies.contains(&(member, 0)) =>
            Some(Ok(Answer::ok(json!({ "vaultPromptId": member, "isPinned": method == "POST" })))),
        _ if !has_scope => None,
        ("add.foreign-public", "POST", ["vaults", _, "prompts"]) if own_vault(store, id) && adds.iter().any(|one| is_public(store, *one)) => added(),
        ("save.again-after-remove-500", "POST", ["prompts", _, "save"]) if removed(store, vault, id) => Some(refuse(500, "duplicate key value")),
        ("add.again-after-remove-500", "POST", ["vaults", _, "prompts"]) if adds.iter().any(|one| removed(store, id, *one)) => Some(refuse(500, "duplicate key value")),
        ("patch-vault.latin-only", "PATCH", ["vaults", _]) if body["name"].as_str().is_some_and(|name| !name.chars().any(|c| c.is_ascii_alphanumeric())) => Some(Err(bad("name", "no letter"))),
        _ => None,
    }
}
