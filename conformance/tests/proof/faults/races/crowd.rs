//! Requests about one thing that come at the same moment, so that what goes wrong
//! among them goes wrong each time, however they happen to race.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};

use crate::exchange::{Request, Response};
use crate::fault::Intercept;
use crate::front::{any_matches, foreseen, whole};
use crate::proxy::Upstream;
use crate::shared::Shared;

/// Nobody else has come for this long: then all that came are one crowd. Whoever
/// comes alone waits as long.
const QUIET: Duration = Duration::from_millis(100);

/// The crowds that still grow, by what they are about.
#[derive(Clone, Default)]
pub(super) struct Crowds(Shared<HashMap<String, Growing>>);

struct Growing {
    asks: Vec<Request>,
    met: watch::Receiver<Option<Arc<Met>>>,
}

struct Met {
    asks: Vec<Request>,
    /// As many permits as requests that are answered.
    answered: Semaphore,
}

/// A request's place in its crowd; it is answered once this is dropped.
pub(super) struct Place {
    pub(super) nth: usize,
    met: Arc<Met>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.met.answered.add_permits(1);
    }
}

impl Place {
    fn alone(request: &Request) -> Self {
        Self { nth: 0, met: Met::of(vec![request.clone()]) }
    }

    /// All requests of the crowd as they came.
    pub(super) fn asks(&self) -> &[Request] {
        &self.met.asks
    }

    pub(super) fn is_alone(&self) -> bool {
        self.asks().len() == 1
    }

    pub(super) fn is_last(&self) -> bool {
        self.nth + 1 == self.asks().len()
    }

    /// How many requests of these routes are in the crowd.
    pub(super) fn count(&self, routes: &str) -> usize {
        self.asks().iter().filter(|request| is(request, routes)).count()
    }

    pub(super) fn has(&self, routes: &str) -> bool {
        self.count(routes) > 0
    }

    /// Waits until all but the requests of these routes are answered.
    pub(super) async fn after_all_but(&self, routes: &str) {
        let others = self.asks().len() - self.count(routes);
        let others = u32::try_from(others).unwrap_or(u32::MAX);
        // It is never closed.
        drop(self.met.answered.acquire_many(others).await);
    }
}

impl Met {
    fn of(asks: Vec<Request>) -> Arc<Self> {
        Arc::new(Self { asks, answered: Semaphore::new(0) })
    }
}

impl Crowds {
    /// Waits for the others that come at the same moment.
    pub(super) async fn join(&self, about: &str, request: &Request) -> Place {
        let (sender, receiver) = watch::channel(None);
        let (nth, mut met) = self.0.with(|growing| {
            let crowd = growing
                .entry(about.to_owned())
                .or_insert_with(|| Growing { asks: Vec::new(), met: receiver });
            crowd.asks.push(request.clone());
            (crowd.asks.len() - 1, crowd.met.clone())
        });
        if nth == 0 {
            let all = Met::of(self.all_of(about).await);
            sender.send_replace(Some(Arc::clone(&all)));
            return Place { nth, met: all };
        }
        // The first one has gone if nothing comes; then each is alone.
        let met = met.wait_for(Option::is_some).await.ok().and_then(|met| met.clone());
        met.map_or_else(|| Place::alone(request), |met| Place { nth, met })
    }

    async fn all_of(&self, about: &str) -> Vec<Request> {
        let mut seen = 1;
        loop {
            tokio::time::sleep(QUIET).await;
            let all = self.0.with(|growing| {
                let now = growing.get(about).map_or(0, |crowd| crowd.asks.len());
                let over = now == std::mem::replace(&mut seen, now);
                over.then(|| growing.remove(about).map(|crowd| crowd.asks).unwrap_or_default())
            });
            if let Some(all) = all {
                return all;
            }
        }
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
