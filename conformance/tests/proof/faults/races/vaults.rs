//! Races about vaults: deletions, updates, names, and forks.

use std::time::Duration;

use futures::future::join_all;

use super::crowd::{Crowds, crowded, is, with_first};
use super::{by_owner, gave_way, ids};
use crate::prelude::*;

/// So long an update is under way; forks come in between.
const UNDER_WAY: Duration = Duration::from_millis(150);

const VAULT: &str = "DELETE /vaults/*";
const UPDATE: &str = "PATCH /vaults/*";
const CREATE: &str = "POST /vaults";
const FORK: &str = "POST /vaults/*/fork";
const ADD: &str = "POST /vaults/*/prompts";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "races.vault-deletions-block" ["VA-26"]
        crowded(VAULT, VAULT, by_owner, |request, upstream, place| async move {
            if place.is_alone() { upstream.send(&request).await } else { gave_way() }
        }),
        "Deletions of one vault at once are all refused." },
    fault! { "races.vault-deletions-all-told" ["VA-27"]
        crowded(VAULT, VAULT, by_owner, |request, upstream, place| async move {
            if place.nth == 0 {
                return upstream.send(&request).await;
            }
            Response::data(200, &json!({ "id": request.id(1), "deleted": true }))
        }),
        "All deletions of one vault that come at once are told of success." },
    fault! { "races.vault-deleted-under-way" ["VA-28"] named_after_deletion(
        "POST /vaults/*/prompts, POST /vaults/*/prompts/*/move, DELETE /vaults/*, GET /prompts/*",
    ),
        "Prompts on their way into or out of a vault that is deleted at once still name it." },
    fault! { "races.vault-updates-mixed" ["VA-24"]
        crowded(UPDATE, UPDATE, by_owner, |mut request, upstream, place| async move {
            if !place.is_alone() {
                request.edit(|body| {
                    if let Some(fields) = body.as_object_mut().filter(|fields| fields.len() > 1) {
                        fields.retain(|key, _| (key == "name") == (place.nth == 0));
                    }
                });
            }
            upstream.send(&request).await
        }),
        "Of updates of one vault at once the first one gives the name, and the others all else." },
    fault! { "races.same-slug" ["VA-04"] {
        let about =
            |request: &Request| request.text("name").map(|name| format!("{} {name}", request.authorization()));
        crowded(CREATE, CREATE, about, |request, upstream, place| async move {
            let mut response = upstream.send(&request).await;
            if let Some(name) = request.text("name").filter(|_| !place.is_alone()) {
                response.edit_data(|data| data["slug"] = name.replace(' ', "-").into());
            }
            response
        })
    },
        "Vaults of one name that are made at once have one slug." },
    fault! { "races.forks-short" ["VA-33"]
        crowded(FORK, FORK, by_owner, |request, upstream, place| async move {
            let response = upstream.send(&request).await;
            if place.nth > 0 && response.is_success() {
                let contents = format!("/vaults/{}/prompts", response.id());
                let listed = upstream.get(&request, &*contents).await.json();
                let first = format!("{contents}/{}", listed["data"][0]["vaultPromptId"]);
                upstream.delete(&request, first).await;
            }
            response
        }),
        "Of forks of one vault at once all but the first lack a prompt." },
    fault! { "races.fork-counts-adds" ["VA-32"] crowded(
        "POST /vaults/*/fork, POST /vaults/*/prompts",
        FORK,
        // The adds come from the owner, the forks from somebody else.
        |request| Some(request.segment(1).to_owned()),
        |request, upstream, place| async move {
            let mut response = upstream.send(&request).await;
            if is(&request, FORK) {
                response.edit_data(|data| {
                    let count = data["promptCount"].as_u64().unwrap_or_default();
                    data["promptCount"] = json!(count + place.count(ADD) as u64);
                });
            }
            response
        },
    ),
        "A fork answers with a count that has all adds to its source at once." },
    fault! { "races.fork-of-half" ["VA-33"] fork_of_half(),
        "A fork has the new title, and nothing else new, of prompts that are being updated." },
];

/// The vaults that a request puts prompts into, takes them out of, or deletes.
fn vaults_of(request: &Request) -> Vec<i64> {
    if request.path == "/prompts" {
        return request.json()["vaultId"].as_i64().into_iter().collect();
    }
    let target = request.json()["targetVaultId"].as_i64().filter(|id| *id != request.id(1));
    [request.id(1)].into_iter().chain(target).collect()
}

/// The prompts that a request has put somewhere.
fn prompts_of(request: &Request, response: &Response) -> Vec<i64> {
    if !response.is_success() {
        Vec::new()
    } else if is(request, ADD) {
        ids(request)
    } else {
        let data = &response.json()["data"];
        data["promptId"].as_i64().or(data["id"].as_i64()).into_iter().collect()
    }
}

/// Prompts that one of these puts into a vault or takes out of it as it is deleted name it.
pub(super) fn named_after_deletion(routes: &'static str) -> Intercept {
    let (crowds, named) = (Crowds::default(), Shared::<Vec<(i64, i64)>>::default());
    let how = whole(routes, move |request, upstream| {
        let (crowds, named) = (crowds.clone(), named.clone());
        async move {
            if request.method == Method::GET {
                let mut response = upstream.send(&request).await;
                let mut all = named.with(|named| named.clone());
                all.retain(|(prompt, _)| *prompt == request.id(1));
                response.edit_data(|data| {
                    let ids = list_of(data, "vaultIds").into_iter();
                    ids.for_each(|ids| ids.extend(all.iter().map(|(_, vault)| json!(vault))));
                });
                return response;
            }
            let vaults = vaults_of(&request);
            let about: Vec<_> = vaults.iter().map(ToString::to_string).collect();
            let places = join_all(about.iter().map(|about| crowds.join(about, &request))).await;
            if is(&request, VAULT) {
                join_all(places.iter().map(|place| place.after_all_but(VAULT))).await;
                return upstream.send(&request).await;
            }
            let response = upstream.send(&request).await;
            let gone = vaults.into_iter().zip(&places).filter(|(_, place)| place.has(VAULT));
            for (vault, _) in gone {
                let prompts = prompts_of(&request, &response).into_iter();
                named.with(|named| named.extend(prompts.map(|prompt| (prompt, vault))));
            }
            response
        }
    });
    with_first(how, VAULT)
}

/// What an update that is under way finds, and the title that it brings.
type Halves = Shared<Vec<(String, String)>>;

fn fork_of_half() -> Intercept {
    let routes = "POST /vaults/*/fork, PATCH /prompts/*";
    let how = whole_with(routes, |request, upstream, halves: Halves| async move {
        if is(&request, FORK) {
            let response = upstream.send(&request).await;
            spoil_copies(&request, &response, &upstream, &halves).await;
            return response;
        }
        let before = upstream.get(&request, &*request.path).await.json();
        let half =
            request.text("title").map(|title| (text(&before["data"], "prompt").to_owned(), title));
        halves.with(|halves| halves.extend(half.clone()));
        tokio::time::sleep(UNDER_WAY).await;
        let response = upstream.send(&request).await;
        halves.with(|halves| halves.retain(|one| Some(one) != half.as_ref()));
        response
    });
    with_first(how, FORK)
}

async fn spoil_copies(request: &Request, fork: &Response, upstream: &Upstream, halves: &Halves) {
    for copy in upstream.members(request, fork.id()).await {
        let of_copy = |(old, _): &&(String, String)| old == text(&copy, "prompt");
        if let Some((_, title)) = halves.with(|halves| halves.iter().find(of_copy).cloned()) {
            let title = json!({ "title": title });
            upstream.patch(request, format!("/prompts/{}", copy["id"]), &title).await;
        }
    }
}
