//! Named bugs of a cache of responses, which each leaves something valid for too long.

use std::collections::HashMap;

use hyper::Method;

use super::prelude::*;

#[derive(Default)]
pub(super) struct Cache {
    responses: HashMap<String, Outcome>,
    /// How many jobs had ended at the last request.
    ended_jobs: usize,
}

pub(super) fn answered(store: &mut Store, call: &Call) -> Outcome {
    let ended = store.jobs.iter().filter(|job| job.state != State::Underway).count();
    if std::mem::replace(&mut store.memory.cache.ended_jobs, ended) != ended
        && !call.bug("cache.contents-job")
    {
        store.memory.cache.responses.clear();
    }
    let path = call.path();
    let by_url = call.choices.bug.ends_with("by-url");
    let key = |path: &str, account: Account| match by_url {
        true => format!("{path}?{}", call.request.query),
        false => format!("{path}?{}#{account}", call.request.query),
    };
    let slot = call.bug("cache.slot-by-body") && path == "/uploads/images";
    let key = if slot { format!("{:?}", call.request.body) } else { key(path, call.account) };
    if call.request.method == Method::GET || slot {
        if let Some(cached) = store.memory.cache.responses.get(&key) {
            return cached.clone();
        }
        let outcome = call.answer(store);
        let is_cached = match &outcome {
            Ok(_) => slot || caches(call.choices.bug, path),
            Err(refusal) => refusal.status == 404 && call.bug("cache.absent-by-url"),
        };
        if is_cached {
            store.memory.cache.responses.insert(key, outcome.clone());
        }
        return outcome;
    }
    let outcome = call.answer(store);
    let answer = outcome.as_ref().map_or(String::new(), |answer| answer.data.to_string());
    let exchange = format!("{path} {} {answer}", String::from_utf8_lossy(&call.request.body));
    store.memory.cache.responses.retain(|key, _| !invalidates(call, key, &exchange));
    outcome
}

/// Whether the response to a read of this path is cached.
fn caches(bug: &str, path: &str) -> bool {
    let parts: Vec<_> = path.split('/').skip(1).collect();
    match bug {
        "cache.prompt-until-patched" => matches!(parts[..], ["prompts", _]),
        "cache.vault-until-patched" => matches!(parts[..], ["vaults", _]),
        "cache.contents-pin"
        | "cache.contents-move"
        | "cache.contents-patch"
        | "cache.contents-job" => matches!(parts[..], ["vaults", _, "prompts"]),
        "cache.list-delete" | "cache.list-save" => path == "/prompts",
        "cache.vaults-fork" | "cache.vaults-delete" | "cache.vaults-count" => path == "/vaults",
        "cache.by-url" => !path.starts_with("/generations"),
        _ => false,
    }
}

/// Whether a write invalidates a key: it names the record, and the bug does not leave it out.
#[rustfmt::skip]
fn invalidates(call: &Call, key: &str, exchange: &str) -> bool {
    let (bug, path, method) = (call.choices.bug, call.path(), call.request.method.as_str());
    let (url, account) = key.split_once('#').unwrap_or((key, ""));
    let ids: Vec<_> = url.split(|c: char| !c.is_ascii_digit()).filter(|id| id.len() > 3).collect();
    let named = ids.is_empty() || ids.iter().any(|id| exchange.contains(id)) || method == "DELETE" && path.starts_with("/prompts");
    let contents = path.ends_with("/save") || path.starts_with("/vaults/") && path.contains("/prompts");
    let left_out = match bug {
        "cache.prompt-until-patched" | "cache.vault-until-patched" => url.split('?').next() != Some(path),
        "cache.contents-pin" => path.ends_with("/pin"),
        "cache.contents-move" => path.ends_with("/move") && !ids.iter().any(|id| path.contains(id)),
        "cache.contents-patch" => method == "PATCH",
        "cache.contents-job" => path == "/generations",
        "cache.list-delete" | "cache.vaults-delete" => method == "DELETE",
        "cache.list-save" => contents,
        "cache.vaults-fork" => path.ends_with("/fork"),
        "cache.vaults-count" => contents || !path.starts_with("/vaults"),
        _ => false,
    };
    named && !left_out && (account.is_empty() || account == call.account.to_string())
}
