//! Who may call: the header, the key in it, and its scope; what the refusal of one says.

mod credentials;

use crate::scenarios::prelude::*;

pub(super) const ALL: &[&[Scenario]] = &[credentials::ALL, ANSWERS];

#[rustfmt::skip]
const ANSWERS: &[Scenario] = &[
    core! { reads "auth.answer.envelope" ["ER-07"] |case| async move { say_so(refusals(&case).await?) },
        "A refusal for a missing, malformed or unknown key has status 401 and an error text" },
    core! { reads "auth.answer.envelope-revoked" ["ER-07"] [RevokedKey]
        |case| async move { say_so(vec![case.revoked().get("/vaults").await?]) },
        "A refusal for a revoked key has status 401 and an error text" },
    core! { "auth.answer.envelope-scope" ["ER-07"] [ReadOnlyKey]
        |case| async move { say_so(vec![without_scope(&case).await?]) },
        "A refusal for lack of scope has status 401 and an error text" },
    reference! { "auth.answer.texts" ["ER-07"] ("S-53") [ReadOnlyKey] texts,
        "Missing header, malformed header, key not valid and lack of scope have texts of their \
         own" },
    reference! { reads "auth.answer.one-text" ["AU-05", "AU-06"] ("S-53") [RevokedKey] one_text,
        "Unknown, mistyped and revoked keys share one text" },
    reference! { "auth.answer.details" ["ER-03"] ("S-53") [ReadOnlyKey]
        |case| each_401(case, |reply| reply.equals("/details", json!({}))),
        "A 401 has empty details" },
    reference! { "auth.answer.www-authenticate" ["ER-07"] ("S-52") [ReadOnlyKey]
        |case| each_401(case, |reply| reply.has_header("www-authenticate", "Bearer")),
        "Every 401 carries WWW-Authenticate: Bearer" },
];

/// Values of the header `Authorization`, one or more, and what to call them: reports do not show
/// the header itself.
pub(super) struct Authorization {
    name: String,
    values: Vec<String>,
}

impl Authorization {
    pub(super) fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), values: vec![value.into()] }
    }

    fn two(name: &str, values: [&str; 2]) -> Self {
        Self { name: name.into(), values: values.map(str::to_owned).into() }
    }

    /// The call with these values is answered 401.
    pub(super) async fn unauthorized(&self, call: Call) -> Result<ApiResponse> {
        let call = self.values.iter().fold(call, |call, value| call.header("authorization", value));
        let reply = call.send().await?;
        check::with_context(&self.name, reply.status(401))?;
        Ok(reply)
    }

    /// `GET /vaults` with these values is answered 401.
    async fn vaults_unauthorized(&self, case: &Case) -> Result<ApiResponse> {
        self.unauthorized(case.anonymous().call(Method::GET, "/vaults")).await
    }
}

/// The key of the account under test.
pub(super) fn main_key(case: &Case) -> &str {
    &case.target().config.api_key
}

/// The value of `Authorization` with that key.
pub(super) fn main_bearer(case: &Case) -> String {
    format!("Bearer {}", main_key(case))
}

/// The key with the character at a place, counted from the end, exchanged.
pub(super) fn mistyped(key: &str, from_end: usize) -> String {
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
async fn refusals(case: &Case) -> Result<Vec<ApiResponse>> {
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

async fn without_scope(case: &Case) -> Result<ApiResponse> {
    case.read_only().post("/vaults", json!({ "name": case.name("vault") })).await
}

/// All of these with the status 401 are right in another respect too; there is at least one.
async fn each_401(case: Case, check: fn(&ApiResponse) -> Result<&ApiResponse>) -> Result {
    let mut replies = [refusals(&case).await?, vec![without_scope(&case).await?]].concat();
    replies.retain(|reply| reply.status_code() == 401);
    check::ensure(!replies.is_empty(), "a refusal with status 401", "none")?;
    replies.iter().try_for_each(|reply| check(reply).map(drop))
}

/// A key of the right form with a public id that nobody has.
fn unknown(key: &str) -> String {
    let (before, secret) = key.rsplit_once('_').unwrap_or(("", key));
    format!("{}_{secret}", mistyped(before, 0))
}

async fn texts(case: Case) -> Result {
    let (replies, scope) = (refusals(&case).await?, without_scope(&case).await?);
    let mut seen = Vec::new();
    // No header, a malformed one, an unknown key, and a key without the scope.
    for reply in [&replies[0], &replies[1], &replies[4], &scope] {
        let text = reply.status(401)?.string("/error")?;
        reply.ensure(!seen.contains(&text), "a text of its own", text)?;
        seen.push(text);
    }
    Ok(())
}

async fn one_text(case: Case) -> Result {
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
