//! How much memory the bodies of requests and responses may take: all of them together, and those
//! of one account.
//!
//! A request reserves memory before its body is read, and releases it when the bytes are dropped.
//! One account can use a part of the budget only, so it cannot keep the others out.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use crate::domain::AccountId;
use crate::limits::MEMORY_SHARE_DIVISOR;

/// Whose bytes they are; `None` for requests without an account.
type Owner = Option<AccountId>;

/// Memory for bodies. Clones share it.
#[derive(Clone)]
pub struct MemoryBudget(Arc<Budget>);

struct Budget {
    limit: usize,
    used: Mutex<Used>,
}

#[derive(Default)]
struct Used {
    total: usize,
    /// Of owners that have some.
    by_owner: HashMap<Owner, usize>,
}

/// Which limit a body exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverBudget {
    #[error(
        "the requests of this account have too many bytes in memory; try again when some have ended"
    )]
    Account,
    #[error("the responses without a key have too many bytes in memory; try again in a while")]
    Public,
    #[error("the requests of all accounts have too many bytes in memory; try again in a while")]
    Server,
}

/// The budget as one caller sees it.
#[derive(Clone, Copy)]
pub struct Memory<'a> {
    budget: &'a MemoryBudget,
    owner: Owner,
}

/// Memory for some bytes, until it is dropped.
pub(crate) struct Reservation {
    budget: MemoryBudget,
    owner: Owner,
    bytes: usize,
}

impl MemoryBudget {
    pub(crate) fn new(limit: usize) -> Self {
        Self(Arc::new(Budget { limit, used: Mutex::default() }))
    }

    pub(crate) fn limit(&self) -> usize {
        self.0.limit
    }

    pub(crate) fn used(&self) -> usize {
        self.0.used.lock().total
    }

    /// The budget for requests of this account, or for those without one.
    pub(crate) const fn of(&self, owner: Owner) -> Memory<'_> {
        Memory { budget: self, owner }
    }

    fn take(&self, owner: Owner, bytes: usize) -> Result<(), OverBudget> {
        if bytes == 0 {
            return Ok(());
        }
        let mut used = self.0.used.lock();
        let own = used.by_owner.get(&owner).copied().unwrap_or_default() + bytes;
        if own > self.0.limit / MEMORY_SHARE_DIVISOR {
            return Err(owner.map_or(OverBudget::Public, |_| OverBudget::Account));
        }
        let total = used.total + bytes;
        if total > self.0.limit {
            return Err(OverBudget::Server);
        }
        used.total = total;
        used.by_owner.insert(owner, own);
        Ok(())
    }

    fn give_back(&self, owner: Owner, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let mut used = self.0.used.lock();
        used.total -= bytes;
        if let Entry::Occupied(mut own) = used.by_owner.entry(owner) {
            *own.get_mut() -= bytes;
            if *own.get() == 0 {
                own.remove();
            }
        }
    }
}

impl Memory<'_> {
    /// Reserves memory for this many bytes.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<Reservation, OverBudget> {
        self.budget.take(self.owner, bytes)?;
        Ok(Reservation { budget: self.budget.clone(), owner: self.owner, bytes })
    }
}

impl Reservation {
    /// Reserves memory for this many bytes in all.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), OverBudget> {
        let more = bytes.saturating_sub(self.bytes);
        self.budget.take(self.owner, more)?;
        self.bytes += more;
        Ok(())
    }

    /// These bytes, with the reservation until their last clone is dropped.
    pub(crate) fn hold(self, bytes: impl AsRef<[u8]> + Send + 'static) -> Bytes {
        struct Held<T> {
            bytes: T,
            _reservation: Reservation,
        }
        impl<T: AsRef<[u8]>> AsRef<[u8]> for Held<T> {
            fn as_ref(&self) -> &[u8] {
                self.bytes.as_ref()
            }
        }
        Bytes::from_owner(Held { bytes, _reservation: self })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.give_back(self.owner, self.bytes);
    }
}

impl std::fmt::Debug for Memory<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("owner", &self.owner).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Owner = Some(AccountId(1));
    const OTHER: Owner = Some(AccountId(2));

    #[test]
    fn an_owner_gets_its_share_and_the_others_get_theirs() {
        let budget = MemoryBudget::new(400);
        let (one, other) = (budget.of(ONE), budget.of(OTHER));
        let first = one.reserve(60).unwrap();
        let second = one.reserve(40).unwrap();
        assert_eq!(one.reserve(1).err(), Some(OverBudget::Account));
        let _other = other.reserve(100).unwrap();
        drop(first);
        assert_eq!(one.reserve(61).err(), Some(OverBudget::Account));
        assert!(one.reserve(60).is_ok());
        drop(second);
        assert_eq!(budget.used(), 100);
        assert_eq!(budget.0.used.lock().by_owner.len(), 1);
    }

    #[test]
    fn all_owners_together_get_the_limit() {
        let budget = MemoryBudget::new(400);
        let held: Vec<_> =
            (1..=4).map(|id| budget.of(Some(AccountId(id))).reserve(100).unwrap()).collect();
        assert_eq!(budget.of(None).reserve(1).err(), Some(OverBudget::Server));
        drop(held);
        assert_eq!(budget.of(None).reserve(101).err(), Some(OverBudget::Public));
        assert!(budget.of(None).reserve(100).is_ok());
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn bytes_have_their_reservation_until_the_last_clone_is_dropped() {
        let budget = MemoryBudget::new(400);
        let bytes = budget.of(ONE).reserve(5).unwrap().hold(b"hello".to_vec());
        let clone = bytes.slice(1..2);
        assert_eq!((&*bytes, budget.used()), (&b"hello"[..], 5));
        drop(bytes);
        assert_eq!((&*clone, budget.used()), (&b"e"[..], 5));
        drop(clone);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_reservation_grows_within_the_share() {
        let budget = MemoryBudget::new(400);
        let mut reservation = budget.of(ONE).reserve(0).unwrap();
        reservation.grow_to(100).unwrap();
        reservation.grow_to(50).unwrap();
        assert_eq!(reservation.grow_to(101), Err(OverBudget::Account));
        assert_eq!(budget.used(), 100);
        drop(reservation);
        assert_eq!(budget.used(), 0);
    }
}
