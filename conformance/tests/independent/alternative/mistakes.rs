//! Named bugs of a whole request: of soft deletes, frameworks and tenants. Those of caches are in
//! `cache`, those of one handler or field in its file.

use std::collections::BTreeMap;

use hyper::Method;
use serde_json::{Value, json};

use super::Secrets;
use super::answer::{Answer, Outcome, bad, refused};
use super::cache::{self, Cache};
use super::call::Call;
use super::choices::Choices;
use super::mistakes_in_jobs;
use super::mistakes_in_vaults;
use super::store::{Account, Membership, Prompt, Stamp, Store, Vault};
use super::wire::ApiRequest;

/// What some bugs remember.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) cache: Cache,
    pub(super) mistakes_in_jobs: mistakes_in_jobs::Memory,
    /// Deleted prompts and vaults.
    prompts: Vec<Prompt>,
    vaults: Vec<Vault>,
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
    /// Deleted prompts.
    pub(super) fn soft(&self) -> &[Prompt] {
        &self.prompts
    }

    /// Whether the account has deleted this vault.
    pub(super) fn had_vault(&self, owner: Account, id: i64) -> bool {
        self.vaults.iter().any(|vault| (vault.owner, vault.id) == (owner, id))
    }
}

/// Changes a query: each pair stays, changes or goes.
fn pairs(request: &mut ApiRequest, change: impl Fn(&str, &str) -> Option<String>) {
    let pairs = url::form_urlencoded::parse(request.query.as_bytes());
    let pairs: Vec<(String, String)> = pairs
        .filter_map(|(name, value)| Some((name.clone().into(), change(&name, &value)?)))
        .collect();
    request.query =
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
}

fn pairs_of(call: &Call) -> impl Iterator<Item = (String, String)> {
    url::form_urlencoded::parse(call.request.query.as_bytes()).into_owned()
}

fn ascii_digits(text: &str) -> String {
    let digit = |char| match u32::from(char) {
        full @ 0xff10..=0xff19 => char::from_digit(full - 0xff10, 10).unwrap_or(char),
        _ => char,
    };
    text.chars().map(digit).collect()
}

/// What a framework makes of a request before a handler sees it.
#[rustfmt::skip]
pub(super) fn request(choices: &Choices, keys: &Secrets, request: &mut ApiRequest) {
    let body = serde_json::from_slice::<Value>(&request.body);
    let has = |request: &ApiRequest, name: &str| url::form_urlencoded::parse(request.query.as_bytes()).any(|pair| pair.0 == name);
    let sent = request.authorization.clone().unwrap_or_default();
    let main = Some(format!("Bearer {}", keys.main));
    let keep = |value: &str| Some(value.to_owned());
    match choices.bug {
        "auth.x-header" if sent.is_empty() => request.authorization = request.header("x-api-key").map(|key| format!("Bearer {key}")),
        "auth.in-cookie" if sent.is_empty() => request.authorization = request.header("cookie").map(|all| format!("Bearer {}", all.rsplit('=').next().unwrap_or(&all))),
        "auth.twice" => request.authorization = Some(sent.replace("Bearer Bearer ", "Bearer ")),
        "auth.tab" => request.authorization = Some(sent.replace('\t', " ")),
        "auth.comma" => request.authorization = sent.split(',').next().map(str::to_owned),
        "auth.status-open" if request.path.ends_with("/status") && sent.is_empty() => request.authorization = main,
        "query.true-is-one" => pairs(request, |_, value| keep(if value == "true" { "1" } else { value })),
        "query.full-width" => pairs(request, |_, value| Some(ascii_digits(value))),
        "query.exponent" => pairs(request, |_, value| keep(if value == "1e1" { "10" } else { value })),
        "query.vault-zero" => pairs(request, |name, value| keep(value).filter(|_| name != "vaultId" || value != "0")),
        "query.vault-negative" => pairs(request, |name, value| keep(value).filter(|_| name != "vaultId" || !value.starts_with('-'))),
        "page.type-lost" if has(request, "cursor") => pairs(request, |name, value| keep(value).filter(|_| name != "type")),
        "page.vault-lost" if has(request, "cursor") => pairs(request, |name, value| keep(value).filter(|_| name != "vaultId")),
        "page.limit-lost" if has(request, "cursor") => pairs(request, |name, value| keep(value).filter(|_| name != "limit")),
        "path.full-width" => request.path = ascii_digits(&percent(&request.path)),
        "path.negative" => request.path = request.path.replace("/-", "/"),
        "body.array" => if let Ok(Value::Array(list)) = body && list.len() == 1 { request.body = list[0].to_string().into() },
        "body.trailing" => if let Some(Ok(first)) = serde_json::Deserializer::from_slice(&request.body).into_iter::<Value>().next() { request.body = first.to_string().into() },
        "body.keys-any-case" => if let Ok(Value::Object(fields)) = body {
            let known = |name: &String| "title prompt promptType platform modelId vaultId name description visibility promptIds targetVaultId".split(' ').find(|one| one.eq_ignore_ascii_case(name)).map_or(name.clone(), str::to_owned);
            request.body = Value::Object(fields.iter().map(|(name, value)| (known(name), value.clone())).collect()).to_string().into();
        },
        "body.twice-encoded" => if let Ok(Value::String(text)) = body { request.body = text.into() },
        "body.falsy-vault" => if let Ok(Value::Object(mut fields)) = body && fields.get("vaultId").is_some_and(|id| [json!(0), json!(false), json!("")].contains(id)) {
            fields.remove("vaultId");
            request.body = Value::Object(fields).to_string().into();
        },
        "body.nested-ids" => if let Ok(mut body) = body && let Some(ids) = body["promptIds"].as_array() {
            body["promptIds"] = ids.iter().flat_map(|id| id.as_array().cloned().unwrap_or_else(|| vec![id.clone()])).collect();
            request.body = body.to_string().into();
        },
        _ => {}
    }
}

fn percent(path: &str) -> String {
    let pair = format!("x={}", path.replace('+', "%2B"));
    url::form_urlencoded::parse(pair.as_bytes())
        .next()
        .map(|pair| pair.1.into_owned())
        .unwrap_or_default()
}

/// What is looked at before the key is.
#[rustfmt::skip]
pub(super) fn without_key(store: &mut Store, choices: &Choices, request: &ApiRequest) -> Option<Outcome> {
    let path = request.path.strip_prefix(choices.root)?;
    let parts: Vec<_> = path.split('/').skip(1).collect();
    let id = parts.get(1).and_then(|id| id.parse::<i64>().ok());
    if request.authorization.is_some() { return None }
    match choices.bug {
        "auth.redirect" => Some(Err(refused(302, "Sign in"))),
        "auth.public-open" if request.method == Method::GET && parts.len() == 2 => {
            let vault = store.vaults.iter().find(|one| Some(one.id) == id && one.visibility == "public")?;
            Some(Ok(Answer::ok(super::show::vault(store, vault))))
        }
        _ => None,
    }
}

/// The handlers, with the bugs of a cache or of a whole request.
pub(super) fn answered(store: &mut Store, call: &Call) -> Outcome {
    if call.choices.bug.starts_with("cache.") {
        return cache::answered(store, call);
    }
    let before = before(store, call)
        .or_else(|| mistakes_in_jobs::before(store, call))
        .or_else(|| mistakes_in_vaults::before(store, call));
    let mut outcome = before.unwrap_or_else(|| call.answer(store));
    mistakes_in_jobs::after(store, call, &mut outcome);
    if let Ok(answer) = &mut outcome {
        mistakes_in_vaults::after(store, call, answer);
    }
    after(store, call, outcome)
}

/// What answers in place of a handler.
#[rustfmt::skip]
fn before(store: &mut Store, call: &Call) -> Option<Outcome> {
    let path = call.path().to_owned();
    let parts: Vec<_> = path.split('/').skip(1).collect();
    let id = parts.get(1).and_then(|id| id.parse::<i64>().ok()).unwrap_or_default();
    let body = serde_json::from_slice::<Value>(&call.request.body).unwrap_or_default();
    let vault = body["vaultId"].as_i64().unwrap_or_default();
    let has_scope = call.may_write().is_ok();
    let deleted = |store: &Store| store.memory.prompts.iter().find(|one| one.id == id && one.owner == call.account).cloned();
    let foreign = |store: &Store| store.prompts.iter().find(|one| one.id == id && one.owner != call.account).cloned();
    let method = call.request.method.as_str();
    let own_vault = |store: &Store, id: i64| store.vaults.iter().any(|one| one.id == id && one.owner == call.account);
    match (call.choices.bug, method, &parts[..]) {
        ("body.utf8-500", _, _) if std::str::from_utf8(&call.request.body).is_err() => Some(Err(refused(500, "codec can't decode"))),
        ("body.surrogate-500", _, _) if String::from_utf8_lossy(&call.request.body).to_lowercase().contains("\\ud8") && serde_json::from_slice::<Value>(&call.request.body).is_err() => Some(Err(refused(500, "surrogates not allowed"))),
        ("body.empty-500", "POST" | "PATCH", ["prompts" | "vaults"] | ["prompts" | "vaults", _]) if call.request.body.is_empty() => Some(Err(refused(500, "unexpected EOF"))),
        ("body.nan", _, _) if String::from_utf8_lossy(&call.request.body).contains("NaN") => Some(Err(refused(500, "cannot convert float NaN"))),
        ("body.bool-ids", "POST", ["vaults", _, "prompts"]) if has_scope && body["promptIds"].as_array().is_some_and(|ids| ids.iter().any(Value::is_boolean)) => Some(Ok(Answer::created(json!({ "added": 1, "vaultId": id, "promptCount": 1 })))),
        ("soft.patched", "PATCH", ["prompts", _]) if has_scope => deleted(store).map(|old| Ok(Answer::ok(super::show::prompt(store, &old)))),
        ("soft.saved", "POST", ["prompts", _, "save"]) if has_scope && own_vault(store, vault) => deleted(store).map(|old| Ok(Answer::ok(super::show::prompt(store, &old)))),
        ("soft.added", "POST", ["vaults", _, "prompts"]) if has_scope && own_vault(store, id) && body["promptIds"].as_array().is_some_and(|ids| ids.iter().any(|id| store.memory.prompts.iter().any(|one| Some(one.id) == id.as_i64()))) => Some(Ok(Answer::created(json!({ "added": 1, "vaultId": id, "promptCount": 1 })))),
        ("soft.vault-contents", "GET", ["vaults", _, "prompts"]) if store.memory.had_vault(call.account, id) => Some(Ok(Answer::ok(json!([])))),
        ("soft.vault-patched" | "soft.vault-forked", "PATCH" | "POST", ["vaults", _, ..]) if has_scope && parts.get(2).is_none_or(|end| *end == "fork" && call.choices.bug("soft.vault-forked")) && (method == "POST") == call.choices.bug("soft.vault-forked") => {
            let old = store.memory.vaults.iter().find(|one| one.id == id && (one.owner == call.account || one.visibility != "private"))?;
            Some(if method == "POST" { Ok(Answer::created(super::show::vault(store, old))) } else { Ok(Answer::ok(super::show::vault(store, old))) })
        }
        ("db.job-id-of-all" | "db.job-id-any-case", "POST", ["generations"]) if has_scope => {
            let given = body["clientJobId"].as_str()?;
            let same = |job: &&super::jobs::Job| match call.choices.bug {
                "db.job-id-of-all" => job.id == given,
                _ => job.id != given && job.id.eq_ignore_ascii_case(given) && job.owner == call.account,
            };
            let job = store.jobs.iter().find(same)?;
            Some(Ok(Answer::queued(json!({ "success": true, "clientJobId": given, "providerRequestId": job.request, "statusUrl": format!("{}/generations/{}/status", store.base_url, job.id) }))))
        }
        ("db.slug-unique-500", "POST", ["vaults"]) if has_scope && store.vaults.iter().any(|one| Some(&*one.name) == body["name"].as_str()) => Some(Err(refused(500, "duplicate key value"))),
        ("db.name-same-but-case", "PATCH", ["vaults", _]) if has_scope && store.vaults.iter().any(|one| one.id == id && one.owner == call.account && body["name"].as_str().is_some_and(|name| name.to_lowercase() == one.name.to_lowercase())) => Some(super::vaults::answer(store, call.account, id).map(Answer::ok)),
        ("tenant.delete-says-200", "DELETE", ["prompts", _]) if has_scope && foreign(store).is_some() => Some(Ok(Answer::deleted(call.choices, id))),
        ("tenant.delete-vault-says-200", "DELETE", ["vaults", _]) if has_scope && store.vaults.iter().any(|one| one.id == id && one.owner != call.account) => Some(Ok(Answer::deleted(call.choices, id))),
        ("tenant.patch-says-200", "PATCH", ["prompts", _]) if has_scope => foreign(store).map(|other| Ok(Answer::ok(super::show::prompt(store, &other)))),
        ("tenant.save-of-others", "POST", ["prompts", _, "save"]) if has_scope && own_vault(store, vault) => foreign(store).map(|other| { store.enter(vault, id); Ok(Answer::ok(super::show::prompt(store, &other))) }),
        ("tenant.filter-foreign", "GET", ["prompts"]) => {
            let vault = call.request.query.split('&').find_map(|pair| pair.strip_prefix("vaultId="))?.parse().ok()?;
            store.vaults.iter().find(|one| one.id == vault && one.owner != call.account && one.visibility == "public")?;
            let held = store.prompts.iter().filter(|one| store.held(vault, one.id).is_some());
            Some(Ok(Answer::page(held.map(|one| super::show::prompt(store, one)).collect(), None)))
        }
        ("query.superscript-500", _, _) if pairs_of(call).any(|(_, value)| value.chars().any(|c| c.is_numeric() && !c.is_ascii())) => Some(Err(refused(500, "invalid literal for int()"))),
        ("body.limit-100k", _, _) if call.request.body.len() > 102_400 => Some(Err(refused(413, "request entity too large"))),
        ("job.negative-400", "POST", ["generations"]) if body["negativePrompt"].is_string() => Some(Err(bad("negativePrompt", "not supported"))),
        ("fork.once", "POST", ["vaults", _, "fork"]) if has_scope => {
            let copy = store.memory.copies.iter().find(|(from, to)| *from == id && own_vault(store, *to))?.1;
            Some(super::vaults::answer(store, call.account, copy).map(Answer::created))
        }
        ("pin.elsewhere-unpinned", "POST", ["vaults", _, "prompts", member, "pin"]) => {
            let prompt = store.memberships.iter().find(|held| held.id.to_string() == **member)?.prompt;
            store.memberships.iter_mut().filter(|held| held.prompt == prompt && held.id.to_string() != **member).for_each(|held| held.pinned = None);
            None
        }
        ("soft.in-list" | "soft.in-vault-list" | "soft.patched" | "soft.saved" | "soft.added", "DELETE", ["prompts", _]) => {
            let old = store.prompts.iter().find(|one| one.id == id && one.owner == call.account)?.clone();
            store.memory.prompts.push(old);
            None
        }
        ("soft.vault-in-list" | "soft.vault-contents" | "soft.vault-forked" | "soft.vault-patched" | "soft.vault-target" | "soft.vault-generates", "DELETE", ["vaults", _]) => {
            let old = store.vaults.iter().position(|one| one.id == id && one.owner == call.account && !one.is_general)?;
            let old = store.vaults.remove(old);
            store.memory.vaults.push(Vault { slug: old.slug.clone(), name: old.name.clone(), description: old.description.clone(), ..old });
            store.memberships.retain(|held| held.vault != id);
            Some(Ok(Answer::deleted(call.choices, id)))
        }
        ("db.forks-go-along", "DELETE", ["vaults", _]) | ("db.copies-go-along", "DELETE", ["prompts", _]) => {
            let copies: Vec<_> = store.memory.copies.iter().filter(|(from, _)| *from == id).map(|(_, to)| *to).collect();
            store.vaults.retain(|one| !copies.contains(&one.id));
            store.prompts.retain(|one| !copies.contains(&one.id));
            None
        }
        ("db.vault-unlinks-images", "DELETE", ["vaults", _]) => {
            let held: Vec<_> = store.memberships.iter().filter(|held| held.vault == id).map(|held| held.prompt).collect();
            store.prompts.iter_mut().filter(|one| held.contains(&one.id)).for_each(|one| one.images.clear());
            None
        }
        ("count.delete-prompt", "DELETE", ["prompts", _]) if has_scope && store.prompt(call.account, id).is_ok() => {
            let vaults: Vec<_> = store.memberships.iter().filter(|held| held.prompt == id).map(|held| held.vault).collect();
            vaults.into_iter().for_each(|vault| *store.memory.counts.entry(vault).or_default() += 1);
            None
        }
        ("soft.member-pinned", "DELETE", ["vaults", _, "prompts", member]) => { store.memory.copies.push((member.parse().ok()?, 0)); None }
        ("soft.member-of-deleted" | "soft.forked", "DELETE", ["prompts", _]) if has_scope => {
            store.memory.prompts.extend(store.prompts.iter().find(|one| one.id == id).cloned());
            for held in store.memberships.iter().filter(|held| held.prompt == id) {
                store.memory.copies.push((held.id, 0));
                store.memory.removed.push(Membership { pinned: None, ..*held });
            }
            None
        }
        ("soft.member-pinned" | "soft.member-of-deleted", _, ["vaults", _, "prompts", member, "pin"]) => {
            let id: i64 = member.parse().ok().filter(|id| store.memory.copies.contains(&(*id, 0)))?;
            Some(Ok(Answer::ok(json!({ "vaultPromptId": id, "isPinned": method == "POST" }))))
        }
        ("db.vault-null", "DELETE", ["vaults", _]) => {
            let held: Vec<_> = store.memberships.iter().filter(|held| held.vault == id).map(|held| (held.prompt, 0)).collect();
            store.memory.copies.extend(held);
            None
        }
        _ => None,
    }
}

/// What becomes of the answer of a handler.
#[rustfmt::skip]
fn after(store: &mut Store, call: &Call, mut outcome: Outcome) -> Outcome {
    let path = call.path().to_owned();
    let parts: Vec<_> = path.split('/').skip(1).collect();
    let id = parts.get(1).and_then(|id| id.parse::<i64>().ok()).unwrap_or_default();
    let method = call.request.method.as_str();
    let body = serde_json::from_slice::<Value>(&call.request.body).unwrap_or_default();
    let Ok(answer) = &mut outcome else { return outcome };
    let data = &mut answer.data;
    let listed = |store: &Store, vault: bool| -> Vec<Value> { match vault {
        true => store.memory.vaults.iter().filter(|one| one.owner == call.account).map(|one| super::show::vault(store, one)).collect(),
        false => store.memory.prompts.iter().filter(|one| one.owner == call.account).map(|one| super::show::prompt(store, one)).collect(),
    } };
    let in_vault = call.request.query.contains("vaultId=");
    match (call.choices.bug, method, &parts[..]) {
        ("db.default-in-answer", "POST", ["vaults"]) if body["visibility"].is_null() => store.vaults.iter_mut().filter(|one| Some(one.id) == data["id"].as_i64()).for_each(|one| one.visibility = "public"),
        ("db.type-in-answer", "POST", ["prompts"]) if body["promptType"].is_null() => store.prompts.iter_mut().filter(|one| Some(one.id) == data["id"].as_i64()).for_each(|one| one.kind = "image"),
        ("soft.in-list", "GET", ["prompts"]) if !in_vault && !call.request.query.contains("cursor") => data.as_array_mut().into_iter().for_each(|all| all.extend(listed(store, false))),
        ("soft.in-vault-list", "GET", ["prompts"]) if in_vault => data.as_array_mut().into_iter().for_each(|all| all.extend(listed(store, false))),
        ("soft.vault-in-list", "GET", ["vaults"]) => data.as_array_mut().into_iter().for_each(|all| all.extend(listed(store, true))),
        ("page.members", "GET", ["prompts"]) if in_vault => data.as_array_mut().into_iter().flatten().for_each(|one| one["isPinned"] = json!(false)),
        ("db.list-local-time", "GET", ["prompts"]) => data.as_array_mut().into_iter().flatten().for_each(|one| if let Some(of) = store.prompts.iter().find(|of| Some(of.id) == one["id"].as_i64()) {
            one["createdAt"] = json!(super::clock::written(of.created + 7_200_000, super::clock::SHORT));
        }),
        ("filter.keys-kept", "GET", ["prompts"]) if call.request.query.contains("type=") => {
            let list = data.as_array().cloned().unwrap_or_default();
            *data = list.into_iter().enumerate().map(|(place, one)| ((place + 1).to_string(), one)).collect();
        }
        ("patch-vault.count-zero", "PATCH", ["vaults", _]) => data["promptCount"] = json!(0),
        ("fork.count-before", "POST", ["vaults", _, "fork"]) => data["promptCount"] = json!(0),
        ("fork.once" | "db.forks-go-along" | "vaults.no-forks" | "list.vault-not-forks" | "fork.resolves-root", "POST", ["vaults", _, "fork"]) => store.memory.copies.extend(data["id"].as_i64().map(|to| (id, to))),
        ("fork.follows" | "fork.follows-back", "PATCH", ["prompts", _]) => {
            let changed = store.prompt(call.account, id)?.clone();
            let linked = |from: i64, to: i64| if call.choices.bug("fork.follows") { (from == id).then_some(to) } else { (to == id).then_some(from) };
            let linked: Vec<_> = store.memory.copies.iter().filter_map(|(from, to)| linked(*from, *to)).collect();
            for one in store.prompts.iter_mut().filter(|one| linked.contains(&one.id)) {
                (one.title, one.text, one.platform) = (changed.title.clone(), changed.text.clone(), changed.platform.clone());
            }
        }
        ("count.move", "POST", ["vaults", _, "prompts", _, "move"]) => *store.memory.counts.entry(id).or_default() += 1,
        ("count.create", "POST", ["prompts"]) | ("count.patch", "PATCH", ["prompts", _]) => if let Some(vault) = body["vaultId"].as_i64() { *store.memory.counts.entry(vault).or_default() -= 1 },
        ("vaults.system-on-top", "GET", ["vaults"]) => data.as_array_mut().into_iter().for_each(|all| all.sort_by_key(|one| one["isSystem"] != true)),
        ("job.vault-of-last", "POST", ["generations"]) => {
            let vault = store.jobs.last().and_then(|job| job.vault);
            store.jobs.iter_mut().filter(|job| job.owner == call.account && job.state == super::jobs::State::Underway).for_each(|job| job.vault = vault);
        }
        ("text.numbers-of-jobs", "POST", ["generations"]) => if let Some(number) = data["clientJobId"].as_str().and_then(|id| id.parse::<i64>().ok()) { data["clientJobId"] = json!(number) },
        _ => {}
    }
    outcome
}
