//! A check for poolers that change the connection below ours and lose what was prepared on it, or
//! execute what another client prepared there. Statements of all servers have the same names.

use tokio::time::timeout;
use tokio_postgres::{Client, Error, Row};

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
    let sql = format!("SELECT '{own}'::bigint, pg_backend_pid()");
    let is_own = async || -> Result<bool, Error> {
        for _ in 0..POOLER_CHECKS {
            let statement = client.prepare(&sql).await?;
            let before = client.query_one(&statement, &[]).await?;
            other.batch_execute("BEGIN").await?;
            let after = client.query_one(&statement, &[]).await?;
            other.batch_execute("ROLLBACK").await?;
            let number = |row: &Row| row.try_get::<_, i64>(0).ok();
            let process = |row: &Row| row.try_get::<_, i32>(1).ok();
            if number(&before) != Some(own) || number(&after) != Some(own) {
                return Ok(false);
            }
            if process(&before) != process(&after) {
                break;
            }
        }
        Ok(true)
    };
    let cause = match timeout(CONNECT_TIMEOUT, is_own()).await {
        Ok(Ok(true)) => return Ok(()),
        Ok(Ok(false)) => "another client's statement was executed".to_owned(),
        Ok(Err(error)) if error.as_db_error().is_some() => error_chain(&error),
        Ok(Err(error)) => return Err(error_chain(&error)),
        Err(_) => {
            return Err(format!(
                "no answer for {} s to the check of prepared statements: the database is \
                 overloaded, or a connection pooler has fewer than two connections to it",
                CONNECT_TIMEOUT.as_secs()
            ));
        }
    };
    Err(format!(
        "prepared statements do not survive between transactions ({cause}): set pool_mode of the \
         connection pooler to session, or max_prepared_statements of PgBouncer 1.21 or later to 200"
    ))
}
