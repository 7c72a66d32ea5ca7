//! The address of a database: `postgres://user:password@host:port/name?…`, read
//! as libpq reads it.
//!
//! What the driver knows is left to the driver. What it does not know, or knows
//! otherwise than libpq, is read here, and what must have an end gets one.

use std::fmt;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{LoadBalanceHosts, TargetSessionAttrs};

use super::query::{PROBES, Query};
use super::security::Security;
use super::server::Server;

/// Connections that are open at once.
const CONNECTIONS: usize = 16;

/// For all of getting into one server: finding it, TLS, password.
const CONNECT: Duration = Duration::from_secs(3);

/// How long sent bytes may wait for a sign of the other side.
const UNACKNOWLEDGED: Duration = Duration::from_secs(10);

/// How long a statement may take.
const STATEMENT: Duration = Duration::from_secs(30);

/// How long a transaction may wait for its next statement.
const IDLE_IN_TRANSACTION: Duration = Duration::from_secs(60);

/// The address of a database, with what it takes to get in, which `Debug` hides.
#[derive(Clone)]
pub struct DatabaseUrl {
    pub(super) servers: Vec<Server>,
    pub(super) shuffled: bool,
    pub(super) security: Security,
    pub(super) connections: usize,
    pub(in crate::store::postgres) statement_timeout: Duration,
}

/// What is wrong with an address. It never quotes what may be a password.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// It is something else.
    #[error("it begins with postgres:// or postgresql://")]
    Scheme,
    /// There is nowhere to connect to.
    #[error("it names no host")]
    NoHost,
    /// One port a host, or one for all.
    #[error("it has {hosts} hosts, but {found} {what}")]
    Uneven {
        /// How many hosts.
        hosts: usize,
        /// How many of the others.
        found: usize,
        /// What the others are.
        what: &'static str,
    },
    /// A parameter that means something has a value that means nothing.
    #[error("its parameter {name} must be {expected}")]
    Parameter {
        /// Of the parameter.
        name: &'static str,
        /// What would be right.
        expected: &'static str,
    },
    /// Of these two parameters one excludes the other.
    #[error("{0}")]
    Contradiction(&'static str),
    /// What the driver says.
    #[error(
        "{0}; in a user or a password, `/`, `?`, `@`, `:` and `%` are written `%2F`, `%3F`, \
         `%40`, `%3A` and `%25`"
    )]
    Unreadable(String),
}

impl DatabaseUrl {
    /// Reads an address.
    ///
    /// # Errors
    /// If it is none, or says what cannot be.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let (plain, mut query) = Query::split(text)?;
        let security = Security::read(&mut query)?;
        let target = target(&mut query)?;
        let connections = query.number("pool_max_conns")?.unwrap_or(CONNECTIONS as u64).max(1);
        let milliseconds = |query: &mut Query, name, usual| {
            Ok::<_, AddressError>(query.number(name)?.map_or(usual, Duration::from_millis))
        };
        let statement_timeout = milliseconds(&mut query, "statement_timeout", STATEMENT)?;
        let idle = "idle_in_transaction_session_timeout";
        let idle = milliseconds(&mut query, idle, IDLE_IN_TRANSACTION)?;
        let unacknowledged = milliseconds(&mut query, "tcp_user_timeout", UNACKNOWLEDGED)?;
        let limit = query.number("connect_timeout")?.map_or(CONNECT, Duration::from_secs);
        // Means nothing to this driver, and stands in many an address.
        query.take("gssencmode");

        let mut config: Config = query.with(&plain).parse().map_err(|error| unreadable(&error))?;
        config.target_session_attrs(target).tcp_user_timeout(unacknowledged);
        if config.get_application_name().is_none() {
            config.application_name("promptarium-server");
        }
        if !query.names("keepalives_idle") {
            config.keepalives_idle(Duration::from_secs(15));
        }
        if !query.names("keepalives_interval") {
            config.keepalives_interval(Duration::from_secs(5));
        }
        if !query.names(PROBES) {
            config.keepalives_retries(3);
        }
        let session = session(config.get_options(), statement_timeout, idle);
        config.options(session);
        Ok(Self {
            servers: Server::all(&config, limit)?,
            shuffled: config.get_load_balance_hosts() == LoadBalanceHosts::Random,
            security,
            connections: usize::try_from(connections).unwrap_or(CONNECTIONS),
            statement_timeout,
        })
    }

    /// The same database with at most this many connections at once.
    #[must_use]
    pub fn with_connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }
}

/// What a session must be like. The service writes, so by default it must be able to.
fn target(query: &mut Query) -> Result<TargetSessionAttrs, AddressError> {
    match query.take("target_session_attrs").as_deref() {
        Some("any") => Ok(TargetSessionAttrs::Any),
        None | Some("read-write" | "primary") => Ok(TargetSessionAttrs::ReadWrite),
        Some(_) => Err(AddressError::Parameter {
            name: "target_session_attrs",
            expected: "read-write, primary or any, because the service writes",
        }),
    }
}

/// What each session is set to. What the address says itself comes last, and wins;
/// if it says `options=`, nothing is set, for poolers that allow nothing to be.
fn session(own: Option<&str>, statement: Duration, idle: Duration) -> String {
    let (statement, idle) = (statement.as_millis(), idle.as_millis());
    if own == Some("") {
        return String::new();
    }
    // Whatever the database prefers: statements are written for this one.
    let isolation = "-c default_transaction_isolation=read\\ committed";
    // Compiling a statement takes longer than any of ours runs.
    let set = format!(
        "{isolation} -c jit=off -c statement_timeout={statement} \
         -c idle_in_transaction_session_timeout={idle}"
    );
    own.map_or_else(|| set.clone(), |own| format!("{set} {own}"))
}

fn unreadable(error: &tokio_postgres::Error) -> AddressError {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    AddressError::Unreadable(cause.unwrap_or_else(|| error.to_string()))
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers: Vec<_> = self.servers.iter().map(ToString::to_string).collect();
        f.debug_struct("DatabaseUrl").field("servers", &servers).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
