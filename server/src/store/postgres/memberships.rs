//! Memberships. The parent module explains the order of locks and CTEs that lock.
//!
//! All statements but `PIN` lock the vaults whose counts change, then the prompt that they
//! add to a vault.

use async_trait::async_trait;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::db::{Params, Statement};
use super::rows::{caller, column};
use super::{PostgresStore, listing};
use crate::domain::Caller;
use crate::limits::STREAM_STALL_TIMEOUT;
use crate::store::{Added, Contents, MembershipStore, Moved, Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&ADD, &REMOVE, &MOVE, &PIN];

/// `prompt_count` is updated by a trigger, which this statement's own snapshot does not
/// show. The new count is therefore the count of the locked vault plus the number added.
static ADD: Statement = Statement::non_idempotent(
    "memberships.add",
    concat!(
        caller!(),
        ", wanted AS (
            SELECT id, min(ord) AS ord
            FROM unnest($3::bigint[]) WITH ORDINALITY AS given (id, ord) GROUP BY id
        ), v AS (
            SELECT v.account_id, v.id, v.prompt_count
            FROM caller JOIN vault v ON v.account_id = caller.account_id AND v.id = $2
            FOR NO KEY UPDATE OF v
        ), locked AS (
            SELECT p.id, p.kind
            FROM caller JOIN prompt p ON p.account_id = caller.account_id
                AND p.id = ANY ($3::bigint[])
            WHERE (SELECT count(*) FROM v) > 0 ORDER BY p.id FOR KEY SHARE OF p
        ), unknown AS (
            SELECT id, ord FROM wanted WHERE id NOT IN (SELECT id FROM locked)
        ), added AS (
            INSERT INTO membership (account_id, vault_id, prompt_id, kind)
            SELECT v.account_id, v.id, locked.id, locked.kind
            FROM v, locked JOIN wanted ON wanted.id = locked.id
            WHERE NOT EXISTS (SELECT FROM unknown) ORDER BY wanted.ord
            ON CONFLICT (account_id, vault_id, prompt_id) DO NOTHING RETURNING 1
        )
        SELECT v.prompt_count, (SELECT count(*) FROM added) AS added,
            ARRAY(SELECT id FROM unknown ORDER BY ord) AS unknown
        FROM caller LEFT JOIN v ON true",
    ),
);

static REMOVE: Statement = Statement::non_idempotent(
    "memberships.remove",
    concat!(
        caller!(),
        ", v AS (
            SELECT v.account_id, v.id
            FROM caller JOIN vault v ON v.account_id = caller.account_id AND v.id = $2
            FOR NO KEY UPDATE OF v
        ), deleted AS (
            DELETE FROM membership m USING v
            WHERE m.account_id = v.account_id AND m.vault_id = v.id AND m.id = $3
            RETURNING 1
        )
        SELECT EXISTS (SELECT FROM deleted) AS deleted FROM caller",
    ),
);

/// - `locked_prompt` reads the membership without a lock: a membership never changes its
///   prompt. Whether the membership still exists is decided by the DELETE, after all locks.
/// - `present` is evaluated only if nothing was moved: a missing membership is reported
///   before a missing target.
/// - A membership that the target has already is updated in place to look like a new one.
///   If the target is the source, the insert does not conflict: the row is deleted.
static MOVE: Statement = Statement::non_idempotent(
    "memberships.move",
    concat!(
        caller!(),
        ", locked_vaults AS (
            SELECT v.id
            FROM caller JOIN vault v ON v.account_id = caller.account_id AND v.id IN ($2, $4)
            ORDER BY v.id FOR NO KEY UPDATE OF v
        ), vaults AS (
            SELECT count(*) FILTER (WHERE id = $2) > 0 AS source,
                count(*) FILTER (WHERE id = $4) > 0 AS target
            FROM locked_vaults
        ), locked_prompt AS (
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
        ), deleted AS (
            DELETE FROM membership m USING locked_prompt p
            WHERE m.account_id = p.account_id AND m.vault_id = $2 AND m.id = $3
            RETURNING m.account_id
        ), added AS (
            INSERT INTO membership (account_id, vault_id, prompt_id, kind)
            SELECT deleted.account_id, $4, p.id, p.kind FROM deleted, locked_prompt p
            ON CONFLICT (account_id, vault_id, prompt_id) DO UPDATE SET id = excluded.id, pin = NULL
            RETURNING id, prompt_id
        )
        SELECT added.id, added.prompt_id,
            CASE WHEN added.id IS NULL THEN EXISTS (SELECT FROM present) ELSE true END AS present
        FROM caller LEFT JOIN added ON true",
    ),
);

/// Locks only the membership, and holds no other lock while it waits.
static PIN: Statement = Statement::non_idempotent(
    "memberships.pin",
    concat!(
        caller!(),
        ", changed AS (
            UPDATE membership m
            SET pin = CASE WHEN $4 THEN coalesce(m.pin, nextval('membership_pin')) END
            FROM caller
            WHERE m.account_id = caller.account_id AND m.vault_id = $2 AND m.id = $3
            RETURNING 1
        )
        SELECT EXISTS (SELECT FROM changed) AS changed FROM caller",
    ),
);

#[async_trait]
impl MembershipStore for PostgresStore {
    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Contents> {
        listing::contents(&self.db, caller, vault, STREAM_STALL_TIMEOUT).await
    }

    async fn add_prompts(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Added> {
        let ids: Vec<i64> = prompts.iter().map(|id| id.get()).collect();
        let params: Params<'_> = &[&caller.key.0, &vault.get(), &ids];
        let row = self.db.row_of_caller(caller, &ADD, params).await?;
        let before: Option<i64> = column(&row, "prompt_count")?;
        let before = before.ok_or(StoreError::NotFound)?;
        let unknown: Vec<i64> = column(&row, "unknown")?;
        if !unknown.is_empty() {
            let unknown = unknown.into_iter().map(PromptId::new);
            return Err(StoreError::UnknownPrompts(unknown.collect()));
        }
        let added: i64 = column(&row, "added")?;
        let prompt_count = before.unsigned_abs() + added.unsigned_abs();
        // At most the number of ids in the slice, so it fits.
        let added = usize::try_from(added).unwrap_or(prompts.len());
        Ok(Added { added, prompt_count })
    }

    async fn remove_membership(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
    ) -> Result<()> {
        let params: Params<'_> = &[&caller.key.0, &vault.get(), &membership.get()];
        let row = self.db.row_of_caller(caller, &REMOVE, params).await?;
        if column(&row, "deleted")? { Ok(()) } else { Err(StoreError::NotFound) }
    }

    async fn move_membership(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        target: VaultId,
    ) -> Result<Moved> {
        let params: Params<'_> = &[&caller.key.0, &vault.get(), &membership.get(), &target.get()];
        let row = self.db.row_of_caller(caller, &MOVE, params).await?;
        if !column::<bool>(&row, "present")? {
            return Err(StoreError::NotFound);
        }
        let membership: Option<i64> = column(&row, "id")?;
        let membership = membership.ok_or(StoreError::UnknownTargetVault)?;
        let prompt = PromptId::new(column(&row, "prompt_id")?);
        Ok(Moved { prompt, membership: VaultPromptId::new(membership) })
    }

    async fn set_pinned(
        &self,
        caller: &Caller,
        vault: VaultId,
        membership: VaultPromptId,
        pinned: bool,
    ) -> Result<()> {
        let params: Params<'_> = &[&caller.key.0, &vault.get(), &membership.get(), &pinned];
        let row = self.db.row_of_caller(caller, &PIN, params).await?;
        if column(&row, "changed")? { Ok(()) } else { Err(StoreError::NotFound) }
    }
}
