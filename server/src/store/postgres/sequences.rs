//! Sequences behind the ids of their tables, as after a copy by hand or by logical replication:
//! every new row would violate a key. They are set forward at the start.

use tokio_postgres::{Client, Error};

use super::distribute::IS_CITUS;
use super::migrate::locked;

/// The greatest id of each table by a look-up in an index. Of memberships it would be one for each
/// vault: their sequence is behind where others are.
const GREATEST: [(&str, &str); 4] = [
    ("account", "SELECT max(id) FROM account"),
    ("api_key", "SELECT max(id) FROM api_key"),
    ("vault", "SELECT max(vault_id) FROM vault_directory"),
    ("prompt", "SELECT max((SELECT max(id) FROM prompt WHERE account_id = a.id)) FROM account a"),
];

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
