//! API keys: their form, and that no key makes another; and what a browser session is (S-81): its
//! cookie, the code it begins with, and the requests that it is good for.

use http::HeaderValue;

use crate::scenarios::core::auth::main_key;
use crate::scenarios::endpoints::{refusals, successes};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { reads "keys.form.parts" ["KE-01", "KE-02"] parts,
        "A key is vendor, live, public id and secret, joined by underscores, and is sent whole" },
    core! { "keys.secret.never-shown" ["KE-04"] never_shown,
        "No answer to a call with a key shows the secret part of the key" },
    core! { "keys.create.not-with-a-key" ["KE-05"]
        |case| async move { refused(&case, case.wire()).await?; refused(&case, case.anonymous()).await },
        "POST /api-keys with an API key, and with neither session nor key, is refused" },
    core! { "keys.create.not-with-a-read-only-key" ["KE-05"] [ReadOnlyKey]
        |case| async move { refused(&case, case.read_only()).await },
        "POST /api-keys with a key without prompts:write is refused" },
];

/// Vendor, public id and secret of a key, which a failure must not show.
pub(crate) fn parts_of(key: &str) -> Result<(&str, &str, &str)> {
    check::key_parts(key).ok_or_else(|| {
        let got = format!("a key of {} characters in another form", key.len());
        Failure::failed("a key of the form <vendor>_live_<public_id>_<secret>", got)
    })
}

/// The secret of a key is not in a response.
pub(crate) fn hides(reply: &ApiResponse, secret: &str) -> Result {
    let mut texts = reply.headers().values().map(HeaderValue::as_bytes).chain([&reply.body()[..]]);
    let shown = texts.any(|text| text.windows(secret.len()).any(|part| part == secret.as_bytes()));
    reply.ensure(!shown, "an answer without the secret of the key", "one with it").map(drop)
}

async fn parts(case: Case) -> Result {
    let (vendor, id, secret) = parts_of(main_key(&case))?;
    let empty = [vendor, id, secret].iter().any(|part| part.is_empty());
    check::ensure(!empty, "no part of the key to be empty", "an empty one")?;
    case.wire().get("/vaults").await?.status(200)?;
    for (name, token) in [
        ("without the vendor", format!("live_{id}_{secret}")),
        ("without the prefix", format!("{id}_{secret}")),
        ("the secret alone", secret.to_owned()),
    ] {
        let call = case.anonymous().call(Method::GET, "/vaults");
        let call = call.header("authorization", format!("Bearer {token}"));
        check::with_context(name, call.send().await?.status(401))?;
    }
    Ok(())
}

async fn never_shown(case: Case) -> Result {
    let (_, _, secret) = parts_of(main_key(&case))?;
    let successes = successes(&case).await?.into_iter().map(|(_, reply)| reply);
    for reply in successes.chain(refusals(&case).await?) {
        hides(&reply, secret)?;
    }
    hides(&create(&case, case.wire()).await?, secret)
}

async fn create(case: &Case, wire: Wire) -> Result<ApiResponse> {
    let body = json!({ "name": case.name("key"), "scopes": ["prompts:write"] });
    wire.post("/api-keys", body).await
}

async fn refused(case: &Case, wire: Wire) -> Result {
    create(case, wire).await?.status_in(400..=599).map(drop)
}
