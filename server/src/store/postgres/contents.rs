//! The contents of a vault, with statements as those of [`super::listing`].
//!
//! A small vault is read by one ordinary statement. A larger one is streamed, since its rows
//! must be those of one instant. A task reads a batch ahead of the reader, so that the
//! connection can be taken back from a reader that takes nothing for too long.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use promptarium::{VaultId, VaultPromptId};
use tokio::sync::mpsc::{self, Sender, error::SendTimeoutError};
use tokio_postgres::Row;

use super::batch_reader::BatchReader;
use super::db::{Db, Params, Rows, Statement};
use super::rows::{self, caller, column, prompt_columns};
use crate::domain::{Caller, KeyId, ListedPrompt};
use crate::limits::STREAM_BATCH;
use crate::store::{Contents, Result, StoreError};

/// `LIMIT 65` below is one more, which tells a small vault from a larger one.
const _: () = assert!(STREAM_BATCH == 64);

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&SMALL_VAULT, &LARGE_VAULT];

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

static SMALL_VAULT: Statement = Statement::read_only("contents.small", contents!("LIMIT 65"));
static LARGE_VAULT: Statement = Statement::read_only("contents.large", contents!("OFFSET 0"));

/// Small vaults by key and id: reads that wait for one another share the rows. `None` of a vault
/// that is not small.
pub(super) type SmallVaults = BatchReader<(KeyId, VaultId), (), Option<Arc<[ListedPrompt]>>>;

/// See [`MembershipStore::contents`](crate::store::MembershipStore::contents). A reader that
/// takes no row for `stall_timeout` gets an error after those that were read ahead.
pub(super) async fn contents(
    db: &Db,
    small_vaults: &SmallVaults,
    caller: &Caller,
    vault: VaultId,
    stall_timeout: Duration,
) -> Result<Contents> {
    let send = |_| async move { Ok(vec![((), small(db, caller, vault).await?)]) };
    let read = small_vaults.load((caller.key, vault), (), send).await?;
    if let Some(small) = read.flatten() {
        let entries = (0..small.len()).map(move |at| Ok(small[at].clone()));
        return Ok(stream::iter(entries).boxed());
    }
    // From the beginning: rows of two statements would not be those of one instant.
    let params: Params<'_> = &[&caller.account.0, &caller.key.0, &vault.get()];
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

/// All of a vault of at most [`STREAM_BATCH`] prompts; `None` of a larger one.
async fn small(db: &Db, caller: &Caller, vault: VaultId) -> Result<Option<Arc<[ListedPrompt]>>> {
    let params: Params<'_> = &[&caller.account.0, &caller.key.0, &vault.get()];
    let rows = db.list_of_caller(caller, &SMALL_VAULT, params, STREAM_BATCH + 1).await?;
    if rows.len() > STREAM_BATCH {
        return Ok(None);
    }
    let small = rows.iter().filter_map(|row| listed(row).transpose());
    Ok(Some(small.collect::<Result<Vec<_>>>()?.into()))
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
