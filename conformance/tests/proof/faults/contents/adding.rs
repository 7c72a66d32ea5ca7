//! Faults in adding prompts to a vault (VC-01 to VC-03, VC-10 to VC-14, LI-08).

use crate::faults::prompts::fields::leaves_others;
use crate::prelude::*;

const ADD: &str = "POST /vaults/*/prompts";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "contents.add-50" ["LI-08"] value_refused(ADD, "promptIds", |ids| {
        ids.as_array().is_some_and(|ids| ids.len() > 49)
    }),
        "promptIds with 50 entries is refused." },
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
    fault! { "contents.add-again-new" ["VC-03"] and_takes_out(|other, vault| other == vault),
        "Adding a prompt again makes its membership anew." },
    fault! { "contents.add-takes-away" ["VC-02"] and_takes_out(|other, vault| other != vault),
        "Adding a prompt takes it out of its other vaults." },
    fault! { "contents.save-takes-away" ["VC-03"] whole("POST /prompts/*/save", leaves_others),
        "Saving a prompt takes it out of its other vaults." },
    fault! { "contents.add-200" ["VC-10"] status_instead(ADD, 200),
        "Adding answers 200." },
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

/// What was added is taken out of such vaults, and then added again.
fn and_takes_out(from: fn(i64, i64) -> bool) -> Intercept {
    whole(ADD, move |request, upstream| async move {
        let (added, vault) = (upstream.send(&request).await, request.id(1));
        for id in ids(&request).into_iter().filter(|_| added.is_success()) {
            upstream.take_out(&request, &id.into(), |other| from(other, vault)).await;
        }
        if added.is_success() {
            upstream.send(&request).await;
        }
        added
    })
}
