//! Answers that were written once and may be given again: the lists of vaults, which
//! grow long and are asked for often.
//!
//! Nothing here decides whether one is still right. The store does, at each request,
//! by the mark it gave with the vaults; so this may forget whatever it likes.

use std::sync::Arc;

use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::domain::AccountId;
use crate::store::VaultsMark;

/// Bytes of all answers that are kept, about.
const BYTES_MAX: u64 = 32 * 1024 * 1024;
/// A shorter answer is written about as fast as it is found.
const BYTES_MIN: usize = 4 * 1024;

/// The last list of vaults of each account, as far as there is room. Clones share
/// them.
#[derive(Clone, Debug)]
pub struct KeptLists(Arc<Cache<AccountId, Kept, Bytewise>>);

/// One answer, and what it stands for.
#[derive(Clone, Debug)]
pub struct Kept {
    /// What the vaults were.
    pub mark: VaultsMark,
    /// The whole body.
    pub answer: Bytes,
}

/// Weighs an answer by what it takes.
#[derive(Clone, Debug)]
struct Bytewise;

impl Weighter<AccountId, Kept> for Bytewise {
    fn weight(&self, _: &AccountId, kept: &Kept) -> u64 {
        kept.answer.len() as u64
    }
}

impl KeptLists {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        let answers = BYTES_MAX as usize / BYTES_MIN / 16;
        Self(Arc::new(Cache::with_weighter(answers, BYTES_MAX, Bytewise)))
    }

    /// The last list of an account.
    #[must_use]
    pub fn of(&self, account: AccountId) -> Option<Kept> {
        self.0.get(&account)
    }

    /// Keeps a list in place of the one before.
    pub fn keep(&self, account: AccountId, kept: Kept) {
        if kept.answer.len() >= BYTES_MIN {
            self.0.insert(account, kept);
        }
    }
}

impl Default for KeptLists {
    fn default() -> Self {
        Self::new()
    }
}
