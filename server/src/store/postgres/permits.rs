//! How many row streams may be open at once, in all and for each account.
//!
//! A stream holds a connection until its last row is read, so without a limit one account with
//! slow readers could take them all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::domain::AccountId;
use crate::limits::{STREAM_WAIT, STREAMS_PER_ACCOUNT};
use crate::store::StoreError;

/// Permits for streams; who waits longest is next.
#[derive(Clone)]
pub(super) struct StreamPermits {
    all: Arc<Semaphore>,
    /// Of accounts that have a stream or wait for one.
    accounts: Arc<Mutex<HashMap<i64, Arc<Semaphore>>>>,
}

/// A stream of an account, counted while this lives.
pub(super) type Permits = (OwnedSemaphorePermit, OwnedSemaphorePermit);

impl StreamPermits {
    pub(super) fn new(streams: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(streams.max(1))), accounts: Arc::default() }
    }

    pub(super) async fn acquire(&self, account: AccountId) -> Result<Permits, StoreError> {
        let own = {
            let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
            accounts.retain(|_, permits| Arc::strong_count(permits) > 1);
            let permits = accounts.entry(account.0);
            permits.or_insert_with(|| Arc::new(Semaphore::new(STREAMS_PER_ACCOUNT))).clone()
        };
        // The account's first: who waits for that keeps no one else waiting.
        let acquiring = async {
            Some((own.acquire_owned().await.ok()?, self.all.clone().acquire_owned().await.ok()?))
        };
        let permits = timeout(STREAM_WAIT, acquiring).await.ok().flatten();
        permits.ok_or_else(|| StoreError::Unavailable("too many vaults are being read".into()))
    }
}
