//! Permits that bound concurrent work: a maximum in all and one for each account, so that no
//! account holds all of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::domain::AccountId;

/// Permits, granted in the order of the requests for them.
#[derive(Debug)]
pub(crate) struct AccountPermits {
    all: Arc<Semaphore>,
    count: usize,
    per_account: usize,
    /// Of accounts that hold permits, wait for one, or did so lately.
    accounts: Mutex<HashMap<AccountId, Arc<Semaphore>>>,
    waiting: AtomicUsize,
}

/// From here on, accounts that hold no permits are forgotten.
const ACCOUNTS_KEPT: usize = 256;

/// Permits of an account, until they are dropped.
pub(crate) type Permit = (OwnedSemaphorePermit, OwnedSemaphorePermit);

impl AccountPermits {
    /// At least one in all and for each account.
    pub(crate) fn new(count: usize, per_account: usize) -> Self {
        let (count, per_account) = (count.max(1), per_account.max(1));
        let (accounts, waiting) = Default::default();
        Self { all: Arc::new(Semaphore::new(count)), count, per_account, accounts, waiting }
    }

    /// Waits for a permit.
    pub(crate) async fn acquire(&self, account: AccountId) -> Permit {
        self.acquire_many(account, 1).await
    }

    /// Waits for this many permits, or as many as the account may have.
    pub(crate) async fn acquire_many(&self, account: AccountId, count: usize) -> Permit {
        let count = u32::try_from(count.min(self.per_account)).unwrap_or(u32::MAX);
        let own = {
            let mut accounts = self.accounts.lock();
            if accounts.len() >= ACCOUNTS_KEPT {
                accounts.retain(|_, permits| Arc::strong_count(permits) > 1);
            }
            let permits = accounts.entry(account);
            permits.or_insert_with(|| Arc::new(Semaphore::new(self.per_account))).clone()
        };
        let _waiting = Waiting::begin(&self.waiting);
        // The account's own first: a request that waits for it holds no permit of all.
        if let Ok(own) = own.acquire_many_owned(count).await
            && let Ok(of_all) = self.all.clone().acquire_many_owned(count).await
        {
            return (own, of_all);
        }
        // The semaphores are never closed.
        std::future::pending().await
    }

    /// How many permits are held.
    pub(crate) fn held(&self) -> usize {
        self.count - self.all.available_permits()
    }

    /// How many wait for a permit.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Relaxed)
    }
}

/// One request that waits; dropped with its future.
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
