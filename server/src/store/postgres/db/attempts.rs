//! Beginning a step again: when, how often, and on which connection.

use std::time::{Duration, Instant};

use deadpool::managed::Object;
use tokio::time::timeout;

use super::fault::{Fault, Silence, Verdict};
use super::{Again, Statement};
use crate::store::StoreError;
use crate::store::postgres::connect::{PATIENCE, Pool, PoolError, Pooled};

/// How often a step begins again before its caller is told to.
const ATTEMPTS: u32 = 10;

/// The attempts at one step.
pub(super) struct Attempts<'a> {
    pool: &'a Pool,
    statement: &'a Statement,
    number: u32,
    /// What is left of the time to wait for connections. Waiting is all that takes
    /// time while the database is away, so this is how soon a step fails then.
    patience: Duration,
    began: Instant,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(pool: &'a Pool, statement: &'a Statement) -> Self {
        Self { pool, statement, number: 1, patience: PATIENCE, began: Instant::now() }
    }

    /// A connection for the next attempt.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub(super) async fn connection(&mut self) -> Result<Pooled, StoreError> {
        self.began = Instant::now();
        let waiting = timeout(self.patience, self.connection_of_pool());
        let outcome = waiting.await.unwrap_or_else(|_| Err(Box::new(Silence(PATIENCE))));
        let waited = self.began.elapsed();
        self.began += waited;
        self.patience = self.patience.saturating_sub(waited);
        outcome.map_err(StoreError::Unavailable)
    }

    async fn connection_of_pool(&self) -> Result<Pooled, crate::store::Cause> {
        let mut round = 1;
        loop {
            match self.pool.get().await {
                Ok(client) => return Ok(client),
                // Other servers may have all that the database has: they are about
                // to give some back, or one of ours comes back first.
                Err(PoolError::Backend(none)) if none.is_crowded() => pause(round).await,
                Err(error) => return Err(Box::new(error)),
            }
            round += 1;
        }
    }

    /// What to do after an attempt on `client` failed: returns if the step may begin
    /// again.
    ///
    /// # Errors
    /// If it may not.
    pub(super) async fn after(&mut self, client: Pooled, fault: Fault) -> Result<(), StoreError> {
        let verdict = fault.verdict();
        if fault.ends_connection() {
            drop(Object::take(client));
        } else {
            drop(client);
        }
        if matches!(verdict, Verdict::Lost | Verdict::Deposed) {
            // What happened to this connection happened to all that waited with it.
            self.pool.retain(|_, metrics| metrics.created > self.began);
        }
        let again = match verdict {
            Verdict::Raced | Verdict::Stale | Verdict::Deposed => true,
            Verdict::Lost => self.statement.again == Again::Yes || !fault.sent,
            Verdict::Refused | Verdict::Broken => false,
        };
        if !again || self.number == ATTEMPTS {
            return Err(fault.told());
        }
        let (statement, attempt) = (self.statement.name, self.number);
        tracing::debug!(statement, attempt, ?verdict, "a step begins again");
        pause(self.number).await;
        self.number += 1;
        Ok(())
    }
}

/// A little longer each time, and not the same for two that raced.
async fn pause(attempt: u32) {
    let most = Duration::from_millis(2) * 2_u32.pow(attempt.min(6));
    tokio::time::sleep(most.mul_f64(rand::random_range(0.5..1.0))).await;
}
