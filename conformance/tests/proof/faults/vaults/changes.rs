//! Faults in what an update of a vault changes, that of the General vault among them (VA-04,
//! VA-12, VA-23, VA-24).

use std::collections::{HashMap, HashSet};

use http::Method;
use serde_json::Value;

use crate::bounds::refusal;
use crate::entries::{text, without};
use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, refused, whole};
use crate::shared::Shared;

const UPDATE: &str = "PATCH /vaults/*";
const SHOWN: &str = "POST /vaults, GET /vaults/*, PATCH /vaults/*";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.name-once" ["VA-02"] whole("POST /vaults", |ask, upstream| async move {
        let vaults = upstream.get(&ask, "/vaults").await.json();
        let mut vaults = vaults["data"].as_array().into_iter().flatten();
        match ask.text("name").filter(|name| vaults.any(|vault| text(vault, "name") == name)) {
            Some(_) => Response::refusal(409, "There is a vault of this name."),
            None => upstream.send(&ask).await,
        }
    }),
        "Two vaults cannot have one name." },
    fault! { "vaults.patch-of-nothing" ["VA-23"] refused(UPDATE, 400, |ask| {
        let body = ask.json();
        let known = ["name", "description", "visibility"];
        body.is_object() && !known.iter().any(|key| body.get(key).is_some())
    }),
        "An update without a known field is refused." },
    fault! { "vaults.slug-first" ["VA-04"] {
        let firsts = Shared::<HashMap<i64, Value>>::default();
        answers(SHOWN, move |_, answer| {
            let id = answer.id();
            answer.edit_data(|vault| {
                let slug = vault["slug"].clone();
                vault["slug"] = firsts.with(|firsts| firsts.entry(id).or_insert(slug).clone());
            });
        })
    },
        "The slug is made from the first name, and a rename leaves it." },
    fault! { "vaults.slug-without-number" ["VA-04"] {
        let updated = Shared::<HashSet<i64>>::default();
        answers(SHOWN, move |ask, answer| {
            if ask.method == Method::PATCH && answer.is_success() {
                updated.with(|updated| updated.insert(ask.id(1)));
            }
            if updated.with(|updated| updated.contains(&ask.id(1))) {
                answer.edit_data(|vault| vault["slug"] = without_number(text(vault, "slug")).into());
            }
        })
    },
        "An update takes the number from a slug." },
    fault! { "vaults.general-renamed" ["VA-12"] of_general(|ask| {
        ask.edit(|body| without(body, "name"));
        None
    }),
        "A new name of the General vault is passed over." },
    fault! { "vaults.general-named" ["VA-12"] of_general(|ask| refuses(ask, "name")),
        "The General vault is refused the name that it has." },
    fault! { "vaults.general-described" ["VA-24"] of_general(|ask| refuses(ask, "description")),
        "The General vault takes no description." },
];

fn without_number(slug: &str) -> &str {
    let number = |end: &&str| end.bytes().all(|byte| byte.is_ascii_digit());
    slug.rsplit_once('-').filter(|(_, end)| number(end)).map_or(slug, |(start, _)| start)
}

fn refuses(ask: &Request, field: &str) -> Option<Response> {
    ask.json().get(field).map(|_| refusal(field))
}

/// Changes updates of the system vault, or answers them.
fn of_general(change: fn(&mut Request) -> Option<Response>) -> Intercept {
    whole(UPDATE, move |mut ask, upstream| async move {
        let vault = upstream.get(&ask, &*ask.path).await;
        let system = vault.json()["data"]["isSystem"] == true;
        match system.then(|| change(&mut ask)).flatten() {
            Some(answer) => answer,
            None => upstream.send(&ask).await,
        }
    })
}
