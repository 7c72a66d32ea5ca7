//! The time that a request may still wait for its store, over all steps there. Waiting for its body
//! or for the provider does not count.

use std::cell::Cell;
use std::time::Duration;

use crate::limits::REQUEST_DATABASE_TIMEOUT;

tokio::task_local! {
    static LEFT: Cell<Duration>;
}

pub(crate) async fn of_request<T>(request: impl Future<Output = T>) -> T {
    LEFT.scope(Cell::new(REQUEST_DATABASE_TIMEOUT), request).await
}

/// The time that is left; outside of requests each step has all of it.
pub(crate) fn left() -> Duration {
    LEFT.try_with(Cell::get).unwrap_or(REQUEST_DATABASE_TIMEOUT)
}

/// Takes the time of a step from what is left.
pub(crate) fn spend(time: Duration) {
    // It fails outside of requests.
    let _ = LEFT.try_with(|left| left.set(left.get().saturating_sub(time)));
}
