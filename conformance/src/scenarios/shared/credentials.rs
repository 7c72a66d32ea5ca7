//! Keys in forms that let nobody in, and both accounts in turn.

use http::HeaderValue;

use crate::scenarios::prelude::*;

/// A name, and values of the header `Authorization`, which reports do not show.
pub struct Form(pub String, pub Vec<String>);

pub fn form(name: impl Into<String>, value: impl Into<String>) -> Form {
    Form(name.into(), vec![value.into()])
}

pub async fn unauthorized(call: Call, Form(name, values): &Form) -> Result<ApiResponse> {
    let call = values.iter().fold(call, |call, value| call.header("authorization", value));
    let reply = call.send().await?;
    check::with_context(name, reply.status(401))?;
    Ok(reply)
}

pub async fn vaults_unauthorized(case: &Case, form: Form) -> Result<ApiResponse> {
    unauthorized(case.anonymous().call(Method::GET, "/vaults"), &form).await
}

pub fn main_key(case: &Case) -> &str {
    &case.target().config.api_key
}

pub fn main_bearer(case: &Case) -> String {
    format!("Bearer {}", main_key(case))
}

/// The key with one character replaced, whose place is counted from the end.
pub fn mistyped(key: &str, from_end: usize) -> String {
    let mut characters: Vec<_> = key.chars().collect();
    let place = characters.len().saturating_sub(from_end + 1);
    if let Some(character) = characters.get_mut(place) {
        *character = if *character == 'a' { 'b' } else { 'a' };
    }
    characters.into_iter().collect()
}

pub fn unknown(key: &str) -> String {
    let (before, secret) = key.rsplit_once('_').unwrap_or(("", key));
    format!("{}_{secret}", mistyped(before, 0))
}

pub fn truncated_by(key: &str, places: usize) -> Form {
    let left = key.chars().count().saturating_sub(places);
    let left: String = key.chars().take(left).collect();
    form(format!("the key without its last {places}"), format!("Bearer {left}"))
}

/// Vendor, public id and secret of a key. A failure must not show them.
pub fn parts_of(key: &str) -> Result<(&str, &str, &str)> {
    let vendor = key.split_once("_live_");
    let parts = vendor.and_then(|(vendor, rest)| Some((vendor, rest.split_once('_')?)));
    let (vendor, (id, secret)) = parts.ok_or_else(|| {
        let got = format!("a key of {} characters in another form", key.len());
        Failure::failed("a key of the form <vendor>_live_<public_id>_<secret>", got)
    })?;
    Ok((vendor, id, secret))
}

pub fn hides(reply: &ApiResponse, secret: &str) -> Result {
    let mut texts = reply.headers().values().map(HeaderValue::as_bytes).chain([&reply.body()[..]]);
    let shown = texts.any(|text| text.windows(secret.len()).any(|part| part == secret.as_bytes()));
    reply.ensure(!shown, "an answer without the secret of the key", "one with it").map(drop)
}

pub fn owners_and_strangers(case: &Case) -> [(Case, Case); 2] {
    let other = case.other_account();
    [(other.clone(), case.clone()), (case.clone(), other)]
}
