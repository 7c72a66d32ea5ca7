//! Faults in the answers of generations: that one is queued, and how far it is.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::QUEUE;
use crate::prelude::*;

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

fn first_job() -> Intercept {
    answers_with(
        QUEUE,
        move |first: &mut HashMap<(String, String), Response>, request, response| {
            let Some(id) = request.text("clientJobId") else { return };
            let key = (request.authorization().to_owned(), id);
            if response.is_success() {
                first.insert(key, response.clone());
            } else if request.text("prompt").is_some_and(|text| !text.is_empty())
                && let Some(before) = first.get(&key).cloned()
            {
                *response = before;
            }
        },
    )
}

/// Among generations of one kind all that differ from the first are refused.
fn one_of_a_kind(
    kind: fn(&Request, &str) -> String,
    form: fn(&Request, &str) -> String,
) -> Intercept {
    answers_with(QUEUE, move |firsts: &mut HashMap<String, String>, request, response| {
        let Some(id) = request.text("clientJobId").filter(|_| response.is_success()) else {
            return;
        };
        let form = form(request, &id);
        let first = firsts.entry(kind(request, &id)).or_insert(form.clone()).clone();
        if first != form {
            *response = Response::refusal(409, "clientJobId is that of another job");
        }
    })
}

fn forgotten() -> Intercept {
    answers_with(STATUS, move |seen: &mut BTreeSet<String>, request, response| {
        if response.json()["data"]["status"] == "completed" && !seen.insert(request.path.clone()) {
            *response = Response::refusal(404, "no such job");
        }
    })
}
