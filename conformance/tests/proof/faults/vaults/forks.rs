//! Faults in forks (VA-29 to VA-34), as they are answered.

use crate::faults::isolation::of_the_other;
use crate::prelude::*;

const FORK: &str = "POST /vaults/*/fork";

#[rustfmt::skip]
pub(in crate::faults) const ALL: &[Fault] = &[
    fault! { "vaults.fork-own-private" ["VA-30"] forced(Clone::clone) },
    fault! { "vaults.fork-any-private" ["VA-30"] forced(of_the_other) },
    fault! { "vaults.fork-leads" ["VA-34"] linked("PATCH /prompts/*", true) },
    fault! { "vaults.fork-renamed" ["VA-34"] linked("PATCH /vaults/*", false) },
    fault! { "vaults.fork-renames" ["VA-34"] linked("PATCH /vaults/*", true) },
    fault! { "vaults.fork-deletes" ["VA-34"] linked("DELETE /prompts/*", false) },
    // A fork is as visible as its source.
    fault! { "vaults.fork-public" ["VA-31"] whole(FORK, |request, upstream| async move {
        let fork = upstream.send(&request).await;
        if !fork.is_success() {
            return fork;
        }
        let (path, public) = (format!("/vaults/{}", fork.id()), json!({ "visibility": "public" }));
        let mut shown = upstream.patch(&request, path, &public).await;
        shown.set_code(201);
        shown
    }) },
    fault! { "vaults.fork-system" ["VA-31"]
        edits_data(FORK, |vault| vault["isSystem"] = true.into()) },
    fault! { "vaults.fork-count" ["VA-32"]
        edits_data(FORK, |vault| vault["promptCount"] = 0.into()) },
    // A fork copies the first 100 prompts.
    fault! { "vaults.fork-100" ["VA-33"] whole(FORK, |request, upstream| async move {
        let mut fork = upstream.send(&request).await;
        let copies = upstream.members(&request, fork.id()).await;
        for copy in copies.iter().skip(100) {
            upstream.delete(&request, format!("/prompts/{}", copy["id"])).await;
        }
        fork.edit_data(|vault| vault["promptCount"] = copies.len().min(100).into());
        fork
    }) },
    // A fork copies prompts without their platform.
    fault! { "vaults.fork-platform" ["VA-33"] whole(FORK, |request, upstream| async move {
        let fork = upstream.send(&request).await;
        for copy in upstream.members(&request, fork.id()).await {
            let (path, none) = (format!("/prompts/{}", copy["id"]), json!({ "platform": null }));
            upstream.patch(&request, path, &none).await;
        }
        fork
    }) },
    fault! { "vaults.fork-order" ["VA-33"] in_forks(|copies| copies.reverse()) },
    // The copies of a fork are read in the vault, and not at their own addresses.
    fault! { "vaults.fork-unread" ["VA-33"] of_copies(|request| {
        (request.method == Method::GET).then(|| Response::refusal(404, "There is nothing here."))
    }) },
    fault! { "vaults.fork-200" ["VA-29"] status_instead(FORK, 200) },
];

/// A refused fork of a private vault is made: for the moment its owner makes the vault public.
fn forced(owner: fn(&Request) -> Request) -> Intercept {
    whole(FORK, move |request, upstream| async move {
        let (owner, path) = (owner(&request), format!("/vaults/{}", request.id(1)));
        let vault = upstream.get(&owner, &*path).await.json();
        if vault["data"]["visibility"] != "private" {
            return upstream.send(&request).await;
        }
        upstream.patch(&owner, &*path, &json!({ "visibility": "public" })).await;
        let forked = upstream.send(&request).await;
        upstream.patch(&owner, &*path, &json!({ "visibility": "private" })).await;
        forked
    })
}

/// What such a request does to a source is done to its copies, or the other way round.
fn linked(route: &'static str, back: bool) -> Intercept {
    let routes = "POST /vaults/*/fork, PATCH /vaults/*, PATCH /prompts/*, DELETE /prompts/*";
    whole_with(routes, move |request, upstream, links: Shared<Vec<[String; 2]>>| async move {
        let response = upstream.send(&request).await;
        let other = of_the_other(&request);
        if request.method == Method::POST {
            let mut sources = upstream.members(&other, request.id(1)).await;
            let mut copies = upstream.members(&request, response.id()).await;
            for list in [&mut sources, &mut copies] {
                list.sort_by_key(|one| text(one, "title").to_owned());
            }
            let paths = |(source, copy): (&Value, &Value)| {
                [source, copy].map(|one| format!("/prompts/{}", one["id"]))
            };
            let vaults = [request.id(1), response.id()].map(|id| format!("/vaults/{id}"));
            let all = sources.iter().zip(&copies).map(paths).chain([vaults]);
            links.with(|links| links.extend(all));
        } else if response.is_success() && any_matches(route, &request.method, &request.path) {
            for [source, copy] in links.with(|links| links.clone()) {
                let (here, there) = if back { (copy, source) } else { (source, copy) };
                if here == request.path {
                    upstream.send(&Request { path: there, ..other.clone() }).await;
                }
            }
        }
        response
    })
}

/// Changes the listings of vaults that are forks.
fn in_forks(change: fn(&mut Vec<Value>)) -> Intercept {
    let routes = "POST /vaults/*/fork, GET /vaults/*/prompts";
    answers_with(routes, move |forks: &mut BTreeSet<i64>, request, response| {
        if request.method == Method::POST {
            forks.insert(response.id());
        } else if forks.contains(&request.id(1)) {
            entries(response, change);
        }
    })
}

/// Answers some requests for the copies of forks.
fn of_copies(respond: fn(&Request) -> Option<Response>) -> Intercept {
    let routes = "POST /vaults/*/fork, GET /prompts/*, PATCH /prompts/*";
    whole_with(routes, move |request, upstream, copies: Shared<BTreeSet<i64>>| async move {
        if request.method == Method::POST {
            let fork = upstream.send(&request).await;
            let listed = upstream.members(&request, fork.id()).await;
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
