//! All vaults of an account at once, and a mark by which to tell later whether they are
//! the same still.

use crate::domain::VaultRecord;

/// Stands for all that an account's vaults show at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaultsMark(pub i64);

/// All vaults of an account, or that they are the same still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vaults {
    /// They are what they were.
    Unchanged,
    /// Newest first.
    Listed {
        /// All of them.
        vaults: Vec<VaultRecord>,
        /// What tells later whether they have changed.
        mark: Option<VaultsMark>,
    },
}

impl Vaults {
    /// The vaults; none if they are said to be unchanged.
    pub fn into_records(self) -> Vec<VaultRecord> {
        match self {
            Self::Unchanged => Vec::new(),
            Self::Listed { vaults, .. } => vaults,
        }
    }
}
