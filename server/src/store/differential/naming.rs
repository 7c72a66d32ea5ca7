//! Names for identifiers, so that what two stores say can be compared although
//! they number things differently.

use std::collections::HashMap;
use std::hash::Hash;

/// Gives each identifier of a kind a number by the order in which it is first
/// seen, and knows who has which.
#[derive(Debug)]
pub(crate) struct Naming<Id> {
    make: fn(i64) -> Id,
    numbers: HashMap<Id, i64>,
    seen: Vec<Id>,
    /// What each account was last seen to have.
    own: Vec<Vec<Id>>,
}

impl<Id: Copy + Eq + Hash> Naming<Id> {
    pub(crate) fn new(accounts: usize, make: fn(i64) -> Id) -> Self {
        Self { make, numbers: HashMap::new(), seen: Vec::new(), own: vec![Vec::new(); accounts] }
    }

    /// An identifier that no store gives.
    pub(crate) fn nothing(&self) -> Id {
        (self.make)(i64::MAX)
    }

    /// The number of an identifier, in the form of one.
    pub(crate) fn name(&mut self, id: Id) -> Id {
        if id == self.nothing() {
            return id;
        }
        let number = *self.numbers.entry(id).or_insert_with(|| {
            self.seen.push(id);
            i64::try_from(self.seen.len()).expect("few are seen")
        });
        (self.make)(number)
    }

    pub(crate) fn forget_own(&mut self) {
        self.own.iter_mut().for_each(Vec::clear);
    }

    pub(crate) fn note_own(&mut self, account: usize, id: Id) {
        self.own[account].push(id);
    }

    /// What is gone before the next look.
    pub(crate) fn forget(&mut self, account: usize, id: Id) {
        self.own[account].retain(|own| *own != id);
    }

    pub(crate) fn own(&self, account: usize, pick: usize) -> Id {
        choose(&self.own[account], pick).unwrap_or_else(|| self.nothing())
    }

    pub(crate) fn any(&self, pick: usize) -> Id {
        choose(&self.seen, pick).unwrap_or_else(|| self.nothing())
    }
}

fn choose<Id: Copy>(ids: &[Id], pick: usize) -> Option<Id> {
    (!ids.is_empty()).then(|| ids[pick % ids.len()])
}
