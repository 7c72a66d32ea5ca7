//! Pages of prompts.
//!
//! Each of the four questions has an index in which its answer stands together and
//! in order, so that a page costs what the page holds. Statements are written so
//! that the planner cannot do otherwise, whatever it believes of the numbers: the
//! innermost part is one piece of one index, and prompts of a vault are fetched one
//! by one (`OFFSET 0` keeps that part apart).

#[cfg(test)]
mod tests;

use promptarium::{PromptId, VaultId};
use tokio_postgres::Row;

use super::caller::caller;
use super::db::{Db, Params, Statement, column};
use super::rows::{self, prompt_columns};
use crate::domain::{Caller, PromptKind, PromptPage, PromptQuery, SharedPrompt};
use crate::store::StoreError;

/// The most prompts on one page; `LIMIT 101` below is one more. The planner knows
/// nothing of a limit that is a parameter, and takes it for a tenth of all there is.
const MOST: usize = 100;

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&EVERY, &OF_KIND, &IN_VAULT, &OF_KIND_IN_VAULT];

/// A page of `prompt` itself: the caller's key `$1`, before the id `$2`, at most `$3`.
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

/// The same of what the vault `$4` holds. `vault` tells whether it is the caller's.
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

static EVERY: Statement = Statement::reading("listing.every", of_account!(""));
static OF_KIND: Statement = Statement::reading("listing.of_kind", of_account!("AND kind = $4"));
static IN_VAULT: Statement = Statement::reading("listing.in_vault", of_vault!(""));
static OF_KIND_IN_VAULT: Statement =
    Statement::reading("listing.of_kind_in_vault", of_vault!("AND kind = $5"));

/// See [`Store::list_prompts`](crate::store::Store::list_prompts); a page has at most
/// [`MOST`] prompts.
pub(super) async fn page(
    db: &Db,
    caller: &Caller,
    PromptQuery { vault, kind, after, limit }: PromptQuery,
) -> Result<PromptPage, StoreError> {
    let limit = limit.min(MOST);
    let asked = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let before = after.map_or(i64::MAX, PromptId::get);
    let (key, vault, kind) = (caller.key.0, vault.map(VaultId::get), kind.map(PromptKind::as_str));
    let (statement, params): (_, Params<'_>) = match (&vault, &kind) {
        (None, None) => (&EVERY, &[&key, &before, &asked]),
        (None, Some(kind)) => (&OF_KIND, &[&key, &before, &asked, kind]),
        (Some(vault), None) => (&IN_VAULT, &[&key, &before, &asked, vault]),
        (Some(vault), Some(kind)) => (&OF_KIND_IN_VAULT, &[&key, &before, &asked, vault, kind]),
    };
    let rows = db.rows_of_caller(statement, params).await?;
    if vault.is_some() {
        known_vault(&rows)?;
    }
    let mut prompts = prompts(&rows)?;
    let more = prompts.len() > limit;
    prompts.truncate(limit);
    Ok(PromptPage { prompts, more })
}

fn known_vault(rows: &[Row]) -> Result<(), StoreError> {
    let vault: Option<i64> = rows.first().map_or(Ok(None), |row| column(row, "vault"))?;
    vault.map(drop).ok_or(StoreError::UnknownVault)
}

/// None of the one row that stands for an empty page.
fn prompts(rows: &[Row]) -> Result<Vec<SharedPrompt>, StoreError> {
    rows.iter().filter_map(|row| rows::prompt(row).transpose()).collect()
}
