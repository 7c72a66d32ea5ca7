//! Statements, and one connection with those that are prepared on it.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_util::task::AbortOnDropHandle;

use crate::limits::CONNECT_TIMEOUT;

/// Values of a statement's parameters.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// What a statement does to the database, and so whether it may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It changes nothing and takes no row locks.
    ReadOnly,
    /// Executed twice, it changes the same as once.
    Idempotent,
    /// It must not be sent again if it may have been executed.
    NonIdempotent,
}

/// One SQL statement: prepared once per connection, named in logs, and listed in the `ALL` of
/// its module for the test of all query plans.
#[derive(Debug)]
pub(super) struct Statement {
    /// Such as `prompts.create`; each statement has its own.
    pub(super) name: &'static str,
    /// Parameters have casts, such as `$1::bigint`, where their type is not plain.
    pub(super) sql: &'static str,
    pub(super) effect: Effect,
    /// Whether it goes over a connection that others use at the same time.
    pub(super) shared: bool,
}

impl Statement {
    /// A short read.
    pub(super) const fn read_only(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, effect: Effect::ReadOnly, shared: true }
    }

    pub(super) const fn idempotent(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, effect: Effect::Idempotent, shared: false }
    }

    pub(super) const fn non_idempotent(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, effect: Effect::NonIdempotent, shared: false }
    }

    /// A write that waits for no lock that another statement may hold for long.
    pub(super) const fn pipelined(self) -> Self {
        Self { shared: true, ..self }
    }
}

/// An open connection.
pub(super) struct DbClient {
    client: Client,
    tls: MakeRustlsConnect,
    statements: Mutex<HashMap<&'static str, tokio_postgres::Statement>>,
    poisoned: AtomicBool,
    pub(super) created: Instant,
    driver: AbortOnDropHandle<()>,
}

impl DbClient {
    /// `drive` moves the connection's bytes until it ends.
    pub(super) fn new(
        client: Client,
        tls: MakeRustlsConnect,
        drive: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        let driver = AbortOnDropHandle::new(tokio::spawn(drive));
        let (statements, poisoned) = (Mutex::default(), AtomicBool::new(false));
        Self { client, tls, statements, poisoned, created: Instant::now(), driver }
    }

    /// A statement, prepared once per connection.
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
}

/// A connection on which a statement may be running. Dropped meanwhile, as when a client hangs
/// up, it is abandoned: back in the pool, it would make its next user wait for the statement.
pub(super) struct Busy<C: Deref<Target = DbClient>> {
    pub(super) client: C,
    pub(super) running: bool,
}

impl<C: Deref<Target = DbClient>> Drop for Busy<C> {
    fn drop(&mut self) {
        if self.running {
            self.client.abandon();
        }
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
