//! Whether this server wants requests: yes, until it is asked to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
