//! Shares of the connections: how many one kind of work may hold at once, in all and for each
//! account, so that neither slow work nor one account takes all of them.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::account_permits::{AccountPermits, Permit};
use crate::domain::AccountId;
use crate::limits::{
    LIST_ROWS_PER_ACCOUNT, LONG_WRITE_WAIT, LONG_WRITES_PER_ACCOUNT, POOL_WAIT, STREAM_WAIT,
    STREAMS_PER_ACCOUNT,
};
use crate::store::{StoreError, time_budget};

/// What the connections of a store are doing, for the metrics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolUse {
    /// Connections that one statement has, and those that none has.
    pub(crate) busy: usize,
    pub(crate) idle: usize,
    /// How many of both there may be.
    pub(crate) max: usize,
    /// Statements that run or wait on shared connections.
    pub(crate) pipelined: usize,
    /// How many wait for what.
    pub(crate) waiting: [(&'static str, usize); 5],
}

/// How the connections for one statement at a time are divided. What streams and long writes may
/// hold together is less than all, so that some are always left for steps. One account may hold
/// half for steps.
pub(super) struct Shares {
    /// Statements of callers, of milliseconds each unless they wait for a lock.
    pub(super) steps: Share,
    pub(super) streams: Share,
    pub(super) long_writes: Share,
    /// Rows of lists. They use the connections that are shared, but a list may have megabytes, for
    /// which all statements behind it wait.
    pub(super) list_rows: Share,
}

impl Shares {
    pub(super) fn of(own: usize) -> Self {
        let steps = "the account's changes use all connections that one account may have";
        let streams = "too many vaults are being read";
        let long_writes = "too many large vaults are being forked or deleted";
        let lists = "the account reads too many lists";
        let rows = LIST_ROWS_PER_ACCOUNT;
        Self {
            steps: Share::new(own, own.div_ceil(2), POOL_WAIT, steps),
            streams: Share::new(own / 2, STREAMS_PER_ACCOUNT, STREAM_WAIT, streams),
            long_writes: Share::new(own / 4, LONG_WRITES_PER_ACCOUNT, LONG_WRITE_WAIT, long_writes),
            list_rows: Share::new(8 * rows, rows, POOL_WAIT, lists),
        }
    }
}

/// The share of one kind of work.
pub(super) struct Share {
    permits: AccountPermits,
    wait: Duration,
    /// What the log says of who waited too long.
    busy: &'static str,
}

impl Share {
    fn new(all: usize, per_account: usize, wait: Duration, busy: &'static str) -> Self {
        Self { permits: AccountPermits::new(all, per_account), wait, busy }
    }

    pub(super) async fn acquire(&self, account: AccountId) -> Result<Permit, StoreError> {
        self.acquire_many(account, 1).await
    }

    pub(super) async fn acquire_many(
        &self,
        account: AccountId,
        count: usize,
    ) -> Result<Permit, StoreError> {
        let began = Instant::now();
        let wait = self.wait.min(time_budget::left());
        let permit = timeout(wait, self.permits.acquire_many(account, count)).await;
        time_budget::spend(began.elapsed());
        permit.map_err(|_| StoreError::Unavailable(self.busy.into()))
    }

    /// How many wait for a permit.
    pub(super) fn waiting(&self) -> usize {
        self.permits.waiting()
    }
}
