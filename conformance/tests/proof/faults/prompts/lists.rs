//! Faults in the filters of the list of prompts.

use crate::ask::Ask;
use crate::fault::{Fault, fault};
use crate::front::{answers, asks};

const LIST: &str = "GET /prompts";

pub(super) const ALL: &[Fault] = &[
    fault!(
        "prompts.list-201",
        "The list of prompts answers 206.",
        [
            "PR-13", "PG-06", "PR-15", "PG-09", "PG-03", "PR-14", "PG-02", "PG-08", "PR-16",
            "AU-01", "EN-01", "EN-07", "LI-01", "PG-04", "PG-05", "PG-07", "PR-06", "EN-09",
            "PR-05", "PR-11", "EN-08", "ER-08", "GE-29", "PR-03", "PR-04", "PR-12", "HT-24"
        ],
        answers(LIST, |_, answer| if answer.is_success() {
            answer.set_code(206);
        })
    ),
    fault!(
        "prompts.list-short",
        "The entries of the list lack updatedAt.",
        ["PR-13", "PR-09", "PG-06", "PR-11"],
        answers(LIST, |_, answer| answer.each(|prompt| {
            drop(prompt.as_object_mut().map(|prompt| prompt.remove("updatedAt")));
        }))
    ),
    fault!(
        "prompts.type-ignored-with-vault",
        "With vaultId the filter type is ignored.",
        ["PR-16", "PG-06", "PG-09"],
        asks(LIST, |ask| if ask.parameter("vaultId").is_some() && is_type(ask) {
            ask.set_parameter("type", None);
        })
    ),
    fault!(
        "prompts.vault-ignored-with-type",
        "With type the filter vaultId is ignored.",
        ["PR-15", "PG-06", "PG-09", "PR-16"],
        asks(LIST, |ask| if is_vault(ask) && is_type(ask) {
            ask.set_parameter("vaultId", None);
        })
    ),
    fault!(
        "prompts.type-unknown-ignored",
        "An unknown type is taken for no filter.",
        ["PR-18", "ER-03"],
        asks(LIST, |ask| if ask.parameter("type").is_some() && !is_type(ask) {
            ask.set_parameter("type", None);
        })
    ),
    fault!(
        "prompts.type-in-capitals",
        "The filter type takes capitals.",
        ["PR-18"],
        asks(LIST, |ask| {
            let lower = ask.parameter("type").map(str::to_lowercase);
            ask.set_parameter("type", lower.as_deref());
        })
    ),
    fault!(
        "prompts.vault-unknown-ignored",
        "A vaultId that is no integer is taken for no filter.",
        ["PR-17", "ER-03"],
        asks(LIST, |ask| if ask.parameter("vaultId").is_some() && !is_vault(ask) {
            ask.set_parameter("vaultId", None);
        })
    ),
    fault!(
        "prompts.vault-id-cut",
        "A vaultId is read up to its first sign that is no digit.",
        ["PR-17", "ER-03"],
        asks(LIST, |ask| {
            let digits = ask
                .parameter("vaultId")
                .map(|id| id.chars().take_while(char::is_ascii_digit).collect::<String>());
            if digits.as_ref().is_some_and(|digits| !digits.is_empty()) {
                ask.set_parameter("vaultId", digits.as_deref());
            }
        })
    ),
    fault!(
        "prompts.type-by-first-type",
        "The filter type finds prompts by the type they were made with.",
        ["PR-16", "AU-03", "EN-02", "ER-08", "VC-27"],
        first_type()
    ),
    fault!(
        "prompts.videos-with-images",
        "The filter image finds video prompts too.",
        ["PR-16"],
        both()
    ),
];

fn is_type(ask: &Ask) -> bool {
    matches!(ask.parameter("type"), Some("image" | "text" | "video"))
}

fn is_vault(ask: &Ask) -> bool {
    ask.parameter("vaultId").is_some_and(|id| id.parse::<i64>().is_ok())
}

fn first_type() -> crate::fault::How {
    use std::collections::HashMap;
    use std::sync::{Arc, Mutex, PoisonError};
    let first: Arc<Mutex<HashMap<i64, String>>> = Arc::default();
    crate::front::whole("POST /prompts, GET /prompts", move |ask, upstream| {
        let first = Arc::clone(&first);
        async move {
            let mut answer = upstream.send(&ask).await;
            let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
            if ask.method == http::Method::POST {
                let kind = answer.json()["data"]["promptType"].as_str().map(str::to_owned);
                first.extend(kind.map(|kind| (answer.id(), kind)));
            } else if let Some(wanted) = ask.parameter("type") {
                answer.edit_data(|list| {
                    if let Some(list) = list.as_array_mut() {
                        list.retain(|prompt| {
                            let id = prompt["id"].as_i64().unwrap_or_default();
                            first.get(&id).is_none_or(|kind| kind == wanted)
                        });
                    }
                });
            }
            answer
        }
    })
}

/// The videos come on the first page only, so that walks still end.
fn both() -> crate::fault::How {
    crate::front::whole(LIST, |ask, upstream| async move {
        let mut answer = upstream.send(&ask).await;
        if ask.parameter("type") == Some("image") && ask.parameter("cursor").is_none() {
            let mut videos = ask.clone();
            videos.set_parameter("type", Some("video"));
            let videos = upstream.send(&videos).await.json();
            answer.edit_data(|list| {
                if let (Some(list), Some(videos)) = (list.as_array_mut(), videos["data"].as_array())
                {
                    list.extend(videos.iter().cloned());
                }
            });
        }
        answer
    })
}
