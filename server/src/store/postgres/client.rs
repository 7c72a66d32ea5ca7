//! One connection with its prepared statements.

use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::{Client, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::statement::Statement;
use crate::limits::CONNECT_TIMEOUT;

/// An open connection with its prepared statements.
pub(super) struct DbClient {
    client: Client,
    tls: MakeRustlsConnect,
    statements: Mutex<HashMap<&'static str, tokio_postgres::Statement>>,
    poisoned: AtomicBool,
    pub(super) created: Instant,
    driver: JoinHandle<()>,
}

impl DbClient {
    pub(super) fn new(client: Client, tls: MakeRustlsConnect, driver: JoinHandle<()>) -> Self {
        let (statements, poisoned) = (Mutex::default(), AtomicBool::new(false));
        Self { client, tls, statements, poisoned, created: Instant::now(), driver }
    }

    /// A statement, prepared once per connection.
    ///
    /// # Errors
    /// Those of the driver.
    pub(super) async fn prepared(
        &self,
        statement: &Statement,
    ) -> Result<tokio_postgres::Statement, Error> {
        let known = self.statements().get(statement.name).cloned();
        if let Some(prepared) = known {
            return Ok(prepared);
        }
        let prepared = self.client.prepare(statement.sql).await?;
        self.statements().insert(statement.name, prepared.clone());
        Ok(prepared)
    }

    /// All statements are prepared again: the server holds them no longer, or no longer as
    /// they were.
    pub(super) fn forget_statements(&self) {
        self.statements().clear();
    }

    fn statements(&self) -> MutexGuard<'_, HashMap<&'static str, tokio_postgres::Statement>> {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the next statement may be sent on it.
    pub(super) fn is_usable(&self) -> bool {
        !self.poisoned.load(Ordering::Relaxed) && !self.client.is_closed()
    }

    /// Returns when the connection has ended.
    pub(super) async fn closed(&mut self) {
        let _ = (&mut self.driver).await;
    }

    /// Closes the connection: nothing is sent on it any more.
    pub(super) fn close(&self) {
        self.poisoned.store(true, Ordering::Relaxed);
        self.driver.abort();
    }

    /// Closes the connection and asks the server to cancel what runs on it, since a server that
    /// only loses the connection notices when it sends its first row.
    pub(super) fn abandon(&self) {
        self.close();
        let (token, tls) = (self.client.cancel_token(), self.tls.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                // Best effort: `statement_timeout` ends the statement otherwise.
                let _ = timeout(CONNECT_TIMEOUT, token.cancel_query(tls)).await;
            });
        }
    }

    /// Abandons the connection unless it is told that the statement ended.
    pub(super) fn abandon_on_drop(&self) -> AbandonOnDrop<'_> {
        AbandonOnDrop(Some(self))
    }
}

/// For the time that a statement runs: its caller may be dropped meanwhile, when a client hangs
/// up. Back in the pool, the connection would make its next user wait for the statement.
pub(super) struct AbandonOnDrop<'a>(Option<&'a DbClient>);

impl AbandonOnDrop<'_> {
    pub(super) fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for AbandonOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(client) = self.0 {
            client.abandon();
        }
    }
}

impl Drop for DbClient {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Deref for DbClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for DbClient {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

impl fmt::Debug for DbClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DbClient").finish_non_exhaustive()
    }
}
