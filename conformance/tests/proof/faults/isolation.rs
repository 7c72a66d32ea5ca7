//! Faults in the isolation of accounts (ER-10, PR-14 and the rules of ids in bodies).

use crate::keys::{MAIN, OTHER};
use crate::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "isolation.prompt-read" ["ER-10"] open("GET /prompts/*") },
    fault! { "isolation.vault-read" ["ER-10"] open("GET /vaults/*") },
    fault! { "isolation.public-contents" ["ER-10"] open("GET /vaults/*/prompts") },
    // The list by type holds the prompts of every account.
    fault! { "isolation.listed" ["PR-14"] whole("GET /prompts", |request, upstream| async move {
        let wanted = request.parameter("type").is_some() && request.parameter("cursor").is_none();
        if !wanted {
            return upstream.send(&request).await;
        }
        with_the_others(request, upstream, |_| true).await
    }) },
    // The list with a vaultId shows the prompts of any vault.
    fault! { "isolation.listed-by-vault" ["PR-15"]
        whole("GET /prompts", |request, upstream| async move {
            let response = upstream.send(&request).await;
            if response.code() != 400 || request.parameter("vaultId").is_none() {
                return response;
            }
            let theirs = upstream.send(&of_the_other(&request)).await;
            if theirs.is_success() { theirs } else { response }
        }) },
    // The list of vaults holds the public vaults of every account.
    fault! { "isolation.vaults-listed" ["VA-13"] whole("GET /vaults", |request, upstream| {
        with_the_others(request, upstream, |vault| vault["visibility"] == "public")
    }) },
    // A save into a vault of another account answers 200.
    fault! { in "ids.foreign.save-prompt-vault-id" "isolation.saved-into" ["PR-44"]
        whole("POST /prompts/*/save", |request, upstream| async move {
            let response = upstream.send(&request).await;
            let prompt = format!("/prompts/{}", request.id(1));
            if response.code() == 400 { upstream.get(&request, prompt).await } else { response }
        }) },
];

/// The same request of the other account.
pub(crate) fn of_the_other(request: &Request) -> Request {
    let mut other = request.clone();
    let key = if request.authorization().ends_with(OTHER) { MAIN } else { OTHER };
    other.set_authorization(&format!("Bearer {key}"));
    other
}

/// What is not there for the caller is looked for in the other account.
pub(crate) fn open(routes: &'static str) -> Intercept {
    whole(routes, move |request, upstream| async move {
        let response = upstream.send(&request).await;
        if response.code() != 404 {
            return response;
        }
        let theirs = upstream.send(&of_the_other(&request)).await;
        if theirs.is_success() { theirs } else { response }
    })
}

pub(crate) fn forbidden(routes: &'static str) -> Intercept {
    whole(routes, |request, upstream| async move {
        let response = upstream.send(&request).await;
        let path = format!("/{}/{}", request.segment(0), request.segment(1));
        let look = of_the_other(&request.another(Method::GET, path));
        if response.code() == 404 && upstream.send(&look).await.is_success() {
            return Response::refusal(403, "The account may not do this.");
        }
        response
    })
}

/// The list with entries of the other account's at its end.
async fn with_the_others(
    request: Request,
    upstream: Upstream,
    kept: fn(&Value) -> bool,
) -> Response {
    let mut response = upstream.send(&request).await;
    let mut theirs = upstream.send(&of_the_other(&request)).await;
    entries(&mut response, |list| {
        entries(&mut theirs, |theirs| list.extend(theirs.drain(..).filter(kept)));
    });
    response
}
