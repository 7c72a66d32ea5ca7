//! What one scenario did so far: the resources it created, its exchanges with what was checked of
//! them, and which of its requests are still in flight. All calls and checks report here, so no
//! scenario can forget to.

use std::fmt::{self, Display};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::RwLock;

use crate::target::Auth;
use crate::trace::Steps;

#[derive(Default)]
pub(crate) struct Ledger {
    created: Mutex<Vec<Created>>,
    pub(crate) steps: Arc<Steps>,
    /// How long its requests waited for their turn, in milliseconds: no time of the scenario's.
    waited: AtomicU64,
    /// Locked for reading by each request in flight, and for writing before the clean-up.
    pub(crate) in_flight: Arc<RwLock<()>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Created {
    pub(crate) by: Auth,
    pub(crate) resource: Resource,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    Prompt(i64),
    Vault(i64),
    /// A vault whose prompts were created with it.
    Fork(i64),
    /// A generation, which creates prompts asynchronously.
    Job {
        /// Its `clientJobId`.
        id: String,
        /// The vault that the request named.
        vault: Option<i64>,
    },
}

impl Resource {
    pub(crate) fn name(&self) -> (&'static str, String) {
        match self {
            Self::Prompt(id) => ("prompt", id.to_string()),
            Self::Vault(id) => ("vault", id.to_string()),
            Self::Fork(id) => ("fork", id.to_string()),
            Self::Job { id, .. } => ("generation", id.clone()),
        }
    }
}

impl Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, id) = self.name();
        write!(f, "{kind} {id}")
    }
}

impl Ledger {
    pub(crate) fn track(&self, by: &Auth, resource: Resource) {
        self.created().push(Created { by: by.clone(), resource });
    }

    pub(crate) fn add_wait(&self, wait: Duration) {
        let milliseconds = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        self.waited.fetch_add(milliseconds, Ordering::Relaxed);
    }

    pub(crate) fn waited(&self) -> Duration {
        Duration::from_millis(self.waited.load(Ordering::Relaxed))
    }

    /// All resources so far.
    pub(crate) fn created(&self) -> MutexGuard<'_, Vec<Created>> {
        self.created.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
