//! Statements that are one transaction.

use std::time::Duration;

use futures::future::{join_all, join3};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use super::db::{Db, Params, of_caller, permit};
use super::retry::Retry;
use super::rows::KEY_IS_VALID;
use super::statement::Statement;
use crate::domain::Caller;
use crate::limits::STATEMENT_GRACE;
use crate::store::{Result, StoreError};

statements! {
    /// In a transaction before a statement that adds one of what an account has a limited number of.
    /// Not a lock on the row of the account: on Citus, where that is on all nodes, it would lock the
    /// rows of all accounts.
    pub(super) idempotent LOCK_ACCOUNT "accounts.lock"
        "SELECT pg_advisory_xact_lock($1) WHERE {KEY_IS_VALID}";
}

/// A statement of a transaction with its parameters.
pub(super) type Step<'a> = (&'static Statement, Params<'a>);

impl Db {
    /// The first row of the last of a caller's statements, which are one transaction. The first
    /// parameters of each are the account and the key.
    ///
    /// With a limit it is a long write, which may take so long, and has a part of the connections
    /// of its own. It fails with [`StoreError::TooLarge`] if it takes longer.
    pub(super) async fn row_of_steps(
        &self,
        caller: &Caller,
        long: Option<Duration>,
        steps: &[Step<'_>],
    ) -> Result<Row> {
        let quota = if long.is_none() { &self.steps } else { &self.long_writes };
        let _permit = permit(quota, caller.account, 1).await?;
        let params: Vec<_> = steps.iter().map(|(_, own)| of_caller(caller, own)).collect();
        let steps = steps.iter().zip(&params).map(|((statement, _), all)| (*statement, &all[..]));
        let last = self.transaction(long, &steps.collect::<Vec<_>>()).await?;
        last.into_iter().next().ok_or(StoreError::KeyRevoked)
    }

    /// The rows of the last of several statements, which are one transaction. It runs again after a
    /// conflict. All is sent at once, so that it costs one round trip. Each statement sees what was
    /// committed before it began, so what the first one locks does not change under the next ones.
    pub(super) async fn transaction(
        &self,
        long: Option<Duration>,
        steps: &[Step<'_>],
    ) -> Result<Vec<Row>> {
        let whole = Statement {
            name: steps.last().map_or("", |(last, _)| last.name),
            sql: "",
            idempotent: steps.iter().all(|(statement, _)| statement.idempotent),
            shared: false,
            writes: steps.iter().any(|(statement, _)| statement.writes),
        };
        let set = |long: Duration| {
            format!("BEGIN; SET LOCAL statement_timeout = {}", long.as_millis().max(1))
        };
        let begin = long.map_or_else(|| "BEGIN".to_owned(), set);
        let limit = long.map_or(self.limit, |long| long + STATEMENT_GRACE);
        let mut retry = Retry::new(&whole, long);
        loop {
            let client = retry.connection(|| self.pool.get()).await?;
            let sending = async {
                let mut prepared = Vec::with_capacity(steps.len());
                for (statement, _) in steps {
                    prepared.push(client.prepared(statement).await?);
                }
                let queries = prepared.iter().zip(steps);
                let queries = queries.map(|(one, (_, params))| client.query(one, params));
                // After a statement that fails, the others are refused, and the commit is a rollback.
                let (begun, answers, ended) = join3(
                    client.batch_execute(&begin),
                    join_all(queries),
                    client.batch_execute("COMMIT"),
                )
                .await;
                begun?;
                let last = answers.into_iter().collect::<Result<Vec<_>, _>>()?.pop();
                ended.map(|()| last.unwrap_or_default())
            };
            match retry.answer(&client, limit, sending).await? {
                Ok(rows) => return Ok(rows),
                Err(error) if long.is_some() && error.code() == Some(&SqlState::QUERY_CANCELED) => {
                    return Err(StoreError::TooLarge);
                }
                Err(error) => retry.after(&client, error, true).await?,
            }
        }
    }
}
