//! Waiting for a database that is not available at the start.

use std::error::Error;

use tokio::time::{Instant, sleep};

use crate::config::Config;
use crate::error_chain::error_chain;
use crate::limits::product::DATABASE_WAIT_PAUSE;
#[cfg(feature = "postgres")]
use crate::store::postgres::ConnectError;
use crate::store::{Cause, StoreError};

/// The database was away for all the time of `--database-wait`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct DatabaseAway(String);

/// What `open` returns. While the database is away, frozen or full it is called again, for as long as
/// `--database-wait`. An error of the database names its setting.
pub(crate) async fn with_database<T>(
    config: &Config,
    open: impl AsyncFn() -> Result<T, Cause>,
) -> Result<T, Cause> {
    let began = Instant::now();
    loop {
        let error = match open().await {
            Ok(opened) => return Ok(opened),
            Err(error) => error,
        };
        let has_database = config.data.is_none();
        let Some(temporary) = of_database(&*error).filter(|_| has_database) else {
            return Err(error);
        };
        let text = format!("{}: {}", config.source("database_url"), error_chain(&*error));
        let left = config.settings.database_wait.saturating_sub(began.elapsed());
        match temporary {
            false => return Err(text.into()),
            true if left.is_zero() => return Err(Box::new(DatabaseAway(text))),
            true => {
                tracing::warn!(error = text, seconds = left.as_secs(), "waiting for the database");
            }
        }
        sleep(DATABASE_WAIT_PAUSE.min(left)).await;
    }
}

/// Of a failure of the database, whether it is temporary.
fn of_database(error: &(dyn Error + 'static)) -> Option<bool> {
    #[cfg(feature = "postgres")]
    if let Some(error) = error.downcast_ref::<ConnectError>() {
        return Some(error.is_temporary());
    }
    Some(error.downcast_ref::<StoreError>()?.is_temporary())
}
