//! Refusals: their status, their body and its `details` (S-59, S-60); paths, methods and path ids that
//! the API does not have (S-58, S-61); which of two mistakes is reported (S-56); and bodies of another
//! content type, that are no JSON or no object, or too large (S-67).

use crate::prelude::*;
use promptarium_conformance::scenarios::core::errors::{each_body, with_body};
use promptarium_conformance::scenarios::endpoints::{
    CONTENTS, MOVE, PROMPT, SAVE, VAULT, each_refusal,
};

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "errors.shape.exact" ["S-59", "S-60", "S-68"] |case| each_refusal(case, exact),
        "Every error is JSON with data, error and details only; details are empty unless 400" },
    scenario! { reads "errors.details.query" ["S-60"] query,
        "A 400 maps every failing query parameter to one message, all at once" },
    scenario! { "errors.method.not-allowed" ["S-61", "HT-18"] not_allowed,
        "Another method than those of a path is 405 with Allow; OPTIONS is 204, HEAD is as GET" },
    scenario! { "errors.path.unknown" ["S-54", "S-61"] unknown,
        "A path that is not exactly one of the API is 404 with the error body, key or no key" },
    scenario! { "errors.path-id.no-integer" ["S-58"] no_integer,
        "A path id that is no plain decimal integer, negative or too large is 404" },
    scenario! { "errors.order.key-before-rest" ["S-56"] key_before_rest,
        "A missing key is reported after a wrong method, before faults of ids, type and body" },
    scenario! { "errors.order.scope-before-rest" ["S-56"] [ReadOnlyKey]
        |case| unauthorized(case, Case::read_only, |endpoint| !endpoint.reads()),
        "The lack of scope is reported before faults of ids, content type and body" },
    scenario! { "errors.order.type-body-ids" ["S-56"] type_body_ids,
        "Faults are reported in this order: content type, body, id in the path, id in the body" },
    scenario! { "errors.body.content-type" ["S-67"] content_type,
        "A body not announced as application/json, in any case of letters, is 415" },
    scenario! { "errors.body.no-json" ["S-66", "S-67"] no_json,
        "An empty body, invalid JSON or UTF-8, half a surrogate pair, and no object are 400 naming body" },
    scenario! { "errors.body.repeated-key" ["S-75"] repeated_key,
        "Of a key that stands twice in a body the last one counts" },
    scenario! { "errors.body.unasked" ["S-67"] unasked,
        "An endpoint without a body ignores what is sent" },
    scenario! { "errors.body.largest" ["S-67"] largest,
        "A body of 4 MiB is taken, and a larger one is 413 with the error body" },
];

const MIB: usize = 1024 * 1024;

fn exact(reply: &ApiResponse) -> Result {
    let value = reply.header("content-type");
    let essence = value.split(';').next().unwrap_or(value);
    reply.ensure(essence == "application/json", "application/json", value)?;
    reply.has_only("", &["data", "error", "details"])?;
    if reply.status_code() != 400 {
        reply.equals("/details", json!({}))?;
    }
    Ok(())
}

async fn query(case: Case) -> Result {
    for (query, fields) in [
        // A cursor belongs to its filters and can be judged only where they are right.
        ("limit=0&vaultId=a&type=b", &["limit", "vaultId", "type"][..]),
        ("limit=0&cursor=c", &["limit", "cursor"]),
        ("limit=5&type=b", &["type"]),
    ] {
        names_exactly(&case.wire().get(&format!("/prompts?{query}")).await?, fields)?;
    }
    Ok(())
}

/// The body of an error in which no field is at fault (S-59, S-60).
fn error_body(reply: &ApiResponse) -> Result {
    reply.equals("/data", json!(null))?.equals("/details", json!({}))?.string("/error").map(drop)
}

async fn not_allowed(case: Case) -> Result {
    let wire = case.wire();
    let ids = Ids::make(&case).await?;
    let mut all = endpoints::all(&case, &Ids { removable_membership: ids.membership, ..ids });
    all.extend(endpoints::beyond(&case).into_iter().chain([endpoints::create_key(&case)]));
    let before = ids.state(&wire).await?;
    // What the service has besides, for sessions (S-46).
    let besides = [("/api-keys", "GET"), ("/api-keys", "POST"), ("/api-keys/p1", "DELETE")];
    let listed = all.iter().map(|endpoint| (endpoint.path.as_str(), endpoint.method.as_str()));
    let listed: BTreeSet<_> = listed.chain(besides).collect();
    for path in listed.iter().map(|(path, _)| *path).collect::<BTreeSet<_>>() {
        let on_path = listed.iter().filter(|(other, _)| *other == path);
        let mut allowed: BTreeSet<_> = on_path.map(|(_, method)| *method).collect();
        allowed.insert("OPTIONS");
        if allowed.contains("GET") {
            allowed.insert("HEAD");
            let head = wire.call(Method::HEAD, path).send().await?;
            head.ensure(head.status_code() != 405, "HEAD where GET is", head.status_code())?;
        }
        let options = case.anonymous().call(Method::OPTIONS, path).send().await?;
        has_methods(options.status(204)?, &allowed)?;
        // A server that mistakes the method for another one would do something with this body.
        let body = all.iter().filter(|other| other.path == path).find_map(|one| one.body.as_ref());
        let others = "GET POST PUT PATCH DELETE HEAD TRACE".split(' ');
        for method in others.filter(|method| !allowed.contains(method)) {
            let call = wire.call(method.parse().unwrap_or_default(), path);
            let body = body.filter(|_| method != "HEAD").into_iter();
            let reply = body.fold(call, Call::json).send().await?;
            has_methods(reply.status(405)?, &allowed)?;
            if method != "HEAD" {
                error_body(&reply)?;
            }
        }
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)
}

fn has_methods(reply: &ApiResponse, allowed: &BTreeSet<&str>) -> Result {
    let got: BTreeSet<_> = reply.header("allow").split(", ").collect();
    let expected = format!("Allow {}", json_text(&allowed));
    reply.ensure(got == *allowed, expected, json_text(&got)).map(drop)
}

async fn unknown(case: Case) -> Result {
    const PATHS: &str = "/ /nowhere /prompt /prompts/1/pin /prompts/1/save/2 /vaults/1/save \
        /vaults/1/fork/2 /vaults/1/prompts/2/unpin /api-keys/1/2";
    const SPELLINGS: &str = "/Prompts /VAULTS //prompts /vaults//prompts /vaults//{vaultId} \
        /Vaults/{vaultId} /vaults/{vaultId}/Prompts /vaults/{vaultId};a=b /prompts/{promptId}.json \
        /prompts%2F{promptId}";
    for path in PATHS.split(' ') {
        for wire in [case.wire(), case.anonymous()] {
            for method in [Method::GET, Method::POST, Method::DELETE, Method::OPTIONS] {
                let reply = wire.call(method, path).send().await?;
                error_body(reply.status(404)?)?;
            }
        }
    }
    let wire = case.wire();
    let ids = Ids::make(&case).await?;
    let before = ids.state(&wire).await?;
    for mut endpoint in endpoints::all(&case, &ids) {
        endpoint.path.push('/');
        error_body(endpoint.send(&wire).await?.status(404)?)?;
    }
    for path in SPELLINGS.split(' ') {
        wire.get(&ids.in_path(path)).await?.status(404)?;
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)
}

async fn no_integer(case: Case) -> Result {
    // A segment of dots alone is resolved by the HTTP client and never sent.
    const SEGMENTS: &str = "abc 0 -1 1.0 1e3 0x1 +1 1,2 1;2 %201 1%20 %00 %FF null true * %D9%A1 \
        9223372036854775808 -9223372036854775809 99999999999999999999999999";
    let wire = case.wire();
    let ids = Ids::make(&case).await?;
    for segment in SEGMENTS.split_whitespace() {
        for endpoint in endpoints::all(&case, &ids) {
            for name in ["{promptId}", "{vaultId}", "{vaultPromptId}"] {
                if endpoint.template.contains(name) {
                    let template = endpoint.template.replace(name, segment);
                    let odd = Endpoint { path: ids.in_path(&template), ..endpoint.clone() };
                    check::with_context(segment, odd.send(&wire).await?.status(404))?;
                }
            }
        }
    }
    Ok(())
}

/// Every endpoint with an absent id, an id that is no integer, and a body
/// that is neither JSON nor announced as such, all answered 401.
async fn unauthorized(case: Case, wire: fn(&Case) -> Wire, of: fn(&Endpoint) -> bool) -> Result {
    let wire = &wire(&case);
    let ids = Ids::make(&case).await?.absent();
    let all = endpoints::all(&case, &ids).into_iter().chain(endpoints::beyond(&case));
    for endpoint in all.chain([endpoints::create_key(&case)]).filter(of) {
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
    for path in ["/prompts", "/prompts/1", "/vaults/abc", "/vaults/1/prompts/2/pin", "/api-keys"] {
        case.anonymous().call(Method::PUT, path).send().await?.status(405)?;
    }
    case.anonymous().get("/prompts?limit=0").await?.status(401)?;
    unauthorized(case, Case::anonymous, |_| true).await
}

async fn type_body_ids(case: Case) -> Result {
    let wire = case.wire();
    let call = wire.call(Method::POST, "/prompts");
    call.body("text/plain", vec![b' '; 5 * MIB]).send().await?.status(415)?;
    let there = Ids::make(&case).await?;
    let ids = there.absent();
    for endpoint in endpoints::all(&case, &ids).iter().filter(|endpoint| endpoint.body.is_some()) {
        let call = wire.call(endpoint.method.clone(), &endpoint.path);
        call.body("text/plain", "{").send().await?.status(415)?;
    }
    for (method, template, body) in [
        (Method::PATCH, PROMPT, json!({ "title": 5 })),
        (Method::POST, SAVE, json!({})),
        (Method::PATCH, VAULT, json!({ "name": 5 })),
        (Method::POST, CONTENTS, json!({ "promptIds": [] })),
        (Method::POST, MOVE, json!({ "targetVaultId": 0 })),
    ] {
        wire.call(method, &ids.in_path(template)).json(&body).send().await?.status(400)?;
    }
    let none = Ids {
        addable_prompt: absent(there.addable_prompt),
        second_vault: absent(there.second_vault),
        ..ids
    };
    for endpoint in endpoints::all(&case, &none) {
        if endpoint.names_an_id() && endpoint.body.is_some() {
            check::with_context("both ids name nothing", endpoint.send(&wire).await?.status(404))?;
        }
    }
    let change = json!({ "promptType": "image", "vaultId": none.second_vault });
    case.prompt_at(none.prompt).update(change).await?.status(404).map(drop)
}

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
    let forms = "application/json; charset=utf-8|Application/Json;Charset=UTF-8|APPLICATION/JSON|\
                 Application/Json ; a=\"b\"";
    for form in forms.split('|') {
        let call = wire.call(Method::PATCH, &prompt.path());
        call.body(form, r#"{"title":"t"}"#).send().await?.has_status(200, form)?;
    }
    Ok(())
}

async fn no_json(case: Case) -> Result {
    const BODIES: &[u8] = b"~   ~{~}~[]~null~\"text\"~5~{\"title\":\"t\"~{\"title\":}~{'title':'t'}~\
        {title:\"t\"}~{\"title\":\"t\",}~{\"title\":\"t\"} x~{\"title\":\"t\"}{}~{\"title\":\"\xff\"}~\
        {\"title\":\"\xc3\x28\"}~{\"title\":\"\xed\xa0\x80\"}~\
        /* a */{\"title\":\"t\"}~{\"title\":\"t\"}// a~{\"title\":\"t\",\"a\":NaN}~\xef\xbb\xbf{\"title\":\"t\"}~\
        {\"title\":\"t\",\"a\":\"\t\"}~{\"title\":\"t\",\"a\":01}~{\"title\":\"t\"}\x0c~{\"title\":\"t\"}\0~\
        {\"title\":\"\\ud83d\"}~{\"title\":\"\\ude00\\ud83d\"}~{\"title\":\"\\ud83dx\"}";
    let deep = ["[", r#"{"a":"#, r#"{"odd":["#].map(|start| start.repeat(100_000));
    let deep = deep.each_ref().map(String::as_bytes);
    let bodies: Vec<_> = BODIES.split(|byte| *byte == b'~').chain(deep).collect();
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

async fn largest(case: Case) -> Result {
    let wire = case.wire();
    let body = json!({ "title": case.name("prompt"), "prompt": "A lighthouse" }).to_string();
    // Right but for its size: spaces follow the object.
    let padded = |bytes: usize| body.clone() + &" ".repeat(bytes - body.len());
    wire.post_written("/prompts", padded(4 * MIB)).await?.status(201)?;
    for bytes in [4 * MIB + 1, 5 * MIB] {
        error_body(wire.post_written("/prompts", padded(bytes)).await?.status(413)?)?;
    }
    Ok(())
}

async fn repeated_key(case: Case) -> Result {
    let name = case.name("last");
    let body = format!(r#"{{ "name": "", "name": {} }}"#, json!(name));
    case.wire().post_written("/vaults", body).await?.status(201)?.equals("/data/name", name)?;
    let body = r#"{ "name": "first", "name": "" }"#;
    case.wire().post_written("/vaults", body).await?.status(400).map(drop)
}
