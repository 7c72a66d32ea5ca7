//! Who may call: the form of the header `Authorization`; the key in it, which has to be whole, known
//! and not revoked; its scope; and what the refusal of one says.

use crate::scenarios::endpoints::{self, Endpoint, Ids};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { reads "auth.answer.envelope" ["ER-07"] |case| async move { say_so(refusals(&case).await?) },
        "A refusal for a missing, malformed or unknown key has status 401 and an error text" },
    core! { reads "auth.answer.envelope-revoked" ["ER-07"] [RevokedKey]
        |case| async move { say_so(vec![case.revoked().get("/vaults").await?]) },
        "A refusal for a revoked key has status 401 and an error text" },
    core! { "auth.answer.envelope-scope" ["ER-07"] [ReadOnlyKey]
        |case| async move { say_so(vec![without_scope(&case).await?]) },
        "A refusal for lack of scope has status 401 and an error text" },
    core! { "auth.header.accepted" ["AU-01"] accepted,
        "Every endpoint lets in a call with Authorization: Bearer and the key" },
    core! { "auth.header.case" ["AU-03"]
        |case| refused_everywhere(case, |key| {
            ["bearer", "BEARER", "bEARER"].map(|word| form(word, format!("{word} {key}"))).into()
        }),
        "Bearer is taken only as it is written, upper and lower case" },
    core! { reads "auth.header.elsewhere" ["AU-02"] elsewhere,
        "A key in the query, a cookie or another header is no Authorization" },
    core! { reads "auth.key.changed-anywhere" ["AU-04", "AU-05"] changed_anywhere,
        "A key that is truncated, or has one character or its case changed, is answered 401" },
];

/// Values of the header `Authorization`, and what to call them: reports do not show the header.
pub(crate) struct Form(pub(crate) String, pub(crate) Vec<String>);

pub(crate) fn form(name: impl Into<String>, value: impl Into<String>) -> Form {
    Form(name.into(), vec![value.into()])
}

/// The call with these values is answered 401.
pub(crate) async fn unauthorized(call: Call, Form(name, values): &Form) -> Result<ApiResponse> {
    let call = values.iter().fold(call, |call, value| call.header("authorization", value));
    let reply = call.send().await?;
    check::with_context(name, reply.status(401))?;
    Ok(reply)
}

/// `GET /vaults` with these values is answered 401.
pub(crate) async fn vaults_unauthorized(case: &Case, form: Form) -> Result<ApiResponse> {
    unauthorized(case.anonymous().call(Method::GET, "/vaults"), &form).await
}

pub(crate) fn main_key(case: &Case) -> &str {
    &case.target().config.api_key
}

pub(crate) fn main_bearer(case: &Case) -> String {
    format!("Bearer {}", main_key(case))
}

/// The key with the character at a place, counted from the end, exchanged.
pub(crate) fn mistyped(key: &str, from_end: usize) -> String {
    let mut characters: Vec<_> = key.chars().collect();
    let place = characters.len().saturating_sub(from_end + 1);
    if let Some(character) = characters.get_mut(place) {
        *character = if *character == 'a' { 'b' } else { 'a' };
    }
    characters.into_iter().collect()
}

/// Every error among these is one of authentication and says so; there is at least one.
fn say_so(mut replies: Vec<ApiResponse>) -> Result {
    replies.retain(|reply| reply.status_code() >= 400);
    if replies.is_empty() {
        let reason = "no request was refused; other scenarios say which should be";
        return Err(Failure::skipped(reason));
    }
    replies.iter().try_for_each(|reply| reply.status(401)?.string("/error").map(drop))
}

/// No header, a malformed one, a truncated, a mistyped and an unknown key.
pub(crate) async fn refusals(case: &Case) -> Result<Vec<ApiResponse>> {
    let key = main_key(case);
    let cut = key.get(..key.len() - 1).unwrap_or_default();
    let mut replies = vec![case.anonymous().get("/vaults").await?];
    let others = [cut.to_owned(), mistyped(key, 2), unknown(key)];
    let others = others.map(|other| format!("Bearer {other}"));
    for value in [format!("Basic {key}")].into_iter().chain(others) {
        let call = case.anonymous().call(Method::GET, "/vaults");
        replies.push(call.header("authorization", value).send().await?);
    }
    Ok(replies)
}

pub(crate) async fn without_scope(case: &Case) -> Result<ApiResponse> {
    case.read_only().post("/vaults", json!({ "name": case.name("vault") })).await
}

/// A key of the right form with a public id that nobody has.
pub(crate) fn unknown(key: &str) -> String {
    let (before, secret) = key.rsplit_once('_').unwrap_or(("", key));
    format!("{}_{secret}", mistyped(before, 0))
}

async fn accepted(case: Case) -> Result {
    let ids = Ids::make(&case).await?;
    for endpoint in endpoints::all(&case, &ids) {
        let reply = endpoint.send(&case.wire()).await?;
        reply.ensure(reply.status_code() != 401, "another status than 401", "status 401")?;
    }
    Ok(())
}

/// Every endpoint answers 401 to each of these, made from the right key.
pub(crate) async fn refused_everywhere(case: Case, forms: fn(&str) -> Vec<Form>) -> Result {
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
    let bearer = format!("Bearer {key}");
    // An unknown parameter may be what is refused (S-03).
    let in_query = get(&format!("/vaults?api_key={key}&access_token={key}")).send().await?;
    in_query.is_client_error("a key in the query")?;
    for (name, call) in [
        ("in a cookie", get("/vaults").header("cookie", format!("api_key={key}"))),
        ("in x-api-key", get("/vaults").header("x-api-key", key)),
        ("in proxy-authorization", get("/vaults").header("proxy-authorization", &bearer)),
    ] {
        check::with_context(name, call.send().await?.status(401))?;
    }
    Ok(())
}

/// `GET /vaults` answers 401 to each key made from the right one.
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
    try_join_all(all.map(|form| vaults_unauthorized(case, form))).await.map(drop)
}

pub(crate) fn truncated_by(key: &str, places: usize) -> Form {
    let left = key.chars().count().saturating_sub(places);
    let left: String = key.chars().take(left).collect();
    form(format!("the key without its last {places}"), format!("Bearer {left}"))
}

fn in_other_cases(key: &str) -> Vec<String> {
    let other_case = |c: char| match c.is_ascii_lowercase() {
        true => c.to_ascii_uppercase(),
        false => c.to_ascii_lowercase(),
    };
    let one = |place: usize| {
        let other = |(at, c)| if at == place { other_case(c) } else { c };
        key.chars().enumerate().map(other).collect()
    };
    let whole = [key.to_uppercase(), key.to_lowercase(), key.chars().map(other_case).collect()];
    let mut spellings: Vec<_> = (0..key.chars().count()).map(one).chain(whole).collect();
    spellings.retain(|spelling| spelling != key);
    spellings
}

pub(crate) async fn reads(case: Case) -> Result {
    let ids = Ids::make(&case).await?;
    let (wire, reader) = (case.wire(), case.read_only());
    for endpoint in endpoints::all(&case, &ids).into_iter().filter(Endpoint::reads) {
        let reply = endpoint.send(&reader).await?;
        let got = reply.status(200)?.json()?;
        // The lists of the whole account change under other scenarios.
        if endpoint.names_an_id() {
            let expected = endpoint.send(&wire).await?;
            let expected = expected.json()?;
            let what = format!("what the account's other key gets: {expected}");
            reply.ensure(got == expected, what, got)?;
        }
    }
    let filtered = reader.get(&format!("/prompts?vaultId={}", ids.vault)).await?;
    let got = filtered.status(200)?.integers("/data", "id")?;
    let members = case.vault_at(ids.vault).members().await?;
    check::equal("prompts of the vault", &got.len(), &members.len())
}
