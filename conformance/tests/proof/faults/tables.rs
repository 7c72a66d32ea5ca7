//! Faults for scenarios that are generated from tables: what is wrong is so for many fields,
//! requests or ids at once.

use std::collections::HashSet;

use http::Method;

use super::isolation::forbidden;
use crate::bounds::text_is_refused;
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, code_instead};
use crate::shared::Shared;

const WRITES: &str = "POST /**, PATCH /**";
const PROMPTS: &str = "POST /prompts, PATCH /prompts/*";
#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "tables.wrong-field-422" ["ER-05"]
        code_instead(WRITES, 400, 422, |request| request.of_api && request.json().is_object()),
        "A body with a wrong field is answered 422." },
    fault! { "tables.one-letter-prompt" ["LI-03"] text_is_refused(PROMPTS, "prompt", is_one_letter),
        "A prompt's text has at least two characters." },
    fault! { "tables.list-of-no-vault" ["PR-15"] code_instead("GET /prompts", 400, 500, |request| {
        request.parameter("vaultId").is_some()
    }),
        "The list of a vault that is not there is a server error." },
    fault! { "tables.save-into-nothing" ["PR-44"]
        code_instead("POST /prompts/*/save", 400, 500, |_| true),
        "A save into a vault that is not there is a server error." },
    fault! { "tables.absent-500" ["ER-08"]
        code_instead("* /prompts/**, * /vaults/**", 404, 500, |_| true),
        "What is not there is a server error." },
    fault! { "tables.deleted-410" ["ER-09"] deleted_410(),
        "What is below a deleted prompt or vault is answered 410." },
    fault! { "tables.pin-of-nothing" ["VC-25"]
        code_instead("POST /vaults/*/prompts/*/pin", 404, 500, |_| true),
        "A pin of a membership that is not there is a server error." },
    fault! { "tables.unpin-of-nothing" ["VC-26"]
        code_instead("DELETE /vaults/*/prompts/*/pin", 404, 500, |_| true),
        "An unpin of a membership that is not there is a server error." },
    fault! { "tables.move-of-nothing" ["VC-20"]
        code_instead("POST /vaults/*/prompts/*/move", 404, 500, |_| true),
        "A move of a membership that is not there is a server error." },
    fault! { "tables.removal-of-nothing" ["VC-15"]
        code_instead("DELETE /vaults/*/prompts/*", 404, 500, |_| true),
        "A removal of a membership that is not there is a server error." },
    fault! { "tables.save-forbidden" ["ER-10"] forbidden("POST /prompts/*/save", "prompts"),
        "A save of another account's prompt is answered 403." },
    fault! { "tables.contents-forbidden" ["ER-10"]
        forbidden("POST /vaults/*/prompts, DELETE /vaults/*/prompts/*/pin", "vaults"),
        "Adding to another account's vault, or unpinning there, is answered 403." },
];

fn is_one_letter(text: &str) -> bool {
    text.chars().count() == 1
}

fn deleted_410() -> Intercept {
    let deleted: Shared<HashSet<String>> = Shared::default();
    answers("* /prompts/**, * /vaults/**", move |request, response| {
        if request.method == Method::DELETE && response.is_success() {
            deleted.with(|deleted| deleted.insert(request.path.clone()));
        } else if response.code() == 404 {
            let below = |path: &String| {
                request.path == *path || request.path.starts_with(&format!("{path}/"))
            };
            if deleted.with(|deleted| deleted.iter().any(below)) {
                response.set_code(410);
            }
        }
    })
}
