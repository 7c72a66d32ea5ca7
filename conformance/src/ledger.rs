//! What one scenario did so far: the resources it created, its exchanges with what was checked of
//! them, and which of its requests are still in flight. All calls and checks report here, so no
//! scenario can forget to.

use std::fmt::{self, Display};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::exchange::{RawExchange, Request, Response};
use crate::target::Auth;

/// How many steps of one scenario are kept. Of more, those after the first few are left out.
const STEPS: usize = 400;
/// The first steps, which are always kept.
const FIRST: usize = 20;
/// How many of the last answers are kept in full.
const WHOLE: usize = 5;
/// What is kept of an earlier answer, in bytes: more than a report shows of it.
const ANSWER: usize = 16 << 10;
/// How many checks are kept of one step.
const CHECKS: usize = 50;

tokio::task_local! {
    /// The ledger of the scenario that this task runs.
    static CURRENT: Arc<Ledger>;
    /// Set while the scenario only prepares what it looks at.
    static SET_UP: ();
}

/// The record of one scenario, shared by all its calls.
#[derive(Default)]
pub(crate) struct Ledger {
    created: Mutex<Vec<Created>>,
    steps: Mutex<Vec<Taken>>,
    in_flight: Arc<RwLock<()>>,
}

/// An exchange and what was checked of it.
#[derive(Clone)]
pub(crate) struct Taken {
    pub(crate) exchange: RawExchange,
    pub(crate) checks: Vec<String>,
    pub(crate) failed: Vec<String>,
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
        let mut steps = lock(&self.steps);
        let same = |step: &&mut Taken| Arc::ptr_eq(&step.exchange.request, &exchange.request);
        if let Some(pending) = steps.iter_mut().rev().find(same) {
            pending.exchange = exchange;
            return;
        }
        if steps.len() == STEPS {
            steps.remove(FIRST);
        }
        steps.push(Taken { exchange, checks: Vec::new(), failed: Vec::new() });
        let earlier = steps.len().checked_sub(WHOLE + 1).and_then(|at| steps.get_mut(at));
        if let Some(Taken { exchange: RawExchange { response: Some(response), .. }, .. }) = earlier
            && response.body.len() > ANSWER
        {
            let body = bytes::Bytes::copy_from_slice(&response.body[..ANSWER]);
            let (status, headers) = (response.status, response.headers.clone());
            *response = Arc::new(Response { status, headers, body });
        }
    }

    /// Adds what was checked of an answer, or of none in particular.
    fn check(&self, request: Option<&Arc<Request>>, text: String, holds: bool) {
        let mut steps = lock(&self.steps);
        let is_of = |step: &Taken| {
            request.is_some_and(|request| Arc::ptr_eq(&step.exchange.request, request))
        };
        let at = steps.iter().rposition(is_of).or(steps.len().checked_sub(1));
        let Some(step) = at.and_then(|at| steps.get_mut(at)) else { return };
        let list = if holds { &mut step.checks } else { &mut step.failed };
        if list.len() < CHECKS && !list.contains(&text) {
            list.push(text);
        }
    }

    /// All that was done, oldest first.
    pub(crate) fn steps(&self) -> Vec<Taken> {
        lock(&self.steps).clone()
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

/// Runs a scenario so that what it checks is added to this ledger.
pub(crate) async fn keeping<T>(ledger: Arc<Ledger>, scenario: impl Future<Output = T>) -> T {
    CURRENT.scope(ledger, scenario).await
}

/// Adds a check to the ledger of the scenario that this task runs.
pub(crate) fn checked(request: Option<&Arc<Request>>, text: &impl Display, holds: bool) {
    let _ = CURRENT.try_with(|ledger| ledger.check(request, text.to_string(), holds));
}

/// Runs a step that only prepares what the scenario looks at.
pub(crate) async fn setting_up<T>(step: impl Future<Output = T>) -> T {
    SET_UP.scope((), step).await
}

/// Whether this task runs such a step.
pub(crate) fn is_set_up() -> bool {
    SET_UP.try_with(|()| ()).is_ok()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
