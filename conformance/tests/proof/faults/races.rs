//! Faults that scenarios see whose calls come at once: something is lost, doubled or mixed up, or
//! too many are refused. Each meets scenarios of such calls only, so that it needs no look at what
//! comes at the same moment.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::prelude::*;

const SAVE: &str = "POST /prompts/*/save";
const DELETE: &str = "DELETE /prompts/*";
const UPDATE: &str = "PATCH /prompts/*";
const VAULT: &str = "DELETE /vaults/*";
const FORK: &str = "POST /vaults/*/fork";
const ADD: &str = "POST /vaults/*/prompts";
const REMOVE: &str = "DELETE /vaults/*/prompts/*";
const MOVE: &str = "POST /vaults/*/prompts/*/move";
const PIN: &str = "POST /vaults/*/prompts/*/pin";
const QUEUE: &str = "POST /generations";
const PUT: &str = "PUT /storage/**";

/// So long one call is between two steps, for others to come in between.
const BETWEEN: Duration = Duration::from_millis(60);

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { in "contents.race." "races.adds-lost" ["VC-10"] every_second(ADD, |request| {
        let added = ids_of(&request.json(), "promptIds").len();
        let data = json!({ "added": added, "vaultId": request.id(1), "promptCount": added });
        Response::data(201, &data)
    }) },
    fault! { in "contents.race." "races.removals-block" ["VC-15"] refused(REMOVE, 400, |_| true) },
    fault! { in "contents.race.pins" "races.pins-refused" ["VC-27"]
        every_second(PIN, |_| gave_way()) },
    fault! { in "contents.race.pins-and" "races.pin-answers-unpinned" ["VC-25"]
        edits_data(PIN, |data| data["isPinned"] = false.into()) },
    fault! { in "contents.race." "races.count-drifts" ["VA-10"]
        shown_as("GET /vaults/*", "promptCount", |count| Some((count.as_i64()? + 1).into())) },
    fault! { in "contents.race.losers" "races.move-too-late-409" ["VC-21"]
        code_instead(MOVE, 404, 409, |_| true) },
    fault! { in "contents.race.moves-to" "races.move-too-late-200" ["VC-21"]
        all_told(MOVE, |request| json!({ "vaultPromptId": request.id(3) })) },
    // A move into a vault that is deleted at once is refused, and takes the prompt out of its source.
    fault! { in "contents.race.target-deleted" "races.moved-into-nothing" ["VC-21"]
        whole(MOVE, |request, upstream| async move {
            upstream.delete(&request, request.path.trim_end_matches("/move")).await;
            Response::refusal(404, "There is no such vault.")
        }) },
    fault! { in "contents.race.moves-" "races.moves-refused" ["VC-20"]
        every_second(MOVE, |_| gave_way()) },
    fault! { in "prompts.save.at-once" "races.saves-lost" ["PR-46"] every_second(SAVE, |request| {
        let vault = &request.json()["vaultId"];
        Response::data(200, &json!({ "id": request.id(1), "vaultIds": [vault] }))
    }) },
    fault! { in "contents.race.deleted-while" "races.deletion-lost" ["PR-42"]
        instead(DELETE, |request| Some(Response::data(200, &gone(request)))) },
    fault! { in "races.membership." "races.membership-count" ["VA-10"]
        shown_as("GET /vaults/*", "promptCount", |count| Some((count.as_i64()? + 1).into())) },
    fault! { in "prompts.delete.at-once" "races.deletions-all-told" ["PR-41"] all_told(DELETE, gone) },
    // An update writes what it has read before, with its own fields.
    fault! { in "prompts.update.at-once" "races.updates-lost" ["PR-32"]
        whole(UPDATE, |mut request, upstream| async move {
            let before = upstream.get(&request, &*request.path).await.json();
            tokio::time::sleep(BETWEEN).await;
            request.edit(|body| for name in ["title", "platform"] {
                default(body, name, before["data"][name].clone());
            });
            upstream.send(&request).await
        }) },
    // An update writes the title, and all else a moment later.
    fault! { in "races.prompt.updates" "races.update-in-halves" ["PR-31"]
        whole(UPDATE, |mut request, upstream| async move {
            let title = json!({ "title": request.json()["title"] });
            upstream.patch(&request, &*request.path, &title).await;
            tokio::time::sleep(BETWEEN).await;
            request.edit(|body| without(body, "title"));
            upstream.send(&request).await
        }) },
    fault! { in "pagination.changes.at-once" "races.page-without-updated" ["PG-06"]
        answers_with("PATCH /prompts/*, GET /prompts", |updated: &mut Vec<i64>, request, response| {
            if request.method == Method::PATCH {
                updated.push(request.id(1));
            } else {
                entries(response, |list| list.retain(|one| updated.iter().all(|id| one["id"] != *id)));
            }
        }) },
    fault! { in "races.prompt.created" "races.made-into-deleted" ["PR-27"] still_named() },
    fault! { in "races.vault." "races.vault-deleted-under-way" ["VA-28"] still_named() },
    fault! { in "vaults.race.delete-while" "races.vault-deleted-and-filled" ["VA-28"] still_named() },
    fault! { in "vaults.race.deletes" "races.vault-deletions-block" ["VA-26"]
        refused(VAULT, 400, |_| true) },
    fault! { in "vaults.race.one-deletes" "races.vault-deletions-all-told" ["VA-27"]
        all_told(VAULT, gone) },
    // Of updates some give the name, and the others all else.
    fault! { in "vaults.race.updates" "races.vault-updates-mixed" ["VA-24"] {
        let turn = AtomicUsize::new(0);
        edits("PATCH /vaults/*", move |body| {
            let names = turn.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
            if let Some(fields) = body.as_object_mut().filter(|fields| fields.len() > 1) {
                fields.retain(|key, _| (key == "name") == names);
            }
        })
    } },
    fault! { in "vaults.race.slugs" "races.same-slug" ["VA-04"]
        edits_data("POST /vaults", |vault| vault["slug"] = "vault".into()) },
    fault! { in "vaults.race.forks" "races.forks-short" ["VA-33"] first_copy_lost() },
    fault! { in "races.vault.forked-whole" "races.forks-not-whole" ["VA-33"] first_copy_lost() },
    fault! { in "vaults.race.fork-while" "races.fork-counts-adds" ["VA-32"]
        shown_as(FORK, "promptCount", |count| Some((count.as_i64()? + 1).into())) },
    fault! { in "races.job.same-id" "races.job-of-the-first" ["GE-11"]
        answers_with(QUEUE, |first: &mut Option<Response>, _, response| {
            *response = first.get_or_insert_with(|| response.clone()).clone();
        }) },
    fault! { in "uploads.once.race" "races.uploads-all-taken" ["UP-14"]
        answers(PUT, |_, response| if response.status.is_client_error() {
            *response = Response { body: "".into(), ..Response::data(200, &Value::Null) };
        }) },
    fault! { in "uploads.put.side-by-side" "races.uploads-ten" ["UP-10"] {
        let turn = AtomicUsize::new(0);
        refused(PUT, 503, move |_| turn.fetch_add(1, Ordering::Relaxed) >= 10)
    } },
    fault! { "races.silent-connections" ["VA-21"] Intercept::Silent(40) },
];

fn gave_way() -> Response {
    Response::refusal(400, "Something else is under way. Try again.")
}

fn gone(request: &Request) -> Value {
    json!({ "id": request.id(1), "deleted": true })
}

/// Every second request is answered like this, and not done.
fn every_second(routes: &'static str, respond: fn(&Request) -> Response) -> Intercept {
    let turn = AtomicUsize::new(0);
    instead(routes, move |request| {
        let is_first = turn.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        (!is_first).then(|| respond(request))
    })
}

/// Whoever comes too late is told of success.
fn all_told(routes: &'static str, data: fn(&Request) -> Value) -> Intercept {
    answers(routes, move |request, response| {
        if response.code() == 404 {
            *response = Response::data(200, &data(request));
        }
    })
}

/// Prompts name every vault that they were ever put into.
fn still_named() -> Intercept {
    let routes = "GET /prompts/*, POST /prompts, POST /vaults/*/prompts, \
                  POST /vaults/*/prompts/*/move, DELETE /vaults/*";
    whole_with(routes, |request, upstream, put: Shared<Vec<(i64, Value)>>| async move {
        if request.method == Method::DELETE {
            // What comes at the same moment comes before it.
            tokio::time::sleep(BETWEEN).await;
        }
        let mut response = upstream.send(&request).await;
        let (sent, data) = (request.json(), response.json()["data"].take());
        if request.method == Method::GET {
            let mut named = put.with(|put| put.clone());
            named.retain(|(prompt, _)| *prompt == request.id(1));
            response.edit_data(|data| {
                if let Some(ids) = list_of(data, "vaultIds") {
                    ids.extend(named.into_iter().map(|(_, vault)| vault));
                }
            });
        } else if response.is_success() {
            let named = ["vaultId", "targetVaultId"].map(|name| sent[name].clone());
            let vault = named.into_iter().find(Value::is_i64).unwrap_or(request.id(1).into());
            let own = data["promptId"].as_i64().or(data["id"].as_i64());
            let prompts = ids_of(&sent, "promptIds").into_iter().chain(own);
            put.with(|put| put.extend(prompts.map(|prompt| (prompt, vault.clone()))));
        }
        response
    })
}

/// Forks lack a prompt.
fn first_copy_lost() -> Intercept {
    whole(FORK, |request, upstream| async move {
        let fork = upstream.send(&request).await;
        let copies = upstream.members(&request, fork.id()).await;
        if let Some(first) = copies.first().filter(|_| fork.is_success()) {
            upstream.delete(&request, format!("/prompts/{}", first["id"])).await;
        }
        fork
    })
}
