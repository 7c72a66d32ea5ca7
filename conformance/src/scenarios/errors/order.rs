//! Which of two mistakes is reported (S-56). Each scenario makes two at a time.

use crate::scenarios::endpoints::{
    self, CONTENTS, Endpoint, Ids, MOVE, PROMPT, SAVE, VAULT, absent,
};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "errors.order.method-before-key" ["AU-02"] ("S-56") method_before_key,
        "A wrong method is reported before a missing key" },
    reference! { "errors.order.key-before-rest" ["AU-02"] ("S-56") key_before_rest,
        "A missing key is reported before faults of ids, content type and body" },
    reference! { "errors.order.scope-before-rest" ["AU-07", "AU-08", "AU-09", "AU-10"] ("S-56")
        [ReadOnlyKey]
        |case| unauthorized(case, Case::read_only, |endpoint| !endpoint.reads()),
        "The lack of scope is reported before faults of ids, content type and body" },
    reference! { "errors.order.type-before-body" ["EN-02"] ("S-56") type_before_body,
        "A wrong content type is reported before the size and the faults of the body" },
    reference! { "errors.order.body-before-path-ids" ["ER-05", "ER-08"] ("S-56")
        body_before_path_ids,
        "A faulty body is reported before a path id that names nothing" },
    reference! { "errors.order.path-ids-before-body-ids" ["ER-08"] ("S-56")
        path_ids_before_body_ids,
        "A path id that names nothing is reported before a body id that names nothing" },
];

async fn method_before_key(case: Case) -> Result {
    for path in ["/prompts", "/prompts/1", "/vaults/abc", "/vaults/1/prompts/2/pin", "/api-keys"] {
        case.anonymous().call(Method::PUT, path).send().await?.status(405)?;
    }
    Ok(())
}

/// Every endpoint with an absent id, an id that is no integer, and a body
/// that is neither JSON nor announced as such, all answered 401.
async fn unauthorized(case: Case, wire: fn(&Case) -> Wire, of: fn(&Endpoint) -> bool) -> Result {
    let wire = &wire(&case);
    let ids = Ids::make(&case).await?.absent();
    let endpoints = endpoints::all(&case, &ids).into_iter().chain(endpoints::beyond(&case));
    for endpoint in endpoints.filter(of) {
        endpoint.send(wire).await?.status(401)?;
        let call = |path: &str| wire.call(endpoint.method.clone(), path);
        call(&endpoint.path).body("text/plain", "{").send().await?.status(401)?;
        call(&endpoint.path).body("application/json", "{").send().await?.status(401)?;
        let odd = endpoint.template.replace(['{', '}'], "");
        call(&odd).send().await?.status(401)?;
    }
    Ok(())
}

async fn key_before_rest(case: Case) -> Result {
    case.anonymous().get("/prompts?limit=0").await?.status(401)?;
    unauthorized(case, Case::anonymous, |_| true).await
}

async fn type_before_body(case: Case) -> Result {
    let wire = case.wire();
    let large = vec![b' '; 5 * 1024 * 1024];
    let call = wire.call(Method::POST, "/prompts");
    call.body("text/plain", large).send().await?.status(415)?;
    let ids = Ids::make(&case).await?.absent();
    for endpoint in endpoints::all(&case, &ids).iter().filter(|endpoint| endpoint.body.is_some()) {
        let call = wire.call(endpoint.method.clone(), &endpoint.path);
        call.body("text/plain", "{").send().await?.status(415)?;
    }
    Ok(())
}

async fn body_before_path_ids(case: Case) -> Result {
    let ids = Ids::make(&case).await?.absent();
    for (method, template, body) in [
        (Method::PATCH, PROMPT, json!({ "title": 5 })),
        (Method::POST, SAVE, json!({})),
        (Method::PATCH, VAULT, json!({ "name": 5 })),
        (Method::POST, CONTENTS, json!({ "promptIds": [] })),
        (Method::POST, MOVE, json!({ "targetVaultId": 0 })),
    ] {
        let call = case.wire().call(method, &ids.in_path(template));
        call.json(&body).send().await?.status(400)?;
    }
    Ok(())
}

async fn path_ids_before_body_ids(case: Case) -> Result {
    let wire = case.wire();
    let there = Ids::make(&case).await?;
    let none = Ids {
        addable_prompt: absent(there.addable_prompt),
        second_vault: absent(there.second_vault),
        ..there.absent()
    };
    for endpoint in endpoints::all(&case, &none) {
        let named = endpoint.names_prompt() || endpoint.names_vault();
        if named && endpoint.body.is_some() {
            let reply = endpoint.send(&wire).await?;
            check::with_context("both ids name nothing", reply.status(404))?;
        }
    }
    let change = json!({ "promptType": "image", "vaultId": none.second_vault });
    case.prompt_at(none.prompt).update(change).await?.status(404).map(drop)
}
