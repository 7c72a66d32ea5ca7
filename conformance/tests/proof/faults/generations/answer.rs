//! Faults in the answers of generations: that one is queued, and how far it is.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use http::Method;
use serde_json::{Value, json};

use super::QUEUE;
use crate::ask::{Answer, Ask};
use crate::entries::without;
use crate::fault::{Fault, How, fault};
use crate::front::{answers, asks, whole};
use crate::proxy::Upstream;
use crate::shared::Shared;

const STATUS: &str = "GET /generations/*/status";

pub(crate) const ALL: &[Fault] = &[
    fault!(
        "generations.answered-201",
        "A generation is answered 201.",
        [
            "GE-01", "GE-29", "GE-31", "GE-11", "GE-13", "LI-09", "GE-15", "GE-17", "GE-19",
            "GE-20", "GE-22", "GE-26", "GE-02", "GE-03", "GE-04", "GE-05", "GE-06", "GE-08",
            "GE-12", "GE-16", "GE-23", "GE-24", "GE-30", "LI-11", "LI-12", "LI-13"
        ],
        {
            answers(QUEUE, |_, answer| {
                if answer.is_success() {
                    answer.set_code(201);
                }
            })
        }
    ),
    fault!(
        "generations.success-text",
        "success is the string \"true\".",
        ["GE-03", "GE-02", "GE-09", "GE-11"],
        { answers(QUEUE, |_, answer| answer.edit_data(|data| data["success"] = "true".into())) }
    ),
    fault!(
        "generations.job-id-key",
        "The id is called jobId.",
        [
            "GE-02", "GE-11", "GE-12", "GE-29", "GE-31", "GE-13", "GE-01", "GE-15", "GE-17",
            "LI-09", "EN-03", "GE-19", "GE-20", "GE-22", "GE-26", "GE-03", "GE-04", "GE-05",
            "GE-06", "GE-08", "GE-16", "GE-23", "GE-24", "GE-30", "LI-11", "LI-12", "LI-13"
        ],
        {
            answers(QUEUE, |_, answer| {
                answer.edit_data(|data| {
                    data["jobId"] = data["clientJobId"].clone();
                    without(data, "clientJobId");
                });
            })
        }
    ),
    fault!("generations.id-changed", "A clientJobId comes back in lower case.", ["GE-11"], {
        answers(QUEUE, |_, answer| {
            answer.edit_data(|data| {
                let id = data["clientJobId"].as_str().unwrap_or_default().to_lowercase();
                data["clientJobId"] = id.into();
            });
        })
    }),
    fault!(
        "generations.id-cut",
        "A clientJobId comes back with at most 32 characters.",
        ["GE-11", "GE-12"],
        {
            answers(QUEUE, |ask, answer| {
                let given = ask.text("clientJobId").is_some();
                answer.edit_data(|data| {
                    let id = data["clientJobId"].as_str().unwrap_or_default();
                    if given {
                        data["clientJobId"] = id.chars().take(32).collect::<String>().into();
                    }
                });
            })
        }
    ),
    fault!(
        "generations.id-counted",
        "An id that was made is a number and no UUID.",
        ["GE-12"],
        counted()
    ),
    fault!("generations.id-of-body", "An id that was made follows from the body.", ["GE-12"], {
        asks(QUEUE, |ask| {
            let mut hash = DefaultHasher::new();
            ask.body.hash(&mut hash);
            super_id(ask, &format!("7d3f5a10-92c4-4e1b-8a6f-{:012x}", hash.finish() >> 16));
        })
    }),
    fault!(
        "generations.request-id-number",
        "providerRequestId is a number.",
        ["GE-04", "GE-02", "GE-11", "GE-09"],
        {
            answers(QUEUE, |_, answer| {
                answer.edit_data(|data| data["providerRequestId"] = 7.into());
            })
        }
    ),
    fault!("generations.status-url-path", "statusUrl is a path without a host.", ["GE-05"], {
        answers(QUEUE, |_, answer| {
            answer.edit_data(|data| {
                let url = data["statusUrl"].as_str().unwrap_or_default();
                data["statusUrl"] = url.splitn(4, '/').last().map(|path| format!("/{path}")).into();
            });
        })
    }),
    fault!("generations.status-url-provider", "statusUrl names the provider's id.", ["GE-05"], {
        answers(QUEUE, |_, answer| {
            answer.edit_data(|data| {
                let id = data["clientJobId"].as_str().unwrap_or_default();
                let provider = data["providerRequestId"].as_str().unwrap_or_default();
                let url = data["statusUrl"].as_str().unwrap_or_default();
                data["statusUrl"] = url.replace(id, provider).into();
            });
        })
    }),
    fault!(
        "generations.answer-waits",
        "The answer waits for the job and brings its media.",
        ["GE-06", "GE-26", "GE-29"],
        {
            whole(QUEUE, |ask, upstream| async move {
                let mut answer = upstream.send(&ask).await;
                let id =
                    answer.json()["data"]["clientJobId"].as_str().unwrap_or_default().to_owned();
                if let Some(images) = media(&ask, &upstream, &id).await {
                    answer.edit_data(|data| data["images"] = images);
                }
                answer
            })
        }
    ),
    fault!(
        "generations.id-again",
        "A clientJobId with another body gives the first job.",
        ["GE-11"],
        { first_job() }
    ),
    fault!(
        "generations.status-once",
        "A job that was seen completed is forgotten.",
        ["GE-31", "GE-05", "GE-29"],
        { forgotten() }
    ),
    fault!(
        "generations.status-unknown",
        "The status of an unknown job is 200 and \"failed\".",
        ["GE-31", "GE-21", "GE-26", "AU-09"],
        {
            answers(STATUS, |ask, answer| {
                if answer.code() == 404 {
                    let id = ask.segment(1);
                    *answer = Answer::data(200, &json!({ "clientJobId": id, "status": "failed" }));
                }
            })
        }
    ),
];

/// Gives a generation without an id this one.
fn super_id(ask: &mut Ask, id: &str) {
    ask.edit(|body| super::default(body, "clientJobId", &id.into()));
}

fn counted() -> How {
    let last = Shared::<u32>::default();
    asks(QUEUE, move |ask| {
        let next = last.with(|last| {
            *last += 1;
            *last
        });
        super_id(ask, &format!("{next:08}"));
    })
}

/// The images of a job that is done soon.
async fn media(ask: &Ask, upstream: &Upstream, id: &str) -> Option<Value> {
    // The longest job of the listed scenarios takes 10 s, and more on a busy machine.
    for _ in 0..1000 {
        let path = format!("/generations/{id}/status");
        let status = upstream.send(&ask.another(Method::GET, path)).await;
        if let Some(prompt) = status.json()["data"]["promptId"].as_i64() {
            let prompt =
                upstream.send(&ask.another(Method::GET, format!("/prompts/{prompt}"))).await;
            return Some(prompt.json()["data"]["images"].clone());
        }
        if status.json()["data"]["status"] == "failed" || !status.is_success() {
            return None;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    None
}

fn first_job() -> How {
    let first = Shared::<HashMap<(String, String), Answer>>::default();
    answers(QUEUE, move |ask, answer| {
        let Some(id) = ask.text("clientJobId") else { return };
        let key = (ask.authorization().to_owned(), id);
        if answer.is_success() {
            first.with(|first| first.insert(key, answer.clone()));
        } else if ask.text("prompt").is_some_and(|text| !text.is_empty())
            && let Some(before) = first.with(|first| first.get(&key).cloned())
        {
            *answer = before;
        }
    })
}

fn forgotten() -> How {
    let seen = Shared::<BTreeSet<String>>::default();
    answers(STATUS, move |ask, answer| {
        if answer.json()["data"]["status"] == "completed"
            && !seen.with(|seen| seen.insert(ask.path.clone()))
        {
            *answer = Answer::refusal(404, "no such job");
        }
    })
}
