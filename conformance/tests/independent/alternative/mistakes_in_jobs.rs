//! Named bugs that show in a second call, at another endpoint or at the end of a range: of workers
//! that insert what handlers usually insert, of joins, counters, and keys of records.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::answer::{Outcome, Refusal, bad, not_found, refused};
use super::call::Call;
use super::choices::Choices;
use super::clock::{Millis, now};
use super::jobs::{Job, State};
use super::store::{Account, Image, Prompt, Stamp, Store};
use super::wire::ApiRequest;
use super::{Secrets, query};

/// What some of these bugs remember.
#[derive(Default)]
pub(super) struct Memory {
    seen: BTreeSet<String>,
    /// Images that a prompt gets later.
    later: Vec<(Millis, i64, Vec<Image>)>,
}

/// The request before anybody looks at it, or its answer.
#[rustfmt::skip]
pub(super) fn request(store: &Store, choices: &Choices, keys: &Secrets, request: &mut ApiRequest) -> Option<Outcome> {
    let main = Some(format!("Bearer {}", keys.main));
    let sent = request.authorization.clone().unwrap_or_default();
    let text = String::from_utf8_lossy(&request.body).into_owned();
    let mut body: Value = serde_json::from_str(&text).unwrap_or_default();
    let low = |id: i64| if id >= 3 << 31 { id - (1 << 32) } else { id };
    match choices.bug {
        "auth.ascii-500" if request.authorization.is_none() && request.has_authorization() => return Some(Err(refused(500, "ordinal not in range(128)"))),
        // A header may be refused for its bytes (S-80).
        _ if choices.keys.trimmed && request.authorization.is_none() && request.has_authorization() => return Some(Err(refused(400, "Odd header"))),
        "auth.token-as-key" if store.files.iter().any(|file| sent == format!("Bearer {}", file.token)) => request.authorization = main,
        "auth.test-for-live" => request.authorization = Some(sent.replace("_test_", "_live_")).filter(|sent| !sent.is_empty()),
        "auth.basic" if sent.starts_with("Basic ") && sent.len() > 20 => request.authorization = main,
        "auth.revoked-writes" if sent.ends_with(&keys.revoked) && request.method != "GET" => request.authorization = main,
        "auth.revoked-status" if sent.ends_with(&keys.revoked) && request.path.ends_with("/status") => request.authorization = main,
        "body.nan-taken" if text.contains("NaN") => request.body = text.replace("NaN", "1.5").into(),
        "body.limit-1m" if request.body.len() > 1 << 20 => return Some(Err(refused(413, "request entity too large"))),
        "slot.type-any-image" if body["contentType"].as_str().is_some_and(|kind| kind.starts_with("image/") && !["png", "jpeg", "webp", "gif"].contains(&&kind[6..])) => body["contentType"] = json!("image/png"),
        "slot.type-always-png" if body["contentType"].as_str().is_some_and(|kind| ["png", "jpeg", "webp", "gif"].contains(&kind.trim_start_matches("image/"))) => body["contentType"] = json!("image/png"),
        "target.wraps-32" => for name in ["vaultId", "targetVaultId"] { if let Some(id) = body[name].as_i64() { body[name] = json!(low(id)) } },
        "id.wraps-32" | "id.spaces" | "id.format-suffix" => {
            let part = |part: &str| match (choices.bug, part.parse()) {
                ("id.wraps-32", Ok(id)) => low(id).to_string(),
                ("id.spaces", _) => part.replace("%20", ""),
                _ => part.trim_end_matches(".json").to_owned(),
            };
            request.path = request.path.split('/').map(part).collect::<Vec<_>>().join("/");
        }
        _ => {}
    }
    if body.is_object() && choices.bug.starts_with("slot.t") || choices.bug("target.wraps-32") && body.is_object() {
        request.body = body.to_string().into();
    }
    None
}

/// Whether a vault has an output in it.
fn has_output(store: &Store, vault: i64) -> bool {
    store.prompts.iter().any(|one| !one.images.is_empty() && store.held(vault, one.id).is_some())
}

/// What answers in place of a handler.
#[rustfmt::skip]
pub(super) fn before(store: &mut Store, call: &Call) -> Option<Outcome> {
    let path = call.path().to_owned();
    let parts: Vec<_> = path.split('/').skip(1).collect();
    let id = parts.get(1).and_then(|id| id.parse::<i64>().ok()).unwrap_or_default();
    let body: Value = serde_json::from_slice(&call.request.body).unwrap_or_default();
    let has_scope = call.may_write().is_ok();
    let is_output = store.prompts.iter().any(|one| one.id == id && !one.images.is_empty());
    let list = |name: &str| body[name].as_array().cloned().unwrap_or_default();
    let is_huge = |value: &Value| value.is_f64() && value.as_f64().is_some_and(|number| number.abs() > 1e18);
    match (call.choices.bug, call.request.method.as_str(), &parts[..]) {
        ("status.of-last" | "status.of-first", "GET", ["generations", _, "status"]) => {
            let mut own = store.jobs.iter().filter(|job| job.owner == call.account && job.vault.is_some());
            let job = if call.choices.bug("status.of-last") { own.next_back()? } else { own.next()? };
            let id = job.id.clone();
            return Some(super::jobs::status(store, call, &id));
        }
        ("job.output-not-pinned", _, ["vaults", _, "prompts", member, "pin"]) | ("job.output-not-removed", "DELETE", ["vaults", _, "prompts", member]) => {
            let held = store.memberships.iter().find(|held| held.id.to_string() == **member)?.prompt;
            if store.prompts.iter().any(|one| one.id == held && !one.images.is_empty()) { return Some(Err(not_found())) }
        }
        ("asset.goes-with-update", "PATCH", ["prompts", _]) => {
            let old = store.prompts.iter().find(|one| one.id == id)?.clone();
            let gone = |file: &super::uploads::File| old.image.as_ref().is_some_and(|url| body["imageUrl"].is_string() && url.contains(&file.name)) || old.references.iter().any(|url| body["referenceMediaUrls"].is_array() && url.contains(&file.name));
            store.files.retain(|file| !gone(file));
        }
        ("scope.queued-anyway", "POST", ["generations"]) if !has_scope => store.jobs.push(Job {
            id: body["clientJobId"].as_str().unwrap_or_default().to_owned(), owner: call.account, vault: body["vaultId"].as_i64(), kind: "image", model: body["modelId"].as_str().unwrap_or_default().to_owned(),
            ratio: "1:1".to_owned(), text: body["prompt"].as_str().unwrap_or_default().to_owned(), outputs: 1, request: String::new(), begun: now(), state: State::Underway,
        }),
        ("scope.deleted-anyway", "DELETE", ["prompts", _]) if !has_scope => store.prompts.retain(|one| one.id != id),
        ("body.huge-500", _, _) if body.as_object().into_iter().flatten().any(|field| is_huge(field.1)) => return Some(Err(refused(500, "value out of range"))),
        ("body.fork-needs-json", "POST", ["vaults", _, .., "fork" | "pin"]) if call.request.content_type != "application/json" => return Some(Err(refused(415, "No JSON"))),
        ("job.output-not-patched", "PATCH", ["prompts", _]) if is_output => return Some(Err(not_found())),
        ("job.output-delete-500", "DELETE", ["prompts", _]) if is_output => return Some(Err(refused(500, "foreign key"))),
        ("job.vault-delete-500", "DELETE", ["vaults", _]) | ("fork.of-output-500", "POST", ["vaults", _, "fork"]) if has_output(store, id) => return Some(Err(refused(500, "foreign key"))),
        ("job.images-lost-on-move", "POST", ["vaults", _, "prompts", member, "move"]) => {
            let prompt = store.memberships.iter().find(|held| held.id.to_string() == **member)?.prompt;
            store.change(|one| one.id == prompt, |one| one.images.clear());
        }
        ("job.images-lost-on-save", "POST", ["prompts", _, "save"]) => store.change(|one| one.id == id, |one| one.images.clear()),
        ("generate.lists-share-seven", "POST", ["generations"]) if list("imageInputs").len() + list("referenceImageUrls").len() > 7 => return Some(Err(bad("imageInputs", "too many"))),
        ("generate.parameters-flat-only", "POST", ["generations"]) if body["parameters"].as_object().into_iter().flatten().any(|one| one.1.is_array() || one.1.is_object() || one.1.is_null()) => return Some(Err(bad("parameters", "no number"))),
        ("generate.empty-list-400", "POST", ["generations"]) if body["imageInputs"] == json!([]) || body["referenceImageUrls"] == json!([]) => return Some(Err(bad("imageInputs", "empty"))),
        ("url.upload-in-list-refused", _, _) if ["imageInputs", "referenceImageUrls", "referenceMediaUrls"].iter().any(|name| list(name).iter().any(|one| one.as_str().is_some_and(|url| url.starts_with(&store.storage_url)))) => return Some(Err(bad("imageInputs", "private host"))),
        ("slot.latest-only", "POST", ["uploads", "images"]) if has_scope => store.files.retain(|file| file.bytes.is_some()),
        ("slot.size-as-text", "POST", ["uploads", "images"]) if body["size"].is_i64() && body["size"].to_string().as_str() > "10485760" => return Some(Err(bad("size", "too large"))),
        ("slot.least-64", "POST", ["uploads", "images"]) if body["size"].as_i64().is_some_and(|size| size < 64) => return Some(Err(bad("size", "too small"))),
        ("asset.consumed-by-job", "POST", ["generations"]) => if let Some(url) = body["imageInput"].as_str() { store.files.retain(|file| !url.contains(&file.name)) },
        _ => {}
    }
    None
}

/// What becomes of the answer of a handler.
#[rustfmt::skip]
pub(super) fn after(store: &mut Store, call: &Call, outcome: &mut Outcome) {
    let path = call.path().to_owned();
    let ends = |end: &str| path.ends_with(end);
    let text = |data: &mut Value, name: &str| data[name] = json!(data[name].to_string());
    let answer = match outcome {
        Ok(answer) => answer,
        Err(refusal) => {
            let sent: Value = serde_json::from_slice(&call.request.body).unwrap_or_default();
            let several = sent.as_object().is_some_and(|all| all.len() != 1);
            let in_path = |end: &str| path.split('/').nth(3) == Some("prompts") && path.ends_with(end);
            let is_marked = match call.choices.bug {
                "error.several-500" if several && refusal.status == 400 => { refusal.status = 500; false }
                "error.several-details-list" => several && refusal.status == 400,
                "error.query-details-null" => refusal.status == 400 && !call.request.query.is_empty(),
                "error.member-details-null" => in_path("") && path.split('/').count() > 4,
                "error.fork-plain" => path.ends_with("/fork"),
                "error.job-plain" => path.ends_with("/status"),
                "error.keys-plain" => path.ends_with("/api-keys"),
                "error.scope-no-details" => refusal.text == "No scope",
                "error.path-id-plain" => refusal.text == "No integer",
                "error.type-plain" => refusal.text == "No JSON",
                "error.reference-details-null" => refusal.text == "No such vault" || refusal.text == "No such prompt",
                _ => false,
            };
            if is_marked { refusal.text = "!" }
            match call.choices.bug {
                "error.generate-object" if path == "/generations" => refusal.text = "!",
                "error.upload-details-null" if path == "/uploads/images" => refusal.text = "!",
                _ => {}
            }
            return;
        }
    };
    let data = &mut answer.data;
    let method = call.request.method.as_str();
    match (call.choices.bug, method) {
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
        ("page.missing-filtered", "GET") if call.request.query.contains("type=") || call.request.query.contains("vaultId=") => answer.unpaged(),
        ("status.flips", "GET") if ends("/status") && data["state"] == "completed" && !store.memory.mistakes_in_jobs.seen.insert(path.clone()) => { store.memory.mistakes_in_jobs.seen.remove(&path); data["state"] = json!("42 %") }
        _ => {}
    }
}

/// What becomes of a job before it is queued.
#[rustfmt::skip]
pub(super) fn order(store: &mut Store, call: &Call, job: &mut Job) -> Result<(), Refusal> {
    let mut body: Value = serde_json::from_slice(&call.request.body).unwrap_or_default();
    match call.choices.bug {
        "job.id-overwritten" => store.jobs.retain(|old| old.id != job.id || old.owner == call.account),
        "job.same-body-once" => {
            body["clientJobId"] = Value::Null;
            if !store.memory.mistakes_in_jobs.seen.insert(body.to_string()) { job.outputs = 0 }
        }
        "job.general-by-name" if job.vault.is_none() => {
            let own = store.vaults.iter().rev().find(|one| one.owner == call.account && !one.is_system && ["General", "Alles"].contains(&&*one.name));
            job.vault = own.map(|one| one.id);
        }
        "job.video-to-general" if job.kind == "video" => job.vault = None,
        "job.edit-to-general" if body["imageInput"].is_string() => job.vault = None,
        "job.batch-three" => job.outputs = job.outputs.min(3),
        "job.video-one" if job.kind == "video" => job.outputs = 1,
        "job.vault-of-first" => if let Some(first) = store.jobs.iter().find(|old| old.owner == call.account && old.vault.is_some()) { job.vault = first.vault },
        _ => {}
    }
    Ok(())
}

/// Where the output of a job goes.
pub(super) fn place(store: &Store, owner: Account, vault: i64) -> i64 {
    let name = store.vaults.iter().find(|one| one.id == vault).map(|one| &one.name);
    let same = store.vaults.iter().rev().find(|one| one.owner == owner && Some(&one.name) == name);
    same.filter(|_| store.choices.bug("job.vault-by-name")).map_or(vault, |one| one.id)
}

/// Before the outputs of a job are put into a vault: how many there are now.
pub(super) fn outputs(store: &mut Store, place: usize, vault: i64) -> i64 {
    let job = &store.jobs[place];
    let outputs = job.outputs;
    match store.choices.bug {
        "job.replaces-output" => {
            let old: Vec<_> = store.prompts.iter().filter(|one| !one.images.is_empty()).collect();
            let old: Vec<_> = old.iter().map(|one| one.id).collect();
            store.leave(|held| held.vault == vault && old.contains(&held.prompt));
        }
        "job.batch-completes-early" if outputs > 1 => {
            let rest = Job {
                id: format!("rest-{place}"),
                kind: job.kind,
                model: job.model.clone(),
                ratio: job.ratio.clone(),
                text: job.text.clone(),
                request: String::new(),
                begun: now() + 200,
                outputs: outputs - 1,
                state: State::Underway,
                ..*job
            };
            store.jobs.push(rest);
            return 1;
        }
        _ => {}
    }
    outputs
}

/// After an output was put into a vault.
pub(super) fn saved(store: &mut Store, vault: i64, id: i64) {
    match store.choices.bug {
        "job.output-last" => {
            let held = store.memberships.iter_mut().filter(|held| held.prompt == id);
            held.for_each(|held| held.added = Stamp { at: 0, count: 0 });
        }
        "job.count-per-image" => {
            let images = store.prompts.iter().find(|one| one.id == id).map(|one| one.images.len());
            *store.memory.counts.entry(vault).or_default() +=
                i64::try_from(images.unwrap_or(1)).unwrap_or(1) - 1;
        }
        "job.images-later" => {
            for one in store.prompts.iter_mut().filter(|one| one.id == id) {
                let images = std::mem::take(&mut one.images);
                store.memory.mistakes_in_jobs.later.push((now() + 200, id, images));
            }
        }
        _ => {}
    }
}

/// Before each request.
pub(super) fn go_on(store: &mut Store) {
    let later = &mut store.memory.mistakes_in_jobs.later;
    for (_, id, images) in later.extract_if(.., |one| one.0 <= now()) {
        let prompts = store.prompts.iter_mut().filter(|one| one.id == id);
        prompts.for_each(|one| one.images.clone_from(&images));
    }
}

/// Outputs in a list.
pub(super) fn listed(store: &Store, vault: Option<i64>, typed: bool, found: &mut Vec<&Prompt>) {
    if store.choices.bug("job.output-not-in-type") && typed
        || store.choices.bug("job.output-not-in-filter") && vault.is_some()
    {
        found.retain(|one| one.images.is_empty());
    }
}

/// A page and the place behind it, as the bugs of pages have them.
pub(super) fn page(
    store: &Store,
    (account, filtered, limit): (Account, bool, usize),
    (found, rest): (&mut Vec<&Prompt>, bool),
    next: &mut Option<String>,
    (given, all): (Option<&String>, &dyn Fn(u64) -> String),
) {
    let end = found.last().map_or(0, |last| query::place(store, last));
    let mut others: Vec<_> = store.prompts.iter().filter(|one| one.owner == account).collect();
    others.sort_by_key(|one| query::place(store, one));
    let mut behind = others.iter().filter(|one| query::place(store, one) > end);
    match store.choices.bug {
        "page.third-is-second" if given.is_some() && next.is_some() => *next = given.cloned(),
        "page.more-of-all" if others.len() > found.len() && !found.is_empty() => {
            *next = Some(all(end))
        }
        "page.full-filtered" if filtered && found.len() == limit => *next = Some(all(end)),
        "page.hundred-is-last" if limit == 100 => *next = None,
        "page.stops-at-other" if rest => {
            let other = |one: &&&Prompt| found.last().is_some_and(|last| last.kind != one.kind);
            *next = next.take().filter(|_| !behind.any(|one| other(&one)));
        }
        "page.join-limit" => {
            let mut rows = 0;
            let fits = |one: &&Prompt| {
                rows += store.holders(one.id).len().max(1);
                rows <= limit.max(1)
            };
            let whole = found.len();
            let kept = found.iter().copied().take_while(fits).count().max(1);
            found.truncate(kept);
            if let Some(last) = found.last().filter(|_| kept < whole) {
                *next = Some(all(query::place(store, last)));
            }
        }
        _ => {}
    }
}
