//! Moving a membership.

use promptarium::{PromptId, VaultId, VaultPromptId};

use super::super::caller::caller;
use super::super::db::{Db, Statement, column};
use crate::domain::Caller;
use crate::store::{Moved, StoreError};

/// A membership never changes its prompt, so `held` may take the prompt from a
/// membership that is not locked. Whether that is still there when everything else
/// is locked, the deletion finds out. Nothing goes when there is nowhere to go; only
/// then is `present` asked, because a missing membership is told before a missing
/// target.
///
/// A membership in the target gets the place of a new one by an update. If the
/// target is the source, the one that is gone is in nobody's way.
pub(super) static MOVE: Statement = Statement::writing(
    "members.move",
    concat!(
        "WITH caller AS ",
        caller!(),
        ", locked AS (
        SELECT v.id
        FROM caller JOIN vault v ON v.account_id = caller.account_id AND v.id IN ($2, $4)
        ORDER BY v.id FOR NO KEY UPDATE OF v
    ), vaults AS (
        SELECT count(*) FILTER (WHERE id = $2) > 0 AS source,
            count(*) FILTER (WHERE id = $4) > 0 AS target
        FROM locked
    ), held AS (
        SELECT p.account_id, p.id, p.kind
        FROM caller JOIN membership m ON m.account_id = caller.account_id
                AND m.vault_id = $2 AND m.id = $3
            JOIN prompt p ON p.account_id = m.account_id AND p.id = m.prompt_id
        WHERE (SELECT source AND target FROM vaults) FOR KEY SHARE OF p
    ), present AS (
        SELECT 1
        FROM caller JOIN membership m ON m.account_id = caller.account_id
            AND m.vault_id = $2 AND m.id = $3
        WHERE (SELECT source FROM vaults) FOR UPDATE OF m
    ), gone AS (
        DELETE FROM membership m USING held
        WHERE m.account_id = held.account_id AND m.vault_id = $2 AND m.id = $3
        RETURNING m.account_id
    ), joined AS (
        INSERT INTO membership (account_id, vault_id, prompt_id, kind)
        SELECT gone.account_id, $4, held.id, held.kind FROM gone, held
        ON CONFLICT (account_id, vault_id, prompt_id) DO UPDATE SET id = excluded.id, pin = NULL
        RETURNING id, prompt_id
    )
    SELECT joined.id, joined.prompt_id,
        CASE WHEN joined.id IS NULL THEN EXISTS (SELECT FROM present) ELSE true END AS present
    FROM caller LEFT JOIN joined ON true",
    ),
);

/// Replaces a membership by one in another vault.
pub(in super::super) async fn relocate(
    db: &Db,
    caller: &Caller,
    vault: VaultId,
    membership: VaultPromptId,
    target: VaultId,
) -> Result<Moved, StoreError> {
    let params = [caller.key.0, vault.get(), membership.get(), target.get()];
    let row = db.row_of_caller(&MOVE, &[&params[0], &params[1], &params[2], &params[3]]).await?;
    if !column::<bool>(&row, "present")? {
        return Err(StoreError::NotFound);
    }
    let membership: Option<i64> = column(&row, "id")?;
    let membership = membership.ok_or(StoreError::UnknownTargetVault)?;
    let prompt = PromptId::new(column(&row, "prompt_id")?);
    Ok(Moved { prompt, membership: VaultPromptId::new(membership) })
}
