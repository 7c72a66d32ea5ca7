//! Whether each key is of the account that their variable says: two keys of
//! one account would look like a leak. That a revoked key works, or that one without
//! `prompts:write` writes, is for scenarios to report.

use std::collections::HashSet;

use http::Method;
use http::header::AUTHORIZATION;

use super::ProbeError;
use crate::target::environment::{OTHER_API_KEY, READ_ONLY_API_KEY};
use crate::wire::ApiResponse;
use crate::{Case, Failure};

pub(super) async fn check(case: &Case) -> Result<(), ProbeError> {
    let config = &case.target().config;
    // A target that accepts any key says nothing about ours; scenarios will report it.
    let call = case.anonymous().call(Method::GET, "/vaults");
    let invented = call.header(AUTHORIZATION.as_str(), invented(&config.api_key)).send();
    if vaults(invented.await).is_some() {
        return Ok(());
    }
    let Some(own) = vaults(case.wire().get("/vaults").await) else { return Ok(()) };
    if config.read_only_api_key.is_some() {
        let reply = case.read_only().get("/vaults").await;
        if is_unauthorized(&reply) {
            // Reading may need a scope of its own (S-50). If a key may not even read, its
            // refusals can have another cause than the missing scope.
            let _ = case.target().capabilities.read_only_key.set(());
        } else if vaults(reply).is_some_and(|seen| !seen.is_empty() && seen.is_disjoint(&own)) {
            let what = "is of another account than PROMPTARIUM_API_KEY: they list different vaults";
            return wrong(READ_ONLY_API_KEY, what);
        }
    }
    if config.other_api_key.is_some() {
        let reply = case.other().get("/vaults").await;
        if is_unauthorized(&reply) {
            let what = "is refused (GET /vaults gives 401); one that works is expected";
            return wrong(OTHER_API_KEY, what);
        }
        if vaults(reply).is_some_and(|others| !others.is_empty() && others == own) {
            let what = "is of the same account as PROMPTARIUM_API_KEY: both list the same vaults";
            return wrong(OTHER_API_KEY, what);
        }
    }
    Ok(())
}

fn wrong(variable: &str, what: &str) -> Result<(), ProbeError> {
    Err(ProbeError::Misconfigured(format!("the key of {variable} {what}")))
}

/// A header with a key of the same form that nobody has.
fn invented(key: &str) -> String {
    let (start, secret) = key.rsplit_once('_').unwrap_or(("", key));
    let other = secret.chars().rev().map(|one| if one == 'a' { 'b' } else { 'a' });
    format!("Bearer {start}_{}", other.collect::<String>())
}

fn is_unauthorized(reply: &Result<ApiResponse, Failure>) -> bool {
    reply.as_ref().is_ok_and(|reply| reply.status_code() == 401)
}

fn vaults(reply: Result<ApiResponse, Failure>) -> Option<HashSet<i64>> {
    let reply = reply.ok().filter(|reply| reply.status_code() == 200)?;
    Some(reply.integers("/data", "id").ok()?.into_iter().collect())
}
