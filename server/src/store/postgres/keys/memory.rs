//! Keys that were found before, so that a request costs no look-up. What may
//! change about a key, its revocation, is looked at in every step.
//!
//! Only keys that exist get in, so that guessing them fills nothing.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::domain::{KeyId, KeyRecord};

/// The most keys in one half.
const HALF_MAX: usize = 5_000;

type Half = HashMap<Box<str>, KeyRecord>;

/// Keys by their public ids, the ones used lately at least.
#[derive(Clone, Debug, Default)]
pub(in crate::store::postgres) struct KeyMemory(Arc<RwLock<Halves>>);

/// New ones go into the young half. When it is full it becomes the old one, and
/// what was in that and never asked for again is gone.
#[derive(Debug, Default)]
struct Halves {
    young: Half,
    old: Half,
}

impl KeyMemory {
    pub(super) fn recall(&self, public_id: &str) -> Option<KeyRecord> {
        let old = {
            let halves = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = halves.young.get(public_id) {
                return Some(known.clone());
            }
            halves.old.get(public_id).cloned()?
        };
        self.remember(&old);
        Some(old)
    }

    pub(super) fn remember(&self, record: &KeyRecord) {
        let mut halves = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if halves.young.len() >= HALF_MAX {
            halves.old = std::mem::take(&mut halves.young);
        }
        halves.young.insert(record.key.public_id.clone(), record.clone());
    }

    /// It looks at every key, which happens once when one is revoked.
    pub(super) fn forget(&self, key: KeyId) {
        let mut halves = self.0.write().unwrap_or_else(PoisonError::into_inner);
        halves.young.retain(|_, record| record.id != key);
        halves.old.retain(|_, record| record.id != key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{AccountId, NewKey, Scopes};

    fn record(number: i64) -> KeyRecord {
        let (public_id, digest) = (number.to_string().into(), [7; 32]);
        let key = NewKey { public_id, digest, scopes: Scopes::ALL, revoked: false };
        KeyRecord { id: KeyId(number), account: AccountId(1), key }
    }

    #[test]
    fn it_never_grows_beyond_its_bound() {
        let memory = KeyMemory::default();
        let most = i64::try_from(HALF_MAX).unwrap();
        for number in 0..most * 4 {
            memory.remember(&record(number));
        }
        let halves = memory.0.read().unwrap();
        assert!(halves.young.len() + halves.old.len() <= 2 * HALF_MAX);
        assert!(halves.young.contains_key(&*(most * 4 - 1).to_string()));
    }

    #[test]
    fn a_key_in_use_stays() {
        let memory = KeyMemory::default();
        memory.remember(&record(0));
        for number in 1..i64::try_from(HALF_MAX).unwrap() * 4 {
            memory.remember(&record(number));
            assert!(memory.recall("0").is_some(), "after {number}");
        }
    }

    #[test]
    fn a_forgotten_key_is_in_neither_half() {
        let memory = KeyMemory::default();
        for number in 0..=i64::try_from(HALF_MAX).unwrap() {
            memory.remember(&record(number));
        }
        for number in [0, i64::try_from(HALF_MAX).unwrap()] {
            memory.forget(KeyId(number));
            assert_eq!(memory.recall(&number.to_string()), None);
        }
        assert!(memory.recall("1").is_some());
    }
}
