//! Pages of prompts.
//!
//! Each of the four queries has an index in which its rows are contiguous and ordered, so
//! the cost depends on the page size only. The statements leave the planner no choice,
//! whatever it estimates: the innermost subquery is a range of one index, and the prompts
//! of a vault are fetched one by one (`OFFSET 0` prevents the subquery from being
//! flattened into a join).

use promptarium::{PromptId, VaultId};
use tokio_postgres::Row;

use super::db::{Db, Params, Statement, column};
use super::rows::{self, caller, prompt_columns};
use crate::domain::{Caller, PromptKind, PromptPage, PromptQuery};
use crate::store::{Result, StoreError};

/// The maximum page size; `LIMIT 101` below is one more. The constant is there because
/// the planner estimates a parameterized LIMIT as a tenth of all rows.
pub(super) const PAGE_MAX: usize = 100;

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&ALL_PROMPTS, &OF_KIND, &IN_VAULT, &OF_KIND_IN_VAULT];

/// A page of the account: the caller's key `$1`, ids below `$2`, at most `$3` rows.
macro_rules! of_account {
    ($condition:literal) => {
        concat!(
            "WITH caller AS ",
            caller!(),
            " SELECT ",
            prompt_columns!(),
            " FROM caller
             LEFT JOIN LATERAL (
                 SELECT * FROM (
                     SELECT * FROM prompt
                     WHERE account_id = caller.account_id AND id < $2 ",
            $condition,
            "        ORDER BY id DESC LIMIT 101
                 ) ahead LIMIT $3
             ) p ON true
             ORDER BY p.id DESC"
        )
    };
}

/// A page of the vault `$4`. `vault` is NULL if the caller has no such vault.
macro_rules! of_vault {
    ($condition:literal) => {
        concat!(
            "WITH caller AS ",
            caller!(),
            " SELECT ",
            prompt_columns!(),
            ", v.id AS vault
             FROM caller
             LEFT JOIN vault v ON v.account_id = caller.account_id AND v.id = $4
             LEFT JOIN LATERAL (
                 SELECT one.* FROM (
                     SELECT prompt_id FROM (
                         SELECT prompt_id FROM membership
                         WHERE account_id = v.account_id AND vault_id = v.id
                             AND prompt_id < $2 ",
            $condition,
            "            ORDER BY prompt_id DESC LIMIT 101
                     ) ahead LIMIT $3
                 ) m
                 CROSS JOIN LATERAL (
                     SELECT * FROM prompt
                     WHERE account_id = v.account_id AND id = m.prompt_id OFFSET 0
                 ) one
             ) p ON true
             ORDER BY p.id DESC"
        )
    };
}

pub(super) static ALL_PROMPTS: Statement = Statement::read_only("listing.all", of_account!(""));
pub(super) static OF_KIND: Statement =
    Statement::read_only("listing.of_kind", of_account!("AND kind = $4"));
pub(super) static IN_VAULT: Statement = Statement::read_only("listing.in_vault", of_vault!(""));
pub(super) static OF_KIND_IN_VAULT: Statement =
    Statement::read_only("listing.of_kind_in_vault", of_vault!("AND kind = $5"));

/// See [`PromptStore::list_prompts`](crate::store::PromptStore::list_prompts); a page has
/// at most [`PAGE_MAX`] prompts.
pub(super) async fn page(
    db: &Db,
    caller: &Caller,
    PromptQuery { vault, kind, after, limit }: PromptQuery,
) -> Result<PromptPage> {
    let limit = limit.min(PAGE_MAX);
    let asked = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let before = after.map_or(i64::MAX, PromptId::get);
    let (key, vault, kind) = (caller.key.0, vault.map(VaultId::get), kind.map(PromptKind::as_str));
    let (statement, params): (_, Params<'_>) = match (&vault, &kind) {
        (None, None) => (&ALL_PROMPTS, &[&key, &before, &asked]),
        (None, Some(kind)) => (&OF_KIND, &[&key, &before, &asked, kind]),
        (Some(vault), None) => (&IN_VAULT, &[&key, &before, &asked, vault]),
        (Some(vault), Some(kind)) => (&OF_KIND_IN_VAULT, &[&key, &before, &asked, vault, kind]),
    };
    let rows = db.rows_of_caller(statement, params).await?;
    if vault.is_some() && vault_of(&rows)?.is_none() {
        return Err(StoreError::UnknownVault);
    }
    // An empty page is one row of NULLs.
    let prompts = rows.iter().filter_map(|row| rows::prompt(row).transpose());
    let mut prompts = prompts.collect::<Result<Vec<_>>>()?;
    let more = prompts.len() > limit;
    prompts.truncate(limit);
    Ok(PromptPage { prompts, more })
}

fn vault_of(rows: &[Row]) -> Result<Option<i64>> {
    rows.first().map_or(Ok(None), |row| column(row, "vault"))
}
