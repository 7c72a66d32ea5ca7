//! What one scenario did so far: the resources it created, its exchanges with what was checked of
//! them, and which of its requests are still in flight. All calls and checks report here, so no
//! scenario can forget to.

use std::fmt::{self, Display};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::RwLock;

use crate::lock;
use crate::target::Auth;
use crate::trace::Steps;

#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) created: Mutex<Vec<Created>>,
    pub(crate) steps: Arc<Steps>,
    /// How long its requests waited for their turn: no time of the scenario's.
    waited: Mutex<Duration>,
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
    pub(crate) fn track(&self, by: Auth, resource: Resource) {
        lock(&self.created).push(Created { by, resource });
    }

    pub(crate) fn add_wait(&self, wait: Duration) {
        *lock(&self.waited) += wait;
    }

    pub(crate) fn waited(&self) -> Duration {
        *lock(&self.waited)
    }
}
