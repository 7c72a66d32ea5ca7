//! A check for poolers that change the connection below ours and lose what was prepared on it, or
//! execute what another client prepared there. Statements of all servers have the same names.

use tokio::time::timeout;
use tokio_postgres::{Client, Error, Statement};

use crate::error_chain::error_chain;
use crate::limits::{CONNECT_TIMEOUT, POOLER_CHECKS};

/// Makes sure that a statement prepared in one transaction can be executed in the next.
///
/// A pooler that pools by transaction shows itself only if the server connection on which
/// `client` prepared is taken, so `other` begins a transaction meanwhile. Clients of other
/// servers may take it first, so this is tried until `client` has changed its connection. They
/// use the same names, so the statement returns a number of its own.
pub(super) async fn check(client: &Client, other: &Client) -> Result<(), String> {
    let own = rand::random::<i64>();
    let lost = |cause: &str| {
        format!(
            "prepared statements do not survive between transactions ({cause}): set pool_mode of \
             the connection pooler to session, or max_prepared_statements of PgBouncer 1.21 or \
             later to 200"
        )
    };
    let text = |error: Error| match error.as_db_error() {
        Some(_) => lost(&error_chain(&error)),
        None => error_chain(&error),
    };
    let process = async |statement: &Statement| {
        let row = client.query_one(statement, &[]).await.map_err(text)?;
        match (row.try_get::<_, i64>(0), row.try_get::<_, i32>(1)) {
            (Ok(number), Ok(process)) if number == own => Ok(process),
            _ => Err(lost("another client's statement was executed")),
        }
    };
    let check = async {
        for _ in 0..POOLER_CHECKS {
            let sql = format!("SELECT '{own}'::bigint, pg_backend_pid()");
            let statement = client.prepare(&sql).await.map_err(text)?;
            let before = process(&statement).await?;
            other.batch_execute("BEGIN").await.map_err(text)?;
            let after = process(&statement).await?;
            other.batch_execute("ROLLBACK").await.map_err(text)?;
            if before != after {
                break;
            }
        }
        Ok(())
    };
    let seconds = CONNECT_TIMEOUT.as_secs();
    timeout(CONNECT_TIMEOUT, check).await.unwrap_or_else(|_| {
        Err(format!(
            "no answer for {seconds} s to the check of prepared statements: the database is \
             overloaded, or a connection pooler has fewer than two connections to it"
        ))
    })
}
