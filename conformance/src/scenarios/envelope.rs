//! The envelope and the conventions that hold for every endpoint: where requests go and what they
//! bring, and the header x-request-id (S-69).

mod shape;
mod values;

use std::collections::BTreeSet;

use crate::scenarios::endpoints::{self, Ids, refusals, successes};
use crate::scenarios::prelude::*;

pub(super) const ALL: &[&[Scenario]] = &[REQUESTS, shape::ALL, values::ALL];

#[rustfmt::skip]
const REQUESTS: &[Scenario] = &[
    core! { reads "envelope.requests.base-url" ["EN-01", "VE-01"] base_url,
        "Paths are appended to a base URL that ends in /api/v1" },
    core! { "envelope.requests.json" ["EN-02"] json,
        "A JSON body under Content-Type application/json is taken wherever there is a body" },
    reference! { reads "versioning.prefix.only-v1" ["VE-01", "VE-02"] ("S-70") only_v1,
        "There is nothing at other version prefixes, nor without one" },
    reference! { "envelope.request-id.present" ["EN-03"] ("S-69") present,
        "Every answer has an x-request-id of its own" },
    reference! { reads "envelope.request-id.taken-over" ["EN-03"] ("S-69") taken_over,
        "An x-request-id of the request comes back in the answer, of an error too" },
    reference! { reads "envelope.request-id.replaced" ["EN-03"] ("S-69") replaced,
        "An x-request-id that is too long or has other characters is replaced" },
];

async fn base_url(case: Case) -> Result {
    let base = case.target().base_url();
    check::ensure(base.ends_with("/api/v1"), "a base URL that ends in /api/v1", base)?;
    for path in ["/prompts", "/vaults"] {
        case.wire().get(path).await?.status(200)?;
    }
    Ok(())
}

async fn json(case: Case) -> Result {
    let ids = Ids::make(&case).await?;
    for endpoint in endpoints::all(&case, &ids).iter().filter(|endpoint| endpoint.body.is_some()) {
        endpoint.send(&case.wire()).await?.success()?;
    }
    Ok(())
}

async fn only_v1(case: Case) -> Result {
    // The HTTP client resolves the dots before it sends.
    for prefix in ["/../v2", "/../v0", "/../V1", "/../v1.0", "/..", "/../../v1", "/v1", "/api/v1"] {
        case.wire().get(&format!("{prefix}/vaults")).await?.status(404)?;
    }
    Ok(())
}

async fn present(case: Case) -> Result {
    let mut seen = BTreeSet::new();
    for (_, reply) in [successes(&case).await?, refusals(&case).await?].concat() {
        let id = request_id(&reply)?;
        reply.ensure(seen.insert(id.clone()), "an x-request-id of its own", id)?;
    }
    let others = [(Method::PUT, "/prompts"), (Method::HEAD, "/vaults"), (Method::GET, "/x")];
    for (method, path) in others {
        request_id(&case.wire().call(method, path).send().await?)?;
    }
    Ok(())
}

async fn taken_over(case: Case) -> Result {
    let longest = "x".repeat(128);
    for id in ["a", "AZaz09._-", "0b2f6c1e-4a5d-4d6a-9f7e-1c2d3e4f5a6b", &longest] {
        for (wire, path) in [
            (case.wire(), "/vaults"),
            (case.wire(), "/prompts?limit=0"),
            (case.wire(), "/nowhere"),
            (case.anonymous(), "/vaults"),
        ] {
            let reply = wire.call(Method::GET, path).header("x-request-id", id).send().await?;
            let got = request_id(&reply)?;
            reply.ensure(got == id, format!("the x-request-id {id}"), got)?;
        }
    }
    Ok(())
}

async fn replaced(case: Case) -> Result {
    let long = "x".repeat(129);
    let odd: [&[u8]; 8] =
        [b"", b"a b", b"a/b", b"a,b", b"a\"b", b"{\"a\":1}", "\u{e9}".as_bytes(), long.as_bytes()];
    for id in odd {
        let call = case.wire().call(Method::GET, "/vaults").header("x-request-id", id);
        let reply = call.send().await?;
        let sent = String::from_utf8_lossy(id);
        let got = check::with_context(format!("sent {}", json_text(&sent)), request_id(&reply))?;
        reply.ensure(
            got != sent,
            format!("another x-request-id than {}", json_text(&sent)),
            got,
        )?;
    }
    Ok(())
}

/// The one id of an answer, which has the form the server makes and takes.
fn request_id(reply: &ApiResponse) -> Result<String> {
    let values: Vec<_> = reply.headers().get_all("x-request-id").iter().collect();
    let [Ok(id)] = values.iter().map(|value| value.to_str()).collect::<Vec<_>>()[..] else {
        return Err(reply.failure("one x-request-id", format!("{} of them", values.len())));
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let formed = (1..=128).contains(&id.len()) && id.chars().all(fits);
    reply.ensure(formed, "1 to 128 characters of A-Z a-z 0-9 . _ -", id)?;
    Ok(id.to_owned())
}
