//! Faults in the isolation of accounts (ER-10, PR-14 and the rules of ids in bodies).

use http::Method;
use serde_json::Value;

use crate::ask::{Answer, Ask};
use crate::fault::{Fault, How, fault};
use crate::front::whole;
use crate::keys::{MAIN, OTHER};
use crate::proxy::Upstream;

pub(super) const ALL: &[Fault] = &[
    fault!(
        "isolation.prompt-read",
        "Any account reads any prompt.",
        ["ER-10"],
        open("GET /prompts/*", |_| true)
    ),
    fault!(
        "isolation.prompt-updated",
        "Any account updates any prompt.",
        ["ER-10"],
        open("PATCH /prompts/*", |_| true)
    ),
    fault!(
        "isolation.prompt-deleted",
        "Any account deletes any prompt.",
        ["ER-10"],
        open("DELETE /prompts/*", |_| true)
    ),
    fault!(
        "isolation.prompt-deleted-in-secret",
        "A delete of another account's prompt answers 404, and deletes.",
        ["ER-10"],
        whole("DELETE /prompts/*", |ask, upstream| async move {
            let answer = upstream.send(&ask).await;
            if answer.code() == 404 {
                upstream.send(&of_the_other(&ask)).await;
            }
            answer
        })
    ),
    fault!(
        "isolation.vault-read",
        "Any account reads any vault.",
        ["ER-10"],
        open("GET /vaults/*", |_| true)
    ),
    fault!(
        "isolation.public-vault-read",
        "Any account reads public and unlisted vaults.",
        ["ER-10"],
        open("GET /vaults/*", |vault| vault["visibility"] != "private")
    ),
    fault!(
        "isolation.public-contents",
        "Any account lists the prompts of any vault.",
        ["ER-10"],
        open("GET /vaults/*/prompts", |_| true)
    ),
    fault!(
        "isolation.vault-updated",
        "Any account updates any vault.",
        ["ER-10"],
        open("PATCH /vaults/*", |_| true)
    ),
    fault!(
        "isolation.vault-deleted",
        "Any account deletes any vault.",
        ["ER-10"],
        open("DELETE /vaults/*", |_| true)
    ),
    fault!(
        "isolation.forbidden",
        "The path of another account's prompt is answered 403.",
        ["ER-10", "ER-08"],
        forbidden("GET /prompts/*, PATCH /prompts/*, DELETE /prompts/*", "prompts")
    ),
    fault!(
        "isolation.vault-forbidden",
        "The path of another account's vault is answered 403.",
        ["ER-10", "ER-08"],
        forbidden("GET /vaults/*, PATCH /vaults/*, DELETE /vaults/*", "vaults")
    ),
    fault!(
        "isolation.other-words",
        "The 404 of another account's prompt says so.",
        ["ER-10", "ER-08"],
        whole("GET /prompts/*", |ask, upstream| async move {
            let mut answer = upstream.send(&ask).await;
            if answer.code() == 404 && upstream.send(&of_the_other(&ask)).await.is_success() {
                answer.edit(|body| body["error"] = "The prompt belongs to another account.".into());
            }
            answer
        })
    ),
    fault!(
        "isolation.membership-removed",
        "A membership is removed by its id alone, whoever asks.",
        ["ER-10", "VC-15"],
        open("DELETE /vaults/*/prompts/*", |_| true)
    ),
    fault!(
        "isolation.membership-pinned",
        "Any account pins in any vault.",
        ["ER-10"],
        open("POST /vaults/*/prompts/*/pin", |_| true)
    ),
    fault!(
        "isolation.listed",
        "The list by type holds the prompts of every account.",
        ["PR-14", "PR-16", "PR-15"],
        whole("GET /prompts", |ask, upstream| async move {
            let wanted = ask.parameter("type").is_some() && ask.parameter("cursor").is_none();
            let answer = upstream.send(&ask).await;
            if wanted { with_the_others(answer, &ask, &upstream).await } else { answer }
        })
    ),
    fault!(
        "isolation.listed-by-vault",
        "The list with a vaultId shows the prompts of any vault.",
        ["PR-14", "PR-15", "ER-10", "ER-03"],
        whole("GET /prompts", |ask, upstream| async move {
            let answer = upstream.send(&ask).await;
            if answer.code() != 400 || ask.parameter("vaultId").is_none() {
                return answer;
            }
            let theirs = upstream.send(&of_the_other(&ask)).await;
            if theirs.is_success() { theirs } else { answer }
        })
    ),
    fault!(
        "isolation.vaults-listed",
        "The list of vaults holds the public vaults of every account.",
        ["VA-13"],
        whole("GET /vaults", |ask, upstream| async move {
            let mut answer = upstream.send(&ask).await;
            let theirs = upstream.send(&of_the_other(&ask)).await.json();
            answer.edit_data(|vaults| {
                let public = theirs["data"].as_array().into_iter().flatten();
                let public = public.filter(|vault| vault["visibility"] == "public").cloned();
                if let Some(vaults) = vaults.as_array_mut() {
                    vaults.extend(public);
                }
            });
            answer
        })
    ),
    fault!(
        "isolation.created-into",
        "A prompt for a vault of another account is made without it.",
        ["PR-27", "ER-03", "ER-08"],
        whole("POST /prompts", |mut ask, upstream| async move {
            let answer = upstream.send(&ask).await;
            if answer.code() != 400 || !is_theirs(&ask, &upstream).await {
                return answer;
            }
            ask.edit(|body| drop(body.as_object_mut().map(|body| body.remove("vaultId"))));
            upstream.send(&ask).await
        })
    ),
    fault!(
        "isolation.updated-into",
        "An update with a vault of another account answers 200.",
        ["PR-38", "ER-03", "ER-08"],
        whole("PATCH /prompts/*", |mut ask, upstream| async move {
            let answer = upstream.send(&ask).await;
            if answer.code() != 400 || !is_theirs(&ask, &upstream).await {
                return answer;
            }
            ask.edit(|body| drop(body.as_object_mut().map(|body| body.remove("vaultId"))));
            upstream.send(&ask).await
        })
    ),
    fault!(
        "isolation.saved-into",
        "A save into a vault of another account answers 200.",
        ["PR-44", "ER-03", "ER-08"],
        whole("POST /prompts/*/save", |ask, upstream| async move {
            let answer = upstream.send(&ask).await;
            if answer.code() != 400 || !is_theirs(&ask, &upstream).await {
                return answer;
            }
            upstream.send(&ask.another(Method::GET, format!("/prompts/{}", ask.id(1)))).await
        })
    ),
];

/// The same request of the other account.
fn of_the_other(ask: &Ask) -> Ask {
    let mut other = ask.clone();
    let key = if ask.authorization().ends_with(OTHER) { MAIN } else { OTHER };
    other.set_authorization(&format!("Bearer {key}"));
    other
}

/// What is not there for the caller is looked for in the other account; an answer
/// from there is given if `shown` takes it.
fn open(routes: &'static str, shown: fn(&Value) -> bool) -> How {
    whole(routes, move |ask, upstream| async move {
        let answer = upstream.send(&ask).await;
        if answer.code() != 404 {
            return answer;
        }
        let theirs = upstream.send(&of_the_other(&ask)).await;
        if theirs.is_success() && shown(&theirs.json()["data"]) { theirs } else { answer }
    })
}

fn forbidden(routes: &'static str, of: &'static str) -> How {
    whole(routes, move |ask, upstream| async move {
        let answer = upstream.send(&ask).await;
        let look = of_the_other(&ask.another(Method::GET, format!("/{of}/{}", ask.segment(1))));
        if answer.code() == 404 && upstream.send(&look).await.is_success() {
            return Answer::refusal(403, "The account may not do this.");
        }
        answer
    })
}

async fn with_the_others(mut answer: Answer, ask: &Ask, upstream: &Upstream) -> Answer {
    let theirs = upstream.send(&of_the_other(ask)).await.json();
    answer.edit_data(|list| {
        if let (Some(list), Some(theirs)) = (list.as_array_mut(), theirs["data"].as_array()) {
            list.extend(theirs.iter().cloned());
        }
    });
    answer
}

/// Whether the vaultId of the body is a vault of the other account.
async fn is_theirs(ask: &Ask, upstream: &Upstream) -> bool {
    let Some(vault) = ask.json()["vaultId"].as_i64() else { return false };
    let look = of_the_other(&ask.another(Method::GET, format!("/vaults/{vault}")));
    upstream.send(&look).await.is_success()
}
