//! Faults in the filters of the list of prompts.

use crate::exchange::Request;
use crate::fault::{Fault, fault};
use crate::front::{asks, edits_each, status_instead};

const LIST: &str = "GET /prompts";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.list-201" ["PR-13"] status_instead(LIST, 206),
        "The list of prompts answers 206." },
    fault! { "prompts.list-short" ["PR-13"] edits_each(LIST, |prompt| {
        drop(prompt.as_object_mut().map(|prompt| prompt.remove("updatedAt")));
    }),
        "The entries of the list lack updatedAt." },
    fault! { "prompts.type-ignored-with-vault" ["PR-16"] asks(LIST, |ask| {
        if ask.parameter("vaultId").is_some() && is_type(ask) {
            ask.set_parameter("type", None);
        }
    }),
        "With vaultId the filter type is ignored." },
    fault! { "prompts.vault-ignored-with-type" ["PR-15"] asks(LIST, |ask| {
        if is_vault(ask) && is_type(ask) {
            ask.set_parameter("vaultId", None);
        }
    }),
        "With type the filter vaultId is ignored." },
    fault! { "prompts.type-unknown-ignored" ["PR-18"] asks(LIST, |ask| {
        if ask.parameter("type").is_some() && !is_type(ask) {
            ask.set_parameter("type", None);
        }
    }),
        "An unknown type is taken for no filter." },
    fault! { "prompts.type-in-capitals" ["PR-18"] asks(LIST, |ask| {
        let lower = ask.parameter("type").map(str::to_lowercase);
        ask.set_parameter("type", lower.as_deref());
    }),
        "The filter type takes capitals." },
    fault! { "prompts.vault-unknown-ignored" ["PR-17"] asks(LIST, |ask| {
        if ask.parameter("vaultId").is_some() && !is_vault(ask) {
            ask.set_parameter("vaultId", None);
        }
    }),
        "A vaultId that is no integer is taken for no filter." },
    fault! { "prompts.vault-id-cut" ["PR-17"] asks(LIST, |ask| {
        let digits = ask
            .parameter("vaultId")
            .map(|id| id.chars().take_while(char::is_ascii_digit).collect::<String>());
        if digits.as_ref().is_some_and(|digits| !digits.is_empty()) {
            ask.set_parameter("vaultId", digits.as_deref());
        }
    }),
        "A vaultId is read up to its first sign that is no digit." },
    fault! { "prompts.type-by-first-type" ["PR-16"] first_type(),
        "The filter type finds prompts by the type they were made with." },
    fault! { "prompts.videos-with-images" ["PR-16"] both(),
        "The filter image finds video prompts too." },
];

fn is_type(ask: &Request) -> bool {
    matches!(ask.parameter("type"), Some("image" | "text" | "video"))
}

fn is_vault(ask: &Request) -> bool {
    ask.parameter("vaultId").is_some_and(|id| id.parse::<i64>().is_ok())
}

fn first_type() -> crate::fault::Intercept {
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
fn both() -> crate::fault::Intercept {
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
