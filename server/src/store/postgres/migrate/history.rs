//! Which migrations a database has, as it remembers them itself.

use tokio_postgres::{Client, Error, Transaction};

use super::{MigrateError, Version};

const BEGIN: &str = "CREATE TABLE IF NOT EXISTS promptarium_migration (
    version integer PRIMARY KEY,
    name text NOT NULL,
    digest bytea NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
)";

const EXISTS: &str = "SELECT to_regclass('promptarium_migration') IS NOT NULL";

const READ: &str = "SELECT version, name, digest FROM promptarium_migration ORDER BY version";

const WRITE: &str = "INSERT INTO promptarium_migration (version, name, digest)
    SELECT count(*) + 1, $1, $2 FROM promptarium_migration";

/// A migration that was applied.
pub(super) struct Applied {
    version: i32,
    name: String,
    digest: Vec<u8>,
}

/// Makes the history if there is none.
pub(super) async fn begin(transaction: &Transaction<'_>) -> Result<(), Error> {
    // Checked first, for the notice that it exists is nothing to tell anybody.
    if !transaction.query_one(EXISTS, &[]).await?.try_get(0)? {
        transaction.batch_execute(BEGIN).await?;
    }
    Ok(())
}

/// What was applied, in its order.
pub(super) async fn read(client: &Client) -> Result<Vec<Applied>, Error> {
    if !client.query_one(EXISTS, &[]).await?.try_get(0)? {
        return Ok(Vec::new());
    }
    let rows = client.query(READ, &[]).await?;
    let applied = |row: &tokio_postgres::Row| {
        Ok(Applied { version: row.try_get(0)?, name: row.try_get(1)?, digest: row.try_get(2)? })
    };
    rows.iter().map(applied).collect()
}

/// Remembers a migration as the latest.
pub(super) async fn write(transaction: &Transaction<'_>, version: &Version) -> Result<(), Error> {
    let digest = version.digest();
    transaction.execute(WRITE, &[&version.name, &digest.as_slice()]).await.map(drop)
}

/// What of `list` was not applied.
///
/// # Errors
/// If something else was.
pub(super) fn missing(
    list: &'static [Version],
    applied: &[Applied],
) -> Result<&'static [Version], MigrateError> {
    for ((version, known), found) in (1..).zip(list).zip(applied) {
        let same = found.version == version && found.name == known.name;
        if !same || found.digest != known.digest() {
            let (found, known) = (found.name.clone(), known.name);
            return Err(MigrateError::Different { found, known });
        }
    }
    match (applied.last(), list.last()) {
        (Some(found), Some(known)) if applied.len() > list.len() => {
            Err(MigrateError::Newer { found: found.name.clone(), known: known.name })
        }
        _ => Ok(list.get(applied.len()..).unwrap_or_default()),
    }
}
