//! Accounts and keys as the operator sees them.

use jiff::Timestamp;
use tokio_postgres::Row;

use super::rows::column;
use crate::domain::Scopes;
use crate::store::Result;

/// An account as the operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccountEntry {
    pub(crate) name: String,
    pub(crate) created_at: Timestamp,
}

/// An API key as the operator sees it, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    pub(crate) public_id: String,
    /// The name of its account.
    pub(crate) account: String,
    pub(crate) name: Option<String>,
    pub(crate) scopes: Scopes,
    pub(crate) created_at: Timestamp,
    pub(crate) last_used_at: Option<Timestamp>,
    pub(crate) revoked_at: Option<Timestamp>,
}

pub(super) fn key_entry(row: &Row) -> Result<KeyEntry> {
    Ok(KeyEntry {
        public_id: column(row, "public_id")?,
        account: column(row, "account")?,
        name: column(row, "name")?,
        scopes: Scopes { prompts_write: column(row, "prompts_write")? },
        created_at: column(row, "created_at")?,
        last_used_at: column(row, "last_used_at")?,
        revoked_at: column(row, "revoked_at")?,
    })
}
