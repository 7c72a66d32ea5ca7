//! Errors: the envelope, path ids that are no integers, and bodies without the required fields or with
//! a value of a wrong type.

use crate::scenarios::endpoints::{self, Endpoint, Ids, each_refusal};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "errors.shape.keys" ["ER-01", "ER-02", "EN-03"] |case| each_refusal(case, keys),
        "Every error is a JSON object with data, a text in error and an object in details" },
    scenario! { "errors.path-id.spellings" ["PR-30", "ER-08"] spellings,
        "A path id that is no integer, or one in some languages only, is 400 or 404" },
    scenario! { "errors.unknown.in-the-envelope" ["EN-03"] unknown,
        "Unknown paths and methods below the root are answered in the envelope" },
    scenario! { "errors.body.broken" ["EN-03", "ER-02"] broken,
        "A body that is no JSON, or a list, a text or twice the right one, is 4xx in the envelope" },
    scenario! { "envelope.success.empty-list" ["EN-05", "VC-04"] empty_list,
        "On success data is an array also for a list without entries" },
    scenario! { "envelope.error.data-null" ["EN-06"] |case| each_refusal(case, error_data),
        "Whenever error is not null, data is null" },
    scenario! { "errors.body.without-fields" ["ER-04"] without_fields,
        "An empty object is refused with 400, as it lacks required fields; other bodies with 4xx" },
];

pub fn keys(reply: &ApiResponse) -> Result {
    let body = reply.json()?;
    reply.ensure(body.get("data").is_some(), "the key data", body)?;
    let error = reply.string("/error")?;
    reply.ensure(!error.trim().is_empty(), "a text in error", error)?;
    let details = reply.at("/details")?;
    reply.ensure(details.is_object(), "an object in details", details).map(drop)
}

/// A 400 whose details map exactly these fields, each to a text.
pub fn names_exactly(reply: &ApiResponse, fields: &[&str]) -> Result {
    let details = reply.status(400)?.has_only("/details", fields)?.at("/details")?;
    let is_text = |(_, text): (_, &Value)| text.as_str().is_some_and(|text| !text.is_empty());
    let texts = details.as_object().into_iter().flatten().all(is_text);
    reply.ensure(texts, "one message for each field", details).map(drop)
}

async fn spellings(case: Case) -> Result {
    let vault = case.vault().await?;
    let member = &vault.filled::<1>().await?[0];
    let wide = |digit: char| char::from_u32(u32::from(digit) + 0xff10 - 0x30).unwrap_or(digit);
    for (path, id) in [("/prompts/", member.prompt.id), ("/vaults/", vault.id)] {
        let text = id.to_string();
        let forms = "{}abc {}e0 {},1 {}.json %20{} abc 1.5 99999999999999999999999999";
        let others = [format!("0x{id:x}"), text.chars().map(wide).collect()];
        // With one digit nothing is between its digits.
        let between = (text.len() > 1).then(|| format!("{}_{}", &text[..1], &text[1..]));
        let spelled = forms.split(' ').map(|form| form.replace("{}", &text));
        for spelled in spelled.chain(others).chain(between) {
            let reply = case.wire().get(&format!("{path}{spelled}")).await?;
            let refused = matches!(reply.status_code(), 400 | 404);
            reply.status_is(refused, format!("400 or 404 for the id {spelled}"))?;
        }
    }
    let removed = case.wire().delete(&format!("{}abc", member.path())).await?;
    removed.is_client_error("a membership with letters behind its id")?;
    vault.expect_size(1).await
}

/// «Every response is a JSON object with the keys data and error.»
async fn unknown(case: Case) -> Result {
    let (get, put) = (Method::GET, Method::PUT);
    let nothing = [(&get, "/nothing"), (&get, "/prompts/1/nothing"), (&Method::POST, "/nothing")];
    let other = [(&put, "/prompts"), (&Method::PATCH, "/vaults"), (&put, "/generations")];
    for (method, path) in nothing.into_iter().chain(other).chain([(&put, "/uploads/images")]) {
        let reply = case.wire().call(method.clone(), path).send().await?;
        // Another address may be named, and a method may work that is not documented (S-61).
        if !(300..400).contains(&reply.status_code()) {
            reply.is_envelope()?;
        }
    }
    Ok(())
}

async fn broken(case: Case) -> Result {
    let endpoints = with_body(&case).await?.into_iter().chain(endpoints::beyond(&case));
    let endpoints: Vec<_> = endpoints.filter(|endpoint| endpoint.body.is_some()).collect();
    let nan = br#"{"title":NaN,"name":NaN,"size":NaN,"vaultId":NaN}"#;
    let bodies: [&[u8]; 6] =
        [br#"{"title":"#, b"{'title':'a'}", br#"{"title":"a",}"#, b"title=a", b"\xff\xfe{}", nan];
    let is_refused = |_: &[u8], reply: &ApiResponse| keys(reply.status_in(400..=499)?);
    each_body(&case, &endpoints, &bodies, is_refused).await?;
    for endpoint in &endpoints {
        let right = endpoint.body.as_ref().map(Value::to_string).unwrap_or_default();
        let inner = right.trim_end_matches('}');
        let written = [
            format!("[{right}]"),
            format!("{right}{right}"),
            format!("{inner},}}"),
            format!("{inner},\"x\":NaN}}"),
            json!(right).to_string(),
            in_capitals(&right),
        ];
        // An update has no field that is required.
        let tried = if endpoint.method == Method::POST { 6 } else { 5 };
        let bodies: Vec<_> = written[..tried].iter().map(String::as_bytes).collect();
        each_body(&case, std::slice::from_ref(endpoint), &bodies, is_refused).await?;
    }
    Ok(())
}

/// An object with its keys in capitals, so that none of its fields is there.
fn in_capitals(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let fields = body.as_object().into_iter().flatten();
    Value::from_iter(fields.map(|(key, value)| (key.to_uppercase(), value.clone()))).to_string()
}

async fn empty_list(case: Case) -> Result {
    let vault = case.vault().await?;
    for path in [vault.list().path(), format!("{}/prompts", vault.path())] {
        case.wire().get(&path).await?.equals("/data", json!([]))?;
    }
    Ok(())
}

fn error_data(reply: &ApiResponse) -> Result {
    let body = reply.json()?;
    let is_null = |key| body.get(key).is_none_or(Value::is_null);
    reply.ensure(is_null("error") || is_null("data"), "data to be null", body).map(drop)
}

pub async fn with_body(case: &Case) -> Result<Vec<Endpoint>> {
    let ids = Ids::make(case).await?;
    Ok(endpoints::all(case, &ids).into_iter().filter(|endpoint| endpoint.body.is_some()).collect())
}

pub async fn each_body(
    case: &Case,
    endpoints: &[Endpoint],
    bodies: &[&[u8]],
    check: impl Fn(&[u8], &ApiResponse) -> Result,
) -> Result {
    for endpoint in endpoints {
        for body in bodies {
            let call = case.wire().call(endpoint.method.clone(), &endpoint.path);
            let reply = call.body("application/json", *body).send().await?;
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]);
            check::with_context(format!("the body {shown} to {endpoint}"), check(body, &reply))?;
        }
    }
    Ok(())
}

async fn without_fields(case: Case) -> Result {
    let mut posts = with_body(&case).await?;
    posts.retain(|endpoint| endpoint.method == Method::POST);
    let bodies: [&[u8]; 7] = [b"{}", b"", b"[]", b"null", b"\"text\"", b"5", b"true"];
    each_body(&case, &posts, &bodies, |body, reply| {
        // A body that is no object may be refused with any 4xx (S-67).
        reply.status_in(if body == b"{}" { 400..=400 } else { 400..=499 }).map(drop)
    })
    .await
}
