//! Beginning a step again: when, how often, and on which connection.

use std::ops::Deref;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::Statement;
use super::fault::{Fault, Silence, Verdict};
use super::shared::{Share, Shares};
use super::statement::Effect;
use crate::store::postgres::connect::{Kept, PATIENCE, Pool, PoolError, Pooled};
use crate::store::{Cause, StoreError};

/// How often a step begins again before its caller is told to.
const ATTEMPTS: u32 = 10;

/// What a step is sent on.
pub(super) enum Line<'a> {
    Own(Box<Pooled>),
    Shared(Share<'a>),
}

/// The attempts at one step.
pub(super) struct Attempts<'a> {
    pool: &'a Pool,
    shares: &'a Shares,
    statement: &'a Statement,
    number: u32,
    /// Whether it goes over a shared connection if it can.
    shared: bool,
    /// What is left of the time to wait for connections. Waiting is all that takes
    /// time while the database is away, so this is how soon a step fails then.
    patience: Duration,
    began: Instant,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(pool: &'a Pool, shares: &'a Shares, statement: &'a Statement) -> Self {
        let shared = statement.effect == Effect::None;
        let (number, patience, began) = (1, PATIENCE, Instant::now());
        Self { pool, shares, statement, number, shared, patience, began }
    }

    /// What the next attempt is sent on.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub(super) async fn line(&mut self) -> Result<Line<'a>, StoreError> {
        let (pool, shares) = (self.pool, self.shares);
        let share = match self.shared {
            true => self.in_time(shares.join(async || connection(pool).await)).await?,
            false => None,
        };
        match share {
            Some(share) => Ok(Line::Shared(share)),
            None => Ok(Line::of(self.own().await?)),
        }
    }

    /// A connection of its own for the next attempt.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub(super) async fn own(&mut self) -> Result<Pooled, StoreError> {
        self.in_time(connection(self.pool)).await
    }

    async fn in_time<T>(
        &mut self,
        getting: impl Future<Output = Result<T, Cause>>,
    ) -> Result<T, StoreError> {
        self.began = Instant::now();
        let waiting = timeout(self.patience, getting);
        let outcome = waiting.await.unwrap_or_else(|_| Err(Box::new(Silence(PATIENCE))));
        let waited = self.began.elapsed();
        self.began += waited;
        self.patience = self.patience.saturating_sub(waited);
        outcome.map_err(StoreError::Unavailable)
    }

    /// What to do after an attempt on `line` failed: returns if the step may begin
    /// again.
    ///
    /// # Errors
    /// If it may not.
    pub(super) async fn after(&mut self, line: Line<'_>, fault: Fault) -> Result<(), StoreError> {
        let verdict = fault.verdict();
        if fault.ends_connection() {
            line.spend();
        }
        drop(line);
        // What happened to this connection happened to all that waited with it.
        let all = matches!(verdict, Verdict::Lost | Verdict::Stale | Verdict::Deposed);
        if all {
            self.shares.renew();
        }
        if fault.ends_connection() {
            let fresh = |created| !all || created > self.began;
            self.pool.retain(|kept, metrics| !kept.is_spent() && fresh(metrics.created));
        }
        let again = match verdict {
            Verdict::Raced | Verdict::Stale | Verdict::Deposed | Verdict::Still => true,
            Verdict::Lost => self.statement.bears_repeating() || !fault.sent,
            Verdict::Refused | Verdict::Broken => false,
        };
        if !again || self.number == ATTEMPTS {
            return Err(fault.told());
        }
        let (statement, attempt) = (self.statement.name, self.number);
        tracing::debug!(statement, attempt, ?verdict, "a step begins again");
        pause(self.number).await;
        self.number += 1;
        // It may have been this very statement that nobody got past.
        self.shared &= verdict != Verdict::Still;
        Ok(())
    }
}

async fn connection(pool: &Pool) -> Result<Pooled, Cause> {
    let mut round = 1;
    loop {
        match pool.get().await {
            Ok(client) => return Ok(client),
            // Other servers may have all that the database has: they are about
            // to give some back, or one of ours comes back first.
            Err(PoolError::Backend(none)) if none.is_crowded() => pause(round).await,
            Err(error) => return Err(Box::new(error)),
        }
        round += 1;
    }
}

/// A little longer each time, and not the same for two that raced.
async fn pause(attempt: u32) {
    let most = Duration::from_millis(2) * 2_u32.pow(attempt.min(6));
    tokio::time::sleep(most.mul_f64(rand::random_range(0.5..1.0))).await;
}

impl Line<'_> {
    pub(super) fn of(client: Pooled) -> Self {
        Self::Own(Box::new(client))
    }
}

impl Deref for Line<'_> {
    type Target = Kept;

    fn deref(&self) -> &Kept {
        match self {
            Self::Own(client) => client,
            Self::Shared(share) => share,
        }
    }
}
