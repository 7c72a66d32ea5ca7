//! Faults in what the deletion of a vault takes away and leaves (VA-26 to VA-28).

use crate::faults::prompts::life::{kept, listed_on};
use crate::prelude::*;

const DELETE: &str = "DELETE /vaults/*";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.deleted-flag" ["VA-26"] edits_data(DELETE, |data| without(data, "deleted")),
        "The answer of a deletion has the id alone." },
    fault! { "vaults.deleted-again" ["ER-09"] deleted_again(),
        "The deletion of a deleted vault answers 200." },
    fault! { "vaults.deleted-forked" ["ER-09"] deleted_forked(),
        "A fork of a deleted vault is a new vault without prompts." },
    fault! { "vaults.deleted-read" ["VA-27"] kept("GET /vaults/*, DELETE /vaults/*"),
        "A deleted vault is still read at its address." },
    fault! { "vaults.deleted-listed" ["VA-27"] listed_on("GET /vaults, DELETE /vaults/*", |_, _| true),
        "A deleted vault is still in the list." },
    fault! { "vaults.deleted-in-prompts" ["VA-28"] still_named(),
        "vaultIds still names a deleted vault." },
    fault! { "vaults.deletes-prompts" ["VA-28"] takes_along(|_| true),
        "The prompts of a deleted vault are deleted too." },
    fault! { "vaults.deletes-orphans" ["VA-28"] takes_along(|one| ids_of(one, "vaultIds").len() == 1),
        "Prompts that are in no other vault are deleted with their vault." },
    fault! { "vaults.deletes-memberships" ["VA-28"] whole(DELETE, |request, upstream| async move {
        let prompts = upstream.members(&request, request.id(1)).await;
        let response = upstream.send(&request).await;
        for prompt in prompts.iter().filter(|_| response.is_success()) {
            upstream.take_out(&request, &prompt["id"], |_| true).await;
        }
        response
    }),
        "The deletion of a vault takes its prompts out of all vaults." },
];

fn deleted_again() -> Intercept {
    answers_with(DELETE, |gone: &mut Vec<(String, i64)>, request, response| {
        let this = (request.authorization().to_owned(), request.id(1));
        if response.is_success() {
            gone.push(this);
        } else if gone.contains(&this) {
            *response = Response::data(200, &json!({ "id": request.id(1), "deleted": true }));
        }
    })
}

fn deleted_forked() -> Intercept {
    let routes = "DELETE /vaults/*, POST /vaults/*/fork";
    whole_with(routes, |mut request, upstream, gone: Shared<Vec<i64>>| async move {
        let id = request.id(1);
        if request.method == Method::POST && gone.with(|gone| gone.contains(&id)) {
            request = request.another_with(Method::POST, "/vaults", &json!({ "name": "Fork" }));
        }
        let response = upstream.send(&request).await;
        if request.method == Method::DELETE && response.is_success() {
            gone.with(|gone| gone.push(id));
        }
        response
    })
}

fn still_named() -> Intercept {
    let routes = "GET /prompts/*, DELETE /vaults/*";
    whole_with(routes, |request, upstream, gone: Shared<Vec<(i64, i64)>>| async move {
        let id = request.id(1);
        if request.method == Method::DELETE {
            let ids = upstream.members(&request, id).await;
            let ids = ids.iter().filter_map(|one| Some((one["id"].as_i64()?, id)));
            gone.with(|gone| gone.extend(ids));
        }
        let mut response = upstream.send(&request).await;
        let vaults = gone.with(|gone| gone.clone()).into_iter().filter(|(prompt, _)| *prompt == id);
        response.edit_data(|data| {
            list_of(data, "vaultIds").into_iter().for_each(|ids| {
                ids.extend(vaults.clone().map(|(_, vault)| Value::from(vault)));
            });
        });
        response
    })
}

/// Deletes such prompts with their vault.
fn takes_along(such: fn(&Value) -> bool) -> Intercept {
    whole(DELETE, move |request, upstream| async move {
        let there = upstream.members(&request, request.id(1)).await;
        let response = upstream.send(&request).await;
        for one in there.iter().filter(|one| response.is_success() && such(one)) {
            upstream.delete(&request, format!("/prompts/{}", one["id"])).await;
        }
        response
    })
}
