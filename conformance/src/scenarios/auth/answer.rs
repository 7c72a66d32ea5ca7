//! What the refusal of a key or a scope says.

use http::Method;
use serde_json::json;

use crate::scenario::{core, reference};
use crate::wire::ApiResponse;
use crate::{Case, Failure, Scenario, check};

use super::{Authorization, main_key, mistyped};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "auth.answer.envelope" ["ER-07"] envelope,
        "A refusal for a missing, malformed or unknown key has status 401 and an error text" },
    core! { "auth.answer.envelope-revoked" ["ER-07"] [RevokedKey]
        |case| async move { refusal(&case.revoked().get("/vaults").await?) },
        "A refusal for a revoked key has status 401 and an error text" },
    core! { "auth.answer.envelope-scope" ["ER-07"] [ReadOnlyKey]
        |case| async move { refusal(&without_scope(&case).await?) },
        "A refusal for lack of scope has status 401 and an error text" },
    reference! { "auth.answer.texts" ["ER-07"] [ReadOnlyKey] texts,
        "Missing header, malformed header, key not valid and lack of scope have texts of their \
         own (S-53)" },
    reference! { "auth.answer.one-text" ["AU-05", "AU-06"] [RevokedKey] one_text,
        "Unknown, mistyped and revoked keys share one text (S-53)" },
    reference! { "auth.answer.details" ["ER-03"] [ReadOnlyKey] details,
        "A 401 has empty details (S-53)" },
    reference! { "auth.answer.www-authenticate" ["ER-07"] [ReadOnlyKey] www_authenticate,
        "Every 401 carries WWW-Authenticate: Bearer (S-52)" },
];

async fn envelope(case: Case) -> Result<(), Failure> {
    let mut replies = refusals(&case).await?;
    replies.retain(|reply| reply.status_code() >= 400);
    if replies.is_empty() {
        return Err(nothing_refused());
    }
    replies.iter().try_for_each(refusal)
}

fn nothing_refused() -> Failure {
    Failure::blocked("no request was refused; other scenarios say which should be")
}

/// An error is one of authentication and says so. The rest of the error body is the same for
/// all errors.
fn refusal(reply: &ApiResponse) -> Result<(), Failure> {
    if reply.status_code() < 400 {
        return Err(nothing_refused());
    }
    reply.status(401)?.string("/error").map(drop)
}

/// No header, a malformed one, a truncated, a mistyped and an unknown key.
async fn refusals(case: &Case) -> Result<Vec<ApiResponse>, Failure> {
    let key = main_key(case);
    let cut = key.get(..key.len() - 1).unwrap_or_default();
    let mut replies = vec![case.anonymous().get("/vaults").await?];
    for value in [
        format!("Basic {key}"),
        format!("Bearer {cut}"),
        format!("Bearer {}", mistyped(key, 2)),
        format!("Bearer {}", unknown(key)),
    ] {
        let call = case.anonymous().call(Method::GET, "/vaults");
        replies.push(call.header("authorization", value).send().await?);
    }
    Ok(replies)
}

async fn without_scope(case: &Case) -> Result<ApiResponse, Failure> {
    case.read_only().post("/vaults", json!({ "name": case.name("vault") })).await
}

/// All of these that are answered as they should be.
async fn unauthorized(case: &Case) -> Result<Vec<ApiResponse>, Failure> {
    let mut replies = refusals(case).await?;
    replies.push(without_scope(case).await?);
    replies.retain(|reply| reply.status_code() == 401);
    check::ensure(!replies.is_empty(), "a refusal with status 401", "none")?;
    Ok(replies)
}

/// A key of the right form with a public id that nobody has.
fn unknown(key: &str) -> String {
    let (before, secret) = key.rsplit_once('_').unwrap_or(("", key));
    format!("{}_{secret}", mistyped(before, 0))
}

async fn texts(case: Case) -> Result<(), Failure> {
    let replies = refusals(&case).await?;
    let scope = without_scope(&case).await?;
    let [missing, malformed, .., unknown] = &replies[..] else {
        return Err(Failure::error("three kinds of refusals", replies.len().to_string()));
    };
    let mut seen = Vec::new();
    for reply in [missing, malformed, unknown, &scope] {
        let text = reply.status(401)?.string("/error")?;
        reply.ensure(!seen.contains(&text), "a text of its own", text)?;
        seen.push(text);
    }
    Ok(())
}

async fn one_text(case: Case) -> Result<(), Failure> {
    let revoked = case.revoked().get("/vaults").await?;
    let text = revoked.status(401)?.string("/error")?;
    let key = main_key(&case);
    for (name, key) in [
        ("an unknown public id", unknown(key)),
        ("the secret mistyped", mistyped(key, 10)),
        ("the last character mistyped", mistyped(key, 0)),
    ] {
        let form = Authorization::new(name, format!("Bearer {key}"));
        let reply = form.vaults_unauthorized(&case).await?;
        let same = reply.equals("/error", text);
        check::with_context(format!("the text for a revoked key also for {name}"), same)?;
    }
    Ok(())
}

async fn details(case: Case) -> Result<(), Failure> {
    for reply in unauthorized(&case).await? {
        reply.equals("/details", json!({}))?;
    }
    Ok(())
}

async fn www_authenticate(case: Case) -> Result<(), Failure> {
    for reply in unauthorized(&case).await? {
        let value = reply.header("www-authenticate");
        reply.ensure(value == "Bearer", "WWW-Authenticate: Bearer", value)?;
    }
    Ok(())
}
