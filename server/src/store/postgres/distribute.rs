//! Distributing the tables over the nodes of a Citus cluster: by account, or as copies.
//!
//! Foreign keys are dropped first and added at the end, because Citus refuses to distribute a table
//! that has one to a table that is not distributed yet. All is one transaction.

use tokio_postgres::{Client, Error};

use super::migrate::{IS_CITUS, MigrateError, locked};

pub(super) const BY_ACCOUNT: [&str; 5] = ["vault", "prompt", "vault_prompt", "job", "webhooks"];

/// Tables that every node has. `due_job` and `webhook_delivery` are only on the coordinator, so that
/// a worker can lock a row of any account.
pub(super) const ON_EVERY_NODE: [&str; 6] =
    ["account", "setting", "api_key", "session", "sign_in_code", "vault_directory"];

/// What a session says does not reach the nodes; Citus passes this on to them.
const JIT_OFF: &str = "SELECT format('ALTER DATABASE %I SET jit = off', current_database())";
const HAS_JIT: &str = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')
    AND EXISTS (SELECT FROM pg_settings WHERE name = 'jit' AND reset_val = 'on')";
/// A table is planned on one connection to each node, as its references need it.
const BEGIN: &str = "SET LOCAL citus.multi_shard_modify_mode = 'sequential'";
const SPREAD: &str = "SELECT logicalrelid::regclass::text FROM pg_dist_partition";
const REFERENCES: &str =
    "SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
        format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname,
            pg_get_constraintdef(oid))
    FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text = ANY ($1::text[])
    ORDER BY conname";

/// Spreads the tables that are not spread yet, and returns their names.
pub(super) async fn run(client: &mut Client) -> Result<Vec<&'static str>, MigrateError> {
    if !client.query_one(IS_CITUS, &[]).await?.try_get::<_, bool>(0)? {
        return Err(MigrateError::NoCitus);
    }
    spread(client).await.map_err(MigrateError::NotSpread)
}

/// Warns where the nodes of a Citus cluster compile statements.
pub(super) async fn check_jit(client: &Client) -> Result<(), Error> {
    if client.query_one(HAS_JIT, &[]).await?.try_get(0)? {
        tracing::warn!(
            "the nodes of this database compile each statement, so that changes take many times as \
             long: run `promptarium-server migrate --distribute`, which sets `jit = off`"
        );
    }
    Ok(())
}

async fn spread(client: &mut Client) -> Result<Vec<&'static str>, Error> {
    let jit_off = client.query_one(JIT_OFF, &[]).await?;
    client.batch_execute(jit_off.try_get(0)?).await?;
    let transaction = locked(client).await?;
    transaction.batch_execute(BEGIN).await?;
    let rows = transaction.query(SPREAD, &[]).await?;
    let known = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>()?;
    let all = ON_EVERY_NODE.into_iter().chain(BY_ACCOUNT).collect::<Vec<_>>();
    let missing: Vec<_> =
        all.iter().copied().filter(|name| !known.iter().any(|known| known == name)).collect();
    if missing.is_empty() {
        return Ok(missing);
    }
    let references = transaction.query(REFERENCES, &[&all]).await?;
    for reference in &references {
        transaction.batch_execute(reference.try_get(0)?).await?;
    }
    for name in &missing {
        let spread = match BY_ACCOUNT.iter().position(|table| table == name) {
            None => format!("create_reference_table('{name}')"),
            Some(0) => format!("create_distributed_table('{name}', 'account_id')"),
            Some(_) => format!(
                "create_distributed_table('{name}', 'account_id', colocate_with => '{}')",
                BY_ACCOUNT[0]
            ),
        };
        let emptied = format!("truncate_local_data_after_distributing_table('{name}')");
        transaction.batch_execute(&format!("SELECT {spread}; SELECT {emptied}")).await?;
    }
    for reference in &references {
        transaction.batch_execute(reference.try_get(1)?).await?;
    }
    transaction.commit().await?;
    Ok(missing)
}
