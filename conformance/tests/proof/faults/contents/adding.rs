//! Faults in adding prompts to a vault (VC-01 to VC-03, VC-10 to VC-14, LI-08).

use async_trait::async_trait;
use http::Method;
use promptarium::{PromptId, VaultId};
use promptarium_server::store::{Added, SharedPrompt};
use serde_json::{Value, json};

use crate::bounds::{from_digits, list_refused, list_taken, taken_as};
use crate::entries::list_of;
use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, edits, edits_data, status_instead, whole};
use crate::proxy::Upstream;
use crate::store::{FaultyStore, Good, Result, in_store};

const ADD: &str = "POST /vaults/*/prompts";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "contents.add-51" ["LI-08"] list_taken(ADD, "promptIds", 50),
        "promptIds with 51 entries is accepted." },
    fault! { "contents.add-50" ["LI-08"] list_refused(ADD, "promptIds", 49),
        "promptIds with 50 entries is refused." },
    fault! { "contents.add-none" ["LI-08"] whole(ADD, |ask, upstream| async move {
        let none = ask.json()["promptIds"].as_array().is_some_and(Vec::is_empty);
        if none { added_none(&ask, &upstream).await } else { upstream.send(&ask).await }
    }),
        "promptIds without an entry is accepted." },
    fault! { "contents.add-no-list" ["VC-12"] whole(ADD, |ask, upstream| async move {
        let body = ask.json();
        let missing = body.is_object() && body.get("promptIds").is_none();
        if missing { added_none(&ask, &upstream).await } else { upstream.send(&ask).await }
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
    fault! { "contents.add-whole-numbers" ["VC-13"] edits(ADD, |body| {
        for id in list_of(body, "promptIds").into_iter().flatten().filter(|id| id.is_f64()) {
            let whole = id.as_f64().filter(|number| number.fract() == 0.0);
            let whole = whole.and_then(|number| format!("{number:.0}").parse::<i64>().ok());
            *id = whole.map_or_else(|| id.take(), Value::from);
        }
    }),
        "promptIds takes 7.0 for 7." },
    fault! { "contents.add-200" ["VC-10"] status_instead(ADD, 200),
        "Adding answers 200." },
    fault! { "contents.add-count-old" ["VC-11"] edits_data(ADD, |data| {
        let old = data["promptCount"].as_i64().unwrap_or(0) - data["added"].as_i64().unwrap_or(0);
        data["promptCount"] = old.into();
    }),
        "Adding answers with the count from before." },
    fault! { "contents.add-answers-list" ["VC-11"] answers(ADD, |ask, answer| {
        let ids = ask.json()["promptIds"].clone();
        answer.edit_data(|data| data["added"] = ids);
    }),
        "added is the list of the ids." },
    fault! { "contents.add-counts-sent" ["VC-11"] answers(ADD, |ask, answer| {
        let sent = ask.json()["promptIds"].as_array().map_or(0, Vec::len);
        answer.edit_data(|data| data["added"] = sent.into());
    }),
        "added counts prompts that were there already." },
    fault! { "contents.add-passes-over" ["VC-14"] whole(ADD, |ask, upstream| async move {
        let known = known(&ask, &upstream).await;
        match known.len() {
            0 if asked(&ask) > 0 => added_none(&ask, &upstream).await,
            some if some < asked(&ask) => {
                let body = json!({ "promptIds": known });
                upstream.send(&ask.another_with(Method::POST, &*ask.path, &body)).await
            }
            _ => upstream.send(&ask).await,
        }
    }),
        "Ids that cannot be added are passed over with 201." },
    fault! { "contents.add-some-pass-over" ["VC-14"] whole(ADD, |ask, upstream| async move {
        let known = known(&ask, &upstream).await;
        if known.is_empty() || known.len() == asked(&ask) {
            return upstream.send(&ask).await;
        }
        let body = json!({ "promptIds": known });
        upstream.send(&ask.another_with(Method::POST, &*ask.path, &body)).await
    }),
        "Ids that cannot be added are passed over if another one can." },
    fault! { "contents.add-half" ["VC-14"] whole(ADD, |ask, upstream| async move {
        let known = known(&ask, &upstream).await;
        if !known.is_empty() && known.len() < asked(&ask) {
            let body = json!({ "promptIds": known });
            upstream.send(&ask.another_with(Method::POST, &*ask.path, &body)).await;
        }
        upstream.send(&ask).await
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
fn asked(ask: &Request) -> usize {
    ids(ask).len()
}

fn ids(ask: &Request) -> Vec<i64> {
    let body = ask.json();
    let ids = body["promptIds"].as_array().cloned().unwrap_or_default();
    let numbers: Option<Vec<_>> = ids.iter().map(Value::as_i64).collect();
    numbers.filter(|numbers| numbers.len() <= 50).unwrap_or_default()
}

/// Those that are prompts of the good.caller.
async fn known(ask: &Request, upstream: &Upstream) -> Vec<i64> {
    let mut known = Vec::new();
    for id in ids(ask) {
        let prompt = upstream.get(ask, format!("/prompts/{id}")).await;
        if prompt.is_success() {
            known.push(id);
        }
    }
    known
}

/// The answer for nothing, if the vault is there.
async fn added_none(ask: &Request, upstream: &Upstream) -> Response {
    let vault = upstream.get(ask, format!("/vaults/{}", ask.segment(1))).await;
    if !vault.is_success() {
        return vault;
    }
    let count = &vault.json()["data"]["promptCount"];
    Response::data(201, &json!({ "added": 0, "vaultId": ask.id(1), "promptCount": count }))
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
