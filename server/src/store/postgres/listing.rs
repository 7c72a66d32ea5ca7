//! Pages of prompts.
//!
//! Each query has an index in which its rows are contiguous and ordered, so the cost of a page
//! depends on its size only. The statements leave the planner no choice, whatever it
//! estimates: the innermost subquery is a range of one index, and the prompts of a vault are
//! fetched one by one (`OFFSET 0` prevents the subquery from being flattened into a join).

use std::cmp::Reverse;
use std::sync::Arc;

use const_format::formatcp;
use promptarium::limits::PAGE_SIZE;
use promptarium::{PromptId, VaultId};
use tokio_postgres::Row;

use super::db::Db;
use super::rows::{CALLER, EACH_PROMPT, PROMPT_COLUMNS, all, column, int, prompt};
use super::send::{By, Params};
use crate::domain::{Caller, PromptKind, PromptPage, PromptQuery};
use crate::store::{Result, StoreError};

pub(super) const PAGE_MAX: usize = *PAGE_SIZE.end() as usize;
/// One more than a page, in statements as a constant, because the planner estimates a parameterized
/// LIMIT as a tenth of all rows.
pub(super) const AHEAD: usize = PAGE_MAX + 1;

// A page of the account: ids below `$3`, at most `$4` rows. A condition goes in between.
const OF_ACCOUNT: &str = formatcp!(
    "{CALLER} SELECT {PROMPT_COLUMNS} FROM caller
     LEFT JOIN LATERAL (
         SELECT * FROM (
             SELECT * FROM prompt WHERE account_id = $1 AND id < $3"
);
const END_OF_ACCOUNT: &str = formatcp!(
    "        ORDER BY id DESC LIMIT {AHEAD}
         ) ahead LIMIT $4
     ) p ON true"
);

// A page of the vault `$5`. `vault` is NULL if the caller has no such vault.
const OF_VAULT: &str = formatcp!(
    "{CALLER} SELECT {PROMPT_COLUMNS}, v.id AS vault FROM caller
     LEFT JOIN vault v ON v.account_id = $1 AND v.id = $5
     LEFT JOIN LATERAL (
         SELECT one.* FROM (
             SELECT prompt_id FROM (
                 SELECT prompt_id FROM vault_prompt
                 WHERE account_id = $1 AND vault_id = v.id AND prompt_id < $3"
);
const END_OF_VAULT: &str = formatcp!(
    "            ORDER BY prompt_id DESC LIMIT {AHEAD}
             ) ahead LIMIT $4
         ) m {EACH_PROMPT}
     ) p ON true"
);

statements! {
    read_only ALL_PROMPTS "listing.all" "{OF_ACCOUNT} {END_OF_ACCOUNT}";
    read_only OF_KIND "listing.of_kind" "{OF_ACCOUNT} AND kind = $5 {END_OF_ACCOUNT}";
    read_only IN_VAULT "listing.in_vault" "{OF_VAULT} {END_OF_VAULT}";
    read_only OF_KIND_IN_VAULT "listing.of_kind_in_vault" "{OF_VAULT} AND kind = $6 {END_OF_VAULT}";
}

/// Reads a page of at most [`PAGE_MAX`] prompts, once for all of these requests.
///
/// # Errors
/// [`StoreError::UnknownVault`] if the caller has no such vault.
pub(super) async fn read_page(
    db: Arc<Db>,
    (caller, query): (Caller, PromptQuery),
    equal: Vec<()>,
) -> Result<Vec<PromptPage>> {
    let PromptQuery { vault, kind, after, limit } = query;
    let limit = limit.min(PAGE_MAX);
    let (vault, kind) = (vault.map(VaultId::get), kind.map(PromptKind::as_str));
    let (before, rows_max) = (after.map_or(i64::MAX, PromptId::get), int(limit + 1));
    let (statement, params): (_, Params<'_>) = match (&vault, &kind) {
        (None, None) => (&ALL_PROMPTS, &[&before, &rows_max]),
        (None, Some(kind)) => (&OF_KIND, &[&before, &rows_max, kind]),
        (Some(vault), None) => (&IN_VAULT, &[&before, &rows_max, vault]),
        (Some(vault), Some(kind)) => (&OF_KIND_IN_VAULT, &[&before, &rows_max, vault, kind]),
    };
    let rows = db.rows(By::List(&caller, limit + 1), statement, params).await?;
    if let Some(row) = rows.first().filter(|_| vault.is_some()) {
        column::<Option<i64>>(row, "vault")?.ok_or(StoreError::UnknownVault)?;
    }
    Ok(vec![page_of(&rows, limit)?; equal.len()])
}

/// The page in its rows and one more. An empty page is one row of NULLs. Statements return the rows
/// in this order, though they do not say so: sorting here costs less than in the database.
pub(super) fn page_of(rows: &[Row], limit: usize) -> Result<PromptPage> {
    let mut prompts = all(rows, prompt)?;
    prompts.sort_unstable_by_key(|prompt| Reverse(prompt.id));
    let more = prompts.len() > limit;
    prompts.truncate(limit);
    Ok(PromptPage { prompts, more })
}
