//! Memberships. The parent module explains the order of locks and CTEs that lock.
//!
//! All but `PIN` lock the vaults whose counts change, then the prompt that they add to a vault.

use async_trait::async_trait;
use futures::{StreamExt, stream};
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::prompt_changes::LOCK_VAULTS;
use super::rows::{CALLER, KEY_IS_VALID, NEW_MEMBER, column, found};
use super::send::{By, Params, Step};
use super::{PostgresStore, listing};
use crate::domain::{Caller, Membership};
use crate::store::{Contents, MembershipStore, Moved, Result, StoreError};

statements! {
    /// `$5` are the pins of an import, which come after those that the vault has; `$6` says whether
    /// prompts may be unknown.
    pub(super) non_idempotent ADD "memberships.add"
        "{CALLER}, new_members AS MATERIALIZED (
            SELECT ARRAY(SELECT nextval('vault_prompt_id_seq')
                FROM generate_series(1, cardinality($4::bigint[]))) AS ids
        ), wanted AS (
            SELECT id, min(ord) AS ord
            FROM unnest($4::bigint[]) WITH ORDINALITY AS given (id, ord) GROUP BY id
        ), v AS (
            SELECT v.id, v.prompt_count FROM vault v
            WHERE v.account_id = $1 AND v.id = $3 AND {KEY_IS_VALID} FOR NO KEY UPDATE
        ), locked AS (
            SELECT p.id, p.kind FROM prompt p
            WHERE p.account_id = $1 AND p.id = ANY ($4::bigint[])
                AND (SELECT count(*) FROM v) > 0
            ORDER BY p.id FOR KEY SHARE
        ), unknown AS (
            SELECT id, ord FROM wanted WHERE id NOT IN (SELECT id FROM locked)
        ), added AS (
            INSERT INTO vault_prompt (account_id, id, vault_id, prompt_id, kind, pin)
            SELECT $1, new_members.ids[wanted.ord], v.id, locked.id, locked.kind,
                ($5::bigint[])[wanted.ord] + coalesce((SELECT max(other.pin)
                    FROM vault_prompt other WHERE other.account_id = $1 AND other.vault_id = $3), 0)
            FROM new_members, v, locked JOIN wanted ON wanted.id = locked.id
            WHERE $6::boolean OR NOT EXISTS (SELECT FROM unknown)
            ON CONFLICT (account_id, vault_id, prompt_id) DO NOTHING RETURNING 1
        ), number AS (
            SELECT count(*) AS added FROM added
        ), in_count AS (
            UPDATE vault v SET prompt_count = v.prompt_count + number.added FROM number
            WHERE v.account_id = $1 AND v.id = $3 AND number.added > 0
        )
        SELECT v.prompt_count, number.added, ARRAY(SELECT id FROM unknown ORDER BY ord) AS unknown
        FROM caller CROSS JOIN number LEFT JOIN v ON true";
    non_idempotent REMOVE "memberships.remove"
        "{CALLER}, v AS (
            SELECT v.id FROM vault v WHERE v.account_id = $1 AND v.id = $3 AND {KEY_IS_VALID} FOR
            NO KEY UPDATE
        ), deleted AS (
            DELETE FROM vault_prompt m USING v
            WHERE m.account_id = $1 AND m.vault_id = $3 AND m.id = $4
            RETURNING m.vault_id
        ), in_count AS (
            UPDATE vault v SET prompt_count = v.prompt_count - 1
            FROM deleted WHERE v.account_id = $1 AND v.id = deleted.vault_id
        )
        SELECT EXISTS (SELECT FROM deleted) FROM caller";
    /// From the vault `$3` to `$5`, after both were locked. A membership that the target has
    /// already, as where it is the source, is replaced by the new one.
    non_idempotent MOVE "memberships.move"
        "{CALLER}, {NEW_MEMBER}, present AS (
            SELECT m.prompt_id FROM vault_prompt m
            WHERE m.account_id = $1 AND m.vault_id = $3 AND m.id = $4
        ), locked AS (
            SELECT p.id, p.kind FROM prompt p
            WHERE p.account_id = $1 AND p.id = (SELECT prompt_id FROM present) AND EXISTS (SELECT
            FROM vault v WHERE v.account_id = $1 AND v.id = $5) AND {KEY_IS_VALID} FOR KEY SHARE
        ), deleted AS (
            DELETE FROM vault_prompt m USING locked
            WHERE m.account_id = $1 AND m.vault_id IN ($3, $5) AND m.prompt_id = locked.id
            RETURNING m.vault_id
        ), added AS (
            INSERT INTO vault_prompt (account_id, id, vault_id, prompt_id, kind)
            SELECT $1, new_member.id, $5, locked.id, locked.kind FROM locked, new_member
            WHERE (SELECT count(*) FROM deleted) > 0
            RETURNING id, prompt_id
        ), in_count AS (
            UPDATE vault v SET prompt_count = v.prompt_count
                + CASE WHEN v.id = $5 THEN 1 ELSE 0 END
                - (SELECT count(*) FROM deleted WHERE deleted.vault_id = v.id)
            FROM added
            WHERE v.account_id = $1 AND v.id IN ($3, $5)
        )
        SELECT added.id, added.prompt_id, EXISTS (SELECT FROM present) AS present
        FROM caller LEFT JOIN added ON true";
    /// The latest pinned has the greatest number. Of two at once with one number, the newer
    /// membership comes first.
    non_idempotent PIN "memberships.pin"
        "{CALLER}, changed AS (
            UPDATE vault_prompt m SET pin = CASE WHEN $5 THEN coalesce(m.pin, 1 + coalesce((
                SELECT max(other.pin) FROM vault_prompt other
                WHERE other.account_id = $1 AND other.vault_id = $3), 0)) END
            WHERE m.account_id = $1 AND m.vault_id = $3 AND m.id = $4 AND {KEY_IS_VALID}
            RETURNING 1
        )
        SELECT EXISTS (SELECT FROM changed) FROM caller";
}

/// Of most memberships that [`ADD`] adds.
pub(super) const NO_PINS: Option<Vec<i64>> = None;

#[async_trait]
impl MembershipStore for PostgresStore {
    async fn contents(&self, caller: &Caller, vault: VaultId) -> Result<Contents> {
        let Some(small) = self.small_vaults.run((caller.clone(), vault), 0, ()).await? else {
            // From the beginning: rows of two statements would not be those of one instant.
            return listing::large_vault(&self.db, caller, vault).await;
        };
        let bytes = small.iter().map(|listed| listed.prompt.text.len()).sum();
        let entries = (0..small.len()).map(move |at| Ok(small[at].clone()));
        Ok(Contents { bytes, entries: stream::iter(entries).boxed() })
    }

    async fn add_prompts(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<(usize, u64)> {
        let ids: Vec<i64> = prompts.iter().map(|id| id.get()).collect();
        let row =
            self.db.row_of_caller(caller, &ADD, &[&vault.get(), &ids, &NO_PINS, &false]).await?;
        let before: Option<i64> = column(&row, "prompt_count")?;
        let before = before.ok_or(StoreError::NotFound)?;
        let unknown: Vec<i64> = column(&row, "unknown")?;
        if !unknown.is_empty() {
            let unknown = unknown.into_iter().map(PromptId::new);
            return Err(StoreError::UnknownPrompts(unknown.collect()));
        }
        let added: i64 = column(&row, "added")?;
        let prompt_count = before.unsigned_abs() + added.unsigned_abs();
        let added = usize::try_from(added).unwrap_or(prompts.len());
        Ok((added, prompt_count))
    }

    async fn remove_membership(&self, caller: &Caller, at: Membership) -> Result<()> {
        let params: Params<'_> = &[&at.vault.get(), &at.id.get()];
        found(&self.db.row_of_caller(caller, &REMOVE, params).await?)
    }

    async fn move_membership(&self, caller: &Caller, at: Membership, to: VaultId) -> Result<Moved> {
        let vaults = vec![at.vault.get(), to.get()];
        let steps: [Step<'_>; 2] =
            [(&LOCK_VAULTS, &[&vaults]), (&MOVE, &[&vaults[0], &at.id.get(), &vaults[1]])];
        let row = self.db.row_of_steps(By::Caller(caller), &steps).await?;
        if !column::<bool>(&row, "present")? {
            return Err(StoreError::NotFound);
        }
        let membership: Option<i64> = column(&row, "id")?;
        let membership = membership.ok_or(StoreError::UnknownTargetVault)?;
        let prompt = PromptId::new(column(&row, "prompt_id")?);
        Ok(Moved { prompt, membership: VaultPromptId::new(membership) })
    }

    async fn set_pinned(&self, caller: &Caller, at: Membership, pinned: bool) -> Result<()> {
        let params: Params<'_> = &[&at.vault.get(), &at.id.get(), &pinned];
        found(&self.db.row_of_caller(caller, &PIN, params).await?)
    }
}
