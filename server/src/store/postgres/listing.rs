//! Pages of prompts.
//!
//! Each query has an index in which its rows are contiguous and ordered, so the cost of a page
//! depends on its size only. The statements leave the planner no choice, whatever it
//! estimates: the innermost subquery is a range of one index, and the prompts of a vault are
//! fetched one by one (`OFFSET 0` prevents the subquery from being flattened into a join).

use promptarium::{PromptId, VaultId};

use super::batch_reader::BatchReader;
use super::db::{Db, Params, Statement};
use super::rows::{self, caller, column, prompt_columns};
use crate::domain::{Caller, KeyId, PromptKind, PromptPage, PromptQuery};
use crate::store::{Result, StoreError};

/// The maximum page size; `LIMIT 101` below is one more. The constant is there because
/// the planner estimates a parameterized LIMIT as a tenth of all rows.
pub(super) const PAGE_MAX: usize = 100;

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&ALL_PROMPTS, &OF_KIND, &IN_VAULT, &OF_KIND_IN_VAULT];

/// A page of the account: ids below `$3`, at most `$4` rows.
macro_rules! of_account {
    ($condition:literal) => {
        concat!(
            caller!(),
            " SELECT ",
            prompt_columns!(),
            " FROM caller
             LEFT JOIN LATERAL (
                 SELECT * FROM (
                     SELECT * FROM prompt
                     WHERE account_id = $1 AND id < $3 ",
            $condition,
            "        ORDER BY id DESC LIMIT 101
                 ) ahead LIMIT $4
             ) p ON true
             ORDER BY p.id DESC"
        )
    };
}

/// A page of the vault `$5`. `vault` is NULL if the caller has no such vault.
macro_rules! of_vault {
    ($condition:literal) => {
        concat!(
            caller!(),
            " SELECT ",
            prompt_columns!(),
            ", v.id AS vault
             FROM caller
             LEFT JOIN vault v ON v.account_id = $1 AND v.id = $5
             LEFT JOIN LATERAL (
                 SELECT one.* FROM (
                     SELECT prompt_id FROM (
                         SELECT prompt_id FROM vault_prompt
                         WHERE account_id = $1 AND vault_id = v.id AND prompt_id < $3 ",
            $condition,
            "            ORDER BY prompt_id DESC LIMIT 101
                     ) ahead LIMIT $4
                 ) m
                 CROSS JOIN LATERAL (
                     SELECT * FROM prompt
                     WHERE account_id = $1 AND id = m.prompt_id OFFSET 0
                 ) one
             ) p ON true
             ORDER BY p.id DESC"
        )
    };
}

pub(super) static ALL_PROMPTS: Statement = Statement::read_only("listing.all", of_account!(""));
pub(super) static OF_KIND: Statement =
    Statement::read_only("listing.of_kind", of_account!("AND kind = $5"));
pub(super) static IN_VAULT: Statement = Statement::read_only("listing.in_vault", of_vault!(""));
pub(super) static OF_KIND_IN_VAULT: Statement =
    Statement::read_only("listing.of_kind_in_vault", of_vault!("AND kind = $6"));

/// Pages by key and query. Equal queries of a key that wait for one another go out as one
/// statement, whose rows they share.
pub(super) type Pages = BatchReader<(KeyId, PromptQuery), (), PromptPage>;

/// See [`PromptStore::list_prompts`](crate::store::PromptStore::list_prompts); a page has
/// at most [`PAGE_MAX`] prompts.
pub(super) async fn page(
    db: &Db,
    pages: &Pages,
    caller: &Caller,
    query: PromptQuery,
) -> Result<PromptPage> {
    let send = |_| async move {
        let page = read(db, caller, query).await?;
        Ok(page.map(|page| ((), page)).into_iter().collect())
    };
    let page = pages.load((caller.key, query), (), send).await?;
    page.ok_or(StoreError::UnknownVault)
}

/// `None` if the caller has no such vault.
async fn read(db: &Db, caller: &Caller, query: PromptQuery) -> Result<Option<PromptPage>> {
    let PromptQuery { vault, kind, after, limit } = query;
    let limit = limit.min(PAGE_MAX);
    let row_limit = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let before = after.map_or(i64::MAX, PromptId::get);
    let (vault, kind) = (vault.map(VaultId::get), kind.map(PromptKind::as_str));
    let (statement, more): (_, Params<'_>) = match (&vault, &kind) {
        (None, None) => (&ALL_PROMPTS, &[]),
        (None, Some(kind)) => (&OF_KIND, &[kind]),
        (Some(vault), None) => (&IN_VAULT, &[vault]),
        (Some(vault), Some(kind)) => (&OF_KIND_IN_VAULT, &[vault, kind]),
    };
    let page: Params<'_> = &[&caller.account.0, &caller.key.0, &before, &row_limit];
    let rows = db.list_of_caller(caller, statement, &[page, more].concat(), limit + 1).await?;
    if let Some(row) = rows.first().filter(|_| vault.is_some())
        && column::<Option<i64>>(row, "vault")?.is_none()
    {
        return Ok(None);
    }
    // An empty page is one row of NULLs.
    let shown = rows.iter().take(limit).filter_map(|row| rows::prompt(row).transpose());
    Ok(Some(PromptPage { prompts: shown.collect::<Result<_>>()?, more: rows.len() > limit }))
}
