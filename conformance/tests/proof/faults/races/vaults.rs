//! Races about vaults: deletions, updates, names, and forks.

use std::time::Duration;

use futures::future::join_all;
use http::Method;
use serde_json::{Value, json};

use super::crowd::{Crowds, Place, crowded, is, with_first};
use super::{by_owner, gave_way, ids};
use crate::entries::{list_of, text};
use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{whole, whole_with};
use crate::proxy::Upstream;
use crate::shared::Shared;

/// So long an update is under way; forks come in between.
const UNDER_WAY: Duration = Duration::from_millis(150);

const VAULT: &str = "DELETE /vaults/*";
const UPDATE: &str = "PATCH /vaults/*";
const CREATE: &str = "POST /vaults";
const FORK: &str = "POST /vaults/*/fork";
const ADD: &str = "POST /vaults/*/prompts";
const MOVE: &str = "POST /vaults/*/prompts/*/move";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "races.vault-deletions-block" ["VA-26"]
        crowded(VAULT, VAULT, by_owner, |ask, upstream, place| async move {
            if place.is_alone() { upstream.send(&ask).await } else { gave_way() }
        }),
        "Deletions of one vault at once are all refused." },
    fault! { "races.vault-deletions-all-told" ["VA-27"]
        crowded(VAULT, VAULT, by_owner, |ask, upstream, place| async move {
            if place.nth == 0 {
                return upstream.send(&ask).await;
            }
            Response::data(200, &json!({ "id": ask.id(1), "deleted": true }))
        }),
        "All deletions of one vault that come at once are told of success." },
    fault! { "races.vault-deleted-under-way" ["VA-28"] deleted_under_way(),
        "Prompts on their way into or out of a vault that is deleted at once still name it." },
    fault! { "races.vault-updates-mixed" ["VA-24"]
        crowded(UPDATE, UPDATE, by_owner, |mut ask, upstream, place| async move {
            if !place.is_alone() {
                ask.edit(|body| {
                    if let Some(fields) = body.as_object_mut().filter(|fields| fields.len() > 1) {
                        fields.retain(|key, _| (key == "name") == (place.nth == 0));
                    }
                });
            }
            upstream.send(&ask).await
        }),
        "Of updates of one vault at once the first one gives the name, and the others all else." },
    fault! { "races.same-slug" ["VA-04"] {
        let about =
            |ask: &Request| ask.text("name").map(|name| format!("{} {name}", ask.authorization()));
        crowded(CREATE, CREATE, about, |ask, upstream, place| async move {
            let mut answer = upstream.send(&ask).await;
            if let Some(name) = ask.text("name").filter(|_| !place.is_alone()) {
                answer.edit_data(|data| data["slug"] = name.replace(' ', "-").into());
            }
            answer
        })
    },
        "Vaults of one name that are made at once have one slug." },
    fault! { "races.forks-short" ["VA-33"]
        crowded(FORK, FORK, by_owner, |ask, upstream, place| async move {
            let answer = upstream.send(&ask).await;
            if place.nth > 0 && answer.is_success() {
                let contents = format!("/vaults/{}/prompts", answer.id());
                let listed = upstream.get(&ask, &*contents).await.json();
                let first = format!("{contents}/{}", listed["data"][0]["vaultPromptId"]);
                upstream.delete(&ask, first).await;
            }
            answer
        }),
        "Of forks of one vault at once all but the first lack a prompt." },
    fault! { "races.fork-counts-adds" ["VA-32"] crowded(
        "POST /vaults/*/fork, POST /vaults/*/prompts",
        FORK,
        // The adds come from the owner, the forks from somebody else.
        |ask| Some(ask.segment(1).to_owned()),
        |ask, upstream, place| async move {
            let mut answer = upstream.send(&ask).await;
            if is(&ask, FORK) {
                answer.edit_data(|data| {
                    let count = data["promptCount"].as_u64().unwrap_or_default();
                    data["promptCount"] = json!(count + place.count(ADD) as u64);
                });
            }
            answer
        },
    ),
        "A fork answers with a count that has all adds to its source at once." },
    fault! { "races.fork-of-half" ["VA-33"] fork_of_half(),
        "A fork has the new title, and nothing else new, of prompts that are being updated." },
];

/// The vaults that a request puts prompts into, takes them out of, or deletes.
fn vaults_of(ask: &Request) -> Vec<i64> {
    let mut vaults = vec![ask.id(1)];
    if is(ask, MOVE) {
        vaults.extend(ask.json()["targetVaultId"].as_i64().filter(|id| *id != ask.id(1)));
    }
    vaults
}

/// The prompts that a request has put somewhere.
fn prompts_of(ask: &Request, answer: &Response) -> Vec<i64> {
    if !answer.is_success() {
        return Vec::new();
    }
    if is(ask, ADD) {
        ids(ask)
    } else {
        answer.json()["data"]["promptId"].as_i64().into_iter().collect()
    }
}

fn deleted_under_way() -> Intercept {
    let routes =
        "POST /vaults/*/prompts, POST /vaults/*/prompts/*/move, DELETE /vaults/*, GET /prompts/*";
    let (crowds, named) = (Crowds::default(), Shared::<Vec<(i64, i64)>>::default());
    let how = whole(routes, move |ask, upstream| {
        let (crowds, named) = (crowds.clone(), named.clone());
        async move {
            if ask.method == Method::GET {
                return read(&ask, &upstream, &named).await;
            }
            let vaults = vaults_of(&ask);
            let about: Vec<_> = vaults.iter().map(ToString::to_string).collect();
            let places = join_all(about.iter().map(|about| crowds.join(about, &ask))).await;
            if is(&ask, VAULT) {
                join_all(places.iter().map(|place| place.after_all_but(VAULT))).await;
                return upstream.send(&ask).await;
            }
            let answer = upstream.send(&ask).await;
            let gone = |(vault, place): (i64, &Place)| place.has(VAULT).then_some(vault);
            for vault in vaults.into_iter().zip(&places).filter_map(gone) {
                let prompts = prompts_of(&ask, &answer).into_iter();
                named.with(|named| named.extend(prompts.map(|prompt| (prompt, vault))));
            }
            answer
        }
    });
    with_first(how, VAULT)
}

async fn read(ask: &Request, upstream: &Upstream, named: &Shared<Vec<(i64, i64)>>) -> Response {
    let mut answer = upstream.send(ask).await;
    let all = named.with(|named| named.clone());
    let vaults = all.iter().filter(|(prompt, _)| *prompt == ask.id(1)).map(|(_, vault)| *vault);
    answer.edit_data(|data| {
        if let Some(ids) = list_of(data, "vaultIds") {
            ids.extend(vaults.map(Value::from));
        }
    });
    answer
}

/// What an update that is under way finds, and the title that it brings.
type Halves = Shared<Vec<(String, String)>>;

fn fork_of_half() -> Intercept {
    let routes = "POST /vaults/*/fork, PATCH /prompts/*";
    let how = whole_with(routes, |ask, upstream, halves: Halves| async move {
        if is(&ask, FORK) {
            let answer = upstream.send(&ask).await;
            spoil_copies(&ask, &answer, &upstream, &halves).await;
            return answer;
        }
        let before = upstream.get(&ask, &*ask.path).await.json();
        let half =
            ask.text("title").map(|title| (text(&before["data"], "prompt").to_owned(), title));
        halves.with(|halves| halves.extend(half.clone()));
        tokio::time::sleep(UNDER_WAY).await;
        let answer = upstream.send(&ask).await;
        halves.with(|halves| halves.retain(|one| Some(one) != half.as_ref()));
        answer
    });
    with_first(how, FORK)
}

async fn spoil_copies(ask: &Request, fork: &Response, upstream: &Upstream, halves: &Halves) {
    for copy in upstream.list(ask, format!("/vaults/{}/prompts", fork.id())).await {
        let of_copy = |(old, _): &&(String, String)| old == text(&copy, "prompt");
        if let Some((_, title)) = halves.with(|halves| halves.iter().find(of_copy).cloned()) {
            let title = json!({ "title": title });
            upstream.patch(ask, format!("/prompts/{}", copy["id"]), &title).await;
        }
    }
}
