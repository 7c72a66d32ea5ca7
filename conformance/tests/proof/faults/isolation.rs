//! Faults in the isolation of accounts (ER-10, PR-14 and the rules of ids in bodies).

use crate::keys::{MAIN, OTHER};
use crate::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "isolation.prompt-read" ["ER-10"] open("GET /prompts/*", |_| true),
        "Any account reads any prompt." },
    fault! { "isolation.prompt-updated" ["ER-10"] open("PATCH /prompts/*", |_| true),
        "Any account updates any prompt." },
    fault! { "isolation.prompt-deleted" ["ER-10"] open("DELETE /prompts/*", |_| true),
        "Any account deletes any prompt." },
    fault! { "isolation.prompt-deleted-in-secret" ["ER-10"]
        and_sends("DELETE /prompts/*", |request, response| {
        (response.code() == 404).then(|| of_the_other(&request))
    }),
        "A delete of another account's prompt answers 404, and deletes." },
    fault! { "isolation.vault-read" ["ER-10"] open("GET /vaults/*", |_| true),
        "Any account reads any vault." },
    fault! { "isolation.public-vault-read" ["ER-10"]
        open("GET /vaults/*", |vault| vault["visibility"] != "private"),
        "Any account reads public and unlisted vaults." },
    fault! { "isolation.public-contents" ["ER-10"] open("GET /vaults/*/prompts", |_| true),
        "Any account lists the prompts of any vault." },
    fault! { "isolation.vault-updated" ["ER-10"] open("PATCH /vaults/*", |_| true),
        "Any account updates any vault." },
    fault! { "isolation.vault-deleted" ["ER-10"] open("DELETE /vaults/*", |_| true),
        "Any account deletes any vault." },
    fault! { "isolation.forbidden" ["ER-10"]
        forbidden("GET /prompts/*, PATCH /prompts/*, DELETE /prompts/*", "prompts"),
        "The path of another account's prompt is answered 403." },
    fault! { "isolation.vault-forbidden" ["ER-10"]
        forbidden("GET /vaults/*, PATCH /vaults/*, DELETE /vaults/*", "vaults"),
        "The path of another account's vault is answered 403." },
    fault! { "isolation.other-words" ["ER-10"] whole("GET /prompts/*", |request, upstream| async move {
        let mut response = upstream.send(&request).await;
        if response.code() == 404 && upstream.send(&of_the_other(&request)).await.is_success() {
            response.edit(|body| body["error"] = "The prompt belongs to another account.".into());
        }
        response
    }),
        "The 404 of another account's prompt says so." },
    fault! { "isolation.membership-removed" ["ER-10"] open("DELETE /vaults/*/prompts/*", |_| true),
        "A membership is removed by its id alone, whoever asks." },
    fault! { "isolation.membership-pinned" ["ER-10"] open("POST /vaults/*/prompts/*/pin", |_| true),
        "Any account pins in any vault." },
    fault! { "isolation.listed" ["PR-14"] whole("GET /prompts", |request, upstream| async move {
        let wanted = request.parameter("type").is_some() && request.parameter("cursor").is_none();
        if !wanted {
            return upstream.send(&request).await;
        }
        with_the_others(request, upstream, |_| true).await
    }),
        "The list by type holds the prompts of every account." },
    fault! { "isolation.listed-by-vault" ["PR-15"]
        whole("GET /prompts", |request, upstream| async move {
            let response = upstream.send(&request).await;
            if response.code() != 400 || request.parameter("vaultId").is_none() {
                return response;
            }
            let theirs = upstream.send(&of_the_other(&request)).await;
            if theirs.is_success() { theirs } else { response }
        }),
        "The list with a vaultId shows the prompts of any vault." },
    fault! { "isolation.vaults-listed" ["VA-13"] whole("GET /vaults", |request, upstream| {
        with_the_others(request, upstream, |vault| vault["visibility"] == "public")
    }),
        "The list of vaults holds the public vaults of every account." },
    fault! { "isolation.created-into" ["PR-27"] into_theirs("POST /prompts", without_vault),
        "A prompt for a vault of another account is made without it." },
    fault! { "isolation.updated-into" ["PR-38"] into_theirs("PATCH /prompts/*", without_vault),
        "An update with a vault of another account answers 200." },
    fault! { "isolation.saved-into" ["PR-44"] into_theirs("POST /prompts/*/save", |request| {
        request.another(Method::GET, format!("/prompts/{}", request.id(1)))
    }),
        "A save into a vault of another account answers 200." },
];

/// The same request of the other account.
pub(super) fn of_the_other(request: &Request) -> Request {
    let mut other = request.clone();
    let key = if request.authorization().ends_with(OTHER) { MAIN } else { OTHER };
    other.set_authorization(&format!("Bearer {key}"));
    other
}

/// What is not there for the caller is looked for in the other account; an answer
/// from there is given if `shown` takes it.
pub(super) fn open(routes: &'static str, shown: fn(&Value) -> bool) -> Intercept {
    whole(routes, move |request, upstream| async move {
        let response = upstream.send(&request).await;
        if response.code() != 404 {
            return response;
        }
        let theirs = upstream.send(&of_the_other(&request)).await;
        if theirs.is_success() && shown(&theirs.json()["data"]) { theirs } else { response }
    })
}

pub(super) fn forbidden(routes: &'static str, of: &'static str) -> Intercept {
    whole(routes, move |request, upstream| async move {
        let response = upstream.send(&request).await;
        let look =
            of_the_other(&request.another(Method::GET, format!("/{of}/{}", request.segment(1))));
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

/// What is answered in place of a refusal of another account's vault.
fn into_theirs(routes: &'static str, instead: fn(Request) -> Request) -> Intercept {
    whole(routes, move |request, upstream| async move {
        let response = upstream.send(&request).await;
        if response.code() == 400 && is_theirs(&request, &upstream).await {
            return upstream.send(&instead(request)).await;
        }
        response
    })
}

fn without_vault(mut request: Request) -> Request {
    request.edit(|body| without(body, "vaultId"));
    request
}

/// Whether the vaultId of the body is a vault of the other account.
async fn is_theirs(request: &Request, upstream: &Upstream) -> bool {
    let Some(vault) = request.json()["vaultId"].as_i64() else { return false };
    let look = of_the_other(&request.another(Method::GET, format!("/vaults/{vault}")));
    upstream.send(&look).await.is_success()
}
