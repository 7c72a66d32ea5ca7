//! Counts that are kept aside and lose what is done at once.

use std::collections::HashMap;

use http::Method;

use super::crowd::crowded;
use crate::exchange::Request;
use crate::fault::{Fault, Intercept, fault};
use crate::shared::Shared;

const CHANGES: &str =
    "POST /vaults/*/prompts, DELETE /vaults/*/prompts/*, POST /vaults/*/prompts/*/move";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "races.count-drifts" ["VA-10"] drifting(),
        "A vault counts one prompt too many after each time that several changes came at once." },
];

fn drifting() -> Intercept {
    let off = Shared::<HashMap<i64, i64>>::default();
    let about = |ask: &Request| (ask.method != Method::GET).then(|| ask.segment(1).to_owned());
    let routes = "POST /vaults/*/prompts, DELETE /vaults/*/prompts/*, \
                  POST /vaults/*/prompts/*/move, GET /vaults/*";
    crowded(routes, CHANGES, about, move |ask, upstream, place| {
        let off = off.clone();
        async move {
            let mut answer = upstream.send(&ask).await;
            let vault = ask.id(1);
            if ask.method != Method::GET {
                if place.nth == 0 && !place.is_alone() {
                    off.with(|off| *off.entry(vault).or_default() += 1);
                }
                return answer;
            }
            let off = off.with(|off| off.get(&vault).copied().unwrap_or_default());
            answer.edit_data(|data| {
                if let Some(count) = data["promptCount"].as_i64().filter(|_| off > 0) {
                    data["promptCount"] = (count + off).into();
                }
            });
            answer
        }
    })
}
