//! Authentication: the form of the header `Authorization`; the key, which has to be complete, known
//! and not revoked; its scope; and the body of a refusal. No key creates another key, and no account
//! sees the data of another one.

use std::time::Instant;

use super::prompt_list::prompt_of;
use crate::scenarios::endpoints::{self, Ids, successes};
use crate::scenarios::shared::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { reads "auth.answer.envelope" ["ER-07"] |case| async move { say_so(refusals(&case).await?) },
        "A refusal for a missing, malformed or unknown key has status 401 and an error text" },
    scenario! { reads "auth.answer.envelope-revoked" ["ER-07"] [RevokedKey]
        |case| async move { say_so(vec![case.revoked().get("/vaults").await?]) },
        "A refusal for a revoked key has status 401 and an error text" },
    scenario! { "auth.answer.envelope-scope" ["ER-07"] [ReadOnlyKey]
        |case| async move { say_so(vec![without_scope(&case).await?]) },
        "A refusal for lack of scope has status 401 and an error text" },
    scenario! { "auth.header.accepted" ["AU-01"] accepted,
        "Every endpoint accepts a call with Authorization: Bearer and the key" },
    scenario! { "auth.header.case" ["AU-03"]
        |case| refused_everywhere(case, |key| {
            ["bearer", "BEARER", "bEARER"].map(|word| form(word, format!("{word} {key}"))).into()
        }),
        "Bearer is accepted in its exact upper and lower case only" },
    scenario! { reads "auth.header.elsewhere" ["AU-02"] elsewhere,
        "A key in the query, in a cookie or in another header does not authorize a call" },
    scenario! { reads "auth.key.changed-anywhere" ["AU-04", "AU-05"] changed_anywhere,
        "A key that is truncated, or has one character or its case changed, is answered 401" },
    scenario! { "isolation.list.prompts" ["PR-14"] [OtherAccount] prompts,
        "GET /prompts shows no prompt of another account on any page, with and without a type" },
    scenario! { "isolation.list.vaults" ["VA-13"] [OtherAccount] vaults,
        "GET /vaults shows no vault of another account, whatever its visibility" },
    scenario! { reads "keys.form.parts" ["KE-01", "KE-02"] parts,
        "A key is vendor, live, public id and secret, joined by underscores, and only accepted whole" },
    scenario! { "keys.secret.never-shown" ["KE-04"] never_shown,
        "No answer to a call with a key shows the secret part of the key" },
    scenario! { "keys.create.not-with-a-key" ["KE-05"]
        |case| async move { refused(&case, case.wire()).await?; refused(&case, case.anonymous()).await },
        "POST /api-keys with an API key, and with neither session nor key, is refused" },
    scenario! { "keys.create.not-with-a-read-only-key" ["KE-05"] [ReadOnlyKey]
        |case| async move { refused(&case, case.read_only()).await },
        "POST /api-keys with a key without prompts:write is refused" },
];

/// Every error among these has status 401 and an error text; there is at least one.
fn say_so(mut replies: Vec<ApiResponse>) -> Result {
    replies.retain(|reply| reply.status_code() >= 400);
    skip_unless(!replies.is_empty(), "nothing was refused; other scenarios say what should be")?;
    replies.iter().try_for_each(|reply| reply.status(401)?.string("/error").map(drop))
}

pub async fn refusals(case: &Case) -> Result<Vec<ApiResponse>> {
    let key = main_key(case);
    let cut = key.get(..key.len() - 1).unwrap_or_default();
    let keys = [cut.to_owned(), mistyped(key, 2), unknown(key)].map(|key| format!("Bearer {key}"));
    let call = || case.anonymous().call(Method::GET, "/vaults");
    let values = [format!("Basic {key}")].into_iter().chain(keys);
    let calls = values.map(|value| call().header("authorization", value));
    try_join_all([call()].into_iter().chain(calls).map(Call::send)).await
}

pub async fn without_scope(case: &Case) -> Result<ApiResponse> {
    case.read_only().post("/vaults", json!({ "name": case.name("vault") })).await
}

async fn accepted(case: Case) -> Result {
    let ids = Ids::make(&case).await?;
    for endpoint in endpoints::all(&case, &ids) {
        let reply = endpoint.send(&case.wire()).await?;
        reply.status_is(reply.status_code() != 401, "another status than 401")?;
    }
    Ok(())
}

pub async fn refused_everywhere(case: Case, forms: fn(&str) -> Vec<Form>) -> Result {
    let ids = Ids::make(&case).await?;
    let endpoints = endpoints::all(&case, &ids);
    for form in forms(main_key(&case)) {
        for endpoint in &endpoints {
            unauthorized(endpoint.call(&case.anonymous()), &form).await?;
        }
    }
    Ok(())
}

async fn elsewhere(case: Case) -> Result {
    let key = main_key(&case);
    let get = |path: &str| case.anonymous().call(Method::GET, path);
    // A server may refuse unknown parameters (S-03).
    let in_query = get(&format!("/vaults?api_key={key}&access_token={key}")).send().await?;
    in_query.is_client_error("a key in the query")?;
    for (name, header, value) in [
        ("in a cookie", "cookie", format!("api_key={key}")),
        ("in x-api-key", "x-api-key", key.to_owned()),
        ("in proxy-authorization", "proxy-authorization", main_bearer(&case)),
    ] {
        let reply = get("/vaults").header(header, value).send().await?;
        check::with_context(name, reply.status(401))?;
    }
    Ok(())
}

async fn changed_anywhere(case: Case) -> Result {
    let (case, key) = (&case, main_key(&case));
    let length = key.chars().count();
    let truncated = (1..length).map(|places| truncated_by(key, places));
    let mistyped = (0..length).map(|place| {
        let name = format!("the key with character {place} from its end exchanged");
        form(name, format!("Bearer {}", mistyped(key, place)))
    });
    let other_cases = in_other_cases(key).into_iter().enumerate().map(|(number, key)| {
        form(format!("spelling {number} of the key"), format!("Bearer {key}"))
    });
    let all = truncated.chain(mistyped).chain(other_cases);
    try_join_all(all.map(|form| vaults_unauthorized(case, form))).await?;
    // A header may be refused for its bytes (S-80).
    let call = case.anonymous().call(Method::GET, "/vaults");
    let reply = call.header("authorization", format!("Bearer {key}é")).send().await?;
    reply.is_client_error("a key with another letter").map(drop)
}

/// The key with the case of one letter changed, for each letter, and in one case throughout.
fn in_other_cases(key: &str) -> Vec<String> {
    let one = |(at, letter): (usize, char)| {
        let upper = letter.to_ascii_uppercase();
        let other = if letter == upper { letter.to_ascii_lowercase() } else { upper };
        format!("{}{other}{}", &key[..at], &key[at + letter.len_utf8()..])
    };
    let throughout = [key.to_uppercase(), key.to_lowercase()];
    let mut spellings: Vec<_> = key.char_indices().map(one).chain(throughout).collect();
    spellings.retain(|spelling| spelling != key);
    spellings
}

/// Time limit of each of six walks, in all half of a scenario's time.
const WALK: Duration = Duration::from_secs(5);

async fn prompts(case: Case) -> Result {
    for (owner, stranger) in owners_and_strangers(&case) {
        let foreign = [owner.prompt().await?, prompt_of(&owner, "image").await?];
        let all = stranger.list().limit(100);
        for list in [all.clone(), all.clone().with("type", "text"), all.with("type", "image")] {
            let enough = Instant::now() + case.scaled(WALK);
            let mut walk = Walk::from(list.page().await?);
            while walk.advance(&list).await? && Instant::now() < enough {}
            walk.expect_none(&foreign)?;
        }
    }
    Ok(())
}

async fn vaults(case: Case) -> Result {
    for (owner, stranger) in owners_and_strangers(&case) {
        for visibility in ["private", "unlisted", "public"] {
            let (vault, _) = owner.vault_with(json!({ "visibility": visibility })).await?;
            let list = stranger.wire().get("/vaults").await?;
            check::with_context(visibility, list.status(200)?.lacks("id", vault.id))?;
        }
    }
    Ok(())
}

async fn parts(case: Case) -> Result {
    let (vendor, id, secret) = parts_of(main_key(&case))?;
    let empty = [vendor, id, secret].iter().any(|part| part.is_empty());
    check::ensure(!empty, "no part of the key to be empty", "an empty one")?;
    case.wire().get("/vaults").await?.status(200)?;
    let forms = [
        form("without the vendor", format!("Bearer live_{id}_{secret}")),
        form("without the prefix", format!("Bearer {id}_{secret}")),
        form("the secret alone", format!("Bearer {secret}")),
    ];
    try_join_all(forms.map(|form| vaults_unauthorized(&case, form))).await.map(drop)
}

async fn never_shown(case: Case) -> Result {
    let (_, _, secret) = parts_of(main_key(&case))?;
    let successes = successes(&case).await?.into_iter().map(|(_, reply)| reply);
    let mut replies = successes.chain(endpoints::refusals(&case).await?);
    replies.try_for_each(|reply| hides(&reply, secret))?;
    hides(&create(&case, case.wire()).await?, secret)
}

async fn create(case: &Case, wire: Wire) -> Result<ApiResponse> {
    wire.post("/api-keys", json!({ "name": case.name("key"), "scopes": ["prompts:write"] })).await
}

async fn refused(case: &Case, wire: Wire) -> Result {
    create(case, wire).await?.status_in(400..=599).map(drop)
}
