//! Faults in removals (VC-15, VC-16) and in what names a membership (VC-01).

use super::membership;
use super::pins::entry_of;
use crate::prelude::*;

const MEMBERSHIP: &str = "* /vaults/*/prompts/*, * /vaults/*/prompts/*/*";
const REMOVE: &str = "DELETE /vaults/*/prompts/*";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "contents.remove-deletes" ["VC-16"] and_then(|it| async move {
        if ids_of(&it.entry, "vaultIds").len() == 1 {
            it.upstream.delete(&it.request, format!("/prompts/{}", it.entry["id"])).await;
        }
    }),
        "A removal deletes a prompt that is in no other vault." },
    fault! { "contents.remove-everywhere" ["VC-16"] and_then(|it| async move {
        it.upstream.take_out(&it.request, &it.entry["id"], |_| true).await;
    }),
        "A removal takes the prompt out of all vaults." },
    fault! { "contents.remove-neighbour" ["VC-16"] and_then(|it| async move {
        let there = it.upstream.members(&it.request, it.request.id(1)).await;
        for one in there.iter().filter(|one| one["isPinned"] == true) {
            let path = format!("/vaults/{}/prompts/{}/pin", it.request.id(1), one["vaultPromptId"]);
            it.upstream.delete(&it.request, path).await;
        }
    }),
        "A removal unpins the other prompts of the vault." },
    fault! { "contents.remove-deleted" ["VC-15"] answers(REMOVE, |request, response| {
        response.edit_data(|data| {
            *data = json!({ "vaultPromptId": request.id(3), "deleted": true });
        });
    }),
        "A removal answers deleted in place of removed." },
    fault! { "contents.remove-again" ["VC-15"] removed_again(),
        "Removing a removed membership answers 200." },
    fault! { "contents.remove-any-vault" ["VC-15"] any_vault(REMOVE),
        "A removal goes by the membership and not by the vault." },
    fault! { "contents.pin-any-vault" ["VC-25"] any_vault("* /vaults/*/prompts/*/pin"),
        "A pin goes by the membership and not by the vault." },
    fault! { "contents.move-any-vault" ["VC-20"] any_vault("POST /vaults/*/prompts/*/move"),
        "A move goes by the membership and not by the vault." },
    fault! { "contents.prompt-id-named" ["VC-01"] whole(MEMBERSHIP, |mut request, upstream| async move {
        let there = upstream.members(&request, request.id(1)).await;
        let by_prompt = there.iter().find(|one| one["id"] == request.id(3));
        let held = there.iter().any(|one| membership(one) == request.id(3));
        if let Some(one) = by_prompt.filter(|_| !held) {
            at(&mut request, &one["vaultPromptId"], 3);
        }
        upstream.send(&request).await
    }),
        "Remove, move and pin take the prompt's id too." },
];

fn removed_again() -> Intercept {
    answers_with(REMOVE, |gone: &mut Vec<String>, request, response| {
        if response.is_success() {
            gone.push(request.path.clone());
        } else if gone.contains(&request.path) {
            *response =
                Response::data(200, &json!({ "vaultPromptId": request.id(3), "removed": true }));
        }
    })
}

/// A removal that was done.
struct Removal {
    request: Request,
    upstream: Upstream,
    entry: Value,
}

/// Does something more after each removal.
fn and_then<F>(more: impl Fn(Removal) -> F + Copy + Send + Sync + 'static) -> Intercept
where
    F: Future<Output = ()> + Send + 'static,
{
    whole(REMOVE, move |request, upstream| async move {
        let entry = entry_of(&request, &upstream).await;
        let response = upstream.send(&request).await;
        if let Some(entry) = entry.filter(|_| response.is_success()) {
            more(Removal { request, upstream, entry }).await;
        }
        response
    })
}

/// Puts another id at a place of the path.
fn at(request: &mut Request, id: &Value, place: usize) {
    let mut parts: Vec<_> = request.path.split('/').map(str::to_owned).collect();
    parts[place + 1] = id.to_string();
    request.path = parts.join("/");
}

/// What the vault of the path does not hold is looked for in the caller's other vaults.
fn any_vault(routes: &'static str) -> Intercept {
    whole(routes, |mut request, upstream| async move {
        let response = upstream.send(&request).await;
        let own = upstream.get(&request, format!("/vaults/{}", request.segment(1))).await;
        if response.code() == 404 && own.is_success() {
            for vault in upstream.list(&request, "/vaults").await {
                let there = upstream.members(&request, &vault["id"]).await;
                if there.iter().any(|one| membership(one) == request.id(3)) {
                    at(&mut request, &vault["id"], 1);
                    return upstream.send(&request).await;
                }
            }
        }
        response
    })
}
