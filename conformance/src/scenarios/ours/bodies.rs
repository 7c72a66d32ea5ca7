//! Bodies that are not what they should be: other types of content, no JSON, no object, a wrong
//! field beside a right one, too much (S-67).

use super::errors::error_body;
use crate::scenarios::core::errors::{each_body, with_body};
use crate::scenarios::endpoints::{self, Ids};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    reference! { "errors.body.content-type" ["EN-02"] ("S-67") content_type,
        "A body not announced as application/json, in any case of letters, is 415" },
    reference! { "errors.body.no-json" ["EN-02", "ER-03"] ("S-67") no_json,
        "An empty body, invalid JSON or UTF-8, and JSON that is no object are 400 naming body" },
    reference! { "errors.body.repeated-key" ["EN-02"] ("S-75") repeated_key,
        "Of a key that stands twice in a body the last one counts" },
    reference! { "errors.body.unasked" ["VA-29", "VC-25", "VC-26"] ("S-67") unasked,
        "An endpoint without a body ignores what is sent" },
    reference! { "errors.body.largest" ["EN-02", "ER-01"] ("S-67") largest,
        "A body of 4 MiB is taken, and a larger one is 413 with the error body" },
];

const MIB: usize = 1024 * 1024;

async fn content_type(case: Case) -> Result {
    let wire = case.wire();
    let others = "text/plain application/x-www-form-urlencoded application/jsonp \
                  application/json-patch+json application/vnd.api+json text/json json */*";
    let with_parameters = ["multipart/form-data; boundary=a", "text/plain; a=application/json", ""];
    for endpoint in with_body(&case).await? {
        let body = endpoint.body.clone().unwrap_or_default().to_string();
        let call = || wire.call(endpoint.method.clone(), &endpoint.path);
        call().untyped_body(body.clone()).send().await?.has_status(415, "no type")?;
        call().send().await?.has_status(415, "no type, no body")?;
        for other in others.split(' ').chain(with_parameters) {
            let reply = call().body(other, body.clone()).send().await?;
            error_body(reply.has_status(415, format!("the type {}", json_text(&other)))?)?;
        }
    }
    let prompt = case.prompt().await?;
    for form in [
        "application/json; charset=utf-8",
        "Application/Json;Charset=UTF-8",
        "APPLICATION/JSON",
        "Application/Json ; a=\"b\"",
    ] {
        let call = wire.call(Method::PATCH, &prompt.path());
        call.body(form, r#"{"title":"t"}"#).send().await?.has_status(200, form)?;
    }
    Ok(())
}

async fn no_json(case: Case) -> Result {
    let (deep, deep_object) = ("[".repeat(100_000), r#"{"a":"#.repeat(100_000));
    let texts = ["", "   ", "{", "}", "[]", "null", "\"text\"", "5", &deep, &deep_object];
    let titles: [&[u8]; 10] = [
        b"{\"title\":\"t\"",
        b"{\"title\":}",
        b"{'title':'t'}",
        b"{title:\"t\"}",
        b"{\"title\":\"t\",}",
        b"{\"title\":\"t\"} x",
        b"{\"title\":\"t\"}{}",
        b"{\"title\":\"\xff\"}",
        b"{\"title\":\"\xc3\x28\"}",
        b"{\"title\":\"\xed\xa0\x80\"}",
    ];
    let bodies = [texts.map(str::as_bytes), titles].concat();
    each_body(&case, &with_body(&case).await?, &bodies, |_, reply| {
        reply.status(400)?.string("/details/body").map(drop)
    })
    .await
}

async fn unasked(case: Case) -> Result {
    let ids = Ids::make(&case).await?;
    let unlisted = json!({ "visibility": "unlisted" });
    case.vault_at(ids.vault).update(unlisted).await?.status(200)?;
    for endpoint in endpoints::all(&case, &ids).iter().filter(|endpoint| endpoint.body.is_none()) {
        let call = endpoint.call(&case.wire()).body("text/plain", "{\"no\": json");
        check::with_context("with a body that was not asked for", call.send().await?.success())?;
    }
    Ok(())
}

/// A body that is right but for its size: spaces follow the object.
fn padded(case: &Case, bytes: usize) -> String {
    let body = json!({ "title": case.name("prompt"), "prompt": "A lighthouse" }).to_string();
    let spaces = " ".repeat(bytes - body.len());
    body + &spaces
}

async fn largest(case: Case) -> Result {
    case.wire().post_written("/prompts", padded(&case, 4 * MIB)).await?.status(201)?;
    for bytes in [4 * MIB + 1, 5 * MIB] {
        error_body(case.wire().post_written("/prompts", padded(&case, bytes)).await?.status(413)?)?;
    }
    Ok(())
}

async fn repeated_key(case: Case) -> Result {
    let name = case.name("last");
    let body = format!(r#"{{ "name": "", "name": {} }}"#, json!(name));
    case.wire().post_written("/vaults", body).await?.status(201)?.equals("/data/name", name)?;
    case.wire()
        .post_written("/vaults", r#"{ "name": "first", "name": "" }"#)
        .await?
        .status(400)
        .map(drop)
}
