//! Faults in the answers of generations: that one is queued, and how far it is.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};

use super::QUEUE;
use crate::bounds::default;
use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, asks, edits_data, whole};
use crate::proxy::Upstream;
use crate::shared::Shared;

const STATUS: &str = "GET /generations/*/status";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { in "generations.output.said-completed" "generations.never-completed" ["GE-32"]
        edits_data(STATUS, |data| if data["status"] == "completed" {
            data["status"] = "in_progress".into();
        }),
        "A job whose output is in the vault never says that it is completed." },
    fault! { "generations.request-id-same" ["GE-04"]
        edits_data(QUEUE, |data| data["providerRequestId"] = "request-1".into()),
        "The providerRequestId of every job is the same." },
    fault! { "generations.id-changed" ["GE-11"] edits_data(QUEUE, |data| {
        let id = data["clientJobId"].as_str().unwrap_or_default().to_lowercase();
        data["clientJobId"] = id.into();
    }),
        "A clientJobId comes back in lower case." },
    fault! { "generations.id-cut" ["GE-11"] answers(QUEUE, |request, response| {
        let given = request.text("clientJobId").is_some();
        response.edit_data(|data| {
            let id = data["clientJobId"].as_str().unwrap_or_default();
            if given {
                data["clientJobId"] = id.chars().take(32).collect::<String>().into();
            }
        });
    }),
        "A clientJobId comes back with at most 32 characters." },
    fault! { "generations.id-counted" ["GE-12"] counted(),
        "An id that was made is a number and no UUID." },
    fault! { "generations.id-of-body" ["GE-12"] asks(QUEUE, |request| {
        let mut hash = DefaultHasher::new();
        request.body.hash(&mut hash);
        super_id(request, &format!("7d3f5a10-92c4-4e1b-8a6f-{:012x}", hash.finish() >> 16));
    }),
        "An id that was made follows from the body." },
    fault! { "generations.status-url-path" ["GE-05"] edits_data(QUEUE, |data| {
        let url = data["statusUrl"].as_str().unwrap_or_default();
        data["statusUrl"] = url.splitn(4, '/').last().map(|path| format!("/{path}")).into();
    }),
        "statusUrl is a path without a host." },
    fault! { "generations.status-url-provider" ["GE-05"] edits_data(QUEUE, |data| {
        let id = data["clientJobId"].as_str().unwrap_or_default();
        let provider = data["providerRequestId"].as_str().unwrap_or_default();
        let url = data["statusUrl"].as_str().unwrap_or_default();
        data["statusUrl"] = url.replace(id, provider).into();
    }),
        "statusUrl names the provider's id." },
    fault! { "generations.answer-waits" ["GE-06"] whole(QUEUE, |request, upstream| async move {
        let mut response = upstream.send(&request).await;
        let id = response.json()["data"]["clientJobId"].as_str().unwrap_or_default().to_owned();
        if let Some(images) = media(&request, &upstream, &id).await {
            response.edit_data(|data| data["images"] = images);
        }
        response
    }),
        "The answer waits for the job and brings its media." },
    fault! { "generations.id-again" ["GE-11"] first_job(),
        "A clientJobId with another body gives the first job." },
    fault! { "generations.status-once" ["GE-31"] forgotten(),
        "A job that was seen completed is forgotten." },
    fault! { "generations.status-unknown" ["GE-31"] answers(STATUS, |request, response| {
        if response.code() == 404 {
            let id = request.segment(1);
            *response = Response::data(200, &json!({ "clientJobId": id, "status": "failed" }));
        }
    }),
        "The status of an unknown job is 200 and \"failed\"." },
    fault! { "generations.status-progress" ["GE-31"]
        edits_data(STATUS, |job| job["progress"] = 50.into()),
        "A status has a member more, its progress." },
    fault! { "generations.id-of-any-case" ["GE-11"]
        one_of_a_kind(|_, id| id.to_lowercase(), |_, id| id.to_owned()),
        "A clientJobId that differs from another one in case alone is a conflict." },
    fault! { "generations.id-of-all-accounts" ["GE-11"]
        one_of_a_kind(|_, id| id.to_owned(), |request, _| request.authorization().to_owned()),
        "A clientJobId that another account has used is a conflict." },
    fault! { "generations.body-compared-by-bytes" ["GE-11"]
        one_of_a_kind(|request, id| format!("{id} {}", request.authorization()), |request, _| {
            String::from_utf8_lossy(&request.body).into_owned()
        }),
        "The same request in another form of JSON is a conflict." },
];

/// Gives a generation without an id this one.
fn super_id(request: &mut Request, id: &str) {
    request.edit(|body| default(body, "clientJobId", id));
}

fn counted() -> Intercept {
    let last = Shared::<u32>::default();
    asks(QUEUE, move |request| {
        let next = last.with(|last| {
            *last += 1;
            *last
        });
        super_id(request, &format!("{next:08}"));
    })
}

/// The images of a job that is done soon.
async fn media(request: &Request, upstream: &Upstream, id: &str) -> Option<Value> {
    // The longest job of the listed scenarios takes 10 s, and more on a busy machine.
    for _ in 0..1000 {
        let path = format!("/generations/{id}/status");
        let status = upstream.get(request, path).await;
        if let Some(prompt) = status.json()["data"]["promptId"].as_i64() {
            let prompt = upstream.get(request, format!("/prompts/{prompt}")).await;
            return Some(prompt.json()["data"]["images"].clone());
        }
        if status.json()["data"]["status"] == "failed" || !status.is_success() {
            return None;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    None
}

fn first_job() -> Intercept {
    let first = Shared::<HashMap<(String, String), Response>>::default();
    answers(QUEUE, move |request, response| {
        let Some(id) = request.text("clientJobId") else { return };
        let key = (request.authorization().to_owned(), id);
        if response.is_success() {
            first.with(|first| first.insert(key, response.clone()));
        } else if request.text("prompt").is_some_and(|text| !text.is_empty())
            && let Some(before) = first.with(|first| first.get(&key).cloned())
        {
            *response = before;
        }
    })
}

/// Among generations of one kind all that differ from the first are refused.
fn one_of_a_kind(
    kind: fn(&Request, &str) -> String,
    form: fn(&Request, &str) -> String,
) -> Intercept {
    let firsts = Shared::<HashMap<String, String>>::default();
    answers(QUEUE, move |request, response| {
        let Some(id) = request.text("clientJobId").filter(|_| response.is_success()) else {
            return;
        };
        let form = form(request, &id);
        let first =
            firsts.with(|firsts| firsts.entry(kind(request, &id)).or_insert(form.clone()).clone());
        if first != form {
            *response = Response::refusal(409, "clientJobId is that of another job");
        }
    })
}

fn forgotten() -> Intercept {
    let seen = Shared::<BTreeSet<String>>::default();
    answers(STATUS, move |request, response| {
        if response.json()["data"]["status"] == "completed"
            && !seen.with(|seen| seen.insert(request.path.clone()))
        {
            *response = Response::refusal(404, "no such job");
        }
    })
}
