//! Vaults themselves: what they show, creating, listing, changing, deleting and
//! forking them. What is in a vault belongs to `contents`.

mod fork;
mod list;
mod object;
mod update;

use super::prelude::*;

pub(super) const ALL: &[&[Scenario]] =
    &[object::ALL, list::ALL, update::ALL, fork::ALL, fork::choices::ALL];

/// All vaults of the caller.
async fn list(case: &Case) -> Result<ApiResponse> {
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

/// One response holds all of these, more than any page of this API, and leads to no next one.
pub(super) fn holds_all(reply: &ApiResponse, expected: &BTreeSet<i64>) -> Result {
    let listed: BTreeSet<_> = reply.integers("/data", "id")?.into_iter().collect();
    let missing = expected.difference(&listed).count();
    let what = format!("all of {} entries in one response", expected.len());
    reply.ensure(missing == 0, what, format!("{missing} of them missing"))?;
    let next = reply.json()?.pointer("/pagination/nextCursor").unwrap_or(&Value::Null);
    reply.ensure(next.is_null(), "no cursor to a next page", next).map(drop)
}
