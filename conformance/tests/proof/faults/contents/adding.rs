//! Faults in adding prompts to a vault (VC-01 to VC-03, VC-10 to VC-14, LI-08).

use async_trait::async_trait;
use http::Method;
use promptarium::{PromptId, VaultId};
use promptarium_server::store::{Added, SharedPrompt};
use serde_json::{Value, json};

use crate::bounds::{from_digits, list_refused, taken_as};
use crate::entries::list_of;
use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, edits, edits_data, status_instead, whole};
use crate::proxy::Upstream;
use crate::store::{FaultyStore, Good, Result, in_store};

const ADD: &str = "POST /vaults/*/prompts";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "contents.add-50" ["LI-08"] list_refused(ADD, "promptIds", 49),
        "promptIds with 50 entries is refused." },
    fault! { "contents.add-none" ["LI-08"] whole(ADD, |request, upstream| async move {
        let none = request.json()["promptIds"].as_array().is_some_and(Vec::is_empty);
        if none { added_none(&request, &upstream).await } else { upstream.send(&request).await }
    }),
        "promptIds without an entry is accepted." },
    fault! { "contents.add-no-list" ["VC-12"] whole(ADD, |request, upstream| async move {
        let body = request.json();
        let missing = body.is_object() && body.get("promptIds").is_none();
        if missing { added_none(&request, &upstream).await } else { upstream.send(&request).await }
    }),
        "A request without promptIds adds nothing and is answered 201." },
    fault! { "contents.add-one-id" ["VC-13"]
        taken_as(ADD, "promptIds", |id| id.is_i64().then(|| json!([id]))),
        "promptIds may be one id in place of a list." },
    fault! { "contents.add-text-ids" ["VC-13"] edits(ADD, |body| {
        for id in list_of(body, "promptIds").into_iter().flatten() {
            *id = from_digits(id).unwrap_or_else(|| id.take());
        }
    }),
        "promptIds takes ids as strings." },
    fault! { "contents.add-200" ["VC-10"] status_instead(ADD, 200),
        "Adding answers 200." },
    fault! { "contents.add-count-old" ["VC-11"] edits_data(ADD, |data| {
        let old = data["promptCount"].as_i64().unwrap_or(0) - data["added"].as_i64().unwrap_or(0);
        data["promptCount"] = old.into();
    }),
        "Adding answers with the count from before." },
    fault! { "contents.add-answers-list" ["VC-11"] answers(ADD, |request, response| {
        let ids = request.json()["promptIds"].clone();
        response.edit_data(|data| data["added"] = ids);
    }),
        "added is the list of the ids." },
    fault! { "contents.add-counts-sent" ["VC-11"] answers(ADD, |request, response| {
        let sent = request.json()["promptIds"].as_array().map_or(0, Vec::len);
        response.edit_data(|data| data["added"] = sent.into());
    }),
        "added counts prompts that were there already." },
    fault! { "contents.add-passes-over" ["VC-14"] whole(ADD, |request, upstream| async move {
        let known = known(&request, &upstream).await;
        match known.len() {
            0 if asked(&request) > 0 => added_none(&request, &upstream).await,
            some if some < asked(&request) => {
                let body = json!({ "promptIds": known });
                upstream.send(&request.another_with(Method::POST, &*request.path, &body)).await
            }
            _ => upstream.send(&request).await,
        }
    }),
        "Ids that cannot be added are passed over with 201." },
    fault! { "contents.add-some-pass-over" ["VC-14"] whole(ADD, |request, upstream| async move {
        let known = known(&request, &upstream).await;
        if known.is_empty() || known.len() == asked(&request) {
            return upstream.send(&request).await;
        }
        let body = json!({ "promptIds": known });
        upstream.send(&request.another_with(Method::POST, &*request.path, &body)).await
    }),
        "Ids that cannot be added are passed over if another one can." },
    fault! { "contents.add-half" ["VC-14"] whole(ADD, |request, upstream| async move {
        let known = known(&request, &upstream).await;
        if !known.is_empty() && known.len() < asked(&request) {
            let body = json!({ "promptIds": known });
            upstream.send(&request.another_with(Method::POST, &*request.path, &body)).await;
        }
        upstream.send(&request).await
    }),
        "A list with an id that cannot be added is refused, but the others are in." },
    fault! { "contents.add-reversed" ["VC-09"] edits(ADD, |body| {
        if let Some(ids) = list_of(body, "promptIds") {
            ids.reverse();
        }
    }),
        "Prompts added together are in the reverse order." },
    fault! { "contents.add-again-new" ["VC-03"] adding(Slip::Anew),
        "Adding a prompt again makes its membership anew." },
    fault! { "contents.add-takes-away" ["VC-02"] adding(Slip::TakesAway),
        "Adding a prompt takes it out of its other vaults." },
    fault! { "contents.save-takes-away" ["VC-03"] adding(Slip::SaveTakesAway),
        "Saving a prompt takes it out of its other vaults." },
];

/// How many whole numbers `promptIds` has.
fn asked(request: &Request) -> usize {
    ids(request).len()
}

fn ids(request: &Request) -> Vec<i64> {
    let body = request.json();
    let ids = body["promptIds"].as_array().cloned().unwrap_or_default();
    let numbers: Option<Vec<_>> = ids.iter().map(Value::as_i64).collect();
    numbers.filter(|numbers| numbers.len() <= 50).unwrap_or_default()
}

/// Those that are prompts of the good.caller.
async fn known(request: &Request, upstream: &Upstream) -> Vec<i64> {
    let mut known = Vec::new();
    for id in ids(request) {
        let prompt = upstream.get(request, format!("/prompts/{id}")).await;
        if prompt.is_success() {
            known.push(id);
        }
    }
    known
}

/// The answer for nothing, if the vault is there.
async fn added_none(request: &Request, upstream: &Upstream) -> Response {
    let vault = upstream.get(request, format!("/vaults/{}", request.segment(1))).await;
    if !vault.is_success() {
        return vault;
    }
    let count = &vault.json()["data"]["promptCount"];
    Response::data(201, &json!({ "added": 0, "vaultId": request.id(1), "promptCount": count }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slip {
    Anew,
    TakesAway,
    SaveTakesAway,
}

struct Adding(Slip);

fn adding(slip: Slip) -> Intercept {
    in_store("POST /vaults/*/prompts, POST /prompts/*/save, PATCH /prompts/*", Adding(slip))
}

#[async_trait]
impl FaultyStore for Adding {
    async fn add_prompts(
        &self,
        good: Good<'_>,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Added> {
        let before = good.add_prompts(vault, prompts).await?;
        for id in prompts {
            match self.0 {
                Slip::Anew => good.take_out(*id, |other| other == vault).await?,
                Slip::TakesAway => good.take_out(*id, |other| other != vault).await?,
                Slip::SaveTakesAway => {}
            }
        }
        good.add_prompts(vault, prompts).await?;
        Ok(before)
    }

    async fn save_prompt(
        &self,
        good: Good<'_>,
        id: PromptId,
        vault: VaultId,
    ) -> Result<SharedPrompt> {
        let saved = good.save_prompt(id, vault).await?;
        if self.0 != Slip::SaveTakesAway {
            return Ok(saved);
        }
        good.take_out(id, |other| other != vault).await?;
        good.prompt(id).await
    }
}
