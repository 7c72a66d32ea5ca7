//! Paths and methods that the API does not have (S-59, S-61).

use std::collections::BTreeSet;

use http::Method;

use crate::scenario::{http, reference};
use crate::scenarios::endpoints::{self, Endpoint, Ids};
use crate::{Case, Failure, Scenario, check};

use super::error_body;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "errors.method.no-success" ["ER-01"] no_success,
        "A method that a path does not have is no success on any path and changes nothing" },
    http! { "errors.method.head-and-options" ["HT-18"] head_and_options,
        "HEAD and OPTIONS on any path bring no fault of the server and change nothing" },
    reference! { "errors.method.not-allowed" ["ER-01"] not_allowed,
        "A method that a path does not have is 405 with the path's methods in Allow (S-61)" },
    reference! { "errors.path.unknown" ["ER-01"] unknown,
        "An unknown path is 404 with the error body, with and without a key (S-54)" },
    reference! { "errors.path.trailing-slash" ["ER-01"] trailing_slash,
        "A path with a trailing slash is unknown (S-61)" },
    reference! { "errors.path.as-written" ["ER-01"] as_written,
        "A path is taken only as it is written: letters in their case, no double slash (S-61)" },
];

async fn not_allowed(case: Case) -> Result<(), Failure> {
    let (wire, methods) = (
        case.wire(),
        [
            Method::GET,
            Method::POST,
            Method::PUT,
            Method::PATCH,
            Method::DELETE,
            Method::HEAD,
            Method::OPTIONS,
            Method::TRACE,
        ],
    );
    let (_, all) = paths(&case).await?;
    // What the service has besides, for sessions (S-46).
    let besides = [("/api-keys", "GET"), ("/api-keys", "POST"), ("/api-keys/p1", "DELETE")];
    let listed = all.iter().map(|endpoint| (endpoint.path.as_str(), endpoint.method.as_str()));
    let listed: BTreeSet<_> = listed.chain(besides).collect();
    for path in listed.iter().map(|(path, _)| *path).collect::<BTreeSet<_>>() {
        let allowed = listed.iter().filter(|(other, _)| *other == path);
        let allowed: BTreeSet<_> = allowed.map(|(_, method)| *method).collect();
        for method in methods.iter().filter(|method| !allowed.contains(method.as_str())) {
            let reply = wire.call(method.clone(), path).send().await?;
            reply.status(405)?;
            let allow = reply.headers().get("allow").and_then(|value| value.to_str().ok());
            let got: BTreeSet<_> = allow.into_iter().flat_map(|allow| allow.split(", ")).collect();
            reply.ensure(got == allowed, format!("Allow {allowed:?}"), format!("{got:?}"))?;
            if *method != Method::HEAD {
                error_body(&reply)?;
            }
        }
    }
    Ok(())
}

/// Every path with the methods that the API has there.
async fn paths(case: &Case) -> Result<(Ids, Vec<Endpoint>), Failure> {
    let ids = Ids::make(case, &case.wire()).await?;
    let mut all = endpoints::all(case, &Ids { spare: ids.membership, ..ids });
    all.extend(endpoints::beyond(case));
    Ok((ids, all))
}

async fn no_success(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (ids, all) = paths(&case).await?;
    let before = ids.state(&wire).await?;
    for endpoint in &all {
        for method in
            [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::TRACE]
        {
            if all.iter().any(|other| other.path == endpoint.path && other.method == method) {
                continue;
            }
            // The body of a neighbour is what would tempt a server most.
            let what = format!("{method} {}", endpoint.template);
            let call = wire.call(method, &endpoint.path);
            let reply = match &endpoint.body {
                Some(body) => call.json(body).send().await?,
                None => call.send().await?,
            };
            let status = reply.status_code();
            let refused = matches!(status, 400..=499 | 501);
            check::with_context(what, reply.ensure(refused, "4xx or 501", status))?;
        }
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)
}

async fn head_and_options(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (ids, all) = paths(&case).await?;
    let before = ids.state(&wire).await?;
    for path in all.iter().map(|endpoint| &endpoint.path).collect::<BTreeSet<_>>() {
        for method in [Method::HEAD, Method::OPTIONS] {
            let reply = wire.call(method, path).send().await?;
            let status = reply.status_code();
            let sound = matches!(status, 200..=499 | 501);
            check::with_context(path, reply.ensure(sound, "no fault of the server", status))?;
        }
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)
}

async fn unknown(case: Case) -> Result<(), Failure> {
    for path in [
        "/",
        "/nowhere",
        "/prompts/1/pin",
        "/prompts/1/save/2",
        "/vaults/1/save",
        "/vaults/1/prompts/2/unpin",
        "/api-keys/1/2",
        "/prompt",
        "/vaults/1/fork/2",
    ] {
        for wire in [case.wire(), case.anonymous()] {
            for method in [Method::GET, Method::POST, Method::DELETE, Method::OPTIONS] {
                let reply = wire.call(method, path).send().await?;
                error_body(reply.status(404)?)?;
            }
        }
    }
    Ok(())
}

async fn trailing_slash(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?;
    let before = ids.state(&wire).await?;
    for mut endpoint in endpoints::all(&case, &ids) {
        endpoint.path.push('/');
        error_body(endpoint.send(&wire).await?.status(404)?)?;
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)
}

async fn as_written(case: Case) -> Result<(), Failure> {
    let ids = Ids::make(&case, &case.wire()).await?;
    for path in [
        "/Prompts".to_owned(),
        "/VAULTS".to_owned(),
        "//prompts".to_owned(),
        "/vaults//prompts".to_owned(),
        format!("/vaults//{}", ids.vault),
        format!("/Vaults/{}", ids.vault),
        format!("/vaults/{}/Prompts", ids.vault),
        format!("/vaults/{};a=b", ids.vault),
        format!("/prompts/{}.json", ids.prompt),
        format!("/prompts%2F{}", ids.prompt),
    ] {
        case.wire().get(&path).await?.status(404)?;
    }
    Ok(())
}
