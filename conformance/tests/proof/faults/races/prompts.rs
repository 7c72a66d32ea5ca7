//! Races about prompts: saves, deletions, updates, and pages read meanwhile.

use std::time::Duration;

use tokio::sync::watch;

use super::crowd::{Place, crowded, is, with_first};
use super::vaults::named_after_deletion;
use super::{by_owner, by_path, ids};
use crate::prelude::*;

/// So long half an update is to be seen.
const BETWEEN_HALVES: Duration = Duration::from_millis(60);
/// So long a prompt is off the list while it is updated.
const OFF_THE_LIST: Duration = Duration::from_millis(150);
/// So long a page takes: some of them are read while something is updated.
const A_PAGE: Duration = Duration::from_millis(30);

const CREATE: &str = "POST /prompts";
const SAVE: &str = "POST /prompts/*/save";
const DELETE: &str = "DELETE /prompts/*";
const ADD: &str = "POST /vaults/*/prompts";
const UPDATE: &str = "PATCH /prompts/*";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "races.id-of-the-first" ["PR-01"] {
        let first = watch::Sender::<Option<i64>>::default();
        crowded(CREATE, CREATE, by_title, move |request, upstream, place| {
            let first = first.clone();
            async move {
                let mut response = upstream.send(&request).await;
                if place.nth == 0 {
                    first.send_replace(Some(response.id()));
                }
                if place.nth == 15
                    && place.is_last()
                    && let Ok(id) = first.subscribe().wait_for(Option::is_some).await
                {
                    response.edit_data(|prompt| prompt["id"] = (*id).into());
                }
                response
            }
        })
    },
        "Of sixteen prompts of one name that are made at once the last has the id of the first." },
    fault! { "races.saves-lost" ["PR-46"]
        crowded(SAVE, SAVE, by_owner, |request, upstream, place| async move {
            if place.is_last() {
                return upstream.send(&request).await;
            }
            let prompt = request.another(Method::GET, format!("/prompts/{}", request.segment(1)));
            let mut response = upstream.send(&prompt).await;
            response.edit_data(|data| {
                let vault = request.json()["vaultId"].clone();
                if let Some(vaults) = list_of(data, "vaultIds").filter(|all| !all.contains(&vault))
                {
                    vaults.push(vault);
                }
            });
            response
        }),
        "Of saves of one prompt at once only the last is kept." },
    fault! { "races.deletion-lost" ["PR-42"] {
        let about = |request: &Request| {
            let added = || ids(request).first().copied();
            let prompt = if is(request, DELETE) { request.segment(1).parse().ok() } else { added() };
            prompt.map(|prompt: i64| format!("{} {prompt}", request.authorization()))
        };
        crowded("DELETE /prompts/*, POST /vaults/*/prompts", DELETE, about, deleted)
    },
        "A deletion that comes at once with another, or with an add, of its prompt is answered, \
         and not done." },
    fault! { "races.deletions-all-told" ["PR-41"]
        crowded(DELETE, DELETE, by_path, |request, upstream, place| async move {
            let response = upstream.send(&request).await;
            if response.code() == 404 && place.nth > 0 { gone(&request) } else { response }
        }),
        "All deletions of one prompt that come at once are told of success." },
    fault! { "races.updates-lost" ["PR-32"]
        crowded(UPDATE, UPDATE, by_path, |request, upstream, place| async move {
            let fields = |request: &Request| {
                let body = request.json();
                let fields = body.as_object().into_iter().flatten();
                fields.map(|(name, _)| name.clone()).collect::<Vec<_>>()
            };
            let alike = place.asks().iter().all(|other| fields(other) == fields(&request));
            if alike || place.is_last() {
                return upstream.send(&request).await;
            }
            let mut response = upstream.get(&request, &*request.path).await;
            response.edit_data(|data| {
                let body = request.json();
                for (name, value) in body.as_object().into_iter().flatten() {
                    data[name] = value.clone();
                }
            });
            response
        }),
        "Of updates of one prompt at once that name different fields only the last is kept." },
    fault! { "races.update-in-halves" ["PR-31"]
        whole(UPDATE, in_halves),
        "An update writes the title, and all else a moment later." },
    fault! { "races.page-without-updated" ["PG-06"] page_without_updated(),
        "A page leaves out prompts that are being updated while it is read." },
    fault! { "races.made-into-deleted" ["PR-27"]
        named_after_deletion("POST /prompts, DELETE /vaults/*, GET /prompts/*"),
        "Prompts that are being made into a vault as it is deleted still name it." },
];

/// Titles that differ in the number at their end only, and whose they are.
fn by_title(request: &Request) -> Option<String> {
    let title = request.text("title")?;
    Some(format!("{} {}", request.authorization(), title.rsplit_once(' ')?.0))
}

async fn deleted(request: Request, upstream: Upstream, place: Place) -> Response {
    if is(&request, ADD) || place.is_alone() {
        return upstream.send(&request).await;
    }
    gone(&request)
}

fn gone(request: &Request) -> Response {
    Response::data(200, &json!({ "id": request.id(1), "deleted": true }))
}

async fn in_halves(request: Request, upstream: Upstream) -> Response {
    let mut rest = request.clone();
    let title = request.text("title");
    rest.edit(|body| without(body, "title"));
    let fields = rest.json();
    let mut names = fields.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    // What may be refused is not begun.
    let plain = names.by_ref().all(|name| matches!(name, "prompt" | "platform"));
    let (Some(title), true) = (title, plain && fields != json!({})) else {
        return upstream.send(&request).await;
    };
    let half = upstream.patch(&request, &*request.path, &json!({ "title": title })).await;
    if !half.is_success() {
        return half;
    }
    tokio::time::sleep(BETWEEN_HALVES).await;
    upstream.send(&rest).await
}

fn page_without_updated() -> Intercept {
    let routes = "PATCH /prompts/*, GET /prompts";
    let how = whole_with(routes, |request, upstream, updated: Shared<Vec<i64>>| async move {
        if is(&request, UPDATE) {
            updated.with(|updated| updated.push(request.id(1)));
            let response = upstream.send(&request).await;
            tokio::time::sleep(OFF_THE_LIST).await;
            updated.with(|updated| {
                let at = updated.iter().position(|id| *id == request.id(1));
                at.map(|at| updated.swap_remove(at))
            });
            return response;
        }
        tokio::time::sleep(A_PAGE).await;
        let mut response = upstream.send(&request).await;
        let off = updated.with(|updated| updated.clone());
        entries(&mut response, |list| list.retain(|one| !off.iter().any(|id| one["id"] == *id)));
        response
    });
    with_first(how, UPDATE)
}
