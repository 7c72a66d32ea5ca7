//! Ids as the test sees them: numbered in the order in which a store first returned them,
//! so that the results of two stores are comparable although their ids differ.

use std::collections::HashMap;
use std::hash::Hash;

use super::ops::Values;

/// The ids of one kind.
#[derive(Debug)]
pub(super) struct Ids<Id> {
    new: fn(i64) -> Id,
    numbers: HashMap<Id, i64>,
    seen: Vec<Id>,
    /// The ids that each account has, as far as the test knows.
    owned: Vec<Vec<Id>>,
}

impl<Id: Copy + Eq + Hash> Ids<Id> {
    pub(super) fn new(accounts: usize, new: fn(i64) -> Id) -> Self {
        Self { new, numbers: HashMap::new(), seen: Vec::new(), owned: vec![Vec::new(); accounts] }
    }

    /// An id that no store assigns.
    pub(super) fn unknown(&self) -> Id {
        (self.new)(i64::MAX)
    }

    /// The number of an id, as an id.
    pub(super) fn normalize(&mut self, id: Id) -> Id {
        if id == self.unknown() {
            return id;
        }
        let number = *self.numbers.entry(id).or_insert_with(|| {
            self.seen.push(id);
            i64::try_from(self.seen.len()).expect("few ids")
        });
        (self.new)(number)
    }

    pub(super) fn clear_owned(&mut self) {
        self.owned.iter_mut().for_each(Vec::clear);
    }

    pub(super) fn add_owned(&mut self, account: usize, id: Id) {
        if !self.owned[account].contains(&id) {
            self.owned[account].push(id);
        }
    }

    pub(super) fn remove_owned(&mut self, account: usize, id: Id) {
        self.owned[account].retain(|own| *own != id);
    }

    /// Usually one of the account's own ids, sometimes one of any account, present or
    /// deleted, or an unknown one.
    pub(super) fn pick(&self, account: usize, values: &mut Values) -> Id {
        let from = match values.below(20) {
            0 => &[][..],
            1..4 => &self.seen,
            _ => &self.owned[account],
        };
        values.choose(from).unwrap_or_else(|| self.unknown())
    }
}
