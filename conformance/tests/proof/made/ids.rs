//! Each place of an id gives away what is not there, or is another account's.

use std::sync::atomic::{AtomicUsize, Ordering};

use promptarium_conformance::scenarios::tables::{PLACES, Place, Where};

use super::{made, route};
use crate::exchange::{Request, Response, without};
use crate::fault::{Fault, Intercept};
use crate::faults::isolation::{forbidden, of_the_other, open};
use crate::front::{and_sends, answers, code_instead, whole};

/// What other accounts can do with the ids of the path alone.
const OPEN: &str = "read-prompt read-vault list-contents update-prompt update-vault pin unpin \
    remove-prompt delete-prompt delete-vault";
/// Those of them that change something.
const CHANGES: &str = "update-prompt update-vault pin remove-prompt delete-prompt delete-vault";

pub(super) fn all() -> Vec<Fault> {
    PLACES.iter().flat_map(of_place).collect()
}

fn of_place(place: &'static Place) -> Vec<Fault> {
    let routes = route(place.endpoint.method.as_str(), place.endpoint.template);
    let of_path = place.place == Where::Path && place.field != "vaultPromptId";
    let mut faults = Vec::new();
    let mut add =
        |stranger: &str, operator: &str, rule: &'static str, how: fn(&'static str) -> Intercept| {
            let among = format!("ids.{stranger}.{}", place.name);
            let id = format!("{among}.{operator}");
            faults.push(made(id, place.rule.unwrap_or(rule), among, move || how(routes)));
        };
    let is_in = |names: &str| names.split(' ').any(|name| name == place.name);
    for (stranger, rule) in [("absent", "ER-08"), ("deleted", "ER-09"), ("foreign", "ER-10")] {
        // What a removed membership answers is open.
        if stranger != "deleted" || place.field != "vaultPromptId" {
            add(stranger, "500", rule, |routes| refusals(routes, |it| it.set_code(500)));
        }
    }
    add("named", "409", "ER-08", |routes| refusals(routes, |response| response.set_code(409)));
    add("alike", "numbered", "ER-10", |routes| {
        let count = AtomicUsize::new(0);
        answers(routes, move |_, response| {
            if !response.is_success() {
                let count = count.fetch_add(1, Ordering::Relaxed);
                response.edit(|body| body["error"] = format!("Refusal {count}").into());
            }
        })
    });
    if place.place != Where::Path {
        add("named", "unnamed", "ER-03", |routes| {
            refusals(routes, |response| response.edit(|body| without(body, "details")))
        });
    }
    if of_path && place.name != "fork-vault" {
        add("deleted", "410", "ER-09", |routes| code_instead(routes, 404, 410, |_| true));
        add("deleted", "200", "ER-09", |routes| code_instead(routes, 404, 200, |_| true));
        add("foreign", "403", "ER-10", forbidden);
    }
    if is_in("create-prompt-vault-id update-prompt-vault-id") {
        for stranger in ["absent", "deleted", "foreign"] {
            add(stranger, "dropped", "ER-10", without_vault);
        }
    }
    if is_in(OPEN) {
        add("foreign", "open", "ER-10", open);
    }
    if is_in(CHANGES) {
        add("foreign", "done", "ER-10", |routes| {
            and_sends(routes, |request: Request, response| {
                (response.code() == 404).then(|| of_the_other(&request))
            })
        });
    }
    faults
}

/// Changes refusals of ids.
fn refusals(routes: &'static str, change: fn(&mut Response)) -> Intercept {
    answers(routes, move |_, response| {
        if matches!(response.code(), 400 | 404) {
            change(response);
        }
    })
}

/// What is refused is done without a vault.
fn without_vault(routes: &'static str) -> Intercept {
    whole(routes, |mut request, upstream| async move {
        let response = upstream.send(&request).await;
        if response.code() != 400 {
            return response;
        }
        request.edit(|body| without(body, "vaultId"));
        upstream.send(&request).await
    })
}
