//! Named bugs in what frameworks make of a request before a handler sees it.

use hyper::Method;

use super::Shared;
use super::prelude::*;
use super::wire::ApiRequest;

/// Changes a query: each pair stays, changes or goes.
fn pairs(request: &mut ApiRequest, change: impl Fn(&str, &str) -> Option<String>) {
    let pairs = url::form_urlencoded::parse(request.query.as_bytes());
    let pairs: Vec<(String, String)> = pairs
        .filter_map(|(name, value)| Some((name.clone().into(), change(&name, &value)?)))
        .collect();
    request.query =
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
}

fn ascii_digits(text: &str) -> String {
    let digit = |char| match u32::from(char) {
        full @ 0xff10..=0xff19 => char::from_digit(full - 0xff10, 10).unwrap_or(char),
        _ => char,
    };
    text.chars().map(digit).collect()
}

/// What a framework makes of a request, or its answer.
#[rustfmt::skip]
pub(super) fn request(shared: &Shared, request: &mut ApiRequest) -> Option<Outcome> {
    let (choices, keys, store) = (shared.choices, &shared.keys, shared.lock());
    let text = String::from_utf8_lossy(&request.body).into_owned();
    let body = serde_json::from_slice::<Value>(&request.body);
    let mut sent_body = serde_json::from_str::<Value>(&text).unwrap_or_default();
    let has = |request: &ApiRequest, name: &str| url::form_urlencoded::parse(request.query.as_bytes()).any(|pair| pair.0 == name);
    let sent = request.authorization.clone().unwrap_or_default();
    let main = Some(format!("Bearer {}", keys.main));
    let keep = |value: &str| Some(value.to_owned());
    let low = |id: i64| if id >= 3 << 31 { id - (1 << 32) } else { id };
    match choices.bug {
        "auth.x-header" if sent.is_empty() => request.authorization = request.header("x-api-key").map(|key| format!("Bearer {key}")),
        "auth.in-cookie" if sent.is_empty() => request.authorization = request.header("cookie").map(|all| format!("Bearer {}", all.rsplit('=').next().unwrap_or(all))),
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
        "auth.ascii-500" if request.authorization.is_none() && request.has_authorization() => return Some(refuse(500, "ordinal not in range(128)")),
        // A header may be refused for its bytes (S-80).
        _ if choices.keys.trimmed && request.authorization.is_none() && request.has_authorization() => return Some(refuse(400, "Odd header")),
        "auth.token-as-key" if store.files.iter().any(|file| sent == format!("Bearer {}", file.token)) => request.authorization = main,
        "auth.test-for-live" => request.authorization = Some(sent.replace("_test_", "_live_")).filter(|sent| !sent.is_empty()),
        "auth.basic" if sent.starts_with("Basic ") && sent.len() > 20 => request.authorization = main,
        "auth.revoked-writes" if sent.ends_with(&keys.revoked) && request.method != "GET" => request.authorization = main,
        "auth.revoked-status" if sent.ends_with(&keys.revoked) && request.path.ends_with("/status") => request.authorization = main,
        "body.nan-taken" if text.contains("NaN") => request.body = text.replace("NaN", "1.5").into(),
        "body.limit-1m" if request.body.len() > 1 << 20 => return Some(refuse(413, "request entity too large")),
        "slot.type-any-image" if sent_body["contentType"].as_str().is_some_and(|kind| kind.starts_with("image/") && !["png", "jpeg", "webp", "gif"].contains(&&kind[6..])) => sent_body["contentType"] = json!("image/png"),
        "slot.type-always-png" if sent_body["contentType"].as_str().is_some_and(|kind| ["png", "jpeg", "webp", "gif"].contains(&kind.trim_start_matches("image/"))) => sent_body["contentType"] = json!("image/png"),
        "target.wraps-32" => for name in ["vaultId", "targetVaultId"] { if let Some(id) = sent_body[name].as_i64() { sent_body[name] = json!(low(id)) } },
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
    if sent_body.is_object() && (choices.bug.starts_with("slot.t") || choices.bug == "target.wraps-32") {
        request.body = sent_body.to_string().into();
    }
    without_key(&store, request)
}

fn percent(path: &str) -> String {
    let pair = format!("x={}", path.replace('+', "%2B"));
    let mut pairs = url::form_urlencoded::parse(pair.as_bytes());
    pairs.next().map_or(String::new(), |pair| pair.1.into_owned())
}

/// What is looked at before the key is.
fn without_key(store: &Store, request: &ApiRequest) -> Option<Outcome> {
    if request.authorization.is_some() {
        return None;
    }
    let path = request.path.strip_prefix(store.choices.records.root)?;
    match store.choices.bug {
        "auth.redirect" => Some(refuse(302, "Sign in")),
        "auth.public-open" if request.method == Method::GET => {
            let id = path.strip_prefix("/vaults/")?.parse::<i64>().ok();
            let mut public = store.vaults.iter().filter(|one| one.visibility == "public");
            public.find(|one| Some(one.id) == id).map(|one| Ok(Answer::ok(show::vault(store, one))))
        }
        _ => None,
    }
}
