//! Migrating the schema to the version that this program knows.
//!
//! Each migration is a transaction that records it and begins with an advisory lock, so that
//! servers that start at once apply it once. The lock ends with it, also behind a pooler.
//!
//! Sequences may be behind the ids of their tables, as after a copy by hand or by logical
//! replication: every new row would violate a key. They are set forward at the start.

use sha2::{Digest as _, Sha256};
use tokio_postgres::{Client, Error, IsolationLevel, Transaction};

/// One migration, never altered once released: databases hold its digest. It runs in a transaction.
#[derive(Debug)]
pub(super) struct Version {
    /// Such as `V1__schema`; the number is its place in the list.
    pub(super) name: &'static str,
    pub(super) sql: &'static str,
}

pub(super) const LIST: &[Version] =
    &[Version { name: "V1__schema", sql: include_str!("../../../migrations/V1__schema.sql") }];

/// Any number that is the same for all servers: "prompts" in ASCII.
const LOCK: i64 = 0x0070_726f_6d70_7473;

const NO_TIMEOUT: &str = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0";

const EXISTS: &str = "SELECT to_regclass('promptarium_migration') IS NOT NULL";
const CREATE: &str = "CREATE TABLE IF NOT EXISTS promptarium_migration (
    version integer PRIMARY KEY,
    name text NOT NULL,
    digest bytea NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
)";
const READ: &str = "SELECT version, name, digest FROM promptarium_migration ORDER BY version";
const RECORD: &str = "INSERT INTO promptarium_migration (version, name, digest)
    SELECT count(*) + 1, $1, $2 FROM promptarium_migration";

pub(super) const IS_CITUS: &str =
    "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')";

/// The greatest id of each table by a look-up in an index. Of memberships it would be one for each
/// vault: their sequence is behind where others are.
const GREATEST: [(&str, &str); 4] = [
    ("account", "SELECT max(id) FROM account"),
    ("api_key", "SELECT max(id) FROM api_key"),
    ("vault", "SELECT max(vault_id) FROM vault_directory"),
    ("prompt", "SELECT max((SELECT max(id) FROM prompt WHERE account_id = a.id)) FROM account a"),
];

/// Whether the schema may be changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Migration {
    /// Missing migrations are applied.
    #[default]
    Auto,
    /// Nothing is changed; the schema must be the one that is known.
    Off,
}

#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    #[error("the migration {name} failed and changed nothing")]
    Failed { name: &'static str, source: Error },
    #[error(
        "the tables cannot be distributed, because the database has no extension citus: run \
         `CREATE EXTENSION citus` in it on the coordinator and on each worker, and add the workers \
         with `citus_add_node`"
    )]
    NoCitus,
    #[error("the tables could not be distributed, and nothing was changed")]
    NotSpread(#[source] Error),
    #[error("the sequences of the database could not be compared with its ids")]
    Sequences(#[source] Error),
    #[error("the database does not tell which migrations it has")]
    Unreadable(#[from] Error),
    #[error(
        "the database's schema lacks {0}, and --migrate=off forbids changing it: \
         run `promptarium-server migrate` first"
    )]
    Missing(String),
    #[error(
        "the database's schema is at {found}, and {known} is the last one that this program \
         knows: run a newer promptarium-server"
    )]
    Newer { found: String, known: &'static str },
    #[error(
        "the database's schema was made by other migrations than this program's: it has \
         {found} where {known} should be, or that one with another text"
    )]
    Different { found: String, known: &'static str },
}

impl Version {
    /// Line ends do not count, because they depend on how the source was checked out.
    pub(super) fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.sql.replace("\r\n", "\n")).into()
    }
}

/// Applies what is missing of `list`, if that is allowed, and returns the names.
pub(super) async fn run(
    client: &mut Client,
    list: &'static [Version],
    migration: Migration,
) -> Result<Vec<&'static str>, MigrateError> {
    // Most starts find nothing to do, and should wait for no lock.
    let lacking = missing(list, client).await?;
    if migration == Migration::Off && !lacking.is_empty() {
        let names: Vec<_> = lacking.iter().map(|version| version.name).collect();
        return Err(MigrateError::Missing(names.join(", ")));
    }
    let mut applied = Vec::new();
    for _ in lacking {
        let transaction = locked(client).await?;
        // Another server may have been first.
        let Some(next) = missing(list, transaction.client()).await?.first() else {
            break;
        };
        let outcome = apply(transaction, next).await;
        outcome.map_err(|source| MigrateError::Failed { name: next.name, source })?;
        tracing::info!(migration = next.name, "migrated the database");
        applied.push(next.name);
    }
    Ok(applied)
}

/// What of `list` was not applied. Fails if something else was.
async fn missing(
    list: &'static [Version],
    client: &Client,
) -> Result<&'static [Version], MigrateError> {
    if !client.query_one(EXISTS, &[]).await?.try_get(0)? {
        return Ok(list);
    }
    let applied = client.query(READ, &[]).await?;
    for ((number, known), row) in (1..).zip(list).zip(&applied) {
        let found: String = row.try_get("name")?;
        let same = row.try_get::<_, i32>("version")? == number && found == known.name;
        if !same || row.try_get::<_, &[u8]>("digest")? != known.digest() {
            return Err(MigrateError::Different { found, known: known.name });
        }
    }
    match (applied.last(), list.last()) {
        (Some(found), Some(known)) if applied.len() > list.len() => {
            Err(MigrateError::Newer { found: found.try_get("name")?, known: known.name })
        }
        _ => Ok(&list[applied.len().min(list.len())..]),
    }
}

/// A transaction that holds the lock, with the history table in place.
pub(super) async fn locked(client: &mut Client) -> Result<Transaction<'_>, Error> {
    // A later statement must see what another server did while we waited for the lock.
    let begin = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted);
    let transaction = begin.start().await?;
    transaction.batch_execute(NO_TIMEOUT).await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    // Not only if `EXISTS` says so: that may still see the catalog of before the lock.
    transaction.batch_execute(CREATE).await?;
    Ok(transaction)
}

async fn apply(transaction: Transaction<'_>, version: &Version) -> Result<(), Error> {
    transaction.batch_execute(version.sql).await?;
    let digest = version.digest();
    transaction.execute(RECORD, &[&version.name, &&digest[..]]).await?;
    transaction.commit().await
}

/// Sets all sequences forward if one is behind, but not on Citus, whose nodes take ids elsewhere.
pub(super) async fn set_forward(client: &mut Client) -> Result<(), Error> {
    if client.query_one(IS_CITUS, &[]).await?.try_get(0)? || behind(client).await?.is_empty() {
        return Ok(());
    }
    let transaction = locked(client).await?;
    // Another server may have been first, and have taken ids since.
    let behind = behind(transaction.client()).await?;
    if behind.is_empty() {
        return Ok(());
    }
    for table in GREATEST.map(|(table, _)| table).into_iter().chain(["vault_prompt"]) {
        let set = format!(
            "SELECT setval('{table}_id_seq', greatest(last_value, (SELECT max(id) FROM {table}))) \
             FROM {table}_id_seq"
        );
        transaction.batch_execute(&set).await?;
    }
    transaction.commit().await?;
    let tables = behind.join(", ");
    tracing::warn!(tables, "sequences were behind the ids in the database and were set forward");
    Ok(())
}

async fn behind(client: &Client) -> Result<Vec<String>, Error> {
    let each = GREATEST.map(|(table, greatest)| {
        format!(
            "SELECT '{table}' FROM {table}_id_seq \
             WHERE ({greatest}) > last_value - (NOT is_called)::integer"
        )
    });
    let rows = client.query(&each.join(" UNION ALL "), &[]).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

#[cfg(test)]
mod tests;
