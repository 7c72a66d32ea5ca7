//! Bringing the schema to the version that this program knows.
//!
//! Each migration is applied in a transaction that also writes its row into the
//! history, and that begins with an advisory lock, so that servers which start at
//! once apply it once. The lock is one of the transaction: it is gone with the
//! connection, whatever becomes of us, and a pooler in between does not matter.
//!
//! What the versions are is told by [`version`].

mod history;
mod version;

use tokio_postgres::{Client, Error, IsolationLevel, Transaction};

use self::history::missing;
pub(super) use self::version::{LIST, Version};

/// Any number, as long as all servers have the same: "prompts" in ASCII.
const LOCK: i64 = 0x0070_726f_6d70_7473;

/// A migration may take longer than a statement of a request.
const PATIENT: &str = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0";

/// Whether the schema may be changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Migration {
    /// Missing migrations are applied.
    #[default]
    Auto,
    /// Nothing is changed; the schema must be the one that is known.
    Off,
}

/// Why the schema is not what it should be.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A migration was not carried out; the schema is what it was before it.
    #[error("the migration {name} failed and changed nothing")]
    Failed {
        /// Its name.
        name: &'static str,
        /// What the database says.
        #[source]
        source: Error,
    },
    /// The history cannot be read or begun.
    #[error("the database does not tell which migrations it has")]
    Unreadable(#[from] Error),
    /// Migrations are missing, and may not be applied.
    #[error(
        "the database's schema lacks {0}, and --migrate=off forbids changing it: \
         run `promptarium-server migrate` first"
    )]
    Missing(String),
    /// A later program was here.
    #[error(
        "the database's schema is at {found}, and {known} is the last one that this program \
         knows: run a newer promptarium-server"
    )]
    Newer {
        /// The last migration in the database.
        found: String,
        /// The last one in this program.
        known: &'static str,
    },
    /// The database has a migration that this program knows otherwise.
    #[error(
        "the database's schema was made by other migrations than this program's: it has \
         {found} where {known} should be, or that one with another text"
    )]
    Different {
        /// What the database has.
        found: String,
        /// What this program has in its place.
        known: &'static str,
    },
}

/// Applies what is missing of `list`, if that is allowed, and names it.
///
/// # Errors
/// If the schema is then another than that of `list`.
pub(super) async fn run(
    client: &mut Client,
    list: &'static [Version],
    migration: Migration,
) -> Result<Vec<&'static str>, MigrateError> {
    // Most starts find nothing to do, and should wait for nobody.
    let lacking = missing(list, &history::read(client).await?)?;
    match migration {
        Migration::Off if lacking.is_empty() => return Ok(Vec::new()),
        Migration::Off => return Err(MigrateError::Missing(names(lacking).join(", "))),
        Migration::Auto => {}
    }
    let mut applied = Vec::new();
    for _ in lacking {
        let transaction = locked(client).await?;
        // Another server may have been first.
        let Some(next) = missing(list, &history::read(transaction.client()).await?)?.first() else {
            break;
        };
        let outcome = apply(transaction, next).await;
        outcome.map_err(|source| MigrateError::Failed { name: next.name, source })?;
        tracing::info!(migration = next.name, "migrated the database");
        applied.push(next.name);
    }
    Ok(applied)
}

async fn locked(client: &mut Client) -> Result<Transaction<'_>, Error> {
    // Not what the database prefers: a later statement must see what another server
    // did while we waited for the lock.
    let begun = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted);
    let transaction = begun.start().await?;
    transaction.batch_execute(PATIENT).await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    history::begin(&transaction).await?;
    Ok(transaction)
}

async fn apply(transaction: Transaction<'_>, version: &Version) -> Result<(), Error> {
    transaction.batch_execute(version.sql).await?;
    history::write(&transaction, version).await?;
    transaction.commit().await
}

fn names(list: &[Version]) -> Vec<&'static str> {
    list.iter().map(|version| version.name).collect()
}

#[cfg(test)]
mod tests;
