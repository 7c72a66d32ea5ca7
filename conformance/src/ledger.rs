//! What one scenario did so far: the resources it created, its exchanges with what was checked of
//! them, and which of its requests are still in flight. All calls and checks report here, so no
//! scenario can forget to.

use std::fmt::{self, Display};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::exchange::RawExchange;
use crate::target::Auth;
use crate::trace::Steps;

/// The record of one scenario, shared by all its calls.
#[derive(Default)]
pub(crate) struct Ledger {
    created: Mutex<Vec<Created>>,
    pub(crate) steps: Arc<Steps>,
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

impl Resource {
    /// Its kind and its id.
    fn name(&self) -> (&'static str, String) {
        match self {
            Self::Prompt(id) => ("prompt", id.to_string()),
            Self::Vault(id) => ("vault", id.to_string()),
            Self::Fork(id) => ("fork", id.to_string()),
            Self::Job(Job { id, .. }) => ("generation", id.clone()),
            Self::Key(id) => ("API key", id.clone()),
        }
    }
}

impl Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, id) = self.name();
        write!(f, "{kind} {id}")
    }
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

    /// Their ids, as they stand in requests.
    pub(crate) fn created_names(&self) -> Vec<String> {
        lock(&self.created).iter().map(|created| created.resource.name().1).collect()
    }

    /// All resources so far, which are then forgotten.
    pub(crate) fn take_created(&self) -> Vec<Created> {
        std::mem::take(&mut *lock(&self.created))
    }

    /// Adds an exchange, whose response may still be missing.
    pub(crate) fn record(&self, exchange: RawExchange) {
        self.steps.record(exchange);
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
