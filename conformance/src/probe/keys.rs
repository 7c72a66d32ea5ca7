//! Whether each key is of the account that its variable says: two keys of one account would
//! look like a leak. A revoked key that works, and one without `prompts:write` that writes,
//! are failures of the target; scenarios report them.

use std::collections::HashSet;

use http::header::AUTHORIZATION;

use super::ProbeError;
use crate::Case;
use crate::target::environment::{API_KEY, OTHER_API_KEY, READ_ONLY_API_KEY};
use crate::wire::Wire;

pub(super) async fn check(case: &Case) -> Result<(), ProbeError> {
    // Where any key is accepted, none can be checked; scenarios will report that.
    if vaults(&invented(case)).await.is_some() {
        return Ok(());
    }
    let Some(own) = vaults(&Looking::With(case.wire())).await else { return Ok(()) };
    let config = &case.target().config;
    if config.read_only_api_key.is_some() {
        read_only(case, &own).await?;
    }
    if config.other_api_key.is_some() {
        refused(&case.other(), OTHER_API_KEY).await?;
        let others = vaults(&Looking::With(case.other())).await.unwrap_or_default();
        if !others.is_empty() && others == own {
            return wrong(
                OTHER_API_KEY,
                &format!("is of the same account as that of {API_KEY}: both list the same vaults"),
            );
        }
    }
    Ok(())
}

/// Reading may need a scope of its own (S-50). A key that may not even read shows nothing: its
/// refusals can have another cause than the scope.
async fn read_only(case: &Case, own: &HashSet<i64>) -> Result<(), ProbeError> {
    let reader = case.read_only();
    if reader.get("/vaults").await.is_ok_and(|reply| reply.status_code() == 401) {
        let _ = case.target().capabilities.read_only_key.set(());
        return Ok(());
    }
    let seen = vaults(&Looking::With(reader)).await.unwrap_or_default();
    if !seen.is_empty() && seen.is_disjoint(own) {
        return wrong(
            READ_ONLY_API_KEY,
            &format!("is of another account than that of {API_KEY}: they list different vaults"),
        );
    }
    Ok(())
}

async fn refused(wire: &Wire, variable: &str) -> Result<(), ProbeError> {
    match wire.get("/vaults").await {
        Ok(reply) if reply.status_code() == 401 => {
            wrong(variable, "is refused (GET /vaults gives 401); one that works is expected")
        }
        _ => Ok(()),
    }
}

fn wrong<T>(variable: &str, what: &str) -> Result<T, ProbeError> {
    Err(ProbeError::Misconfigured(format!("the key of {variable} {what}")))
}

/// Who asks.
enum Looking {
    With(Wire),
    /// With a key that nobody has.
    Invented(Wire, String),
}

fn invented(case: &Case) -> Looking {
    let key = &case.target().config.api_key;
    let (start, secret) = key.rsplit_once('_').unwrap_or(("", key));
    let other: String =
        secret.chars().rev().map(|one| if one == 'a' { 'b' } else { 'a' }).collect();
    Looking::Invented(case.anonymous(), format!("Bearer {start}_{other}"))
}

/// The ids of the vaults, if there is a list of vaults.
async fn vaults(who: &Looking) -> Option<HashSet<i64>> {
    let reply = match who {
        Looking::With(wire) => wire.get("/vaults").await,
        Looking::Invented(wire, value) => {
            wire.call(http::Method::GET, "/vaults")
                .header(AUTHORIZATION.as_str(), value)
                .send()
                .await
        }
    };
    let reply = reply.ok().filter(|reply| reply.status_code() == 200)?;
    Some(reply.integers("/data", "id").ok()?.into_iter().collect())
}
