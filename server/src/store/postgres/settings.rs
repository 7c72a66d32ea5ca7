//! What all servers of one database share but no account owns: the signing key.

use super::PostgresStore;
use super::db::{Statement, column};
use crate::store::StoreError;

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&READ, &KEEP];

const SIGNING_KEY: &str = "signing-key";
const SIGNING_KEY_BYTES: usize = 32;

static READ: Statement =
    Statement::read_only("settings.read", "SELECT value FROM setting WHERE name = $1::text");

/// An existing value stays.
static KEEP: Statement = Statement::idempotent(
    "settings.keep",
    "INSERT INTO setting (name, value) VALUES ($1::text, $2::bytea) ON CONFLICT (name) DO NOTHING",
);

impl PostgresStore {
    /// The secret with which all servers of this database sign. The first server creates it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Broken`].
    pub async fn signing_key(&self) -> Result<Box<[u8]>, StoreError> {
        if let Some(kept) = self.kept_signing_key().await? {
            return Ok(kept);
        }
        let made = rand::random::<[u8; SIGNING_KEY_BYTES]>();
        self.db.rows(&KEEP, &[&SIGNING_KEY, &&made[..]]).await?;
        // Not `made`: another server may have been first.
        let kept = self.kept_signing_key().await?;
        kept.ok_or_else(|| StoreError::Broken("the signing key was not kept".into()))
    }

    async fn kept_signing_key(&self) -> Result<Option<Box<[u8]>>, StoreError> {
        let rows = self.db.rows(&READ, &[&SIGNING_KEY]).await?;
        rows.first().map(|row| column::<&[u8]>(row, "value").map(Box::from)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::store;

    #[tokio::test]
    async fn all_servers_of_a_database_get_one_signing_key() {
        let (store, _database) = store().await;
        let keys = futures::future::try_join_all((0..8).map(|_| store.signing_key()));
        let keys = keys.await.unwrap();
        assert!(keys.iter().all(|key| *key == keys[0] && key.len() == 32));
        let (other, _database) = super::super::tests::store().await;
        assert_ne!(other.signing_key().await.unwrap(), keys[0]);
    }
}
