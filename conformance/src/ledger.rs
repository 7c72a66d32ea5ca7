//! What one scenario did so far: the resources it created, its last exchanges, and which of
//! its requests are still in flight. All calls report here, so no scenario can forget to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::exchange::RawExchange;
use crate::target::Auth;

/// How many exchanges a report shows of one scenario.
const EXCHANGES: usize = 5;

/// The record of one scenario, shared by all its calls.
#[derive(Default)]
pub(crate) struct Ledger {
    created: Mutex<Vec<Created>>,
    exchanges: Mutex<VecDeque<RawExchange>>,
    in_flight: Arc<RwLock<()>>,
}

/// Held while a request is in flight; the scenario is not cleaned up before.
pub(crate) type InFlightGuard = Option<OwnedRwLockReadGuard<()>>;

/// A resource and the key that created it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Created {
    pub(crate) by: Auth,
    pub(crate) resource: Resource,
}

/// What a scenario can leave behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    Prompt(i64),
    Vault(i64),
    /// A vault whose prompts were created with it.
    Fork(i64),
    /// A generation, which creates prompts asynchronously.
    Job(Job),
    /// An API key, by its public id.
    Key(String),
}

/// A generation that was queued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    /// Its `clientJobId`.
    pub(crate) id: String,
    /// The vault that the request named.
    pub(crate) vault: Option<i64>,
}

impl Ledger {
    pub(crate) fn track(&self, by: &Auth, resource: Resource) {
        lock(&self.created).push(Created { by: by.clone(), resource });
    }

    /// How many resources there are so far.
    pub(crate) fn created_count(&self) -> usize {
        lock(&self.created).len()
    }

    /// All resources so far, which are then forgotten.
    pub(crate) fn take_created(&self) -> Vec<Created> {
        std::mem::take(&mut *lock(&self.created))
    }

    /// Adds an exchange, whose response may still be missing.
    pub(crate) fn record(&self, exchange: RawExchange) {
        let mut exchanges = lock(&self.exchanges);
        let same = |one: &mut RawExchange| {
            one.response.is_none() && Arc::ptr_eq(&one.request, &exchange.request)
        };
        if let Some(pending) = exchanges.iter_mut().find_map(|one| same(one).then_some(one)) {
            *pending = exchange;
            return;
        }
        if exchanges.len() == EXCHANGES {
            exchanges.pop_front();
        }
        exchanges.push_back(exchange);
    }

    /// The last exchanges, oldest first.
    pub(crate) fn exchanges(&self) -> Vec<RawExchange> {
        lock(&self.exchanges).iter().cloned().collect()
    }

    /// To be held while a request is in flight. `None` once the scenario is cleaned up, whose
    /// own requests nothing waits for.
    pub(crate) fn begin_request(&self) -> InFlightGuard {
        Arc::clone(&self.in_flight).try_read_owned().ok()
    }

    /// Waits until no request is in flight.
    pub(crate) async fn no_request_in_flight(&self) -> OwnedRwLockWriteGuard<()> {
        Arc::clone(&self.in_flight).write_owned().await
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
