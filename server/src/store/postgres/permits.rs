//! Shares of the connections: how many one kind of work may hold at once, in all and for each
//! account, so that neither slow work nor one account takes all of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use crate::domain::AccountId;
use crate::limits::{
    LONG_WRITE_WAIT, LONG_WRITES_PER_ACCOUNT, PAGES_PER_ACCOUNT, POOL_WAIT, STREAM_WAIT,
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
    pub(crate) waiting: [(&'static str, usize); 4],
}

/// How the connections for one statement at a time are divided. What streams and long writes may
/// hold together is less than all, so that some are always left for steps. One account may hold
/// half for steps.
pub(super) struct Shares {
    /// Statements of callers, of milliseconds each unless they wait for a lock.
    pub(super) steps: Share,
    pub(super) streams: Share,
    pub(super) long_writes: Share,
    /// Pages of prompts. They use the connections that are shared, but a page may have megabytes,
    /// for which all statements behind it wait.
    pub(super) pages: Share,
}

impl Shares {
    pub(super) fn of(own: usize) -> Self {
        let steps = "the account's changes use all connections that one account may have";
        let streams = "too many vaults are being read";
        let long_writes = "too many large vaults are being forked or deleted";
        let pages = "the account reads too many pages of prompts";
        Self {
            steps: Share::new(own, own.div_ceil(2), POOL_WAIT, steps),
            streams: Share::new(own / 2, STREAMS_PER_ACCOUNT, STREAM_WAIT, streams),
            long_writes: Share::new(own / 4, LONG_WRITES_PER_ACCOUNT, LONG_WRITE_WAIT, long_writes),
            pages: Share::new(8 * PAGES_PER_ACCOUNT, PAGES_PER_ACCOUNT, POOL_WAIT, pages),
        }
    }
}

/// The share of one kind of work. Who waits longest is next.
pub(super) struct Share {
    all: Arc<Semaphore>,
    per_account: usize,
    /// Of accounts that use the share, wait for it, or did so lately.
    accounts: Mutex<HashMap<i64, Arc<Semaphore>>>,
    wait: Duration,
    /// What the log says of who waited too long.
    busy: &'static str,
    waiting: AtomicUsize,
}

/// From here on, accounts that hold no permits are forgotten.
const ACCOUNTS_KEPT: usize = 256;

/// One connection's worth of a share, until it is dropped.
pub(super) type Permits = (OwnedSemaphorePermit, OwnedSemaphorePermit);

impl Share {
    pub(super) fn new(all: usize, per_account: usize, wait: Duration, busy: &'static str) -> Self {
        let all = Arc::new(Semaphore::new(all.max(1)));
        let (accounts, waiting) = Default::default();
        Self { all, per_account: per_account.max(1), accounts, wait, busy, waiting }
    }

    pub(super) async fn acquire(&self, account: AccountId) -> Result<Permits, StoreError> {
        let own = {
            let mut accounts = self.accounts.lock();
            if accounts.len() >= ACCOUNTS_KEPT {
                accounts.retain(|_, permits| Arc::strong_count(permits) > 1);
            }
            let permits = accounts.entry(account.0);
            permits.or_insert_with(|| Arc::new(Semaphore::new(self.per_account))).clone()
        };
        // The account's first: who waits for that keeps no one else waiting.
        let acquiring = async {
            Some((own.acquire_owned().await.ok()?, self.all.clone().acquire_owned().await.ok()?))
        };
        let _waiting = Waiting::begin(&self.waiting);
        let began = Instant::now();
        let permits = timeout(self.wait.min(time_budget::left()), acquiring).await.ok().flatten();
        time_budget::spend(began.elapsed());
        permits.ok_or_else(|| StoreError::Unavailable(self.busy.into()))
    }

    /// How many wait for a permit.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Relaxed)
    }
}

/// Counts one who waits, also if it is dropped meanwhile.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Relaxed);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
