//! Which scenarios are being carried out at this moment, for whoever wants to
//! show it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The scenarios of a run that have begun and not ended. A copy sees the same.
#[derive(Clone, Debug, Default)]
pub struct Active(Arc<Mutex<Vec<(&'static str, Instant)>>>);

/// A scenario at work, until this is dropped.
pub(super) struct Begun {
    all: Active,
    id: &'static str,
}

impl Active {
    /// Takes a scenario on.
    pub(super) fn begin(&self, id: &'static str) -> Begun {
        self.lock().push((id, Instant::now()));
        Begun { all: self.clone(), id }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// The one that has been at work for the longest time, and for how long.
    pub fn oldest(&self) -> Option<(&'static str, Duration)> {
        let oldest = self.lock().first().copied();
        oldest.map(|(id, begun)| (id, begun.elapsed()))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(&'static str, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        // In the order of their beginnings, so that the first is the oldest.
        self.all.lock().retain(|(id, _)| *id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::Active;

    #[test]
    fn the_oldest_is_the_first_that_has_not_ended() {
        let all = Active::default();
        let oldest = || all.oldest().map(|(id, _)| id);
        assert_eq!((all.count(), oldest()), (0, None));
        let first = all.begin("a.b.first");
        let second = all.begin("a.b.second");
        assert_eq!((all.count(), oldest()), (2, Some("a.b.first")));
        drop(first);
        assert_eq!((all.count(), oldest()), (1, Some("a.b.second")));
        drop(second);
        assert_eq!(oldest(), None);
    }
}
