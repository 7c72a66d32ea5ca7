//! What a vault holds, row by row.
//!
//! A small vault is read at once. A large one is read by a task of its own, a batch
//! ahead of whoever takes the rows: so its connection can be taken back from a
//! reader that takes none for long, which only something beside that reader can see.

#[cfg(test)]
mod tests;

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use promptarium::{VaultId, VaultPromptId};
use tokio::sync::mpsc::{self, Sender, error::SendTimeoutError};
use tokio::task::JoinHandle;
use tokio_postgres::Row;

use super::db::{Db, Flow, Statement, column};
use super::rows::{self, caller, prompt_columns};
use crate::domain::{Caller, ListedPrompt};
use crate::store::{Contents, StoreError};

/// How many prompts are read ahead.
const BATCH: usize = 64;

/// How long a reader may take no batch before its connection is closed.
const PATIENCE: Duration = Duration::from_secs(30);

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&CONTENTS];

/// In the order of the innermost `ORDER BY`, which nested loops keep. An outer one
/// would sort whole prompts before the first could leave.
static CONTENTS: Statement = Statement::reading(
    "contents.stream",
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
                 ORDER BY pin DESC NULLS LAST, id DESC OFFSET 0
             ) m
             CROSS JOIN LATERAL (
                 SELECT * FROM prompt
                 WHERE account_id = v.account_id AND id = m.prompt_id OFFSET 0
             ) one
         ) p ON true"
    ),
);

/// See [`MembershipStore::contents`](crate::store::MembershipStore::contents). Who takes no row for
/// [`PATIENCE`] finds an error after those that were on the way.
pub(super) async fn stream(
    db: &Db,
    caller: &Caller,
    vault: VaultId,
) -> Result<Contents, StoreError> {
    stream_within(db, caller, vault, PATIENCE).await
}

async fn stream_within(
    db: &Db,
    caller: &Caller,
    vault: VaultId,
    patience: Duration,
) -> Result<Contents, StoreError> {
    let params: [i64; 2] = [caller.key.0, vault.get()];
    let (row, mut flow) = db.flow_of_caller(&CONTENTS, &[&params[0], &params[1]]).await?;
    column::<Option<i64>>(&row, "vault")?.ok_or(StoreError::NotFound)?;
    let mut first: Vec<_> = listed(&row)?.into_iter().collect();
    let more = fill(&mut first, &mut flow).await?;
    let first = stream::iter(first.into_iter().map(Ok));
    Ok(if more { first.chain(rest(flow, patience)).boxed() } else { first.boxed() })
}

/// Reads until the batch is full; `false` if there are no more rows.
async fn fill(batch: &mut Vec<ListedPrompt>, flow: &mut Flow) -> Result<bool, StoreError> {
    while batch.len() < BATCH {
        let Some(row) = flow.next().await? else {
            return Ok(false);
        };
        batch.extend(listed(&row)?);
    }
    Ok(true)
}

/// None in the one row that stands for an empty vault.
fn listed(row: &Row) -> Result<Option<ListedPrompt>, StoreError> {
    let Some(prompt) = rows::prompt(row)? else {
        return Ok(None);
    };
    let membership = VaultPromptId::new(column(row, "membership")?);
    Ok(Some(ListedPrompt { prompt, membership, pinned: column(row, "pinned")? }))
}

/// All further rows.
fn rest(flow: Flow, patience: Duration) -> Contents {
    let (sender, receiver) = mpsc::channel(1);
    let reading = tokio::spawn(read_ahead(flow, sender, patience));
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

/// Ends with the rows, with a failure, or when nobody wants them any more.
async fn read_ahead(
    mut flow: Flow,
    batches: Sender<Vec<ListedPrompt>>,
    patience: Duration,
) -> Result<(), StoreError> {
    loop {
        let mut batch = Vec::with_capacity(BATCH);
        let more = tokio::select! {
            biased;
            () = batches.closed() => return Ok(()),
            more = fill(&mut batch, &mut flow) => more?,
        };
        if !more {
            // The connection need not wait for the reader.
            drop(flow);
            return send(&batches, batch, patience).await;
        }
        send(&batches, batch, patience).await?;
    }
}

async fn send(
    batches: &Sender<Vec<ListedPrompt>>,
    batch: Vec<ListedPrompt>,
    patience: Duration,
) -> Result<(), StoreError> {
    match batches.send_timeout(batch, patience).await {
        // Whoever wanted the rest has gone.
        Ok(()) | Err(SendTimeoutError::Closed(_)) => Ok(()),
        Err(SendTimeoutError::Timeout(_)) => {
            let seconds = patience.as_secs_f32();
            let cause = format!("the reader of a vault took nothing for {seconds} s");
            Err(StoreError::Unavailable(cause.into()))
        }
    }
}
