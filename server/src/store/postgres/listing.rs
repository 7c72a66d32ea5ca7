//! Lists of prompts: pages, and the contents of a vault.
//!
//! Each query has an index in which its rows are contiguous and ordered, so the cost of a page
//! depends on its size only. The statements leave the planner no choice, whatever it
//! estimates: the innermost subquery is a range of one index, and the prompts of a vault are
//! fetched one by one (`OFFSET 0` prevents the subquery from being flattened into a join).
//!
//! A small vault is read by one ordinary statement. A larger one is streamed, since its rows
//! must be those of one instant. A task reads a batch ahead of the reader, so that the
//! connection can be taken back from a reader that takes nothing for too long.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use promptarium::{PromptId, VaultId, VaultPromptId};
use tokio::sync::mpsc::{self, Sender, error::SendTimeoutError};
use tokio_postgres::Row;

use super::db::{Db, Params, Rows, Statement};
use super::rows::{self, caller, column, prompt_columns};
use crate::domain::{Caller, ListedPrompt, PromptKind, PromptPage, PromptQuery};
use crate::limits::STREAM_BATCH;
use crate::store::{Contents, Result, StoreError};

/// The maximum page size; `LIMIT 101` below is one more. The constant is there because
/// the planner estimates a parameterized LIMIT as a tenth of all rows.
pub(super) const PAGE_MAX: usize = 100;

/// `LIMIT 65` below is one more, which tells a small vault from a larger one.
const _: () = assert!(STREAM_BATCH == 64);

#[cfg(test)]
pub(super) static ALL: &[&Statement] =
    &[&ALL_PROMPTS, &OF_KIND, &IN_VAULT, &OF_KIND_IN_VAULT, &SMALL_VAULT, &LARGE_VAULT];

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

/// The contents of the vault `$3`. Nested loops keep the innermost order; an outer `ORDER BY`
/// would sort whole prompts before the first could leave.
macro_rules! contents {
    ($rows:literal) => {
        concat!(
            caller!(),
            " SELECT ",
            prompt_columns!(),
            ", p.membership, p.pinned, v.id AS vault
         FROM caller
         LEFT JOIN vault v ON v.account_id = $1 AND v.id = $3
         LEFT JOIN LATERAL (
             SELECT m.id AS membership, m.pin IS NOT NULL AS pinned, one.* FROM (
                 SELECT id, pin, prompt_id FROM vault_prompt
                 WHERE account_id = $1 AND vault_id = v.id
                 ORDER BY pin DESC NULLS LAST, id DESC ",
            $rows,
            "
             ) m
             CROSS JOIN LATERAL (
                 SELECT * FROM prompt
                 WHERE account_id = $1 AND id = m.prompt_id OFFSET 0
             ) one
         ) p ON true"
        )
    };
}

pub(super) static ALL_PROMPTS: Statement = Statement::read_only("listing.all", of_account!(""));
pub(super) static OF_KIND: Statement =
    Statement::read_only("listing.of_kind", of_account!("AND kind = $5"));
pub(super) static IN_VAULT: Statement = Statement::read_only("listing.in_vault", of_vault!(""));
pub(super) static OF_KIND_IN_VAULT: Statement =
    Statement::read_only("listing.of_kind_in_vault", of_vault!("AND kind = $6"));
static SMALL_VAULT: Statement = Statement::read_only("contents.small", contents!("LIMIT 65"));
static LARGE_VAULT: Statement = Statement::read_only("contents.large", contents!("OFFSET 0"));

/// See [`PromptStore::list_prompts`](crate::store::PromptStore::list_prompts); a page has
/// at most [`PAGE_MAX`] prompts.
pub(super) async fn page(
    db: &Db,
    caller: &Caller,
    PromptQuery { vault, kind, after, limit }: PromptQuery,
) -> Result<PromptPage> {
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
    if let Some(row) = rows.first().filter(|_| vault.is_some()) {
        column::<Option<i64>>(row, "vault")?.ok_or(StoreError::UnknownVault)?;
    }
    // An empty page is one row of NULLs.
    let prompts = rows.iter().filter_map(|row| rows::prompt(row).transpose());
    let mut prompts = prompts.collect::<Result<Vec<_>>>()?;
    let more = prompts.len() > limit;
    prompts.truncate(limit);
    Ok(PromptPage { prompts, more })
}

/// See [`MembershipStore::contents`](crate::store::MembershipStore::contents). A reader that
/// takes no row for `stall_timeout` gets an error after those that were read ahead.
pub(super) async fn contents(
    db: &Db,
    caller: &Caller,
    vault: VaultId,
    stall_timeout: Duration,
) -> Result<Contents> {
    let params: Params<'_> = &[&caller.account.0, &caller.key.0, &vault.get()];
    let rows = db.list_of_caller(caller, &SMALL_VAULT, params, STREAM_BATCH + 1).await?;
    if rows.len() <= STREAM_BATCH {
        let small = rows.iter().filter_map(|row| listed(row).transpose());
        let small = small.collect::<Result<Vec<_>>>()?;
        return Ok(stream::iter(small.into_iter().map(Ok)).boxed());
    }
    drop(rows);
    // From the beginning: rows of two statements would not be those of one instant.
    let (row, mut rest) = db.stream_of_caller(caller.account, &LARGE_VAULT, params).await?;
    let mut first: Vec<_> = listed(&row)?.into_iter().collect();
    let more = fill(&mut first, &mut rest).await?;
    let first = stream::iter(first.into_iter().map(Ok));
    if !more {
        return Ok(first.boxed());
    }
    let (sender, receiver) = mpsc::channel(1);
    let reading = tokio::spawn(read_ahead(rest, sender, stall_timeout));
    let later = stream::try_unfold((receiver, reading), async |(mut receiver, reading)| {
        let Some(batch) = receiver.recv().await else {
            let outcome =
                reading.await.unwrap_or_else(|panic| Err(StoreError::Internal(panic.into())));
            return outcome.map(|()| None);
        };
        Ok(Some((stream::iter(batch.into_iter().map(Ok)), (receiver, reading))))
    });
    Ok(first.chain(later.try_flatten()).boxed())
}

/// `None` for the one row of an empty vault.
///
/// # Errors
/// [`StoreError::NotFound`] for the one row without a vault.
fn listed(row: &Row) -> Result<Option<ListedPrompt>> {
    column::<Option<i64>>(row, "vault")?.ok_or(StoreError::NotFound)?;
    let Some(prompt) = rows::prompt(row)? else {
        return Ok(None);
    };
    let membership = VaultPromptId::new(column(row, "membership")?);
    Ok(Some(ListedPrompt { prompt, membership, pinned: column(row, "pinned")? }))
}

/// Ends with the rows, with an error, or when the reader has gone.
async fn read_ahead(
    mut rows: Rows,
    batches: Sender<Vec<ListedPrompt>>,
    stall_timeout: Duration,
) -> Result<()> {
    loop {
        let mut batch = Vec::with_capacity(STREAM_BATCH);
        let more = tokio::select! {
            biased;
            () = batches.closed() => return Ok(()),
            more = fill(&mut batch, &mut rows) => more?,
        };
        if !more {
            // The connection need not wait for the reader.
            drop(rows);
            return send(&batches, batch, stall_timeout).await;
        }
        send(&batches, batch, stall_timeout).await?;
    }
}

/// Reads until the batch is full; `false` if there are no more rows.
async fn fill(batch: &mut Vec<ListedPrompt>, rows: &mut Rows) -> Result<bool> {
    while batch.len() < STREAM_BATCH {
        let Some(row) = rows.try_next().await? else {
            return Ok(false);
        };
        batch.extend(listed(&row)?);
    }
    Ok(true)
}

async fn send(
    batches: &Sender<Vec<ListedPrompt>>,
    batch: Vec<ListedPrompt>,
    stall_timeout: Duration,
) -> Result<()> {
    match batches.send_timeout(batch, stall_timeout).await {
        Err(SendTimeoutError::Timeout(_)) => {
            let cause = format!("the reader of a vault took nothing for {stall_timeout:?}");
            Err(StoreError::Unavailable(cause.into()))
        }
        // Closed if the reader has gone.
        Ok(()) | Err(SendTimeoutError::Closed(_)) => Ok(()),
    }
}
