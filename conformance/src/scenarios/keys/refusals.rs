//! What `POST /api-keys` takes in a browser session (S-46), and what it refuses.

use http::Method;
use serde_json::{Value, json};

use crate::scenario::reference;
use crate::scenarios::errors::names_exactly;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "keys.name.refused" ["KE-06"] [Session] name_refused,
        "A missing, blank or too long name and one that is no text are 400 naming the field \
         (S-46)" },
    reference! { "keys.name.lengths" ["KE-06"] [Session] name_lengths,
        "A name of 1 and of 100 characters is taken as it is (S-46)" },
    reference! { "keys.scopes.refused" ["KE-03"] [Session] scopes_refused,
        "Missing, unknown and repeated scopes and what is no list are 400 naming the field (S-46)" },
    reference! { "keys.create.body" ["KE-06"] [Session] body,
        "A body that is no object is 400 naming body, another type of content 415, too large a \
         body 413 (S-67)" },
];

const NAME_MAX: usize = 100;
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

async fn name_refused(case: Case) -> Result<(), Failure> {
    let names = [
        json!(null),
        json!(""),
        json!(" \t\u{a0}"),
        json!("é".repeat(NAME_MAX + 1)),
        json!("a\u{0}"),
        json!(7),
        json!(["a"]),
    ];
    let bodies = names.map(|name| json!({ "name": name, "scopes": [] }));
    refused(&case, "name", bodies.into_iter().chain([json!({ "scopes": [] })])).await
}

async fn scopes_refused(case: Case) -> Result<(), Failure> {
    let name = case.name("key");
    let scopes = [
        json!(null),
        json!(["prompts:read"]),
        json!(["prompts:write", "prompts:write"]),
        json!(["Prompts:Write"]),
        json!([""]),
        json!([7]),
        json!("prompts:write"),
        json!({}),
    ];
    let bodies = scopes.map(|scopes| json!({ "name": name, "scopes": scopes }));
    refused(&case, "scopes", bodies.into_iter().chain([json!({ "name": name })])).await
}

/// Each of these bodies is refused for the field.
async fn refused(
    case: &Case,
    field: &str,
    bodies: impl Iterator<Item = Value>,
) -> Result<(), Failure> {
    let session = case.session().await?;
    for body in bodies {
        let reply = session.post("/api-keys", body.clone()).await?;
        check::with_context(format!("the body {body}"), names_exactly(&reply, &[field]))?;
    }
    Ok(())
}

async fn name_lengths(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let name = case.name("key");
    let padding = "é".repeat(NAME_MAX - name.chars().count() - 1);
    for name in ["é".to_owned(), format!("{padding} {name}")] {
        let reply = session.post("/api-keys", json!({ "name": name, "scopes": [] })).await?;
        let what = format!("a name of {} characters", name.chars().count());
        reply.has_status(201, what)?.equals("/data/name", name)?;
    }
    Ok(())
}

async fn body(case: Case) -> Result<(), Failure> {
    let session = case.session().await?;
    let call = || session.call(Method::POST, "/api-keys");
    let good = json!({ "name": case.name("key"), "scopes": ["prompts:write"] }).to_string();
    names_exactly(&call().body("application/json", "[]").send().await?, &["body"])?;
    call().body("text/plain", good.clone()).send().await?.status(415)?;
    let large = good + &" ".repeat(BODY_BYTES_MAX);
    call().body("application/json", large).send().await?.status(413)?;
    Ok(())
}
