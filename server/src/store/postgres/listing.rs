//! Pages of prompts.
//!
//! Each query has an index in which its rows are contiguous and ordered, so the cost of a page
//! depends on its size only. The statements leave the planner no choice, whatever it
//! estimates: the innermost subquery is a range of one index, and the prompts of a vault are
//! fetched one by one (`OFFSET 0` prevents the subquery from being flattened into a join).

use const_format::formatcp;
use promptarium::PromptId;
use tokio_postgres::Row;

use super::db::{Statement, Values};
use super::rows::{self, CALLER, PROMPT_COLUMNS, column};
use crate::domain::{PromptPage, PromptQuery};
use crate::store::{Result, StoreError};

/// The maximum page size; `LIMIT 101` below is one more. The constant is there because
/// the planner estimates a parameterized LIMIT as a tenth of all rows.
pub(super) const PAGE_MAX: usize = 100;

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&ALL_PROMPTS, &OF_KIND, &IN_VAULT, &OF_KIND_IN_VAULT];

/// A page of the account: ids below `$3`, at most `$4` rows.
macro_rules! of_account {
    ($condition:literal) => {
        formatcp!(
            "{CALLER} SELECT {PROMPT_COLUMNS} FROM caller
             LEFT JOIN LATERAL (
                 SELECT * FROM (
                     SELECT * FROM prompt
                     WHERE account_id = $1 AND id < $3 {}
                     ORDER BY id DESC LIMIT 101
                 ) ahead LIMIT $4
             ) p ON true
             ORDER BY p.id DESC",
            $condition
        )
    };
}

/// A page of the vault `$5`. `vault` is NULL if the caller has no such vault.
macro_rules! of_vault {
    ($condition:literal) => {
        formatcp!(
            "{CALLER} SELECT {PROMPT_COLUMNS}, v.id AS vault FROM caller
             LEFT JOIN vault v ON v.account_id = $1 AND v.id = $5
             LEFT JOIN LATERAL (
                 SELECT one.* FROM (
                     SELECT prompt_id FROM (
                         SELECT prompt_id FROM vault_prompt
                         WHERE account_id = $1 AND vault_id = v.id AND prompt_id < $3 {}
                         ORDER BY prompt_id DESC LIMIT 101
                     ) ahead LIMIT $4
                 ) m
                 CROSS JOIN LATERAL (
                     SELECT * FROM prompt
                     WHERE account_id = $1 AND id = m.prompt_id OFFSET 0
                 ) one
             ) p ON true
             ORDER BY p.id DESC",
            $condition
        )
    };
}

pub(super) static ALL_PROMPTS: Statement = Statement::read_only("listing.all", of_account!(""));
pub(super) static OF_KIND: Statement =
    Statement::read_only("listing.of_kind", of_account!("AND kind = $5"));
pub(super) static IN_VAULT: Statement = Statement::read_only("listing.in_vault", of_vault!(""));
pub(super) static OF_KIND_IN_VAULT: Statement =
    Statement::read_only("listing.of_kind_in_vault", of_vault!("AND kind = $6"));

/// The statement of a page, its parameters, and the most rows that it returns: one more than the
/// page has prompts, at most [`PAGE_MAX`].
pub(super) fn page_statement(query: &PromptQuery) -> (&'static Statement, Values<'static>, usize) {
    let PromptQuery { vault, kind, after, limit } = *query;
    let rows_max = limit.min(PAGE_MAX) + 1;
    let before = after.map_or(i64::MAX, PromptId::get);
    let mut values: Values<'_> = vec![Box::new(before), Box::new(rows_max as i64)];
    if let Some(vault) = vault {
        values.push(Box::new(vault.get()));
    }
    if let Some(kind) = kind {
        values.push(Box::new(kind.as_str()));
    }
    let statement = match (vault, kind) {
        (None, None) => &ALL_PROMPTS,
        (None, Some(_)) => &OF_KIND,
        (Some(_), None) => &IN_VAULT,
        (Some(_), Some(_)) => &OF_KIND_IN_VAULT,
    };
    (statement, values, rows_max)
}

/// The page in the rows of [`page_statement`].
///
/// # Errors
/// [`StoreError::UnknownVault`] if the caller has no such vault.
pub(super) fn page(rows: &[Row], query: &PromptQuery) -> Result<PromptPage> {
    if let Some(row) = rows.first().filter(|_| query.vault.is_some()) {
        column::<Option<i64>>(row, "vault")?.ok_or(StoreError::UnknownVault)?;
    }
    let limit = query.limit.min(PAGE_MAX);
    // An empty page is one row of NULLs.
    let shown = rows.iter().take(limit).filter_map(|row| rows::prompt(row).transpose());
    Ok(PromptPage { prompts: shown.collect::<Result<_>>()?, more: rows.len() > limit })
}
