//! Faults in errors (ER), of one call or of many fields, requests and ids at once.

use super::isolation::forbidden;
use crate::prelude::*;

const EVERYTHING: &str = "* /**";
const ITEMS: &str = "* /prompts/*, * /vaults/*, * /vaults/*/prompts, * /prompts/*/save";
const WRITES: &str = "POST /**, PATCH /**";
const PROMPTS: &str = "POST /prompts, PATCH /prompts/*";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "errors.missing-422" ["ER-04"] code_instead("POST /prompts", 400, 422, |request| {
        request.json().is_object() && request.json().get("title").is_none()
    }),
        "A new prompt without title is answered 422." },
    fault! { "errors.code-for-text" ["ER-01"] on(404, |body| body["error"] = 404.into()),
        "The error of a 404 is a number." },
    fault! { "errors.no-details" ["ER-01"] on(404, |body| without(body, "details")),
        "A 404 has no details." },
    fault! { "errors.empty-text" ["ER-01"] on(401, |body| body["error"] = "".into()),
        "The error of a 401 is empty." },
    fault! { "errors.details-null" ["ER-02"] on(404, |body| body["details"] = Value::Null),
        "The details of a 404 are null." },
    fault! { "errors.details-empty" ["ER-03"] on(400, |body| body["details"] = json!({})),
        "The details of a 400 name no field." },
    fault! { "errors.details-of-404" ["ER-03"]
        on(404, |body| body["details"] = json!({ "path": "There is nothing." })),
        "The details of a 404 name the path." },
    fault! { "errors.missing-is-default" ["ER-04"]
        refused("POST /vaults/*/prompts/*/move", 500, |request| {
        request.json().is_object() && request.json().get("targetVaultId").is_none()
    }),
        "A move without targetVaultId is a server error." },
    fault! { "errors.plain-401" ["ER-07"] answers(EVERYTHING, |request, response| {
        if response.code() == 401 && request.of_api {
            response.body = "Unauthorized".into();
            response.set_type("text/plain");
        }
    }),
        "A 401 is plain text." },
    fault! { "errors.absent-200" ["ER-08"] answers("GET /vaults/*", |_, response| {
        if response.code() == 404 {
            *response = Response::data(200, &Value::Null);
        }
    }),
        "A vault that never was is read with data null." },
    fault! { "errors.deleted-410" ["ER-09"] gone(),
        "A deleted prompt is answered 410." },
    fault! { "errors.huge-id-500" ["ER-08"] code_instead(ITEMS, 404, 500, |request| {
        let id = request.segment(1);
        id.len() > 18 && id.bytes().all(|byte| byte.is_ascii_digit())
    }),
        "A path with an id of more than 64 bits is a server error." },
    fault! { "errors.wrong-method-404" ["ER-01"] code_instead(EVERYTHING, 405, 404, |_| true),
        "A method that a path does not have is answered 404." },
    fault! { "errors.unknown-path-html" ["ER-01"] answers(EVERYTHING, |request, response| {
        if response.code() == 404 && is_unknown(request) {
            response.body = "<!doctype html><title>Not found</title>".into();
            response.set_type("text/html");
        }
    }),
        "An unknown path is answered with a page of HTML." },
    fault! { "errors.as-text-plain" ["ER-01"] answers(EVERYTHING, |_, response| {
        if !response.is_success() {
            response.set_type("text/plain");
        }
    }),
        "Errors are sent as text/plain." },
    fault! { "errors.too-long-413" ["ER-06"]
        code_instead("POST /prompts, PATCH /prompts/*", 400, 413, |request| {
        request.text("title").is_some_and(|title| title.chars().count() > 120)
    }),
        "A title that is too long is answered 413." },
    fault! { "errors.details-list" ["ER-02"] on(400, |body| body["details"] = json!([])),
        "The details of a 400 are a list." },
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

/// Changes the body of every answer of this status.
fn on(status: u16, change: fn(&mut Value)) -> Intercept {
    answers(EVERYTHING, move |request, response| {
        if response.code() == status && request.of_api {
            response.edit(change);
        }
    })
}

fn is_unknown(request: &Request) -> bool {
    !["prompts", "vaults", "generations", "uploads", "api-keys"].contains(&request.segment(0))
}

fn gone() -> Intercept {
    answers_with(
        "GET /prompts/*, DELETE /prompts/*",
        move |gone: &mut HashSet<String>, request, response| {
            if request.method == Method::DELETE && response.is_success() {
                gone.insert(request.path.clone());
            } else if request.method == Method::GET
                && response.code() == 404
                && gone.contains(&request.path)
            {
                response.set_code(410);
            }
        },
    )
}

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
