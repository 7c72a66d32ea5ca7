//! Paths and methods that the API does not have (S-59, S-61), and path ids that can be none
//! (S-58). Ids of others and of nothing are in `ids`.

use std::collections::BTreeSet;

use crate::scenarios::endpoints::{self, Endpoint, Ids};
use crate::scenarios::prelude::*;

use super::error_body;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    http! { "errors.method.head-and-options" ["HT-18"] head_and_options,
        "HEAD and OPTIONS on any path bring no server error and change nothing" },
    reference! { "errors.method.not-allowed" ["ER-01"] ("S-61") not_allowed,
        "A method that a path does not have is 405 with the path's methods in Allow, and changes \
         nothing; OPTIONS is 204 with the same, and HEAD is taken where GET is" },
    reference! { "errors.path.unknown" ["ER-01"] ("S-54") unknown,
        "An unknown path is 404 with the error body, with and without a key" },
    reference! { "errors.path.trailing-slash" ["ER-01"] ("S-61") trailing_slash,
        "A path with a trailing slash is unknown" },
    reference! { "errors.path.as-written" ["ER-01"] ("S-61") as_written,
        "A path is taken only as it is written: letters in their case, no double slash" },
    core! { reads "errors.path-id.refused" ["PR-30", "ER-08"] odd_id,
        "A path id that is no integer of 64 bits is 400 or 404" },
    reference! { "errors.path-id.no-integer" ["ER-08"] ("S-58") no_integer,
        "A path id that is no plain decimal integer, negative or too large is 404" },
];

async fn not_allowed(case: Case) -> Result {
    let wire = case.wire();
    let (ids, all) = paths(&case).await?;
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
            let reply = match body.filter(|_| method != "HEAD") {
                Some(body) => call.json(body).send().await?,
                None => call.send().await?,
            };
            reply.status(405)?;
            has_methods(&reply, &allowed)?;
            if method != "HEAD" {
                error_body(&reply)?;
            }
        }
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)
}

fn has_methods(reply: &ApiResponse, allowed: &BTreeSet<&str>) -> Result {
    let got: BTreeSet<_> = reply.header("allow").split(", ").collect();
    reply
        .ensure(got == *allowed, format!("Allow {}", json_text(&allowed)), json_text(&got))
        .map(drop)
}

/// Every path with the methods that the API has there.
async fn paths(case: &Case) -> Result<(Ids, Vec<Endpoint>)> {
    let ids = Ids::make(case).await?;
    let mut all = endpoints::all(case, &Ids { removable_membership: ids.membership, ..ids });
    all.extend(endpoints::beyond(case));
    Ok((ids, all))
}

async fn head_and_options(case: Case) -> Result {
    let wire = case.wire();
    let (ids, all) = paths(&case).await?;
    let before = ids.state(&wire).await?;
    for path in all.iter().map(|endpoint| &endpoint.path).collect::<BTreeSet<_>>() {
        for method in [Method::HEAD, Method::OPTIONS] {
            let reply = wire.call(method, path).send().await?;
            let status = reply.status_code();
            reply.ensure(matches!(status, 200..=499 | 501), "no server error", status)?;
        }
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)
}

async fn unknown(case: Case) -> Result {
    const PATHS: &str = "/ /nowhere /prompt /prompts/1/pin /prompts/1/save/2 /vaults/1/save \
        /vaults/1/fork/2 /vaults/1/prompts/2/unpin /api-keys/1/2";
    for path in PATHS.split(' ') {
        for wire in [case.wire(), case.anonymous()] {
            for method in [Method::GET, Method::POST, Method::DELETE, Method::OPTIONS] {
                let reply = wire.call(method, path).send().await?;
                error_body(reply.status(404)?)?;
            }
        }
    }
    Ok(())
}

async fn trailing_slash(case: Case) -> Result {
    let wire = case.wire();
    let ids = Ids::make(&case).await?;
    let before = ids.state(&wire).await?;
    for mut endpoint in endpoints::all(&case, &ids) {
        endpoint.path.push('/');
        error_body(endpoint.send(&wire).await?.status(404)?)?;
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)
}

async fn as_written(case: Case) -> Result {
    const PATHS: &str = "/Prompts /VAULTS //prompts /vaults//prompts /vaults//{vaultId} \
        /Vaults/{vaultId} /vaults/{vaultId}/Prompts /vaults/{vaultId};a=b /prompts/{promptId}.json \
        /prompts%2F{promptId}";
    let ids = Ids::make(&case).await?;
    for path in PATHS.split(' ') {
        case.wire().get(&ids.in_path(path)).await?.status(404)?;
    }
    Ok(())
}

async fn odd_id(case: Case) -> Result {
    for id in ["abc", "1.5", "99999999999999999999999999"] {
        for path in ["/prompts/{}", "/vaults/{}", "/vaults/{}/prompts"] {
            let reply = case.wire().get(&path.replace("{}", id)).await?;
            let got = format!("status {}", reply.status_code());
            let refused = matches!(reply.status_code(), 400 | 404);
            reply.ensure(refused, "400 or 404 for an id that is no integer", got)?;
        }
    }
    Ok(())
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
