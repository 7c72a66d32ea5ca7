//! Vaults themselves: what they show, creating, listing, changing, deleting and
//! forking them. What is in a vault belongs to `contents`.

pub(crate) mod fork;
pub(crate) mod list;
pub(crate) mod object;
pub(crate) mod update;

use crate::scenarios::prelude::*;

pub(crate) async fn list(case: &Case) -> Result<ApiResponse> {
    let reply = case.wire().get("/vaults").await?;
    reply.status(200)?;
    Ok(reply)
}

/// The vault in this reply has the keys of the vault object and the values of `expected`, but
/// for the moments and the cover, which a server may pick and sign anew for every
/// answer (S-15).
fn same_object(reply: &ApiResponse, got: &Value, expected: &Value) -> Result {
    const VALUES: &str =
        "id name description slug visibility accessType isLocked isSystem promptCount";
    let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
    for key in VALUES.split(' ') {
        let (got, expected) = (got.get(key), expected.get(key));
        reply.ensure(got == expected, format!("{key} to be {}", text(expected)), text(got))?;
    }
    for key in ["createdAt", "updatedAt", "coverImageUrl"] {
        reply.ensure(got.get(key).is_some(), format!("{key} in the vault object"), "nothing")?;
    }
    Ok(())
}

/// The list at this path holds all of these, more than any page of this API, in one response, and
/// with a limit too, unless that is refused.
pub(crate) async fn holds_all(case: &Case, path: &str, expected: &BTreeSet<i64>) -> Result {
    for query in ["", "?limit=1"] {
        let reply = case.wire().get(&format!("{path}{query}")).await?;
        if !query.is_empty() && reply.status_code() != 200 {
            return reply.is_client_error("an unknown parameter").map(drop);
        }
        let listed: BTreeSet<_> = reply.status(200)?.integers("/data", "id")?.into_iter().collect();
        let missing = expected.difference(&listed).count();
        let what = format!("all of {} entries in one response", expected.len());
        reply.ensure(missing == 0, what, format!("{missing} of them missing"))?;
        let next = reply.json()?.pointer("/pagination/nextCursor").unwrap_or(&Value::Null);
        reply.ensure(next.is_null(), "no cursor to a next page", next)?;
    }
    Ok(())
}
