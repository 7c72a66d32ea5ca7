//! Faults in the number of prompts that a vault shows (VA-10).

use crate::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.count-removed" ["VA-10"]
        off("GET /vaults, GET /vaults/*, DELETE /vaults/*/prompts/*", |request, _| (request.id(1), 1)),
        "A removal leaves the vault's count." },
    fault! { "vaults.count-moved-away" ["VA-10"]
        off("GET /vaults, GET /vaults/*, POST /vaults/*/prompts/*/move", |request, response| {
            (request.id(1), i64::from(target(response) != request.id(1)))
        }),
        "A move leaves the count of the source." },
    fault! { "vaults.count-moved-in" ["VA-10"]
        off("GET /vaults, GET /vaults/*, POST /vaults/*/prompts/*/move", |request, response| {
            (target(response), -i64::from(target(response) != request.id(1)))
        }),
        "A move leaves the count of the target." },
    fault! { "vaults.count-saved" ["VA-10"]
        off("GET /vaults, GET /vaults/*, POST /prompts/*/save", |request, _| {
            (request.json()["vaultId"].as_i64().unwrap_or_default(), -1)
        }),
        "A save leaves the vault's count." },
    fault! { "vaults.count-again" ["VA-10"]
        off("GET /vaults, GET /vaults/*, POST /vaults/*/prompts", |request, response| {
            let sent = ids_of(&request.json(), "promptIds").len() as i64;
            (request.id(1), sent - response.json()["data"]["added"].as_i64().unwrap_or(sent))
        }),
        "A prompt that is added again is counted again." },
    fault! { "vaults.count-listed" ["VA-10"]
        shown_as("GET /vaults", "promptCount", |count| Some((count.as_i64()? - 1).max(0).into())),
        "The list of vaults does not count the first prompt." },
    fault! { "vaults.count-alone" ["VA-10"]
        shown_as("GET /vaults/*", "promptCount", |count| Some(count.as_i64()?.min(2).into())),
        "GET of one vault counts at most 2 prompts." },
];

fn target(response: &Response) -> i64 {
    response.json()["data"]["targetVaultId"].as_i64().unwrap_or_default()
}

/// Each success of the last route adds to the count that a vault is shown with.
fn off(routes: &'static str, by: fn(&Request, &Response) -> (i64, i64)) -> Intercept {
    answers_with(routes, move |off: &mut HashMap<i64, i64>, request, response| {
        if request.method != Method::GET {
            if response.is_success() {
                let (vault, by) = by(request, response);
                *off.entry(vault).or_default() += by;
            }
            return;
        }
        response.each(|vault| {
            let off = vault["id"].as_i64().and_then(|id| off.get(&id)).copied();
            if let (Some(off), Some(count)) = (off, vault["promptCount"].as_i64()) {
                vault["promptCount"] = json!(count + off);
            }
        });
    })
}
