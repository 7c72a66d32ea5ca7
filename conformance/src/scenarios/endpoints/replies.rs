//! The replies of all endpoints to right and to wrong calls.

use super::{Endpoint, Ids, all};
use crate::scenarios::prelude::*;

/// The successes of all endpoints on things made for this. What is refused is
/// left out: other scenarios report that.
pub(in crate::scenarios) async fn successes(case: &Case) -> Result<Vec<(Endpoint, ApiResponse)>> {
    let ids = Ids::make(case).await?;
    let mut replies = Vec::new();
    for endpoint in all(case, &ids) {
        let reply = endpoint.send(&case.wire()).await?;
        replies.push((endpoint, reply));
    }
    replies.retain(|(_, reply)| (200..300).contains(&reply.status_code()));
    some(replies, "a success")
}

/// Refusals of all endpoints: without a key, with ids of nothing in the path, with a faulty field
/// in the body. What is no refusal is left out, as above.
pub(in crate::scenarios) async fn refusals(case: &Case) -> Result<Vec<(Endpoint, ApiResponse)>> {
    let ids = Ids::make(case).await?;
    let (wire, there) = (&case.wire(), all(case, &ids));
    let gone = all(case, &ids.absent());
    let mut replies = Vec::new();
    for endpoint in &there {
        let reply = endpoint.send(&case.anonymous()).await?;
        replies.push((endpoint.clone(), reply));
        if endpoint.body.is_some() {
            let faulty = endpoint.clone().with(json!({ (faulty_field(endpoint)): [{}] }));
            let reply = faulty.send(wire).await?;
            replies.push((faulty, reply));
        }
    }
    for endpoint in gone {
        if endpoint.names_prompt() || endpoint.names_vault() {
            let reply = endpoint.send(wire).await?;
            replies.push((endpoint, reply));
        }
    }
    replies.retain(|(_, reply)| reply.status_code() >= 400);
    some(replies, "a refusal")
}

/// The success of each endpoint is right.
pub(in crate::scenarios) async fn each_success(
    case: Case,
    check: fn(&Endpoint, &ApiResponse) -> Result,
) -> Result {
    let replies = successes(&case).await?;
    replies.iter().try_for_each(|(endpoint, reply)| check(endpoint, reply))
}

/// Each refusal is right.
pub(in crate::scenarios) async fn each_refusal(
    case: Case,
    check: fn(&ApiResponse) -> Result,
) -> Result {
    let replies = refusals(&case).await?;
    replies.iter().try_for_each(|(_, reply)| check(reply))
}

fn faulty_field(endpoint: &Endpoint) -> String {
    let fields = endpoint.body.as_ref().and_then(Value::as_object);
    fields.and_then(|fields| fields.keys().next()).cloned().unwrap_or_default()
}

fn some<T>(replies: Vec<T>, what: &str) -> Result<Vec<T>> {
    if replies.is_empty() {
        return Err(Failure::failed(format!("{what} on any endpoint"), "none"));
    }
    Ok(replies)
}
