//! Memberships. The parent module explains the order of locks and CTEs that lock.
//!
//! All but `PIN` lock the vaults whose counts change, then the prompt that they add to a vault.

use std::collections::HashSet;

use futures::{StreamExt, stream};

use super::listing;
use super::prelude::*;
use super::vaults::{COUNT, LOCK_VAULTS, PUT};

/// Whether there are the membership `$4` of the vault `$3` and the vault `$5`.
const IS_MOVED: &str = formatcp!(
    "EXISTS (SELECT FROM vault t WHERE t.account_id = $1 AND t.id = $5) AND EXISTS (
        SELECT FROM vault_prompt s WHERE s.account_id = $1 AND s.vault_id = $3 AND s.id = $4)
    AND {KEY_IS_VALID}"
);

statements! {
    /// Locks the prompts `$4`, and says what [`COUNT`] and [`PUT`] will do with them.
    idempotent TO_ADD "memberships.to_add"
        "{CALLER}, locked AS MATERIALIZED (
            SELECT p.id FROM prompt p WHERE p.account_id = $1 AND p.id = ANY ($4::bigint[])
            ORDER BY p.id FOR KEY SHARE
        )
        SELECT v.prompt_count, (SELECT count(*) FROM locked WHERE (
                SELECT m.id FROM vault_prompt m WHERE m.account_id = $1 AND m.vault_id = $3
                    AND m.prompt_id = locked.id) IS NULL) AS added,
            ARRAY(SELECT given.id FROM unnest($4::bigint[]) WITH ORDINALITY AS given (id, ord)
                WHERE given.id NOT IN (SELECT id FROM locked) ORDER BY ord) AS unknown
        FROM caller LEFT JOIN vault v ON v.account_id = $1 AND v.id = $3";
    /// Pins the prompts `$4` of an import, after those that are pinned in the vault.
    pub(super) non_idempotent PINS "memberships.pins"
        "UPDATE vault_prompt m SET pin = given.pin + coalesce((SELECT max(other.pin)
            FROM vault_prompt other WHERE other.account_id = $1 AND other.vault_id = $3), 0)
        FROM unnest($4::bigint[], $5::bigint[]) AS given (id, pin)
        WHERE m.account_id = $1 AND m.vault_id = $3 AND m.prompt_id = given.id
            AND given.pin IS NOT NULL AND {KEY_IS_VALID}";
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
    /// After locks on the vaults `$3` and `$5`: locks the prompt of the membership `$4` in `$3`. If there
    /// is none, or no vault `$5`, the next ones change nothing, and this is the answer.
    idempotent MOVED "memberships.moved"
        "{CALLER}, locked AS MATERIALIZED (
            SELECT p.id FROM prompt p WHERE p.account_id = $1 AND p.id = (
                SELECT m.prompt_id FROM vault_prompt m
                WHERE m.account_id = $1 AND m.vault_id = $3 AND m.id = $4) FOR KEY SHARE
        )
        SELECT NULL::bigint AS id, NULL::bigint AS prompt_id,
            EXISTS (SELECT FROM locked) AS present FROM caller";
    /// One more in `$5`, and one less where it is, which may be in both.
    non_idempotent MOVE_COUNT "memberships.move_count"
        "UPDATE vault v SET prompt_count = v.prompt_count + CASE WHEN v.id = $5 THEN 1 ELSE 0 END
            - (SELECT count(*) FROM vault_prompt m
                WHERE m.account_id = $1 AND m.vault_id = v.id AND m.prompt_id = (
                    SELECT a.prompt_id FROM vault_prompt a
                    WHERE a.account_id = $1 AND a.vault_id = $3 AND a.id = $4))
        WHERE v.account_id = $1 AND v.id IN ($3, $5) AND {IS_MOVED}";
    non_idempotent MOVE_PUT "memberships.move_put"
        "INSERT INTO vault_prompt (account_id, vault_id, prompt_id, kind)
        SELECT $1, v.id, m.prompt_id, m.kind
        FROM vault v JOIN vault_prompt m ON m.account_id = v.account_id
        WHERE v.account_id = $1 AND v.id = $5 AND m.account_id = $1 AND m.vault_id = $3
            AND m.id = $4 AND {KEY_IS_VALID}
        ON CONFLICT (account_id, vault_id, prompt_id) DO UPDATE SET id = excluded.id, pin = NULL
        RETURNING id, prompt_id, true AS present";
    /// Within one vault the membership has its new id already.
    non_idempotent MOVE_OUT "memberships.move_out"
        "DELETE FROM vault_prompt m
        WHERE m.account_id = $1 AND m.vault_id = $3 AND m.id = $4 AND {IS_MOVED}";
    /// The latest pinned has the greatest number; with one number, the newer membership is first.
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
        let (vault, mut seen) = (vault.get(), HashSet::new());
        let ids: Vec<_> = prompts.iter().map(|id| id.get()).filter(|id| seen.insert(*id)).collect();
        let put: Params<'_> = &[&vault, &ids, &false, &false, &None::<i64>];
        let steps: [Step<'_>; 4] = [
            (&LOCK_VAULTS, &[&vec![vault]]),
            (&TO_ADD, &[&vault, &ids]),
            (&COUNT, put),
            (&PUT, put),
        ];
        let row = self.db.row_of_steps(By::Caller(caller), &steps).await?;
        let before = column::<Option<i64>>(&row, "prompt_count")?.ok_or(StoreError::NotFound)?;
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
        let (of, to) = (at.id.get(), to.get());
        let params: Params<'_> = &[&vaults[0], &of, &to];
        let steps: [Step<'_>; 5] = [
            (&LOCK_VAULTS, &[&vaults]),
            (&MOVED, &params[..2]),
            (&MOVE_COUNT, params),
            (&MOVE_PUT, params),
            (&MOVE_OUT, params),
        ];
        let row = self.db.row_of_steps(By::Caller(caller), &steps).await?;
        if !column::<bool>(&row, "present")? {
            return Err(StoreError::NotFound);
        }
        let membership = column::<Option<_>>(&row, "id")?.map(VaultPromptId::new);
        let membership = membership.ok_or(StoreError::UnknownTargetVault)?;
        Ok(Moved { prompt: PromptId::new(column(&row, "prompt_id")?), membership })
    }

    async fn set_pinned(&self, caller: &Caller, at: Membership, pinned: bool) -> Result<()> {
        let params: Params<'_> = &[&at.vault.get(), &at.id.get(), &pinned];
        found(&self.db.row_of_caller(caller, &PIN, params).await?)
    }
}
