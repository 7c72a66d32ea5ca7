//! Faults for scenarios that depend on what is broken in many other places: each breaks a rule
//! of the scenario's own.

use http::header::{AUTHORIZATION, CONTENT_TYPE};

use super::isolation::of_the_other;
use crate::prelude::*;

const EVERYTHING: &str = "* /**";
const MIB: usize = 1024 * 1024;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "owned.details-of-401" ["ER-03"] answers(EVERYTHING, |_, response| {
        if response.code() == 401 {
            response.edit(|body| body["details"] = json!({ "authorization": "It is not valid." }));
        }
    }),
        "The details of a 401 name the header." },
    fault! { "owned.first-authorization" ["AU-03"] asks(EVERYTHING, |request| {
        if let Some(first) = request.headers.get(AUTHORIZATION).cloned() {
            request.headers.insert(AUTHORIZATION, first);
        }
    }),
        "Of two Authorization headers the first one counts." },
    fault! { "owned.key-before-method" ["AU-02"]
        code_instead(EVERYTHING, 405, 401, |request| request.authorization().is_empty()),
        "A method that a path does not have is answered 401 without a key." },
    fault! { "owned.json-patch" ["EN-02"] asks("POST /vaults, POST /prompts", |request| {
        if content_types(request) == ["application/json-patch+json"] {
            request.set_json_type();
        }
    }),
        "A JSON patch is taken for JSON." },
    fault! { "owned.two-types" ["EN-02"] asks("POST /prompts", |request| {
        if content_types(request).len() == 2 {
            request.set_json_type();
        }
    }),
        "Of two content types the one for JSON counts." },
    fault! { "owned.two-types-carried-out" ["HT-23"] and_sends("POST /prompts", |mut request, _| {
        let two = content_types(&request).len() == 2;
        request.set_json_type();
        two.then_some(request)
    }),
        "A request with two content types is answered 415, and carried out." },
    fault! { "owned.other-type-by-half" ["HT-24"] and_sends("PATCH /vaults/*", |request, _| {
        let name = json!({ "name": request.json()["name"] });
        let plain = content_types(&request) == ["text/plain"] && request.json().is_object();
        plain.then(|| request.another_with(Method::PATCH, &*request.path, &name))
    }),
        "An update in plain text is answered 415, and sets the name." },
    fault! { "owned.repeated-key" ["EN-02"]
        refused("POST /vaults", 400, |request| count(request, b"\"name\"") == 2),
        "A body in which a key stands twice is refused." },
    fault! { "owned.body-of-4-mib" ["EN-02"]
        refused("POST /prompts", 413, |request| request.body.len() == 4 * MIB),
        "A body of 4 MiB is too large." },
    fault! { "owned.size-before-type" ["EN-02"] refused("POST /prompts", 413, |request| {
        request.body.len() > 4 * MIB && content_types(request) == ["text/plain"]
    }),
        "The size of a body is looked at before its type." },
    fault! { "owned.no-details-of-413" ["ER-01"] answers(EVERYTHING, |_, response| {
        if response.code() == 413 {
            response.edit(|body| without(body, "details"));
        }
    }),
        "A 413 has no details." },
    fault! { "owned.path-in-any-case" ["ER-01"]
        asks("GET /**", |request| request.path = request.path.replace("/VAULTS", "/vaults")),
        "A path in capitals is the one in small letters." },
    fault! { "owned.wrong-type-by-half" ["ER-05"] and_sends("PATCH /vaults/*", |request, _| {
        let body = request.json();
        let right = json!({ "description": body["description"] });
        let mixed = body["visibility"].is_number() && body["description"].is_string();
        mixed.then(|| request.another_with(Method::PATCH, &*request.path, &right))
    }),
        "An update of a vault with a number for its visibility is refused, and sets the rest." },
    fault! { "owned.fork-with-a-body" ["VA-29"]
        refused("POST /vaults/*/fork", 400, |request| !request.body.is_empty()),
        "A fork with a body is refused." },
    fault! { "owned.cursor-500" ["HT-24"] refused("GET /prompts", 500, |request| {
        request.parameter("cursor").is_some_and(|cursor| cursor.contains("%00"))
    }),
        "A cursor with a zero byte is a server error." },
    fault! { "owned.million-levels-500" ["HT-24"]
        refused("POST /prompts", 500, |request| count(request, b"[") >= 1_000_000),
        "A body of a million levels is a server error." },
    fault! { "owned.long-number-500" ["HT-24"]
        refused("POST /prompts/*/save", 500, |request| request.body.len() > 9_000),
        "A number of ten thousand digits is a server error." },
    fault! { "owned.unknown-escape-500" ["HT-24"]
        refused("POST /prompts", 500, |request| count(request, b"\\x") > 0),
        "An escape that JSON does not know is a server error." },
    fault! { "owned.comment-500" ["HT-24"]
        refused("POST /prompts", 500, |request| request.body.starts_with(b"/*")),
        "A comment before a body is a server error." },
    fault! { "owned.delete-up-to-comma" ["VA-26"] asks("DELETE /vaults/*", |request| {
        if let Some((path, _)) = request.path.split_once(',') {
            request.path = path.to_owned();
        }
    }),
        "The id of a vault to be deleted is read up to a comma." },
    fault! { "owned.empty-ratio" ["LI-04"]
        value_refused("POST /prompts", "aspectRatio", |ratio| ratio == ""),
        "An empty aspectRatio is refused." },
    fault! { "owned.hundred-and-one" ["PG-03"] edits_entries("GET /prompts", |found| {
        if found.len() == 100 {
            found.extend(found.last().cloned());
        }
    }),
        "A page of 100 entries has one of them twice." },
    fault! { "owned.cursor-of-its-maker" ["PR-14"] cursor_of_its_maker(),
        "A cursor goes on with the prompts of the account that it was made for." },
    fault! { "owned.pinned-last" ["VC-27"] edits_entries("GET /vaults/*/prompts", |found| {
        found.sort_by_key(|one| one["isPinned"] == true);
    }),
        "What is pinned is at the end of a vault." },
    fault! { "owned.refused-move-unpins" ["VC-21"]
        and_sends("POST /vaults/*/prompts/*/move", |request, response| {
        (response.code() == 400)
            .then(|| request.another(Method::DELETE, request.path.replace("/move", "/pin")))
    }),
        "A move that is refused unpins the prompt." },
    fault! { "owned.membership-of-prompt" ["VC-01"]
        // Far from the ids of memberships, which a fresh server numbers like prompts.
        edits_each("GET /vaults/*/prompts", |one| {
            one["vaultPromptId"] = (one["id"].as_i64().unwrap_or_default() + (1 << 40)).into();
        }),
        "The listing has the id of the prompt for that of its membership." },
    fault! { "owned.neighbour-listed" ["VC-04"] edits_data("GET /vaults/*/prompts", |data| {
        if let Some(found) = data.as_array_mut().filter(|found| found.len() == 3) {
            let next = found[0]["id"].as_i64().unwrap_or_default() + 1;
            let mut other = found[0].clone();
            other["id"] = next.into();
            found.push(other);
        }
    }),
        "The listing of three prompts has one that is not in the vault." },
    fault! { "owned.platform-of-namesakes" ["PR-33"] whole("PATCH /prompts/*", namesakes_too),
        "An update of a platform is one of the next prompts with the same platform, too." },
    fault! { "owned.pin-tells-foreign" ["VC-25"] tells_foreign("POST /vaults/*/prompts/*/pin"),
        "A pin of another account's membership is answered 403." },
    fault! { "owned.unpin-tells-foreign" ["VC-26"] tells_foreign("DELETE /vaults/*/prompts/*/pin"),
        "An unpin of another account's membership is answered 403." },
    fault! { "owned.move-tells-foreign" ["VC-20"] tells_foreign("POST /vaults/*/prompts/*/move"),
        "A move of another account's membership is answered 403." },
    fault! { "owned.removal-tells-foreign" ["VC-15"] tells_foreign("DELETE /vaults/*/prompts/*"),
        "A removal of another account's membership is answered 403." },
    fault! { "owned.adding-tells-foreign" ["VC-14"]
        whole("POST /vaults/*/prompts", |request, upstream| async move {
        let response = upstream.send(&request).await;
        let first = request.json()["promptIds"][0].as_i64().unwrap_or_default();
        let theirs = upstream.get(&of_the_other(&request), format!("/prompts/{first}")).await;
        if response.code() == 400 && theirs.is_success() { forbidden() } else { response }
    }),
        "Adding another account's prompt is answered 403." },
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

/// The same change of the platform in prompts of one scenario, which have its tag in their titles.
async fn namesakes_too(request: Request, upstream: Upstream) -> Response {
    let read = |id: i64| request.another(Method::GET, format!("/prompts/{id}"));
    let before = upstream.send(&read(request.id(1))).await.json();
    let response = upstream.send(&request).await;
    if !request.json()["platform"].is_string() || !before["data"]["platform"].is_string() {
        return response;
    }
    let change = json!({ "platform": request.json()["platform"] });
    for id in request.id(1) + 1..request.id(1) + 20 {
        let next = upstream.send(&read(id)).await.json();
        let is_one = next["data"]["platform"] == before["data"]["platform"];
        if is_one && tag(&next) == tag(&before) {
            let path = format!("/prompts/{id}");
            upstream.patch(&request, path, &change).await;
        }
    }
    response
}

/// A title without its first and its last word.
fn tag(prompt: &Value) -> Option<&str> {
    let (_, rest) = prompt["data"]["title"].as_str()?.split_once(' ')?;
    rest.rsplit_once(' ').map(|(tag, _)| tag)
}

/// A membership that only another account has is told from one that is nowhere.
fn tells_foreign(routes: &'static str) -> Intercept {
    whole(routes, |request, upstream| async move {
        let response = upstream.send(&request).await;
        if response.code() == 404 && is_member_of_the_other(&request, &upstream).await {
            return forbidden();
        }
        response
    })
}

async fn is_member_of_the_other(request: &Request, upstream: &Upstream) -> bool {
    let other = of_the_other(request);
    for vault in upstream.list(&other, "/vaults").await {
        let found = upstream.list(&other, format!("/vaults/{}/prompts", vault["id"])).await;
        if found.iter().any(|one| one["vaultPromptId"] == request.id(3)) {
            return true;
        }
    }
    false
}

fn forbidden() -> Response {
    Response::refusal(403, "The account may not do this.")
}

fn content_types(request: &Request) -> Vec<&str> {
    let all = request.headers.get_all(CONTENT_TYPE).iter();
    all.map(|one| one.to_str().unwrap_or_default()).collect()
}

/// How often it stands in the body.
fn count(request: &Request, text: &[u8]) -> usize {
    request.body.windows(text.len()).filter(|part| *part == text).count()
}
