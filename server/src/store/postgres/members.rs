//! Memberships: which prompts are in which vaults.
//!
//! All steps but pinning lock the vaults they change first, and those that link a
//! prompt lock the prompt next; the migrations say why. Whatever waits for a lock
//! finds the row as it is then, not as it was when the statement began. A part of a
//! statement is carried out only as far as others ask for its rows, so what must be
//! locked before something else is counted by that.

mod moving;
mod pinning;
#[cfg(test)]
mod tests;

use promptarium::{PromptId, VaultId, VaultPromptId};

pub(super) use self::moving::relocate;
pub(super) use self::pinning::set_pinned;
use super::caller::caller;
use super::db::{Db, Statement, column};
use crate::domain::Caller;
use crate::store::{Added, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&ADD, &REMOVE, &moving::MOVE, &pinning::PIN];

/// The triggers' work on the count is not to be seen in the statement that makes
/// them work, so the count is that of the locked vault and what was added.
static ADD: Statement = Statement::writing(
    "members.add",
    concat!(
        "WITH caller AS ",
        caller!(),
        ", wanted AS (
        SELECT id, min(place) AS place
        FROM unnest($3::bigint[]) WITH ORDINALITY AS given (id, place) GROUP BY id
    ), v AS (
        SELECT v.account_id, v.id, v.prompt_count
        FROM caller JOIN vault v ON v.account_id = caller.account_id AND v.id = $2
        FOR NO KEY UPDATE OF v
    ), held AS (
        SELECT p.id, p.kind
        FROM caller JOIN prompt p ON p.account_id = caller.account_id
            AND p.id = ANY ($3::bigint[])
        WHERE (SELECT count(*) FROM v) > 0 ORDER BY p.id FOR KEY SHARE OF p
    ), unknown AS (
        SELECT id, place FROM wanted WHERE id NOT IN (SELECT id FROM held)
    ), joined AS (
        INSERT INTO membership (account_id, vault_id, prompt_id, kind)
        SELECT v.account_id, v.id, held.id, held.kind
        FROM v, held JOIN wanted ON wanted.id = held.id
        WHERE NOT EXISTS (SELECT FROM unknown) ORDER BY wanted.place
        ON CONFLICT (account_id, vault_id, prompt_id) DO NOTHING RETURNING 1
    )
    SELECT v.prompt_count, (SELECT count(*) FROM joined) AS added,
        ARRAY(SELECT id FROM unknown ORDER BY place) AS unknown
    FROM caller LEFT JOIN v ON true",
    ),
);

/// Adds prompts in the order given.
pub(super) async fn add(
    db: &Db,
    caller: &Caller,
    vault: VaultId,
    prompts: &[PromptId],
) -> Result<Added, StoreError> {
    let ids: Vec<i64> = prompts.iter().map(|id| id.get()).collect();
    let row = db.row_of_caller(&ADD, &[&caller.key.0, &vault.get(), &ids]).await?;
    let count: Option<i64> = column(&row, "prompt_count")?;
    let count = count.ok_or(StoreError::NotFound)?;
    let unknown: Vec<i64> = column(&row, "unknown")?;
    if !unknown.is_empty() {
        return Err(StoreError::UnknownPrompts(unknown.into_iter().map(PromptId::new).collect()));
    }
    let added: i64 = column(&row, "added")?;
    let prompt_count = count.unsigned_abs() + added.unsigned_abs();
    // No more than there are ids in the slice.
    let added = usize::try_from(added).unwrap_or(prompts.len());
    Ok(Added { added, prompt_count })
}

static REMOVE: Statement = Statement::writing(
    "members.remove",
    concat!(
        "WITH caller AS ",
        caller!(),
        ", v AS (
        SELECT v.account_id, v.id
        FROM caller JOIN vault v ON v.account_id = caller.account_id AND v.id = $2
        FOR NO KEY UPDATE OF v
    ), gone AS (
        DELETE FROM membership m USING v
        WHERE m.account_id = v.account_id AND m.vault_id = v.id AND m.id = $3
        RETURNING 1
    )
    SELECT EXISTS (SELECT FROM gone) AS gone FROM caller",
    ),
);

/// Removes one membership.
pub(super) async fn remove(
    db: &Db,
    caller: &Caller,
    vault: VaultId,
    membership: VaultPromptId,
) -> Result<(), StoreError> {
    let params = [caller.key.0, vault.get(), membership.get()];
    let row = db.row_of_caller(&REMOVE, &[&params[0], &params[1], &params[2]]).await?;
    if column(&row, "gone")? { Ok(()) } else { Err(StoreError::NotFound) }
}
