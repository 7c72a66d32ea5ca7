//! The bell: it wakes idle workers when a job may be due.
//!
//! All workers of one store wait at one bell, and one [`ringer`] looks after it, so
//! that waiting costs the database one connection and one look a second at most,
//! however many they are. It begins with the first to wait, looks for nobody while
//! nobody waits, and ends with the store. Without it, or while the database is
//! away, waiting ends after the time its caller set.

mod line;
mod ringer;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use self::line::Line;
#[cfg(test)]
pub(super) use self::ringer::LOOK;
use self::ringer::Ringer;
use crate::clock::Clock;
use crate::store::postgres::connect::Connector;

/// What is notified when a job has become due at once.
pub(in crate::store::postgres) const CHANNEL: &str = "promptarium_job_due";

/// Rings when a job may be due. Copies are one bell.
#[derive(Clone)]
pub(in crate::store::postgres) struct Bell(Arc<Inner>);

struct Inner {
    post: Arc<Post>,
    line: Line,
    clock: Clock,
    ringer: Mutex<Option<JoinHandle<()>>>,
}

/// Where those who wait and the one who rings meet.
struct Post {
    /// One permit, and one worker wakes.
    ring: Notify,
    /// The plan has changed.
    replanned: Notify,
    plan: Mutex<Plan>,
}

#[derive(Clone, Copy)]
struct Plan {
    waiting: usize,
    next_look: Instant,
}

impl Bell {
    /// A bell that hears what is notified in the database. The time is that of a test's
    /// clock if there is one, else the database's.
    pub(in crate::store::postgres) fn new(connector: Connector, clock: Clock) -> Self {
        let plan = Mutex::new(Plan { waiting: 0, next_look: Instant::now() });
        let post = Arc::new(Post { ring: Notify::new(), replanned: Notify::new(), plan });
        Self(Arc::new(Inner { post, line: Line::new(connector), clock, ringer: Mutex::new(None) }))
    }

    /// Done when it rings for the one who waits here, and after `at_most`.
    pub(in crate::store::postgres) async fn rung(&self, at_most: Duration) {
        self.0.begin();
        let _waiting = Waiting::at(&self.0.post);
        // One who gives up has been woken too.
        let _ = timeout(at_most, self.0.post.ring.notified()).await;
    }

    /// Makes sure that there is a look at what is due after this pause.
    pub(in crate::store::postgres) fn expect(&self, pause: Duration) {
        if let Some(at) = Instant::now().checked_add(pause) {
            self.0.post.look_at(at);
        }
    }
}

impl Inner {
    /// Sets a ringer to work unless one is.
    fn begin(&self) {
        let mut ringer = self.ringer.lock().unwrap_or_else(PoisonError::into_inner);
        if ringer.as_ref().is_none_or(JoinHandle::is_finished) {
            let new = Ringer::new(self.post.clone(), self.line.clone(), self.clock.clone());
            *ringer = Some(tokio::spawn(new.run()));
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let ringer = self.ringer.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(ringer) = ringer {
            ringer.abort();
        }
    }
}

impl Post {
    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the next look forward to `at`, if it would be later.
    fn look_at(&self, at: Instant) {
        let mut plan = self.plan();
        if at < plan.next_look {
            plan.next_look = at;
            drop(plan);
            self.replanned.notify_one();
        }
    }
}

/// One who waits, counted while this lives.
struct Waiting<'a>(&'a Post);

impl<'a> Waiting<'a> {
    fn at(post: &'a Post) -> Self {
        post.plan().waiting += 1;
        post.replanned.notify_one();
        Self(post)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.plan().waiting -= 1;
    }
}

impl fmt::Debug for Bell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bell").finish_non_exhaustive()
    }
}
