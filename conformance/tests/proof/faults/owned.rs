//! Faults for scenarios that depend on what is broken in many other places: each breaks a rule
//! of the scenario's own.

use http::header::CONTENT_TYPE;

use crate::prelude::*;

const EVERYTHING: &str = "* /**";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    // A request with two content types is answered 415, and carried out.
    fault! { "owned.two-types-carried-out" ["HT-23"] and_sends("POST /prompts", |mut request, _| {
        let two = content_types(&request).len() == 2;
        request.set_json_type();
        two.then_some(request)
    }) },
    // An update in plain text is answered 415, and sets the name.
    fault! { "owned.other-type-by-half" ["HT-24"] and_sends("PATCH /vaults/*", |request, _| {
        let name = json!({ "name": request.json()["name"] });
        let plain = content_types(&request) == ["text/plain"] && request.json().is_object();
        plain.then(|| request.another_with(Method::PATCH, &*request.path, &name))
    }) },
    fault! { "owned.repeated-key" ["EN-02"]
        refused("POST /vaults", 400, |request| count(request, b"\"name\"") == 2) },
    // A 413 has no details.
    fault! { "owned.no-details-of-413" ["ER-01"] answers(EVERYTHING, |_, response| {
        if response.code() == 413 {
            response.edit(|body| without(body, "details"));
        }
    }) },
    // An update of a vault with a number for its visibility is refused, and sets the rest.
    fault! { "owned.wrong-type-by-half" ["ER-05"] and_sends("PATCH /vaults/*", |request, _| {
        let body = request.json();
        let right = json!({ "description": body["description"] });
        let mixed = body["visibility"].is_number() && body["description"].is_string();
        mixed.then(|| request.another_with(Method::PATCH, &*request.path, &right))
    }) },
    fault! { "owned.fork-with-a-body" ["VA-29"]
        refused("POST /vaults/*/fork", 400, |request| !request.body.is_empty()) },
    // A cursor with a zero byte is a server error.
    fault! { "owned.cursor-500" ["HT-24"] refused("GET /prompts", 500, |request| {
        request.parameter("cursor").is_some_and(|cursor| cursor.contains("%00"))
    }) },
    fault! { "owned.million-levels-500" ["HT-24"]
        refused("POST /prompts", 500, |request| count(request, b"[") >= 1_000_000) },
    fault! { "owned.long-number-500" ["HT-24"]
        refused("POST /prompts/*/save", 500, |request| request.body.len() > 9_000) },
    fault! { "owned.unknown-escape-500" ["HT-24"]
        refused("POST /prompts", 500, |request| count(request, b"\\x") > 0) },
    fault! { "owned.comment-500" ["HT-24"]
        refused("POST /prompts", 500, |request| request.body.starts_with(b"/*")) },
    // The id of a vault to be deleted is read up to a comma.
    fault! { "owned.delete-up-to-comma" ["VA-26"] asks("DELETE /vaults/*", |request| {
        if let Some((path, _)) = request.path.split_once(',') {
            request.path = path.to_owned();
        }
    }) },
    fault! { "owned.empty-ratio" ["LI-04"]
        value_refused("POST /prompts", "aspectRatio", |ratio| ratio == "") },
    // A page of 100 entries has one of them twice.
    fault! { "owned.hundred-and-one" ["PG-03"] edits_entries("GET /prompts", |found| {
        if found.len() == 100 {
            found.extend(found.last().cloned());
        }
    }) },
    fault! { "owned.cursor-of-its-maker" ["PR-14"] cursor_of_its_maker() },
    // What is pinned is at the end of a vault.
    fault! { "owned.pinned-last" ["VC-27"] edits_entries("GET /vaults/*/prompts", |found| {
        found.sort_by_key(|one| one["isPinned"] == true);
    }) },
    // A move that is refused unpins the prompt.
    fault! { "owned.refused-move-unpins" ["VC-21"]
        and_sends("POST /vaults/*/prompts/*/move", |request, response| {
        (response.code() == 400)
            .then(|| request.another(Method::DELETE, request.path.replace("/move", "/pin")))
    }) },
    // The listing has the id of the prompt for that of its membership.
    fault! { "owned.membership-of-prompt" ["VC-01"]
        // Far from the ids of memberships, which a fresh server numbers like prompts.
        edits_each("GET /vaults/*/prompts", |one| {
            one["vaultPromptId"] = (one["id"].as_i64().unwrap_or_default() + (1 << 40)).into();
        }) },
    // The listing of three prompts has one that is not in the vault.
    fault! { "owned.neighbour-listed" ["VC-04"] edits_data("GET /vaults/*/prompts", |data| {
        if let Some(found) = data.as_array_mut().filter(|found| found.len() == 3) {
            let next = found[0]["id"].as_i64().unwrap_or_default() + 1;
            let mut other = found[0].clone();
            other["id"] = next.into();
            found.push(other);
        }
    }) },
    fault! { in "prompts.update." "owned.next-too" ["PR-33"]
        and_sends("PATCH /prompts/*", |request, _| {
            let next = format!("/prompts/{}", request.id(1) + 1);
            Some(request.another_with(Method::PATCH, next, &request.json()))
        }) },
];

fn cursor_of_its_maker() -> Intercept {
    let route = "GET /prompts";
    whole_with(route, |mut request, upstream, makers: Shared<HashMap<String, String>>| async move {
        let cursor = request.parameter("cursor").unwrap_or_default();
        if let Some(maker) = makers.with(|makers| makers.get(cursor).cloned()) {
            request.set_authorization(&maker);
        }
        let response = upstream.send(&request).await;
        if let Some(next) = response.json()["pagination"]["nextCursor"].as_str() {
            let maker = request.authorization().to_owned();
            makers.with(|makers| makers.insert(next.to_owned(), maker));
        }
        response
    })
}

fn content_types(request: &Request) -> Vec<&str> {
    let all = request.headers.get_all(CONTENT_TYPE).iter();
    all.map(|one| one.to_str().unwrap_or_default()).collect()
}

/// How often it stands in the body.
fn count(request: &Request, text: &[u8]) -> usize {
    request.body.windows(text.len()).filter(|part| *part == text).count()
}
