//! Requests about one thing that come at the same moment, so that what goes wrong
//! among them goes wrong each time, however they happen to race.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::prelude::*;

/// Nobody else has come for this long: then all that came are one crowd. Whoever
/// comes alone waits as long.
const QUIET: Duration = Duration::from_millis(100);

/// The crowds that still grow, by what they are about.
#[derive(Clone, Default)]
pub(super) struct Crowds(Shared<HashMap<String, Crowd>>);

#[derive(Clone)]
struct Crowd {
    asks: Shared<Vec<Request>>,
    /// As many permits as requests that are answered.
    answered: Arc<Semaphore>,
}

impl Default for Crowd {
    fn default() -> Self {
        Self { asks: Shared::default(), answered: Arc::new(Semaphore::new(0)) }
    }
}

/// A request's place in its crowd; it is answered once this is dropped.
pub(super) struct Place {
    pub(super) nth: usize,
    asks: Vec<Request>,
    answered: Arc<Semaphore>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.answered.add_permits(1);
    }
}

impl Place {
    fn alone(request: &Request) -> Self {
        Self { nth: 0, asks: vec![request.clone()], answered: Crowd::default().answered }
    }

    /// All requests of the crowd as they came.
    pub(super) fn asks(&self) -> &[Request] {
        &self.asks
    }

    pub(super) fn is_alone(&self) -> bool {
        self.asks.len() == 1
    }

    pub(super) fn is_last(&self) -> bool {
        self.nth + 1 == self.asks.len()
    }

    /// How many requests of these routes are in the crowd.
    pub(super) fn count(&self, routes: &str) -> usize {
        self.asks.iter().filter(|request| is(request, routes)).count()
    }

    pub(super) fn has(&self, routes: &str) -> bool {
        self.count(routes) > 0
    }

    /// Waits until all but the requests of these routes are answered.
    pub(super) async fn after_all_but(&self, routes: &str) {
        let others = self.asks.len() - self.count(routes);
        // It is never closed.
        drop(self.answered.acquire_many(u32::try_from(others).unwrap_or(u32::MAX)).await);
    }
}

impl Crowds {
    /// Waits for the others that come at the same moment.
    pub(super) async fn join(&self, about: &str, request: &Request) -> Place {
        let (crowd, nth) = self.0.with(|growing| {
            let crowd = growing.entry(about.to_owned()).or_default();
            crowd.asks.with(|asks| asks.push(request.clone()));
            (crowd.clone(), crowd.asks.with(|asks| asks.len()) - 1)
        });
        let mut seen = 0;
        loop {
            let now = crowd.asks.with(|asks| asks.len());
            if now == std::mem::replace(&mut seen, now) {
                break;
            }
            tokio::time::sleep(QUIET).await;
        }
        // Whoever is first here closes it; what comes now begins another one.
        self.0.with(|growing| {
            let is_it = |it: &Crowd| Arc::ptr_eq(&it.answered, &crowd.answered);
            growing.get(about).is_some_and(is_it).then(|| growing.remove(about))
        });
        let asks = crowd.asks.with(|asks| asks.clone());
        Place { nth, asks, answered: crowd.answered }
    }
}

/// Whether the request is of one of these routes.
pub(super) fn is(request: &Request, routes: &str) -> bool {
    any_matches(routes, &request.method, &request.path)
}

/// Handles requests of these routes in crowds; `about` says which belong together,
/// and nothing for those that belong to none. A scenario can meet the fault only
/// with a request of the routes `first`.
pub(super) fn crowded<F>(
    routes: &'static str,
    first: &'static str,
    about: fn(&Request) -> Option<String>,
    run: impl Fn(Request, Upstream, Place) -> F + Send + Sync + 'static,
) -> Intercept
where
    F: Future<Output = Response> + Send + 'static,
{
    let (crowds, run) = (Crowds::default(), Arc::new(run));
    let how = whole(routes, move |request, upstream| {
        let (crowds, run) = (crowds.clone(), Arc::clone(&run));
        async move {
            let place = match about(&request) {
                Some(about) if are_there(&request, &upstream).await => {
                    crowds.join(&about, &request).await
                }
                _ => Place::alone(&request),
            };
            run(request, upstream, place).await
        }
    });
    with_first(how, first)
}

/// Whether what a call is about is there. Else it is nobody's own: several scenarios
/// name the same ids that nothing has.
async fn are_there(request: &Request, upstream: &Upstream) -> bool {
    let mut paths = Vec::new();
    // A fork may be of a vault that the caller cannot read.
    if is(request, "* /prompts/*/**, * /vaults/*/**") && !is(request, "POST /vaults/*/fork") {
        paths.push(format!("/{}/{}", request.segment(0), request.segment(1)));
    }
    paths.extend(request.json().get("targetVaultId").map(|vault| format!("/vaults/{vault}")));
    for path in paths {
        if !upstream.get(request, path).await.is_success() {
            return false;
        }
    }
    true
}

/// Says that only scenarios with a request of these routes can meet the fault.
pub(super) fn with_first(how: Intercept, first: &'static str) -> Intercept {
    foreseen(how, move |request, _| is(request, first))
}
