//! The header x-request-id (S-69).

use std::collections::BTreeSet;

use http::Method;

use crate::scenario::reference;
use crate::scenarios::endpoints::{refusals, successes};
use crate::wire::ApiResponse;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "envelope.request-id.present" ["EN-03"] present,
        "Every answer has an x-request-id of its own (S-69)" },
    reference! { "envelope.request-id.taken-over" ["EN-03"] taken_over,
        "An x-request-id of the request comes back in the answer, of an error too (S-69)" },
    reference! { "envelope.request-id.replaced" ["EN-03"] replaced,
        "An x-request-id that is too long or has other characters is replaced (S-69)" },
];

async fn present(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let mut replies = successes(&case).await?;
    replies.extend(refusals(&case).await?);
    let mut seen = BTreeSet::new();
    for (_, reply) in &replies {
        let id = request_id(reply)?;
        reply.ensure(seen.insert(id.clone()), "an x-request-id of its own", id)?;
    }
    for (method, path) in
        [(Method::PUT, "/prompts"), (Method::HEAD, "/vaults"), (Method::GET, "/x")]
    {
        request_id(&wire.call(method, path).send().await?)?;
    }
    Ok(())
}

async fn taken_over(case: Case) -> Result<(), Failure> {
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

async fn replaced(case: Case) -> Result<(), Failure> {
    let long = "x".repeat(129);
    let odd: [&[u8]; 8] =
        [b"", b"a b", b"a/b", b"a,b", b"a\"b", b"{\"a\":1}", "\u{e9}".as_bytes(), long.as_bytes()];
    for id in odd {
        let call = case.wire().call(Method::GET, "/vaults").header("x-request-id", id);
        let reply = call.send().await?;
        let sent = String::from_utf8_lossy(id);
        let got = check::with_context(format!("sent {sent:?}"), request_id(&reply))?;
        reply.ensure(got != sent, format!("another x-request-id than {sent:?}"), got)?;
    }
    Ok(())
}

/// The one id of an answer, which has the form the server makes and takes.
fn request_id(reply: &ApiResponse) -> Result<String, Failure> {
    let values: Vec<_> = reply.headers().get_all("x-request-id").iter().collect();
    let [Ok(id)] = values.iter().map(|value| value.to_str()).collect::<Vec<_>>()[..] else {
        return Err(reply.failure("one x-request-id", format!("{values:?}")));
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let formed = (1..=128).contains(&id.len()) && id.chars().all(fits);
    reply.ensure(formed, "1 to 128 characters of A-Z a-z 0-9 . _ -", id)?;
    Ok(id.to_owned())
}
