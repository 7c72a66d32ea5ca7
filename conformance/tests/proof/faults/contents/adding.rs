//! Faults in adding prompts to a vault (VC-01 to VC-03, VC-10 to VC-14, LI-08).

use async_trait::async_trait;
use http::Method;
use promptarium::{PromptId, VaultId};
use promptarium_server::store::{Added, Store, StoreError};
use promptarium_server::store::{Caller, SharedPrompt};
use serde_json::{Value, json};

use super::held;
use crate::ask::{Answer, Ask};
use crate::entries::list_of;
use crate::fault::{Fault, How, fault};
use crate::front::{answers, asks, instead, whole};
use crate::proxy::Upstream;
use crate::store::{Twist, twisted};

const ADD: &str = "POST /vaults/*/prompts";

pub(crate) const ALL: &[Fault] = &[
    fault!("contents.add-51", "promptIds with 51 entries is accepted.", ["LI-08", "ER-06"], {
        asks(ADD, |ask| {
            ask.edit(|body| {
                if let Some(ids) = list_of(body, "promptIds").filter(|ids| ids.len() == 51) {
                    ids.pop();
                }
            });
        })
    }),
    fault!(
        "contents.add-50",
        "promptIds with 50 entries is refused.",
        ["LI-08", "PG-03", "PG-06"],
        {
            instead(ADD, |ask| {
                let many = ask.json()["promptIds"].as_array().is_some_and(|ids| ids.len() == 50);
                many.then(|| Answer::refusal(400, "promptIds is too long"))
            })
        }
    ),
    fault!(
        "contents.add-none",
        "promptIds without an entry is accepted.",
        ["LI-08", "ER-06", "ER-05"],
        {
            whole(ADD, |ask, upstream| async move {
                let none = ask.json()["promptIds"].as_array().is_some_and(Vec::is_empty);
                if none { added_none(&ask, &upstream).await } else { upstream.send(&ask).await }
            })
        }
    ),
    fault!(
        "contents.add-no-list",
        "A request without promptIds adds nothing and is answered 201.",
        ["VC-12", "ER-04"],
        {
            whole(ADD, |ask, upstream| async move {
                let body = ask.json();
                let missing = body.is_object() && body.get("promptIds").is_none();
                if missing { added_none(&ask, &upstream).await } else { upstream.send(&ask).await }
            })
        }
    ),
    fault!(
        "contents.add-one-id",
        "promptIds may be one id in place of a list.",
        ["VC-13", "ER-05"],
        {
            asks(ADD, |ask| {
                ask.edit(|body| {
                    if body["promptIds"].is_i64() {
                        body["promptIds"] = json!([body["promptIds"]]);
                    }
                });
            })
        }
    ),
    fault!("contents.add-text-ids", "promptIds takes ids as strings.", ["VC-13", "ER-05"], {
        asks(ADD, |ask| {
            ask.edit(|body| {
                for id in list_of(body, "promptIds").into_iter().flatten() {
                    if let Some(number) = id.as_str().and_then(|text| text.parse::<i64>().ok()) {
                        *id = number.into();
                    }
                }
            });
        })
    }),
    fault!("contents.add-whole-numbers", "promptIds takes 7.0 for 7.", ["VC-13", "ER-05"], {
        asks(ADD, |ask| {
            ask.edit(|body| {
                for id in list_of(body, "promptIds").into_iter().flatten() {
                    let number = id.as_f64().filter(|number| id.is_f64() && number.fract() == 0.0);
                    if let Some(number) =
                        number.and_then(|number| format!("{number:.0}").parse::<i64>().ok())
                    {
                        *id = number.into();
                    }
                }
            });
        })
    }),
    fault!(
        "contents.add-200",
        "Adding answers 200.",
        [
            "VC-10", "LI-08", "VC-11", "VC-03", "VC-05", "VC-09", "PG-06", "PR-15", "PG-09",
            "PG-03", "PR-13", "PG-02", "PG-08", "PR-14", "EN-07", "PG-04", "PG-05", "PG-07",
            "PR-16", "VA-32"
        ],
        {
            answers(ADD, |_, answer| {
                if answer.is_success() {
                    answer.set_code(200);
                }
            })
        }
    ),
    fault!("contents.add-count-old", "Adding answers with the count from before.", ["VC-11"], {
        answers(ADD, |_, answer| {
            answer.edit_data(|data| {
                let old =
                    data["promptCount"].as_i64().unwrap_or(0) - data["added"].as_i64().unwrap_or(0);
                data["promptCount"] = old.into();
            });
        })
    }),
    fault!(
        "contents.add-answers-list",
        "added is the list of the ids.",
        ["VC-11", "LI-08", "VC-10"],
        {
            answers(ADD, |ask, answer| {
                let ids = ask.json()["promptIds"].clone();
                answer.edit_data(|data| data["added"] = ids);
            })
        }
    ),
    fault!(
        "contents.add-counts-sent",
        "added counts prompts that were there already.",
        ["VC-11", "LI-08"],
        {
            answers(ADD, |ask, answer| {
                let sent = ask.json()["promptIds"].as_array().map_or(0, Vec::len);
                answer.edit_data(|data| data["added"] = sent.into());
            })
        }
    ),
    fault!(
        "contents.add-passes-over",
        "Ids that cannot be added are passed over with 201.",
        ["VC-14", "ER-03"],
        {
            whole(ADD, |ask, upstream| async move {
                let known = known(&ask, &upstream).await;
                match known.len() {
                    0 if asked(&ask) > 0 => added_none(&ask, &upstream).await,
                    some if some < asked(&ask) => {
                        let body = json!({ "promptIds": known });
                        upstream
                            .send(&ask.another_with(Method::POST, ask.path.as_str(), &body))
                            .await
                    }
                    _ => upstream.send(&ask).await,
                }
            })
        }
    ),
    fault!(
        "contents.add-some-pass-over",
        "Ids that cannot be added are passed over if another one can.",
        ["VC-14"],
        whole(ADD, |ask, upstream| async move {
            let known = known(&ask, &upstream).await;
            if known.is_empty() || known.len() == asked(&ask) {
                return upstream.send(&ask).await;
            }
            let body = json!({ "promptIds": known });
            upstream.send(&ask.another_with(Method::POST, ask.path.as_str(), &body)).await
        })
    ),
    fault!(
        "contents.add-half",
        "A list with an id that cannot be added is refused, but the others are in.",
        ["VC-14"],
        whole(ADD, |ask, upstream| async move {
            let known = known(&ask, &upstream).await;
            if !known.is_empty() && known.len() < asked(&ask) {
                let body = json!({ "promptIds": known });
                upstream.send(&ask.another_with(Method::POST, ask.path.as_str(), &body)).await;
            }
            upstream.send(&ask).await
        })
    ),
    fault!(
        "contents.add-reversed",
        "Prompts added together are in the reverse order.",
        ["VC-09"],
        {
            asks(ADD, |ask| {
                ask.edit(|body| {
                    if let Some(ids) = list_of(body, "promptIds") {
                        ids.reverse();
                    }
                });
            })
        }
    ),
    fault!(
        "contents.add-again-new",
        "Adding a prompt again makes its membership anew.",
        ["VC-03"],
        {
            How::Store("POST /vaults/*/prompts, POST /prompts/*/save, PATCH /prompts/*", |inner| {
                twisted(inner, Adding(Slip::Anew))
            })
        }
    ),
    fault!(
        "contents.add-takes-away",
        "Adding a prompt takes it out of its other vaults.",
        [
            "VC-02", "VC-03", "VC-20", "VC-04", "VC-06", "VC-16", "VC-21", "VC-25", "PR-08",
            "PR-38", "PR-46"
        ],
        {
            How::Store("POST /vaults/*/prompts, POST /prompts/*/save, PATCH /prompts/*", |inner| {
                twisted(inner, Adding(Slip::TakesAway))
            })
        }
    ),
    fault!(
        "contents.save-takes-away",
        "Saving a prompt takes it out of its other vaults.",
        ["VC-03", "VC-02", "PR-46", "PG-06"],
        {
            How::Store("POST /vaults/*/prompts, POST /prompts/*/save, PATCH /prompts/*", |inner| {
                twisted(inner, Adding(Slip::SaveTakesAway))
            })
        }
    ),
];

/// How many whole numbers `promptIds` has.
fn asked(ask: &Ask) -> usize {
    ids(ask).len()
}

fn ids(ask: &Ask) -> Vec<i64> {
    let body = ask.json();
    let ids = body["promptIds"].as_array().cloned().unwrap_or_default();
    let numbers: Option<Vec<_>> = ids.iter().map(Value::as_i64).collect();
    numbers.filter(|numbers| numbers.len() <= 50).unwrap_or_default()
}

/// Those that are prompts of the caller.
async fn known(ask: &Ask, upstream: &Upstream) -> Vec<i64> {
    let mut known = Vec::new();
    for id in ids(ask) {
        let prompt = upstream.send(&ask.another(Method::GET, format!("/prompts/{id}"))).await;
        if prompt.is_success() {
            known.push(id);
        }
    }
    known
}

/// The answer for nothing, if the vault is there.
async fn added_none(ask: &Ask, upstream: &Upstream) -> Answer {
    let vault =
        upstream.send(&ask.another(Method::GET, format!("/vaults/{}", ask.segment(1)))).await;
    if !vault.is_success() {
        return vault;
    }
    let count = &vault.json()["data"]["promptCount"];
    Answer::data(201, &json!({ "added": 0, "vaultId": ask.id(1), "promptCount": count }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slip {
    Anew,
    TakesAway,
    SaveTakesAway,
}

struct Adding(Slip);

/// Ends the memberships of a prompt in some vaults.
async fn part(inner: &dyn Store, caller: &Caller, id: PromptId, from: impl Fn(VaultId) -> bool) {
    let Ok(prompt) = inner.prompt(caller, id).await else { return };
    for vault in prompt.vault_ids.iter().copied().filter(|vault| from(*vault)) {
        for entry in held(inner, caller, vault).await {
            if entry.prompt.id == id {
                let _ = inner.remove_membership(caller, vault, entry.membership).await;
            }
        }
    }
}

#[async_trait]
impl Twist for Adding {
    async fn add_prompts(
        &self,
        inner: &dyn Store,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Added, StoreError> {
        let before = inner.add_prompts(caller, vault, prompts).await?;
        for id in prompts {
            match self.0 {
                Slip::Anew => part(inner, caller, *id, |other| other == vault).await,
                Slip::TakesAway => part(inner, caller, *id, |other| other != vault).await,
                Slip::SaveTakesAway => {}
            }
        }
        inner.add_prompts(caller, vault, prompts).await?;
        Ok(before)
    }

    async fn save_prompt(
        &self,
        inner: &dyn Store,
        caller: &Caller,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt, StoreError> {
        let saved = inner.save_prompt(caller, id, vault).await?;
        if self.0 != Slip::SaveTakesAway {
            return Ok(saved);
        }
        part(inner, caller, id, |other| other != vault).await;
        inner.prompt(caller, id).await
    }
}
