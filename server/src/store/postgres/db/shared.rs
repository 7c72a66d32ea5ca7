//! Connections on which several steps that only look are under way at once: their
//! statements are sent without waiting for one another, which costs fewer wake-ups
//! on both sides than a connection for each.
//!
//! A shared connection is one of the pool's, lent for a moment. So it counts among
//! the pool's, and whoever waits for one of their own gets it when it goes back.
//!
//! Answers come in the order of the statements: one that takes long holds up those
//! behind it. Three things bound that. The connection with the fewest steps is
//! chosen, and none takes more than [`STEPS_MAX`]. Nobody joins one that was lent
//! longer than [`LENDING`] ago. And who hears of no answer to anybody on theirs for
//! [`STILL`] begins again on a connection of its own, where it waits for nobody.

use std::ops::Deref;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tokio::time::timeout;

use super::fault::Fault;
use crate::store::postgres::connect::{Kept, Pooled};

/// The most connections that are lent at once.
const PLACES_MAX: usize = 4;
/// The most steps on one of them at once; who comes then takes one of its own.
const STEPS_MAX: usize = 16;
/// How long a connection is joined before it has to go back to the pool.
const LENDING: Duration = Duration::from_millis(50);
/// How long a step waits without an answer to anybody on its connection. Well above
/// what a step that looks takes, because it begins again after that.
const STILL: Duration = Duration::from_secs(1);

/// Where connections are shared. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Shares(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    places: Box<[Place]>,
    /// Goes up when no connection that is lent now may be joined or kept.
    era: AtomicUsize,
    /// How long a connection is joined.
    lending: Duration,
}

#[derive(Debug, Default)]
struct Place {
    steps: AtomicUsize,
    /// Held while a connection is got, so that a place gets one at a time. Nobody
    /// has to give it back: it goes when its last step ends.
    lent: Mutex<Weak<Lent>>,
}

#[derive(Debug)]
struct Lent {
    client: Pooled,
    since: Instant,
    era: usize,
    answers: AtomicUsize,
}

/// A step's place on a shared connection.
pub(super) struct Share<'a> {
    lent: Arc<Lent>,
    seat: Seat<'a>,
}

/// One of the steps of a place, also while it waits for the connection.
struct Seat<'a> {
    parts: &'a Parts,
    place: &'a Place,
}

impl Shares {
    /// For a pool of so many connections: not more than half of them are lent.
    pub(super) fn of(connections: usize) -> Self {
        Self::lending_for(LENDING, connections)
    }

    fn lending_for(lending: Duration, connections: usize) -> Self {
        let places = (connections / 2).clamp(1, PLACES_MAX);
        let places = std::iter::repeat_with(Place::default).take(places).collect();
        Self(Arc::new(Parts { places, era: AtomicUsize::new(0), lending }))
    }

    /// Nobody joins a connection that is lent now, and the pool does not get it back.
    pub(super) fn renew(&self) {
        self.0.era.fetch_add(1, Ordering::Relaxed);
    }

    /// A share of the connection with the fewest steps; `None` if all have enough.
    /// `get` gets one from the pool if none is lent there.
    pub(super) async fn join<E>(
        &self,
        get: impl AsyncFnOnce() -> Result<Pooled, E>,
    ) -> Result<Option<Share<'_>>, E> {
        let Some(seat) = self.seat() else {
            return Ok(None);
        };
        let mut place = seat.place.lent.lock().await;
        let era = seat.parts.era.load(Ordering::Relaxed);
        if let Some(lent) =
            place.upgrade().filter(|lent| lent.may_be_joined(era, seat.parts.lending))
        {
            return Ok(Some(Share { lent, seat }));
        }
        let (client, answers) = (get().await?, AtomicUsize::new(0));
        let lent = Arc::new(Lent { client, since: Instant::now(), era, answers });
        *place = Arc::downgrade(&lent);
        drop(place);
        Ok(Some(Share { lent, seat }))
    }

    fn seat(&self) -> Option<Seat<'_>> {
        let parts = &*self.0;
        let place = parts.places.iter().min_by_key(|place| place.steps.load(Ordering::Relaxed))?;
        let seat = Seat { parts, place };
        let before = place.steps.fetch_add(1, Ordering::Relaxed);
        (before < STEPS_MAX).then_some(seat)
    }
}

impl Lent {
    fn may_be_joined(&self, era: usize, lending: Duration) -> bool {
        self.era == era && self.since.elapsed() < lending && !self.client.is_spent()
    }
}

impl Share<'_> {
    /// Waits for the outcome of what was sent as long as there are answers on this
    /// connection. One that has none is spent: what is left on it would be in the
    /// way of whoever came next.
    pub(super) async fn while_it_moves<T>(
        &self,
        sending: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        let mut sending = pin!(sending);
        loop {
            let before = self.lent.answers.load(Ordering::Relaxed);
            if let Ok(outcome) = timeout(STILL, sending.as_mut()).await {
                self.lent.answers.fetch_add(1, Ordering::Relaxed);
                return outcome;
            }
            if self.lent.answers.load(Ordering::Relaxed) == before {
                return Err(Fault::still(STILL));
            }
        }
    }
}

impl Deref for Share<'_> {
    type Target = Kept;

    fn deref(&self) -> &Kept {
        &self.lent.client
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        if self.seat.parts.era.load(Ordering::Relaxed) != self.lent.era {
            self.lent.client.spend();
        }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.place.steps.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
