//! Whether this server wants requests: yes, until it is asked to stop, and while
//! its store answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;

use crate::store::{Store, StoreError};

/// Whoever asks has to have an answer before they take silence for one.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// One flag, shared by the socket side, which lowers it, and `/readyz`, which
/// shows it.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// From now on the server does not want requests; those it gets it answers.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`Readiness::stop`] was called.
    pub fn is_stopping(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Makes sure that a store answers, within two seconds.
///
/// # Errors
/// [`StoreError::Unavailable`] if it does not, or those of [`Store::check`].
pub async fn look_at(store: &dyn Store) -> Result<(), StoreError> {
    let slow = |_| Err(StoreError::Unavailable("it did not answer within 2 seconds".into()));
    timeout(STORE_TIMEOUT, store.check()).await.unwrap_or_else(slow)
}
