//! Pinning a membership.

use promptarium::{VaultId, VaultPromptId};

use super::super::caller::caller;
use super::super::db::{Db, Statement, column};
use crate::domain::Caller;
use crate::store::StoreError;

/// Locks nothing but the membership, and holds nothing while it waits for it.
pub(super) static PIN: Statement = Statement::writing(
    "members.pin",
    concat!(
        "WITH caller AS ",
        caller!(),
        ", done AS (
        UPDATE membership m
        SET pin = CASE WHEN $4 THEN coalesce(m.pin, nextval('membership_pin')) END
        FROM caller
        WHERE m.account_id = caller.account_id AND m.vault_id = $2 AND m.id = $3
        RETURNING 1
    )
    SELECT EXISTS (SELECT FROM done) AS done FROM caller",
    ),
);

/// Pins or unpins a membership.
pub(in super::super) async fn set_pinned(
    db: &Db,
    caller: &Caller,
    vault: VaultId,
    membership: VaultPromptId,
    pinned: bool,
) -> Result<(), StoreError> {
    let params = [caller.key.0, vault.get(), membership.get()];
    let row = db.row_of_caller(&PIN, &[&params[0], &params[1], &params[2], &pinned]).await?;
    if column(&row, "done")? { Ok(()) } else { Err(StoreError::NotFound) }
}
