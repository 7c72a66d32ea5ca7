//! The steps of a scenario while it runs, with all secrets. All calls and checks report here, so no
//! scenario can forget to.

use std::fmt::Display;
use std::sync::{Arc, Mutex};

use crate::exchange::{RawExchange, Request, Response};
use crate::lock;

/// How many steps of one scenario are kept. Of more, those after the first few are left out.
const STEPS: usize = 400;
/// The first steps, which are always kept.
const FIRST: usize = 20;
/// How many of the last answers are kept in full.
const WHOLE: usize = 5;
/// What is kept of an earlier answer, in bytes: more than a report shows of it.
const ANSWER: usize = 16 << 10;
const CHECKS: usize = 50;

tokio::task_local! {
    static CURRENT: Arc<Steps>;
    /// Set while the scenario only prepares what it looks at.
    static SET_UP: ();
}

/// What a scenario did so far, oldest first.
#[derive(Default)]
pub(crate) struct Steps(Mutex<Vec<Taken>>);

/// An exchange and what was checked of it.
#[derive(Clone)]
pub(crate) struct Taken {
    pub(crate) exchange: RawExchange,
    pub(crate) checks: Vec<String>,
    pub(crate) failed: Vec<String>,
}

impl Steps {
    /// Adds an exchange, whose response may still be missing.
    pub(crate) fn record(&self, exchange: RawExchange) {
        let mut steps = lock(&self.0);
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
        let Some(response) = earlier.and_then(|step| step.exchange.response.as_mut()) else {
            return;
        };
        if let Some(start) = response.body.get(..ANSWER) {
            let body = bytes::Bytes::copy_from_slice(start);
            let (status, headers) = (response.status, response.headers.clone());
            *response = Arc::new(Response { status, headers, body });
        }
    }

    /// Adds what was checked of an answer, or of none in particular.
    fn check(&self, request: Option<&Arc<Request>>, text: String, holds: bool) {
        let mut steps = lock(&self.0);
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

    pub(crate) fn all(&self) -> Vec<Taken> {
        lock(&self.0).clone()
    }
}

/// Runs a scenario so that what it checks is added to these steps.
pub(crate) async fn keeping<T>(steps: Arc<Steps>, scenario: impl Future<Output = T>) -> T {
    CURRENT.scope(steps, scenario).await
}

/// Adds a check to the steps of the scenario that this task runs.
pub(crate) fn checked(request: Option<&Arc<Request>>, text: &impl Display, holds: bool) {
    let _ = CURRENT.try_with(|steps| steps.check(request, text.to_string(), holds));
}

/// Runs a step that only prepares what the scenario looks at.
pub(crate) async fn setting_up<T>(step: impl Future<Output = T>) -> T {
    SET_UP.scope((), step).await
}

pub(crate) fn is_set_up() -> bool {
    SET_UP.try_with(|()| ()).is_ok()
}
