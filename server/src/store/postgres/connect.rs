//! The connections of a store: opening, using and closing one.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use deadpool::managed::{Manager, Metrics, RecycleError, RecycleResult};
use parking_lot::RwLock;
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error, Statement as Prepared};
use tokio_util::task::AbortOnDropHandle;

use super::errors::is_temporary;
use super::statement::Statement;
use super::url::DatabaseUrl;
use crate::error_chain::error_chain;
use crate::limits::{CONNECT_TIMEOUT, POOLER_CHECKS};

/// Opens connections, to the first host that accepts one. Cheap to clone.
#[derive(Clone)]
pub(super) struct Connector {
    pub(super) url: Arc<DatabaseUrl>,
    pub(super) state: Arc<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// The host to begin with, modulo their number: the one that accepted a connection last, so
    /// that a host that is down costs its timeout once.
    first: AtomicUsize,
    /// Connections of an earlier epoch are not used any more.
    epoch: AtomicUsize,
}

/// No host accepted a connection: one line, each host with its reason.
#[derive(Debug, thiserror::Error)]
#[error("no connection to the database: {text}")]
pub struct Unreachable {
    text: String,
    /// Whether one of them may accept one in a while.
    pub(super) temporary: bool,
}

impl Connector {
    pub(super) fn new(url: &DatabaseUrl) -> Self {
        Self { url: Arc::new(url.clone()), state: Arc::default() }
    }

    /// A connection to the first host that gives one. The driver has no limit for one that accepts
    /// and does not answer, and begins with the same host each time.
    pub(super) async fn connect(&self) -> Result<DbClient, Unreachable> {
        let (hosts, first) = (&self.url.hosts, self.state.first.load(Relaxed));
        let (mut reasons, mut temporary) = (Vec::new(), false);
        for at in first..first + hosts.len() {
            let (name, config) = &hosts[at % hosts.len()];
            let limit = config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
            // Also for a caller that stops waiting, and tries again.
            self.state.first.store(at + 1, Relaxed);
            // A large future that is seldom needed.
            reasons.push(match timeout(limit, Box::pin(self.open(config))).await {
                Ok(Ok(client)) => {
                    self.state.first.store(at, Relaxed);
                    return Ok(client);
                }
                Ok(Err(error)) => {
                    let way_out = way_out(&error);
                    temporary |= way_out.is_empty() && is_temporary(&error);
                    format!("{name}: {}{way_out}", error_chain(&error))
                }
                Err(_) => {
                    temporary = true;
                    format!("{name} did not answer for {} s", limit.as_secs())
                }
            });
        }
        Err(Unreachable { text: reasons.join("; "), temporary })
    }

    /// The same for the start of a program: makes sure that a statement prepared in one transaction
    /// can be executed in the next. Some poolers change the connection below ours, and lose what was
    /// prepared on it, or execute what another client prepared there under the same name.
    ///
    /// Such a pooler shows itself only if the connection on which `client` prepared is taken, so
    /// `other` begins a transaction meanwhile. Others may take it first, so this is tried several
    /// times. They use the same names, so the statement returns a number of its own.
    pub(super) async fn connect_and_check(&self) -> Result<DbClient, Unreachable> {
        let (client, other) = (self.connect().await?, self.connect().await?);
        for _ in 0..POOLER_CHECKS {
            let own = rand::random::<i64>();
            let is_own = async {
                let statement = client.prepare(&format!("SELECT '{own}'::bigint")).await?;
                other.batch_execute("BEGIN").await?;
                let row = client.query_one(&statement, &[]).await?;
                other.batch_execute("ROLLBACK").await?;
                Ok::<_, Error>(row.try_get(0).ok() == Some(own))
            };
            // Each check has a time limit of its own: a database may be far away.
            let (text, temporary) = match timeout(CONNECT_TIMEOUT, is_own).await {
                Ok(Ok(true)) => continue,
                Ok(Ok(false)) => ("another client's statement was executed".to_owned(), false),
                Ok(Err(error)) => (error_chain(&error), error.as_db_error().is_none()),
                Err(_) => {
                    let text = "to the check of prepared statements: the database is overloaded, \
                                or a connection pooler has fewer than two connections to it";
                    (format!("no answer for {} s {text}", CONNECT_TIMEOUT.as_secs()), true)
                }
            };
            let way_out = "set pool_mode of the connection pooler to session, or \
                           max_prepared_statements of PgBouncer 1.21 or later to 200";
            let lost = "prepared statements do not survive between transactions";
            let text = if temporary { text } else { format!("{lost} ({text}): {way_out}") };
            return Err(Unreachable { text, temporary });
        }
        Ok(client)
    }

    async fn open(&self, config: &Config) -> Result<DbClient, Error> {
        let epoch = self.state.epoch.load(Relaxed);
        // The server gave no answer, or takes none with TLS.
        let without = SqlState::INVALID_AUTHORIZATION_SPECIFICATION;
        let may_be_of_tls = |error: &Error| error.code().is_none_or(|code| *code == without);
        let (client, connection) = match config.connect(self.url.tls.clone()).await {
            Err(error) if config.get_ssl_mode() == SslMode::Prefer && may_be_of_tls(&error) => {
                let without = config.clone().ssl_mode(SslMode::Disable).clone();
                without.connect(self.url.tls.clone()).await.map_err(|_| error)?
            }
            connected => connected?,
        };
        let driver = AbortOnDropHandle::new(tokio::spawn(async move {
            let end = connection.await;
            tracing::debug!(?end, "a connection to the database ended");
        }));
        let (connector, statements, closed) = (self.clone(), RwLock::default(), false.into());
        let client = DbClient { client, connector, epoch, statements, closed, driver };
        client.batch_execute(&self.url.session).await?;
        Ok(client)
    }
}

/// What to do about an error of PgBouncer, which does not say that.
fn way_out(error: &Error) -> &'static str {
    match error.as_db_error() {
        Some(error) if error.message().starts_with("unsupported startup parameter") => {
            ": leave `options` out of the URL, and use `ALTER ROLE … SET`"
        }
        _ => "",
    }
}

impl Manager for Connector {
    type Type = DbClient;
    type Error = Unreachable;

    async fn create(&self) -> Result<DbClient, Unreachable> {
        self.connect().await
    }

    /// Whether the connection still works shows when it is used, and a statement is retried if not.
    async fn recycle(&self, client: &mut DbClient, _: &Metrics) -> RecycleResult<Unreachable> {
        if client.is_usable() { Ok(()) } else { Err(RecycleError::message("closed")) }
    }
}

pub(super) struct DbClient {
    pub(super) client: Client,
    connector: Connector,
    epoch: usize,
    statements: RwLock<HashMap<&'static str, Prepared>>,
    closed: AtomicBool,
    /// Runs until the connection has ended.
    driver: AbortOnDropHandle<()>,
}

impl DbClient {
    pub(super) async fn prepared(&self, statement: &Statement) -> Result<Prepared, Error> {
        if let Some(known) = self.statements.read().get(statement.name) {
            return Ok(known.clone());
        }
        let prepared = self.prepare(statement.sql).await?;
        self.statements.write().insert(statement.name, prepared.clone());
        Ok(prepared)
    }

    pub(super) fn is_usable(&self) -> bool {
        let is_current = self.epoch == self.connector.state.epoch.load(Relaxed);
        is_current && !self.closed.load(Relaxed) && !self.client.is_closed()
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Relaxed);
        self.driver.abort();
    }

    /// What broke this connection broke all of its epoch.
    pub(super) fn end_epoch(&self) {
        self.connector.state.epoch.fetch_max(self.epoch + 1, Relaxed);
    }

    /// Closes the connection and cancels what runs on it: the server would notice at its first row.
    pub(super) fn abandon(&self) {
        self.close();
        let (token, tls) = (self.client.cancel_token(), self.connector.url.tls.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // Best effort: `statement_timeout` ends the statement otherwise.
            runtime.spawn(timeout(CONNECT_TIMEOUT, async move { token.cancel_query(tls).await }));
        }
    }
}

impl Deref for DbClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

#[cfg(test)]
mod tests;
