//! Faults in forks (VA-29 to VA-34), as they are answered.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};

use crate::bounds::refusal;
use crate::entries::{entries, text};
use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, edits_data, status_instead, whole, whole_with};
use crate::shared::Shared;

const FORK: &str = "POST /vaults/*/fork";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.fork-200" ["VA-29"] status_instead(FORK, 200),
        "A fork answers 200." },
    fault! { "vaults.fork-public" ["VA-31"] whole(FORK, |request, upstream| async move {
        let fork = upstream.send(&request).await;
        if !fork.is_success() {
            return fork;
        }
        let (path, public) = (format!("/vaults/{}", fork.id()), json!({ "visibility": "public" }));
        let mut shown = upstream.patch(&request, path, &public).await;
        shown.set_code(201);
        shown
    }),
        "A fork is as visible as its source." },
    fault! { "vaults.fork-system" ["VA-31"]
        edits_data(FORK, |vault| vault["isSystem"] = true.into()),
        "A fork is a system vault." },
    fault! { "vaults.fork-count" ["VA-32"]
        edits_data(FORK, |vault| vault["promptCount"] = 0.into()),
        "A fork answers with the count from before the copying." },
    fault! { "vaults.fork-100" ["VA-33"] whole(FORK, |request, upstream| async move {
        let mut fork = upstream.send(&request).await;
        let copies = upstream.list(&request, format!("/vaults/{}/prompts", fork.id())).await;
        for copy in copies.iter().skip(100) {
            upstream.delete(&request, format!("/prompts/{}", copy["id"])).await;
        }
        fork.edit_data(|vault| vault["promptCount"] = copies.len().min(100).into());
        fork
    }),
        "A fork copies the first 100 prompts." },
    fault! { "vaults.fork-platform" ["VA-33"] whole(FORK, |request, upstream| async move {
        let fork = upstream.send(&request).await;
        for copy in upstream.list(&request, format!("/vaults/{}/prompts", fork.id())).await {
            let (path, none) = (format!("/prompts/{}", copy["id"]), json!({ "platform": null }));
            upstream.patch(&request, path, &none).await;
        }
        fork
    }),
        "A fork copies prompts without their platform." },
    fault! { "vaults.fork-images" ["VA-33"]
        in_forks(|copies| copies.iter_mut().for_each(|copy| copy["images"] = json!([]))),
        "The copies of a fork have no images." },
    fault! { "vaults.fork-order" ["VA-33"] in_forks(|copies| copies.reverse()),
        "The copies of a fork are in the reverse order." },
    fault! { "vaults.fork-unread" ["VA-33"] of_copies(|request| {
        (request.method == Method::GET).then(|| Response::refusal(404, "There is nothing here."))
    }),
        "The copies of a fork are read in the vault, and not at their own addresses." },
    fault! { "vaults.fork-model" ["VA-33"] of_copies(|request| {
        let body = request.json();
        let media = ["image", "video"].contains(&text(&body, "promptType"));
        let lacks = media && body.get("modelId").is_none();
        (request.method == Method::PATCH && lacks).then(|| refusal("modelId"))
    }),
        "A fork copies prompts without their modelId." },
];

/// Changes the listings of vaults that are forks.
fn in_forks(change: fn(&mut Vec<Value>)) -> Intercept {
    let forks = Shared::<BTreeSet<i64>>::default();
    answers(
        "POST /vaults/*/fork, GET /vaults/*/prompts",
        move |request, response: &mut Response| {
            if request.method == Method::POST {
                forks.with(|forks| forks.insert(response.id()));
            } else if forks.with(|forks| forks.contains(&request.id(1))) {
                entries(response, change);
            }
        },
    )
}

/// Answers some requests for the copies of forks.
fn of_copies(respond: fn(&Request) -> Option<Response>) -> Intercept {
    let routes = "POST /vaults/*/fork, GET /prompts/*, PATCH /prompts/*";
    whole_with(routes, move |request, upstream, copies: Shared<BTreeSet<i64>>| async move {
        if request.method == Method::POST {
            let fork = upstream.send(&request).await;
            let listed = upstream.list(&request, format!("/vaults/{}/prompts", fork.id())).await;
            copies.with(|copies| copies.extend(listed.iter().filter_map(|one| one["id"].as_i64())));
            return fork;
        }
        let known = copies.with(|copies| copies.contains(&request.id(1)));
        match known.then(|| respond(&request)).flatten() {
            Some(response) => response,
            None => upstream.send(&request).await,
        }
    })
}
