//! What a vault holds, row by row.
//!
//! A small vault is read by one ordinary statement. A larger one is streamed, since its rows
//! must be those of one instant. A task reads a batch ahead of the reader, so that the
//! connection can be taken back from a reader that takes nothing for too long.

#[cfg(test)]
mod tests;

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use promptarium::{VaultId, VaultPromptId};
use tokio::sync::mpsc::{self, Sender, error::SendTimeoutError};
use tokio::task::JoinHandle;
use tokio_postgres::Row;

use super::db::{Db, Params, Statement, column};
use super::rows::{self, caller, prompt_columns};
use super::stream::RowCursor;
use crate::domain::{Caller, ListedPrompt};
use crate::limits::{STREAM_BATCH, STREAM_STALL_TIMEOUT};
use crate::store::{Contents, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&FIRST, &CONTENTS];

/// In the order of the innermost `ORDER BY`, which nested loops keep. An outer one
/// would sort whole prompts before the first could leave.
macro_rules! contents {
    ($rows:literal) => {
        concat!(
            "WITH caller AS ",
            caller!(),
            " SELECT ",
            prompt_columns!(),
            ", p.membership, p.pinned, v.id AS vault
         FROM caller
         LEFT JOIN vault v ON v.account_id = caller.account_id AND v.id = $2
         LEFT JOIN LATERAL (
             SELECT m.id AS membership, m.pin IS NOT NULL AS pinned, one.* FROM (
                 SELECT id, pin, prompt_id FROM membership
                 WHERE account_id = v.account_id AND vault_id = v.id
                 ORDER BY pin DESC NULLS LAST, id DESC ",
            $rows,
            "
             ) m
             CROSS JOIN LATERAL (
                 SELECT * FROM prompt
                 WHERE account_id = v.account_id AND id = m.prompt_id OFFSET 0
             ) one
         ) p ON true"
        )
    };
}

/// One row more than [`STREAM_BATCH`], which tells a small vault from a larger one.
const _: () = assert!(STREAM_BATCH == 64);
static FIRST: Statement = Statement::read_only("contents.first", contents!("LIMIT 65"));

static CONTENTS: Statement = Statement::read_only("contents.stream", contents!("OFFSET 0"));

/// See [`MembershipStore::contents`](crate::store::MembershipStore::contents). A reader that takes
/// no row for [`STREAM_STALL_TIMEOUT`] gets an error after those that were read ahead.
pub(super) async fn stream(
    db: &Db,
    caller: &Caller,
    vault: VaultId,
) -> Result<Contents, StoreError> {
    stream_within(db, caller, vault, STREAM_STALL_TIMEOUT).await
}

async fn stream_within(
    db: &Db,
    caller: &Caller,
    vault: VaultId,
    stall_timeout: Duration,
) -> Result<Contents, StoreError> {
    let params: Params<'_> = &[&caller.key.0, &vault.get()];
    let rows = db.rows_of_caller(&FIRST, params).await?;
    if rows.len() <= STREAM_BATCH {
        let small = rows.iter().filter_map(|row| listed(row).transpose());
        let small: Vec<_> = small.collect::<Result<_, _>>()?;
        return Ok(stream::iter(small.into_iter().map(Ok)).boxed());
    }
    drop(rows);
    // From the beginning: rows of two statements would not be those of one instant.
    let (row, mut cursor) = db.cursor_of_caller(caller.account, &CONTENTS, params).await?;
    let mut first: Vec<_> = listed(&row)?.into_iter().collect();
    let more = fill(&mut first, &mut cursor).await?;
    let first = stream::iter(first.into_iter().map(Ok));
    Ok(if more { first.chain(rest(cursor, stall_timeout)).boxed() } else { first.boxed() })
}

/// Reads until the batch is full; `false` if there are no more rows.
async fn fill(batch: &mut Vec<ListedPrompt>, cursor: &mut RowCursor) -> Result<bool, StoreError> {
    while batch.len() < STREAM_BATCH {
        let Some(row) = cursor.next().await? else {
            return Ok(false);
        };
        batch.extend(listed(&row)?);
    }
    Ok(true)
}

/// `None` for the one row of an empty vault.
///
/// # Errors
/// [`StoreError::NotFound`] for the one row without a vault.
fn listed(row: &Row) -> Result<Option<ListedPrompt>, StoreError> {
    column::<Option<i64>>(row, "vault")?.ok_or(StoreError::NotFound)?;
    let Some(prompt) = rows::prompt(row)? else {
        return Ok(None);
    };
    let membership = VaultPromptId::new(column(row, "membership")?);
    Ok(Some(ListedPrompt { prompt, membership, pinned: column(row, "pinned")? }))
}

/// All further rows.
fn rest(cursor: RowCursor, stall_timeout: Duration) -> Contents {
    let (sender, receiver) = mpsc::channel(1);
    let reading = tokio::spawn(read_ahead(cursor, sender, stall_timeout));
    let batches = stream::try_unfold((receiver, reading), async |(mut receiver, reading)| {
        let Some(batch) = receiver.recv().await else {
            return outcome(reading).await.map(|()| None);
        };
        let batch = stream::iter(batch.into_iter().map(Ok));
        Ok(Some((batch, (receiver, reading))))
    });
    batches.try_flatten().boxed()
}

async fn outcome(reading: JoinHandle<Result<(), StoreError>>) -> Result<(), StoreError> {
    reading.await.map_err(|fault| StoreError::Broken(fault.into()))?
}

/// Ends with the rows, with a failure, or when the reader has gone.
async fn read_ahead(
    mut cursor: RowCursor,
    batches: Sender<Vec<ListedPrompt>>,
    stall_timeout: Duration,
) -> Result<(), StoreError> {
    loop {
        let mut batch = Vec::with_capacity(STREAM_BATCH);
        let more = tokio::select! {
            biased;
            () = batches.closed() => return Ok(()),
            more = fill(&mut batch, &mut cursor) => more?,
        };
        if !more {
            // The connection need not wait for the reader.
            drop(cursor);
            return send(&batches, batch, stall_timeout).await;
        }
        send(&batches, batch, stall_timeout).await?;
    }
}

async fn send(
    batches: &Sender<Vec<ListedPrompt>>,
    batch: Vec<ListedPrompt>,
    stall_timeout: Duration,
) -> Result<(), StoreError> {
    match batches.send_timeout(batch, stall_timeout).await {
        // The reader has gone.
        Ok(()) | Err(SendTimeoutError::Closed(_)) => Ok(()),
        Err(SendTimeoutError::Timeout(_)) => {
            let seconds = stall_timeout.as_secs_f32();
            let cause = format!("the reader of a vault took nothing for {seconds} s");
            Err(StoreError::Unavailable(cause.into()))
        }
    }
}
